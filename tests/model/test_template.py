"""Templates: one structure for many sizes, against graphs that are written one by one."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import assent as at

LABELS = ("none", "person", "place")


def write(words: int, relations: int) -> at.FactorGraph:
    """Labels of words, relations that need some; most factors and all variables have names."""
    g = at.FactorGraph()
    label = g.categorical(words, states=LABELS, name="label")
    related = g.binary(relations, name="related")
    g.add(at.Dense(label[:-1], label[1:], scores=np.eye(3)), name="follows")
    g.add(at.Pair(related[:-1], related[1:], scores=0.0), name="together")
    ends = np.arange(relations) % words
    g.add(at.Implies(related, label[ends] == "person"))
    g.add(at.AtMost(max(1, words // 3), label == "person"))
    return g


def instance(rng: np.random.Generator) -> tuple[tuple[int, int], dict[str, np.ndarray]]:
    words, relations = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    return (words, relations), {
        "label": rng.normal(size=(words, len(LABELS))),
        "related": rng.normal(size=relations),
        "follows": rng.normal(size=(len(LABELS), len(LABELS))),
        "together": rng.normal(size=relations - 1),
    }


def written_with(sizes: tuple[int, int], scores: dict[str, np.ndarray]) -> at.FactorGraph:
    """A graph of its own, in which these are the scores that were written."""
    words, relations = sizes
    g = at.FactorGraph()
    label = g.categorical(words, states=LABELS, scores=scores["label"], name="label")
    related = g.binary(relations, scores=scores["related"], name="related")
    g.add(at.Dense(label[:-1], label[1:], scores=scores["follows"]))
    g.add(at.Pair(related[:-1], related[1:], scores=scores["together"]))
    g.add(at.Implies(related, label[np.arange(relations) % words] == "person"))
    g.add(at.AtMost(max(1, words // 3), label == "person"))
    return g


@pytest.fixture
def instances():
    rng = np.random.default_rng(18)
    return [instance(rng) for _ in range(40)]


def test_answers_are_those_of_graphs_written_one_by_one(instances):
    template = at.Template(write)
    graphs = [template(*sizes) for sizes, _ in instances]
    assert len({id(graph) for graph in graphs}) == len({sizes for sizes, _ in instances}) < 40
    results = at.decode_many(graphs, exact=True, scores=[scores for _, scores in instances])
    alone = at.decode_many([written_with(*each) for each in instances], exact=True)
    assert results.values == pytest.approx(alone.values, abs=1e-9)
    for mine, its in zip(results, alone, strict=True):
        assert mine["label"].tolist() == its["label"].tolist()
        assert mine["related"].tolist() == its["related"].tolist()
        assert mine.certificate.verify()


def test_decode_takes_its_graphs_and_starts_warm(instances):
    template = at.Template(write)
    sizes, scores = instances[0]
    first = at.decode(template(*sizes), scores=scores)
    again = at.decode(template(*sizes), scores=scores, warm_start=first)
    assert first.value == pytest.approx(at.decode(written_with(sizes, scores)).value, abs=1e-6)
    assert again.value == pytest.approx(first.value, abs=1e-6)


def test_a_size_is_written_once():
    asked = []

    @at.Template
    def template(*sizes):
        """Documented."""
        asked.append(sizes)
        return write(*sizes)

    assert template(3, 2) is template(3, np.int64(2)) is not template(2, 3)
    assert asked == [(3, 2), (2, 3)]
    assert template.__doc__ == "Documented."
    assert (
        repr(template) == "<Template: 2 of at most 256 sizes, last template(3, 2), template(2, 3)>"
    )


def test_what_the_function_scores_stands_until_replaced():
    template = at.Template(lambda: written_with((1, 2), scores))
    scores = {"label": np.array([[0.0, 5.0, 0.0]]), "related": np.array([1.0, 2.0]),
              "follows": np.zeros((3, 3)), "together": np.array([4.0])}  # fmt: skip
    assert at.decode(template()).value == 12.0
    assert at.decode(template(), scores={"related": [-9.0, 0.0]}).value == 5.0
    assert at.decode(template()).value == 12.0


def test_as_many_sizes_are_kept_as_asked():
    template = at.Template(write, keep=2)
    first, second = weakref.ref(template(2, 2)), weakref.ref(template(3, 2))
    template(2, 2)
    third = template(4, 2)
    gc.collect()
    assert second() is None
    assert template(2, 2) is first() and template(4, 2) is third


def test_threads_share_a_template():
    written, together, found = [], threading.Barrier(8), []

    def slow(words):
        written.append(words)
        return write(words, 2)

    template = at.Template(slow)

    def ask():
        together.wait()
        found.extend(template(2 + number % 3) for number in range(30))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(written) == [2, 3, 4]
    assert len(found) == 240 and len({id(graph) for graph in found}) == 3


def test_a_function_may_ask_for_smaller_sizes():
    @at.Template
    def rows(count):
        g = at.FactorGraph()
        if count == 1:
            g.add(at.AtMostOne(g.binary(3, name="x")))
        else:
            g.include(rows(1), name="last")
            g.include(rows(count - 1), name="first")
        return g

    assert rows(4).size == 12


@pytest.mark.parametrize(
    "change",
    [
        lambda g: g.fix(g["related"][0], 1),
        lambda g: g.add(at.AtMostOne(g["related"])),
        lambda g: g.add_constant(1.0),
        lambda g: g.binary(2),
    ],
)
def test_a_shared_graph_stays_as_it_was_written(change):
    template = at.Template(write)
    change(template(3, 2))
    with pytest.raises(at.ModelError, match=r"the graph of write\(3, 2\) was changed"):
        template(3, 2)


def test_other_forbidden_values_are_compiled_again_and_told():
    template = at.Template(write)
    scores = np.zeros((3, 3))
    scores[0, 0] = -np.inf
    with pytest.warns(at.RecompileWarning):
        result = at.decode(template(3, 2), scores={"label": scores})
    assert result["label"][0] != 0
    assert template(3, 2) is template(3, 2)


def test_wrong_uses_are_told():
    template = at.Template(write)
    for make, error, words in (
        (lambda: at.Template(write(2, 2)), TypeError, "made of a function of sizes"),
        (lambda: at.Template(write, keep=0), ValueError, "keep is a whole number >= 1"),
        (lambda: at.Template(write, keep=2.0), ValueError, "keep is a whole number >= 1"),
        (lambda: template([3], 2), TypeError, "sizes are whole numbers.*scores are given to"),
        (lambda: template(np.zeros(3), 2), TypeError, "sizes are whole numbers"),
        (lambda: template(-3, 2), at.ModelError, "label: a shape is made of whole numbers"),
        (lambda: template(3), TypeError, "relations"),
        (lambda: at.Template(lambda n: n)(3), TypeError, r"\(3\) must return a FactorGraph, got 3"),
    ):
        with pytest.raises(error, match=words):
            make()


def test_wrong_scores_name_their_problem():
    template = at.Template(write)
    good = {"related": np.zeros(2)}
    for bad, error, words in (
        ({"lable": np.zeros((3, 3))}, KeyError, "nothing is called 'lable'; there are label"),
        ({"label": np.zeros((4, 3))}, at.ModelError, r"scores have shape \(4, 3\), expected"),
        ([1.0], TypeError, "scores is a dict"),
    ):
        with pytest.raises(error, match=words) as caught:
            at.decode_many([template(3, 2)] * 3, scores=[good, good, bad])
        assert caught.value.__notes__ == ["in the scores of problem 2"]
