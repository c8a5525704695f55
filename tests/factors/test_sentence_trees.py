"""Trees over words and head automata: larger instances, accuracy, decoding, and the public face."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import assent as at
from benchmarks.instances import load_graph, load_references
from benchmarks.synthetic import sentence
from tests.oracles.sentence_trees import (
    best_by_networkx,
    grandparent_score,
    list_trees,
    sibling_score,
)

KINDS = [at.Arborescence, at.ProjectiveTree]


def tree_over(kind, words, **options):
    g = at.FactorGraph()
    return kind(g.binary((words + 1, words), name="arc"), **options)


def links(scores):
    """Scores ``[heads, words]`` in the order of a tree's literals."""
    return np.ascontiguousarray(scores.T).reshape(1, -1)


# ---------------------------------------------------------------- against independent oracles


@pytest.mark.parametrize("seed", range(6))
def test_arborescence_against_networkx(seed):
    rng = np.random.default_rng(seed)
    words = int(rng.integers(10, 30))
    scores = rng.normal(size=(words + 1, words))
    if seed % 2:
        scores = np.round(scores)  # many trees are best
    tree = tree_over(at.Arborescence, words)
    value, states = tree.maximize(links(scores), tree.scores)
    best, heads = best_by_networkx(scores)
    assert value[0] == pytest.approx(best)
    assert seed % 2 or states[0].tolist() == heads


@pytest.mark.parametrize("seed", range(3))
def test_a_single_root_is_the_best_of_all_roots(seed):
    rng = np.random.default_rng(seed)
    words = 9
    scores = rng.normal(size=(words + 1, words))
    scores[0] += 2.0  # every word would like to hang on the root
    best = -np.inf
    for root in range(words):
        only = scores.copy()
        only[0] -= 1e6
        only[0, root] += 1e6
        value, heads = best_by_networkx(only)
        assert heads.count(0) == 1
        best = max(best, value)
    tree = tree_over(at.Arborescence, words, single_root=True)
    value, states = tree.maximize(links(scores), tree.scores)
    assert value[0] == pytest.approx(best)
    assert (states[0] == 0).sum() == 1
    free, _ = tree_over(at.Arborescence, words).maximize(links(scores), tree.scores)
    assert free[0] > value[0] + 1.0  # the restriction matters


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_max_marginals_by_solving_again(kind, single_root):
    rng = np.random.default_rng(1)
    words = 12
    scores = rng.normal(size=(words + 1, words))
    tree = tree_over(kind, words, single_root=single_root)
    found = tree.max_marginals(links(scores), tree.scores)
    for word in range(words):
        for head in range(words + 1):
            only = scores.copy()
            only[:, word] = -np.inf
            only[head, word] = scores[head, word]
            value, _ = tree.maximize(links(only), tree.scores)
            assert found[word][0, head] == pytest.approx(value[0])


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_marginals_are_derivatives_of_the_log_partition(kind, single_root):
    rng = np.random.default_rng(2)
    words, step, temperature = 15, 1e-4, 0.7
    scores = rng.normal(size=(words + 1, words))
    tree = tree_over(kind, words, single_root=single_root)
    _, found, _ = tree.marginals(links(scores), tree.scores, temperature)
    assert np.allclose([p.sum() for p in found], 1.0, atol=1e-12)
    for _ in range(40):
        head, word = int(rng.integers(words + 1)), int(rng.integers(words))
        ends = []
        for sign in (1.0, -1.0):
            moved = scores.copy()
            moved[head, word] += sign * step
            ends.append(tree.marginals(links(moved), tree.scores, temperature)[0][0])
        assert found[word][0, head] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_the_log_partition_counts_trees(kind):
    """Cayley's formula for all trees; ternary trees' cousins for those without crossings."""
    numbers = {at.Arborescence: lambda n: (n + 1) ** (n - 1), at.ProjectiveTree: ternary}
    for words in (1, 2, 5, 20):
        tree = tree_over(kind, words)
        value, _, _ = tree.marginals(np.zeros((1, tree.size)), tree.scores)
        assert np.exp(value[0] - np.log(float(numbers[kind](words)))) == pytest.approx(1.0)


def ternary(words):
    """Projective trees over ``n`` words: binomial(3 n, n) / (2 n + 1)."""
    from math import comb

    return comb(3 * words, words) // (2 * words + 1)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_marginals_are_accurate_at_any_range_of_scores(kind, single_root):
    """Against listing all trees with 64-bit mantissas, where scores differ by 10^4 temperatures."""
    rng = np.random.default_rng(3)
    words = 5
    trees = list_trees(words, projective=kind is at.ProjectiveTree, single_root=single_root)
    tree = tree_over(kind, words, single_root=single_root)
    for trial in range(60):
        scores = rng.uniform(-1.0, 1.0, size=(words + 1, words))
        if trial % 2:  # near ties of the best trees, and cycles far better than any of them
            scores = np.round(scores, 1)
            a, b = rng.choice(words, 2, replace=False)
            scores[a + 1, b] = scores[b + 1, a] = 1.0
        scores *= 0.5e4
        scores += rng.normal(size=scores.shape)
        value, found, _ = tree.marginals(links(scores), tree.scores, 1.0)
        totals = scores[trees, np.arange(words)].astype(np.longdouble).sum(axis=1)
        weight = np.exp(totals - totals.max())
        assert value[0] == pytest.approx(float(totals.max() + np.log(weight.sum())), rel=1e-13)
        for word in range(words):
            wanted = np.bincount(trees[:, word], (weight / weight.sum()).astype(float), words + 1)
            assert np.abs(found[word][0] - wanted).max() <= 1e-8


def test_automata_of_many_modifiers_against_derivatives():
    rng = np.random.default_rng(4)
    g = at.FactorGraph()
    k, grandparents, step = 12, 5, 1e-4
    automaton = at.GrandparentAutomaton(
        g.binary(k), g.binary(grandparents), scores=rng.normal(size=(grandparents, k)),
        siblings=rng.normal(size=(grandparents, k + 2, k + 2)),
    )  # fmt: skip
    scores = rng.normal(size=(1, k + grandparents))
    value, places, parts = automaton.marginals(scores, automaton.scores)
    assert places[k].sum() == pytest.approx(1.0)
    for part in rng.choice(automaton.scores.shape[1], 30, replace=False):
        ends = []
        for sign in (1.0, -1.0):
            moved = automaton.scores.copy()
            moved[0, part] += sign * step
            ends.append(automaton.marginals(scores, moved)[0][0])
        assert parts[0, part] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7)
    cold, _, _ = automaton.marginals(scores, automaton.scores, 1e-3)
    best, _ = automaton.maximize(scores, automaton.scores)
    assert cold[0] == pytest.approx(best[0], abs=1e-2) and value[0] > best[0]


# ---------------------------------------------------------------- parsing


@pytest.mark.parametrize("grandparents", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_second_order_parsing_against_all_trees(kind, grandparents, seed):
    rng = np.random.default_rng(seed)
    words = 5
    n = words + 1
    scores, siblings = rng.normal(size=(n, words)), 0.5 * rng.normal(size=(n, n, n + 1))
    above = 0.5 * rng.normal(size=(n, n, n))
    g = at.FactorGraph()
    arc = g.binary((n, words), scores=scores, name="arc")
    g.add(kind(arc, single_root=True))
    if grandparents:
        at.add_grandparent_automata(g, arc, above, siblings)
    else:
        at.add_head_automata(g, arc, siblings)
    best = max(
        scores[heads, np.arange(words)].sum()
        + sibling_score(heads, siblings)
        + grandparents * grandparent_score(heads, above)
        for heads in list_trees(words, projective=kind is at.ProjectiveTree, single_root=True)
    )
    result = at.decode(g, at.AD3(max_iterations=2000))
    assert result.bound >= best - 1e-6 and result.value <= best + 1e-6
    assert result.certificate.verify()
    if result.status is at.Status.OPTIMAL:
        assert result.value == pytest.approx(best, abs=1e-5)
    heads = tuple(result[arc].argmax(axis=0))
    own = scores[heads, np.arange(words)].sum() + sibling_score(heads, siblings)
    own += grandparents * grandparent_score(heads, above)
    assert result.value == pytest.approx(own)


def test_three_in_a_row_against_all_sets_of_modifiers():
    rng = np.random.default_rng(3)
    k = 5
    own, triples = rng.normal(size=k), rng.normal(size=(k + 2,) * 3)
    siblings = rng.normal(size=(k + 2, k + 2))
    g = at.FactorGraph()
    arc = g.binary(scores=own, name="arc")
    handle = g.add(at.TriSiblingAutomaton(arc, scores=triples, siblings=siblings))
    best = -np.inf
    for chosen in product((0, 1), repeat=k):
        row = [0, *(b for b in range(1, k + 1) if chosen[b - 1]), k + 1]
        value = sum(own[b - 1] for b in row[1:-1]) + sum(siblings[a, b] for a, b in pairwise(row))
        best = max(
            best, value + sum(triples[abc] for abc in zip(row, row[1:], row[2:], strict=False))
        )
    result = at.decode(g)
    assert result.value == pytest.approx(best)
    rows, pairs = result.marginals[handle]
    assert result.value == pytest.approx(
        own @ result[arc] + (rows * triples).sum() + (pairs * siblings).sum()
    )


@pytest.mark.parametrize("seed", range(3))
def test_heads_of_neighbours_against_all_trees(seed):
    rng = np.random.default_rng(seed)
    words = 5
    scores = rng.normal(size=(words + 1, words))
    bigrams = rng.normal(size=(words - 1, words + 1, words + 1))
    g = at.FactorGraph()
    arc = g.binary(scores=scores, name="arc")
    g.add(at.Arborescence(arc))
    g.add(at.HeadSequence(arc, scores=bigrams))
    trees, word = list_trees(words), np.arange(words)
    earned = bigrams[word[:-1], trees[:, :-1], trees[:, 1:]].sum(axis=1)
    best = (scores[trees, word].sum(axis=1) + earned).max()
    assert at.decode(g, exact=True).value == pytest.approx(best)


@pytest.mark.parametrize("name", ["n20_s0", "n20_s1", "n40_s0", "n40_s1"])
def test_stored_sentences(instances_folder, name):
    file = f"parse_tree_{name}.npz"
    result = at.decode(load_graph(instances_folder / file))
    reference = load_references(instances_folder)[file]
    assert result.status is at.Status.OPTIMAL
    assert result.iterations <= 100
    assert result.value == pytest.approx(reference.optimum, abs=1e-9)


def test_the_generator_of_sentences_is_that_of_the_stored_ones():
    assert at.decode(sentence(19, seed=0)).value == pytest.approx(8.91453738584)


@pytest.mark.parametrize("words, seed", [(19, 2), (19, 11), (39, 6), (39, 8)])
def test_more_sentences_are_solved(words, seed):
    result = at.decode(sentence(words, seed))
    assert result.status is at.Status.OPTIMAL
    assert result.certificate.verify()


@pytest.mark.parametrize("words, seed", [(19, 5), (39, 2), (39, 4)])
def test_sentences_whose_relaxation_is_fractional_are_solved_as_far_as_it_goes(words, seed):
    """No run that waits for whole numbers ends here; ours ends at the relaxation's optimum.

    A point of all polytopes that scores as much as the bound proves it.
    """
    g = sentence(words, seed)
    result = at.decode(g)
    assert result.status is at.Status.RELAXED
    assert result.certificate.verify()
    value = g.constant + g.variables[0].scores @ result.consensus
    for handle in g.handles[1:]:
        value += (result._inner_parts(handle) * handle.factor.scores).sum()
    assert value == pytest.approx(result.bound, abs=1e-4)
    assert result.bound - 0.1 <= result.value < result.bound - 1e-3


def test_listed_arcs_are_the_array_without_the_others():
    rng = np.random.default_rng(5)
    words = 6
    n = words + 1
    keep = rng.random((n, words)) < 0.6
    keep[0] = True
    keep[np.arange(1, n), np.arange(words)] = False
    scores, siblings = rng.normal(size=(n, words)), rng.normal(size=(n, n, n + 1)) / 4.0
    g, h = at.FactorGraph(), at.FactorGraph()
    arc = g.binary((n, words), scores=np.where(keep, scores, -np.inf), name="arc")
    g.add(at.Arborescence(arc))
    at.add_head_automata(g, arc, siblings)
    head, word = np.nonzero(keep)
    listed = h.binary(scores=scores[keep], name="arc")
    ends = {"heads": head, "modifiers": word + 1}
    h.add(at.Arborescence(listed, **ends))
    at.add_head_automata(h, listed, siblings, **ends)
    mine, theirs = at.decode(g), at.decode(h)
    assert mine.value == pytest.approx(theirs.value, abs=1e-5)
    assert np.array_equal(mine[arc][keep], theirs[listed])


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_of_literals_is_an_array_of_them(kind):
    ends = {"heads": [0, 1, 0], "modifiers": [1, 2, 2]}
    g, h = at.FactorGraph(), at.FactorGraph()
    x, y = g.binary(3, scores=[1.0, 2.0, 0.5]), h.binary(3, scores=[1.0, 2.0, 0.5])
    for graph, arcs in ((g, x), (h, [y[0], y[1], y[2]])):
        graph.add(kind(arcs, **ends))
        graph.add(at.HeadSequence(arcs, scores=[[[1.0, 0.0]]], **ends))
        at.add_head_automata(graph, arcs, np.full((3, 3, 4), 0.25), **ends)
    assert at.decode(g).value == pytest.approx(at.decode(h).value)
    assert np.array_equal(at.decode(g)[x], at.decode(h)[y])


# ---------------------------------------------------------------- the public face


@pytest.mark.parametrize("kind", KINDS)
def test_heads_as_variables_and_several_sentences(kind):
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(3, 5, 4))
    g = at.FactorGraph()
    arc = g.binary(scores=scores, name="arc")
    trees = g.add(kind(arc))
    assert trees.shape == (3,)
    h = at.FactorGraph()
    head = h.categorical(states=5, scores=scores.swapaxes(1, 2), name="head")
    h.add(kind(head))
    assert np.array_equal(at.decode(g)[arc].argmax(axis=1), at.decode(h)[head])
    assert repr(trees).startswith(f"<3 × {kind.__name__}, first {kind.__name__} over 4 words (arc[")


def test_what_evidence_rules_out_is_compiled_away():
    g = at.FactorGraph()
    arc = g.binary((4, 3), scores=1.0, name="arc")
    g.add(at.Arborescence(arc))
    g.fix(arc[2, 0], 1)  # 2 is the head of 1: nobody else is, and 1 is not that of 2
    assert g.compile().problem.n == 5  # heads 0 and 3 of word 2, and 0, 1 and 2 of word 3
    result = at.decode(g)
    assert result[arc][:, 0].tolist() == [0, 0, 1, 0] and result[arc][1, 1] == 0


def test_no_tree_is_infeasible():
    g = at.FactorGraph()
    arc = g.binary((4, 3), name="arc")
    g.add(at.Arborescence(arc))
    g.fix(arc[0], [0, 0, 0])
    assert at.decode(g).status is at.Status.INFEASIBLE


def test_two_roots_are_infeasible_where_one_is_asked_for():
    g = at.FactorGraph()
    arc = g.binary((4, 3), name="arc")
    g.add(at.ProjectiveTree(arc, single_root=True))
    g.fix(arc[0, :2], [1, 1])
    assert at.decode(g).status is at.Status.INFEASIBLE


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "ends",
    [
        {"heads": [0, 0], "modifiers": [1, 2], "single_root": True},
        {"heads": [2, 1], "modifiers": [1, 2]},  # a cycle, and nothing else
    ],
)
def test_arcs_without_a_tree_are_infeasible_among_other_factors(kind, ends):
    g = at.FactorGraph()
    x = g.binary(3, scores=[1.0, 1.0, 0.5], name="x")
    tree = g.add(kind(x[:2], **ends))
    for solver in (None, at.AD3()):
        assert at.decode(g, solver).status is at.Status.INFEASIBLE
    g.add(at.HeadAutomaton(x, scores=np.random.default_rng(0).normal(size=(5, 5))))
    for solver in (None, at.AD3()):
        result = at.decode(g, solver, time_limit=10.0)
        assert result.status is at.Status.INFEASIBLE
        assert result.certificate.verify()
        assert result.certificate.conflict == (f"{tree.factor.words(0)} cannot hold",)


def test_inner_marginals_of_automata_are_tables_as_written():
    g = at.FactorGraph()
    x, above = g.binary(3, scores=[1.0, -5.0, 1.0]), g.binary(2, scores=[0.0, 3.0])
    plain = g.add(at.HeadAutomaton(x, scores=0.0))
    rich = g.add(at.GrandparentAutomaton(x, above, scores=np.zeros((2, 3))))
    result = at.decode(g)
    follows = np.zeros((5, 5))
    follows[0, 1] = follows[1, 3] = follows[3, 4] = 1.0
    below, pairs = result.marginals[rich]
    assert np.allclose(result.marginals[plain], follows, atol=1e-3)
    assert np.allclose(pairs, follows, atol=1e-3)
    assert np.allclose(below, [[0, 0, 0], [1, 0, 1]], atol=1e-3)


def test_new_scores_of_automata():
    rng = np.random.default_rng(7)
    first, new = rng.normal(size=(2, 5, 5))
    bonus, more = rng.normal(size=(2, 2, 3))
    values = []
    for tables, own in ((first, bonus), (new, more)):
        g = at.FactorGraph()
        x, above = g.binary(3, scores=[1.0, 0.5, 0.2]), g.binary(2)
        plain = g.add(at.HeadAutomaton(x, scores=tables))
        rich = g.add(at.GrandparentAutomaton(x, above, scores=own, siblings=tables))
        changed = {plain: new, rich: (more, new)}
        values.append(at.decode(g, scores=changed).value)
    assert values[0] == pytest.approx(values[1])


def automata_of(shape=(4, 3), siblings=0.0, **options):
    g = at.FactorGraph()
    return at.add_head_automata(g, g.binary(shape, name="arc"), siblings, **options)


ERRORS = [
    (lambda g: at.Arborescence(g.binary((4, 4))), r"of a square array, arc\[:, 1:\]"),
    (lambda g: at.Arborescence(g.binary(5)), "needs heads= and modifiers="),
    (lambda g: at.Arborescence(g.categorical(3, 3)), "n \\+ 1 states"),
    (lambda g: at.Arborescence("arcs"), "array of arcs or of heads"),
    (lambda g: at.Arborescence(g.binary(2), heads=[0], modifiers=[1, 2]), "heads are 2 whole"),
    (lambda g: at.Arborescence(g.binary(2), heads=[0, 0]), "modifiers are 2 whole"),
    (lambda g: at.Arborescence(g.binary(2), heads=[0, 2], modifiers=[1, 2]), "own head"),
    (lambda g: at.Arborescence(g.binary(2), heads=[0, 0], modifiers=[1, 1]), "0 to 1 is listed"),
    (lambda g: at.Arborescence(g.binary(2), heads=[0, 0], modifiers=[1, 0]), "modifiers from 1"),
    (lambda g: at.Arborescence(g.binary(2), heads=[0, 0], modifiers=[1, 3]), "leads to word 2"),
    (lambda g: at.Arborescence(g.binary(2), heads=[0, 3], modifiers=[1, 2]), "word 3 is a head"),
    (lambda g: at.HeadAutomaton(g.binary(3), scores=np.zeros((3, 3))), r"expected \(5, 5\)"),
    (lambda g: at.HeadAutomaton(g.binary(0), scores=0.0), "no literals"),
    (lambda g: at.HeadAutomaton(g.binary(2), scores=np.nan), "score nan"),
    (
        lambda g: at.GrandparentAutomaton(g.binary(2), g.binary(3), scores=np.zeros((2, 3))),
        r"expected \(3, 2\): grandparents, then modifiers",
    ),
    (
        lambda g: at.GrandparentAutomaton(g.binary((2, 2)), g.binary(3), scores=0.0),
        "give each automaton its own",
    ),
    (
        lambda g: at.GrandparentAutomaton(g.binary(2), at.FactorGraph().binary(3), scores=0.0),
        "different graphs",
    ),
    (lambda g: automata_of((2, 4, 3)), "one sentence"),
    (lambda g: automata_of(siblings=np.zeros((3, 3, 3))), r"expected \(4, 4, 5\) for 3 words"),
    (lambda g: automata_of(siblings=-np.inf), "no modifiers there is forbidden"),
    (lambda g: at.add_head_automata(g, at.FactorGraph().binary((4, 3)), 0.0), "another graph"),
]  # fmt: skip


@pytest.mark.parametrize("write, says", ERRORS)
def test_errors(write, says):
    with pytest.raises((at.ModelError, TypeError), match=says):
        write(at.FactorGraph())


def test_a_tree_has_no_scores_of_its_own():
    g = at.FactorGraph()
    tree = g.add(at.Arborescence(g.binary((3, 2))))
    with pytest.raises(at.ModelError, match="no scores of its own"):
        at.decode(g, scores={tree: [1.0]})
