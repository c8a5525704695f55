"""Joint feature maps: the same linear map in every form, and clear errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from assent.errors import ModelError
from assent.models import (
    ChainModel,
    Hamming,
    LabelCosts,
    LinearExample,
    TreeInput,
    TreeModel,
    TreeSpace,
    WeightedHamming,
)
from tests.learn.problems import FAMILIES, vertices


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(10))
def test_scores_and_features_are_one_matrix(family, seed):
    rng = np.random.default_rng(seed)
    examples = FAMILIES[family](rng)
    for example in examples:
        w, z = rng.normal(size=examples.size), rng.normal(size=example.space.size)
        np.testing.assert_allclose(example.scores(w), example.matrix @ w, atol=1e-12)
        full = np.zeros(examples.size)
        full[example.columns] = example.features(z)
        np.testing.assert_allclose(full, example.matrix.T @ z, atol=1e-12)


def test_scores_are_what_the_weights_say():
    """Of a chain of two, by hand."""
    rng = np.random.default_rng(0)
    model = ChainModel(("a", "b"), 2)
    w = rng.normal(size=model.size)
    named = model.named(w)
    x, y = rng.normal(size=(2, 2)), ["b", "a"]
    example = model.example(x, y, Hamming())
    by_hand = (
        x[0] @ named["nodes"][:, 1] + x[1] @ named["nodes"][:, 0]
        + named["edges"][1, 0] + named["start"][1] + named["stop"][0]
    )  # fmt: skip
    assert example.scores(w) @ example.gold == pytest.approx(by_hand)


def test_tree_scores_are_what_the_weights_say():
    rng = np.random.default_rng(1)
    model = TreeModel(("a", "b"), 1, 2)
    w = rng.normal(size=model.size)
    named = model.named(w)
    x = TreeInput(rng.normal(size=(3, 1)), [-1, 0, 0], rng.normal(size=(3, 2)))
    example = model.example(x, ["b", "a", "b"], Hamming())
    by_hand = sum(x.nodes[v, 0] * named["nodes"][0, s] for v, s in enumerate([1, 0, 1]))
    for v, s in ((1, 0), (2, 1)):
        by_hand += x.edges[v] @ named["edges"][:, 1, s]
    assert example.scores(w) @ example.gold == pytest.approx(by_hand)


def test_sparse_inputs_mean_the_same():
    rng = np.random.default_rng(2)
    model = ChainModel((0, 1, 2), 20)
    dense = rng.normal(size=(4, 20)) * (rng.random((4, 20)) < 0.2)
    y = [0, 2, 1, 1]
    one = model.example(dense, y, Hamming())
    other = model.example(sparse.csr_array(dense), y, Hamming())
    w, z = rng.normal(size=model.size), rng.normal(size=one.space.size)
    np.testing.assert_allclose(one.scores(w), other.scores(w))
    full = np.zeros(model.size)
    full[other.columns] = other.features(z)
    np.testing.assert_allclose(full, one.features(z), atol=1e-12)
    np.testing.assert_allclose((one.matrix - other.matrix).toarray(), 0.0)
    assert len(other.columns) < model.size
    assert model.predict(dense, w).tolist() == model.predict(sparse.csr_array(dense), w).tolist()


@pytest.mark.parametrize("loss", [Hamming(), WeightedHamming(0.5, 3.0),
                                  LabelCosts([[0, 1, 2], [3, 0, 4], [5, 6, 0]])])  # fmt: skip
def test_losses_by_their_definition(loss):
    model = ChainModel((0, 1, 2), 1)
    gold = [0, 2, 1]
    example = model.example(np.ones((3, 1)), gold, loss)
    for z in vertices(example):
        nodes = z[:9].reshape(3, 3)
        states = nodes.argmax(axis=1)
        wrong = sum(int(a != b) for a, b in zip(states, gold, strict=True))
        if isinstance(loss, Hamming):
            expected = wrong
        elif isinstance(loss, WeightedHamming):
            expected = wrong * (0.5 + 3.0)
        else:
            expected = sum(loss.costs[b, a] for a, b in zip(states, gold, strict=True))
        assert example.costs @ z + example.constant == pytest.approx(expected)


def test_losses_of_literals():
    gold = np.array([1.0, 0.0, 1.0])
    for z in (gold, 1 - gold, np.array([1.0, 1.0, 0.0])):
        missed, extra = int((gold > z).sum()), int((gold < z).sum())
        for loss, expected in (
            (Hamming(), missed + extra),
            (WeightedHamming(1.0, 3.0), extra + 3 * missed),
            (LabelCosts([[0, 2], [5, 0]]), 2 * extra + 5 * missed),
        ):
            costs, constant = loss.literals(gold)
            assert costs @ z + constant == pytest.approx(expected)


def test_violator_is_the_best_output_with_its_loss():
    rng = np.random.default_rng(3)
    for example in FAMILIES["chain"](rng, 8):
        w = rng.normal(size=example.matrix.shape[1])
        _, value = example.violator(w)
        every = vertices(example)
        scores = example.matrix @ w
        expected = (every @ (scores + example.costs)).max() + example.constant
        assert value == pytest.approx(expected - scores @ example.gold)
        assert value >= 0.0


def test_shape_is_found_in_the_data():
    model = ChainModel().shaped([np.zeros((2, 5))], [["x", "a"]])
    assert (model.labels, model.features) == (("a", "x"), 5)
    tree = TreeModel().shaped([TreeInput(np.zeros((2, 3)), [-1, 0], np.zeros((2, 4)))], [[0, 1]])
    assert (tree.labels, tree.features, tree.edge_features) == ((0, 1), 3, 4)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.zeros((2, 3)), [0, 1], r"features of shape \(2, 3\), expected \(positions, 2\)"),
        (np.zeros((0, 2)), [], "at least one position"),
        (np.full((1, 2), np.nan), [0], "must be finite; there is a NaN"),
        (np.zeros((2, 2)), [0], "1 labels for 2 variables"),
        (np.zeros((1, 2)), [7], "label 7 is not among the model's labels"),
        (np.zeros(2), [0], "expected two dimensions"),
        ([["a", "b"]], [0], "features must be numbers"),
    ],
)
def test_wrong_examples_are_named(x, y, message):
    with pytest.raises(ModelError, match=message):
        ChainModel((0, 1), 2).example(x, y, Hamming())


def test_other_errors_are_clear():
    with pytest.raises(ModelError, match="ChainModel has no shape yet"):
        _ = ChainModel().size
    with pytest.raises(ModelError, match="expected \\(2, 3\\): a row per node"):
        TreeModel((0, 1), 1, 3).predict(TreeInput(np.zeros((2, 1)), [-1, 0], np.zeros((1, 3))),
                                        np.zeros(14))  # fmt: skip
    with pytest.raises(ModelError, match="takes a table"):
        LabelCosts([1.0, 2.0])
    with pytest.raises(ModelError, match="zero on the diagonal"):
        LabelCosts([[1.0, 2.0], [0.0, 0.0]])
    with pytest.raises(ModelError, match="LabelCosts has 2 states, the variables have 3"):
        LabelCosts(np.zeros((2, 2))).states([0], 3)
    with pytest.raises(ValueError, match="false_negative is a cost"):
        WeightedHamming(1.0, -1.0)


def test_own_examples_are_checked():
    space = TreeSpace([2], [-1])
    with pytest.raises(ModelError, match="a row per coordinate: 2"):
        LinearExample(np.eye(3), space, [1, 0], [0, 1])
    with pytest.raises(ModelError, match="features must be finite"):
        LinearExample(np.full((2, 1), np.inf), space, [1, 0], [0, 1])
    with pytest.raises(ModelError, match="gold: expected 2 finite numbers"):
        LinearExample(np.eye(2), space, [1, 0, 0], [0, 1])
    with pytest.raises(ModelError, match="not among the outputs of the model"):
        LinearExample(np.eye(2), space, [1, 1], [0, 0])
    assert not LinearExample(np.eye(2), space, [1, 1], [0, 0], outside=True).inside


def test_missing_questions_are_named():
    class Bare(TreeSpace):
        abilities = ("maximize", "project")

    from assent.models import Space

    with pytest.raises(TypeError, match="Bare cannot answer marginals; it answers maximize"):
        Space.marginals(Bare([2], [-1]), np.zeros(2))
    with pytest.raises(TypeError, match="Bare cannot answer rows"):
        Space.rows(Bare([2], [-1]))
