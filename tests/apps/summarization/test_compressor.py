"""A compressor against enumeration, its files, and what summaries make of it."""

import itertools
import json

import numpy as np
import pytest

import assent as at
from assent.apps.model_file import read_model, write_model
from assent.apps.summarization import (
    Compressor,
    compression_scores,
    phrase_deletions,
    summarize,
    train_compressor,
)
from assent.apps.summarization.compressor import KIND
from assent.errors import ModelError
from assent.io import Sentence
from assent.learn import LogLikelihood


def sentence(words, heads, labels):
    tags = [label.upper() for label in labels]
    return Sentence.from_words(words).with_columns(xpos=tags, heads=heads, deprels=labels)


QUIET = sentence(["Very", "quiet", "rooms"], [2, 3, 0], ["advmod", "amod", "root"])
NOT = sentence(["Rooms", "never", "rained", "today"], [3, 3, 0, 3],
               ["nsubj", "advmod", "root", "obl"])  # fmt: skip
KEPT = [np.array([[0, 1, 1], [0, 0, 1], [0, 0, 1]], bool),
        np.array([[1, 0, 1, 0], [1, 0, 1, 1], [1, 1, 1, 0]], bool)]  # fmt: skip


@pytest.fixture(scope="module")
def learnt():
    trainer = LogLikelihood(C=1.0, max_iterations=20)
    return train_compressor([QUIET, NOT] * 2, KEPT * 2, trainer=trainer)


def distribution(compressor, tree):
    """Probabilities of all sets of kept words, from the weights as they are documented."""
    x = compressor.input(tree)
    blocks = compressor.model.named(compressor.weights)
    nodes = x.nodes @ blocks["nodes"]
    edges = np.einsum("ne,epc->npc", x.edges.toarray(), blocks["edges"])
    found = {}
    for truth in itertools.product((0, 1), repeat=len(tree)):
        score = sum(nodes[i, truth[i]] for i in range(len(tree)))
        score += sum(edges[i, truth[h], truth[i]] for i, h in enumerate(x.parents) if h >= 0)
        found[truth] = np.exp(score)
    total = sum(found.values())
    return {truth: weight / total for truth, weight in found.items()}


@pytest.mark.parametrize("tree", [QUIET, NOT])
def test_probabilities_are_those_of_all_compressions(learnt, tree):
    every = distribution(learnt, tree)
    expected = sum(np.array(truth) * p for truth, p in every.items())
    assert learnt.probabilities(tree) == pytest.approx(expected)
    scores, rules = learnt.deletions(tree), phrase_deletions(tree)
    assert np.isfinite(scores).any()
    for word, head in enumerate(tree.heads):
        deleted = sum(p for t, p in every.items() if head and not t[word] and t[head - 1])
        kept = sum(p for t, p in every.items() if head and t[word] and t[head - 1])
        if rules[word] == -np.inf or deleted < 0.15 * (deleted + kept):
            assert scores[word] == -np.inf
        else:
            assert scores[word] == pytest.approx(min(np.log(deleted / kept), 0.0) + rules[word])


def test_it_is_the_distribution_of_a_compression_factor(learnt):
    """The same scores as a factor: its best vertex is the most probable compression."""
    x = learnt.input(NOT)
    blocks = learnt.model.named(learnt.weights)
    nodes = x.nodes @ blocks["nodes"]
    edges = x.edges.toarray() * (np.asarray(x.parents) >= 0)[:, None]
    (cut, orphan, both, none) = (
        edges @ blocks["edges"][:, head, own] for head, own in ((1, 0), (0, 1), (1, 1), (0, 0))
    )
    # Scores of both kept go to the word, relative to both deleted.
    graph = at.FactorGraph()
    kept = graph.binary(len(NOT), scores=nodes[:, 1] - nodes[:, 0] + both - none)
    graph.add(at.Compression(kept, NOT.heads, deletions=cut - none, orphans=orphan - both))
    every = distribution(learnt, NOT)
    assert tuple(at.decode(graph, exact=True)[kept]) == max(every, key=every.get)


def test_as_much_is_kept_as_people_kept(learnt):
    trees = [QUIET, NOT] * 2
    found = compression_scores(KEPT * 2, [learnt.compress(tree) for tree in trees])
    people = np.concatenate(KEPT, axis=1).mean()
    assert found.rate == pytest.approx(people, abs=1 / 7 + 1e-9)
    assert found.accuracy > compression_scores(KEPT * 2, [np.ones(len(t), bool) for t in trees])[3]


def test_files(learnt, tmp_path):
    file = tmp_path / "compressor.model"
    learnt.save(file)
    again = Compressor.load(file)
    assert again.probabilities(NOT) == pytest.approx(learnt.probabilities(NOT), abs=0.02)
    settings, arrays = read_model(file, KIND)
    write_model(file, KIND, settings, {"weights": arrays["weights"][1:]})
    with pytest.raises(ModelError, match="weights"):
        Compressor.load(file)
    write_model(file, KIND, {}, arrays)
    with pytest.raises(ModelError, match="damaged"):
        Compressor.load(file)


def test_summaries_with_learnt_deletions(learnt):
    found = summarize([QUIET, NOT], 4, deletions=learnt.deletions)
    assert found.words <= 4 and found.value <= found.bound + 1e-9


def test_bad_sentences():
    with pytest.raises(ModelError, match="no sentences"):
        train_compressor([], [])
    with pytest.raises(ModelError, match=r"\(people, 3\), got \(3,\)"):
        train_compressor([QUIET], [np.ones(3, bool)])
    with pytest.raises(ModelError, match="no sentences to find the threshold by"):
        train_compressor([QUIET], KEPT[:1], dev=([], []))


def test_json_lines(tmp_path):
    """The command line trains, tells the scores, and summarizes with the model."""
    from click.testing import CliRunner

    from assent.apps import pretrained
    from assent.cli import main

    if not pretrained.ENGLISH.is_file():
        pytest.skip("this installation has no English model")
    rows = [
        ("d.1", "The very old man left today .", ["The man left ."]),
        ("d.2", "A very big dog left today .", ["A dog left .", "A dog left today ."]),
    ]
    lines = [json.dumps({"id": i, "text": t, "summaries": s}) for i, t, s in rows]
    file, model = tmp_path / "train.jsonl", tmp_path / "compressor.model"
    file.write_text("\n".join(lines))
    arguments = ["train", "compressor", "--train", str(file), "--dev", str(file), "--output",
                 str(model)]  # fmt: skip
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "development: rate " in done.output
    done = CliRunner().invoke(
        main, ["summarize", "--compressor", str(model)], input="The very old man left."
    )
    assert done.exit_code == 0, done.output
    assert "man left" in done.output
    written = tmp_path / "topics" / "men" / "summaries"
    arguments += ["--summaries", str(tmp_path / "topics"), "--words", "3", "--quiet"]
    written.mkdir(parents=True)
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2 and "men is no collection with summaries" in done.output
    (written / "one.txt").write_text("An old man.")
    (tmp_path / "topics" / "men" / "text.txt").write_text("\n")
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2 and "its texts have no words" in done.output
    (tmp_path / "topics" / "men" / "text.txt").write_text("An old man left. An old man sat.")
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, done.output) == (0, "")
    assert Compressor.load(model).summaries is not None
    done = CliRunner().invoke(
        main, ["summarize", "--compressor", str(model)], input="The very old man left."
    )
    assert done.exit_code == 0 and "man left" in done.output
    done = CliRunner().invoke(main, ["summarize", "--compressor", str(file)], input="Go.")
    assert done.exit_code == 2 and "Traceback" not in done.output
