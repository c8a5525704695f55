"""The parser in rules: against all trees of short sentences, and a graph written by hand."""

from __future__ import annotations

import inspect
from itertools import product

import numpy as np
import pytest

import assent as at
from assent import logic
from assent.logic import dependency_parser
from assent.logic.dependency_parser import PartScores, parser
from tests.oracles.integer_program import integer_optimum
from tests.oracles.sweep import sweep_size

LONG = sweep_size() >= 1000


def random_scores(rng, n, spread=0.3):
    def draw(*shape):
        return spread * rng.normal(size=shape)

    return PartScores(
        rng.normal(size=(n + 1, n)), draw(n + 1, n, n), draw(n + 1, n, n), draw(n + 1, n + 1, n),
        draw(2, n + 1, n + 2, n + 2), draw(n + 1, n), draw(n + 1, n),
    )  # fmt: skip


def trees(n):
    """Heads of all trees over n words."""
    for heads in product(range(n + 1), repeat=n):
        if all(0 in climb(heads, m) for m in range(1, n + 1)):
            yield heads


def climb(heads, m):
    """A word and all its ancestors; no root among them if there is a cycle."""
    seen = []
    while m not in seen:
        seen.append(m)
        if m == 0:
            break
        m = heads[m - 1]
    return seen


def tree_score(scores, heads):
    """The score of a tree, part by part, in the plainest way."""
    n = len(heads)
    head = dict(enumerate(heads, start=1))
    total = sum(scores.arc[head[m], m - 1] for m in head)
    for m, s in product(head, head):
        if m < s and head[m] == head[s]:
            total += scores.sibling[head[m], m - 1, s - 1]
    total += sum(scores.grandparent[head[head[m]], head[m] - 1, m - 1] for m in head if head[m])
    total += sum(scores.head_bigram[head[m - 1], head[m], m - 1] for m in head if m > 1)
    for h, side in product(range(n + 1), (0, 1)):
        sign, size = (1, n - h) if side else (-1, max(h - 1, 0))
        met = [i for i in range(1, size + 1) if head[h + sign * i] == h]
        for i, j in zip([0, *met], [*met, size + 1], strict=True):
            total += scores.next_sibling[side, h, i, j]
    for m in head:
        inside = range(min(head[m], m) + 1, max(head[m], m))
        if any(head[m] not in climb(heads, c) for c in inside):
            total += scores.nonprojective[head[m], m - 1]
    return total + sum(scores.path[a, d - 1] for d in head for a in climb(heads, d))


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_optimum_is_that_of_all_trees(n):
    rng = np.random.default_rng(n)
    for _ in range(6 if n < 5 else 2):
        scores = random_scores(rng, n)
        model = parser(scores)
        best = max(trees(n), key=lambda heads: tree_score(scores, heads))
        value, full = integer_optimum(model.graph)
        assert value == pytest.approx(tree_score(scores, best))
        arcs = model.graph["arc"].codes
        assert tuple(model.heads(full[arcs])) == best
        assert at.decode(model.graph, at.LinearProgram()).bound >= value - 1e-6


@pytest.mark.parametrize("n", range(1, 13))
def test_every_length_has_an_answer(n):
    rng = np.random.default_rng(n)
    model = parser(random_scores(rng, n))
    heads = [int(rng.integers(0, m)) for m in range(1, n + 1)]
    arcs = [(h, m) for m, h in enumerate(heads, start=1)]
    model.arc.observe(arcs, closed=True)
    compiled = model.graph.compile()
    assert compiled.conflict is None
    assert at.decode(model.graph).feasible


def test_a_cycle_is_no_tree():
    model = parser(PartScores(np.zeros((4, 3))))
    model.arc.observe([(2, 1), (1, 2), (0, 3)], closed=True)
    assert at.decode(model.graph).status.name == "INFEASIBLE"


def test_the_table_as_printed_has_no_trees():
    """``flow(h, m, m) := TRUE`` asks for all arcs at once; ``flow = arc`` follows instead."""
    model = parser(PartScores(np.zeros((3, 2))))
    places = np.array([(h, m, d) for h in range(3) for m in (1, 2) for d in (1, 2)
                       if h not in (m, d)])  # fmt: skip
    flow = logic.predicate(model.graph["flow"], range(3), range(1, 3), range(1, 3), at=places)
    h, m = logic.variables("h m")
    model.rules.add(flow(h, m, m) == model.arc(h, m), where=h != m)
    assert at.decode(model.graph).feasible
    model.rules.add(flow(h, m, m), where=h != m)
    assert at.decode(model.graph).status.name == "INFEASIBLE"


def test_the_rules_fit_on_a_page():
    source = inspect.getsource(dependency_parser)
    assert len(source.split("# [rules]\n")[1].split("# [end]")[0].splitlines()) <= 60


# ---------------------------------------------------------------- the same graph by hand


def graph_by_hand(scores):
    """The same model, factor by factor."""
    n = scores.arc.shape[1]
    g = at.FactorGraph()
    words, heads = range(1, n + 1), range(n + 1)
    arc = g.binary(scores=scores.arc, name="arc")
    flow = g.binary((n + 1, n, n), name="flow")
    path = g.binary(scores=scores.path, name="path")
    for h, m in product(heads, words):
        if h == m:
            g.fix(arc[h, m - 1], 0)
        for d in words:
            if d == h:
                g.fix(flow[h, m - 1, d - 1], 0)
            g.add(at.Implies(flow[h, m - 1, d - 1], arc[h, m - 1]))
    for m in words:
        g.add(at.ExactlyOne(arc[:, m - 1]))
        g.fix(path[m, m - 1], 1)
        g.fix(path[0, m - 1], 1)
        for d in words:
            g.add(at.AtMostOne(flow[:, m - 1, d - 1], output=path[m, d - 1]))
    for h, d in product(heads, words):
        if h != d:
            g.add(at.AtMostOne(flow[h, :, d - 1], output=path[h, d - 1]))
    add_pairs_by_hand(g, arc, scores)
    add_siblings_by_hand(g, arc, scores.next_sibling, n)
    crossing = g.binary(scores=scores.nonprojective, name="crossing")
    for h, m in product(heads, words):
        inside = range(min(h, m) + 1, max(h, m))
        if h == m or not inside:
            g.fix(crossing[h, m - 1], 0)
            continue
        some = g.binary(())
        g.add(at.AtLeastOne([~path[h, c - 1] for c in inside], output=some))
        g.add(at.All([arc[h, m - 1], some], output=crossing[h, m - 1]))
    return g


def add_pairs_by_hand(g, arc, scores):
    n = scores.arc.shape[1]
    words, heads = range(1, n + 1), range(n + 1)
    for h, m, s in product(heads, words, words):
        if m < s:
            g.add(at.Pair(arc[h, m - 1], arc[h, s - 1], scores=scores.sibling[h, m - 1, s - 1]))
        if h != s and m != s:  # h is the grandparent, m the head, s the modifier
            g.add(at.Pair(arc[h, m - 1], arc[m, s - 1],
                          scores=scores.grandparent[h, m - 1, s - 1]))  # fmt: skip
    for b, h, m in product(heads, heads, words):
        if m > 1:
            g.add(at.Pair(arc[b, m - 2], arc[h, m - 1], scores=scores.head_bigram[b, h, m - 1]))


def add_siblings_by_hand(g, arc, scores, n):
    for h, side in product(range(n + 1), (0, 1)):
        sign, size = (1, n - h) if side else (-1, max(h - 1, 0))
        last = g.binary((size + 1, size + 1))
        then = g.binary(scores=scores[side, h, : size + 1, : size + 2])
        for i, j in product(range(size + 1), range(size + 2)):
            if i >= j:
                g.fix(then[i, j], 0)
            if j <= size and i > j:
                g.fix(last[i, j], 0)
        g.fix(last[0, 0], 1)
        for i, j in product(range(size + 1), range(size + 1)):
            if i <= j:
                stay = [last[i, j + 1]] if j < size else []
                g.add(at.AtMostOne([*stay, then[i, j + 1]], output=last[i, j]))
        for j in range(1, size + 1):
            own = arc[h, h + sign * j - 1]
            g.add(at.Agree(last[j, j], own))
            g.add(at.ExactlyOne(last[: j + 1, j]))
            g.add(at.AtMostOne(then[:j, j], output=own))


LENGTHS = [5, 6, 7, 8] if not LONG else [*range(5, 13), *range(5, 13), 5, 6, 7, 8]


@pytest.mark.parametrize(("number", "n"), list(enumerate(LENGTHS)))
def test_the_relaxation_is_that_of_a_graph_by_hand(number, n):
    scores = random_scores(np.random.default_rng(100 + number), n)
    rules = at.decode(parser(scores).graph, at.LinearProgram()).bound
    by_hand = at.decode(graph_by_hand(scores), at.LinearProgram()).bound
    assert rules == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_flows_relax_as_the_tree_factor_does(n):
    full = random_scores(np.random.default_rng(n), n)
    scores = PartScores(full.arc, full.sibling, full.grandparent)
    flows = at.decode(parser(scores).graph, at.LinearProgram()).bound
    g = at.FactorGraph()
    arc = g.binary(scores=scores.arc, name="arc")
    g.add(at.Arborescence(arc))
    g.fix(arc[np.arange(1, n + 1), np.arange(n)], 0)
    add_pairs_by_hand(g, arc, scores_with_zero_bigrams(scores))
    tree = at.decode(g, at.AD3(max_iterations=20000, gap_tolerance=1e-9, residual_tolerance=1e-9))
    assert tree.bound == pytest.approx(flows, abs=1e-4)


def scores_with_zero_bigrams(scores):
    n = scores.arc.shape[1]
    zero = np.zeros((n + 1, n + 1, n))
    return PartScores(scores.arc, scores.sibling, scores.grandparent, zero)
