"""A sentence's AD3 run against all trees, and against the same problem as a graph."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.apps.parsing.sentence_graph import graph
from assent.apps.parsing.turbo import TurboRun
from assent.kernels.parsing import sentence_parts
from tests.oracles.sentence_trees import list_trees

SECOND_ORDER = (True, True, False)  # siblings, grandparents, grand-siblings
THIRD_ORDER = (True, True, True)


def random_sentence(words, kinds, seed):
    """Arcs, automata and scores; the chain of all words is among the arcs."""
    rng = np.random.default_rng(seed)
    allowed = rng.random((words + 1, words + 1)) < 0.7
    allowed[np.arange(words), np.arange(1, words + 1)] = True
    arcs = sentence_parts.make_arcs(allowed)
    automata = sentence_parts.make_automata(arcs, *kinds)
    inner = 0.4 * rng.normal(size=automata.entry[-1])
    return arcs, automata, rng.normal(size=len(arcs.head)), inner


def score_of(heads, arcs, automata, scores, inner):
    """What a tree earns, part by part as the papers define them; -inf for arcs that are not there.

    Independent of the kernels: modifiers are listed per head and side, outwards.
    """
    place = {(int(h), int(m)): a for a, (h, m) in enumerate(zip(*arcs[:2], strict=True))}
    chosen = [(head, word) for word, head in enumerate(heads, 1)]
    if any(arc not in place for arc in chosen):
        return -np.inf
    total = sum(scores[place[arc]] for arc in chosen)
    for u, head in enumerate(automata.head):
        own = arcs.modifier[automata.arc[automata.begin[u] : automata.begin[u + 1]]].tolist()
        k, above = len(own), int(automata.above[u])
        parts = inner[automata.entry[u] : automata.entry[u + 1]]
        modifiers = [i for i, word in enumerate(own, 1) if heads[word - 1] == head]
        number = 0
        if above:
            candidates = [h for h, m in place if m == head]
            number = sorted(candidates).index(heads[head - 1])
            total += sum(parts[number * k + i - 1] for i in modifiers)
        tables = parts[above * k :].reshape(-1, (k + 1) * (k + 2) // 2)
        table = tables[number if len(tables) > 1 else 0]
        for before, after in zip([0, *modifiers], [*modifiers, k + 1], strict=True):
            total += table[after * (after - 1) // 2 + before]
    return total


@pytest.mark.parametrize("kinds", [SECOND_ORDER, THIRD_ORDER, (True, False, False)])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize(("words", "seed"), [(1, 0), (2, 1), (3, 2), (4, 3), (4, 4), (5, 5)])
def test_trees_and_bounds(words, seed, single_root, kinds):
    arcs, automata, scores, inner = random_sentence(words, kinds, seed)
    trees = list_trees(words, single_root=single_root)
    values = [score_of(heads, arcs, automata, scores, inner) for heads in trees]
    found = TurboRun(arcs, automata, single_root, scores, inner).solve(at.AD3(max_iterations=300))
    assert found.heads.tolist() in trees.tolist()
    assert found.value == pytest.approx(score_of(found.heads, arcs, automata, scores, inner))
    assert found.bound >= max(values) - 1e-9
    if found.proven:
        assert found.value == pytest.approx(max(values), abs=1e-5)
    # The relaxed answer is worth no less than the best tree, and has one head per word.
    assert scores @ found.marginals + inner @ found.inner >= max(values) - 1e-2
    heads = np.bincount(arcs.modifier, found.marginals)[1:]
    np.testing.assert_allclose(heads, 1.0, atol=1e-2)


@pytest.mark.parametrize("seed", range(4))
def test_graph_is_the_same_problem(seed):
    arcs, automata, scores, inner = random_sentence(5, THIRD_ORDER, seed)
    own = graph(arcs, automata, True, scores, inner)
    trees = list_trees(5, single_root=True)
    best = max(score_of(heads, arcs, automata, scores, inner) for heads in trees)
    assert at.decode(own, exact=True).value == pytest.approx(best)


def test_value_of_a_tree_is_that_of_its_parts():
    arcs, automata, scores, inner = random_sentence(5, THIRD_ORDER, 7)
    for heads in list_trees(5)[::11]:
        expected = score_of(heads, arcs, automata, scores, inner)
        if expected > -np.inf:
            parts = sentence_parts.tree_inner_parts(arcs, automata, heads)
            found = scores @ sentence_parts.tree_arcs(arcs, heads) + inner @ parts
            assert found == pytest.approx(expected)
            value = sentence_parts.tree_value(arcs, automata, heads, scores, inner)
            assert value == pytest.approx(expected)
