"""Networks of nodes: decoding against enumeration, losses, learning."""

from itertools import product

import numpy as np
import pytest

from assent.apps.model_file import read_model, write_model
from assent.apps.segmentation import LabelSet, Scene, SegmenterSettings, label_nodes
from assent.apps.segmentation.features import fill_unknown
from assent.apps.segmentation.model import Segmenter, train_segmenter, training
from assent.apps.segmentation.model.node_classifier import fit_classifier, mean_error
from assent.errors import ModelError
from assent.learn import AveragedPerceptron, DualExtragradient, Hamming, Subgradient
from assent.models import CutInput, CutLabels, CutModel

LABELS = LabelSet(("ground", "figure"), ((0,), (1,)))


def value(labels, scores, edges, prices):
    labels = np.asarray(labels)
    j, k = edges.T
    return scores[np.arange(len(labels)), labels].sum() - prices[labels[j] != labels[k]].sum()


def random_network(rng, n, states):
    pairs = np.array([(j, k) for j in range(n) for k in range(j + 1, n)])
    edges = pairs[rng.random(len(pairs)) < 0.6]
    return rng.normal(size=(n, states)), edges, rng.exponential(0.5, len(edges))


@pytest.mark.parametrize("seed", range(5))
def test_two_labels_are_the_best_of_all(seed):
    scores, edges, prices = random_network(np.random.default_rng(seed), 7, 2)
    best = max(value(y, scores, edges, prices) for y in product((0, 1), repeat=7))
    found = label_nodes(scores, edges, prices)
    assert value(found, scores, edges, prices) == pytest.approx(best)


def test_nodes_without_neighbours_are_labelled_on_their_own():
    scores = np.array([[0.0, 1.0], [0.0, -1.0]])
    assert label_nodes(scores, np.zeros((0, 2), int), np.zeros(0)).tolist() == [1, 0]


@pytest.mark.parametrize("seed", range(3))
def test_weights_of_nodes_multiply_their_loss(seed):
    """The loss-augmented best is that of enumeration, with the loss of each node weighted."""
    rng = np.random.default_rng(seed)
    n = 6
    _, edges, features = random_network(rng, n, 2)
    x = CutInput(rng.normal(size=(n, 2)), edges, features[:, None])
    gold, weights = rng.integers(0, 2, n), np.array([0.0, 1.0, 2.0, 0.5, 0.0, 1.0])
    model = CutModel(features=2, edge_features=1)
    example = model.example(x, CutLabels(gold, weights), Hamming())
    assert example.loss(example.gold) == 0.0
    w = np.array([0.3, -0.7, 0.4])
    j, k = edges.T

    def augmented(y):
        y = np.array(y)
        score = (x.nodes @ w[:2]) @ y - w[2] * features[y[j] != y[k]].sum()
        return score + weights @ (y != gold)

    best = max(map(augmented, product((0, 1), repeat=n)))
    own = augmented(gold)
    assert example.violator(w)[1] == pytest.approx(best - own)


def test_bad_weights_of_nodes_are_refused():
    x = CutInput(np.ones((2, 1)), [[0, 1]])
    with pytest.raises(ModelError, match="2 finite numbers >= 0"):
        CutModel(1).example(x, CutLabels([0, 1], [1.0, -1.0]), Hamming())


def test_unknown_labels_are_taken_from_the_nearest_node():
    edges = np.array([[0, 1], [1, 2], [3, 4]])
    assert fill_unknown(np.array([1, -1, -1, -1, -1]), edges).tolist() == [1, 1, 1, 1, 1]
    with pytest.raises(ModelError, match="no label is known"):
        fill_unknown(np.array([-1, -1]), np.array([[0, 1]]))


def stripes(seed, n=200):
    """A line of nodes in runs of 20 of one label, seen through noise; some labels unknown."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(rng.permutation(np.arange(n // 20) % 2), 20)
    nodes = np.column_stack([labels + rng.normal(0.0, 0.8, n), rng.normal(size=n)])
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    known = np.where(rng.random(n) < 0.1, -1, labels)
    return Scene(nodes, edges, np.ones((n - 1, 1)), known), labels


@pytest.mark.parametrize(
    ("trainer", "jointly"),
    [
        (Subgradient(C=0.1, max_iterations=30), False),
        (None, True),
        (AveragedPerceptron(max_iterations=20), True),
        (DualExtragradient(max_iterations=40), False),
    ],
)
def test_prices_learnt_make_fewer_errors_than_nodes_alone(trainer, jointly):
    scenes = [stripes(seed)[0] for seed in range(8)]
    model = train_segmenter(scenes, LABELS, SegmenterSettings(trainer, jointly=jointly))
    alone = fit_classifier(scenes, 2, 1.0)
    unseen = [stripes(seed) for seed in range(100, 110)]
    gold = [scene._replace(labels=labels) for scene, labels in unseen]
    independent = mean_error(gold, [alone.scores(scene.nodes).argmax(axis=1) for scene in gold])
    network = mean_error(gold, [model.segment(scene) for scene in gold])
    assert model.prices[0] > 0.0
    assert network < 0.5 * independent


def test_scores_that_training_spoils_stay_as_they_were(monkeypatch):
    scenes = [stripes(seed)[0] for seed in range(6)]
    wrong = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])  # labels exchanged
    monkeypatch.setattr(training, "_train", lambda *_: (wrong, np.ones(1)))
    model = train_segmenter(scenes, LABELS, SegmenterSettings(jointly=False))
    unseen, labels = stripes(100)
    gold = unseen._replace(labels=labels)
    assert mean_error([gold], [model.segment(gold)]) < 0.2


def test_files_of_models_keep_them(tmp_path):
    scene, _ = stripes(0)
    model = train_segmenter([scene, stripes(1)[0]], LABELS, features={"of": "stripes"})
    model.save(tmp_path / "model")
    again = Segmenter.load(tmp_path / "model")
    assert again.labels == LABELS
    assert again.features == {"of": "stripes"}
    assert (again.segment(scene) == model.segment(scene)).all()
    with pytest.raises(ModelError, match="3 features of nodes and 1 of edges, the model 2 and 1"):
        again.segment(scene._replace(nodes=np.zeros((200, 3))))
    settings, arrays = read_model(tmp_path / "model", "segmenter")
    del arrays["prices"]
    write_model(tmp_path / "model", "segmenter", settings, arrays)
    with pytest.raises(ModelError, match=r"damaged or no file of a segmenter .*prices"):
        Segmenter.load(tmp_path / "model")


def test_what_cannot_be_learnt_from_is_said():
    scene, _ = stripes(0)
    two = SegmenterSettings(jointly=False)
    with pytest.raises(ModelError, match="at least two labelled scenes"):
        train_segmenter([scene], LABELS, two)
    with pytest.raises(ModelError, match="without labels"):
        train_segmenter([scene._replace(labels=None)] * 2, LABELS, two)
    only = scene._replace(labels=np.zeros(200, int))
    with pytest.raises(ModelError, match="of 2 labels only 1 occur"):
        train_segmenter([only, only], LABELS, two)
