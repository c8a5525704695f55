"""Box solvers: exact block steps, bounds that bound, the optimum of the softened problem."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

import assent as at
from assent.compile.compiled import graph_scores
from assent.errors import ModelError
from assent.kernels.boxes.agreement_block import best_block
from assent.kernels.boxes.matrix_block import best_matrix_block
from tests.oracles.hulls import hull_lp
from tests.oracles.sweep import sweep_seeds


def random_block(rng):
    k = int(rng.integers(1, 6))
    m1, m2, c = rng.normal(size=k), rng.normal(size=k), rng.random(k) * 2.0
    if rng.random() < 0.3:
        m1, m2, c = np.round(m1), np.round(m2), np.round(c)  # ties
    if k > 1 and rng.random() < 0.3:
        m1[rng.integers(k)] = -np.inf
    return m1, m2, c


def block_value(m1, m2, nu):
    """What a block is worth at its multipliers ``[K]`` or ``[K, K]``."""
    if nu.ndim == 1:
        nu = np.diag(nu)
    return (m1 - nu.sum(axis=1)).max() + (m2 + nu.sum(axis=0)).max()


def block_optimum(m1, m2, c):
    """The least value of a block with penalties ``[K, K]``, by a linear program."""
    k = len(m1)
    out = np.kron(np.eye(k), np.ones(k))  # sums over rows, and over columns, of multipliers
    into = np.kron(np.ones(k), np.eye(k))
    first, second = m1 > -np.inf, m2 > -np.inf
    rows = np.block([
        [-out[first], np.tile([-1.0, 0.0], (first.sum(), 1))],
        [into[second], np.tile([0.0, -1.0], (second.sum(), 1))],
    ])  # fmt: skip
    right = -np.concatenate([m1[first], m2[second]])
    cost = np.append(np.zeros(k * k), [1.0, 1.0])
    bounds = [*((0.0, top) for top in c.ravel()), (None, None), (None, None)]
    return linprog(cost, rows, right, bounds=bounds).fun


@sweep_seeds()
def test_a_block_step_is_the_best_there_is(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        m1, m2, c = random_block(rng)
        nu = np.zeros(len(c))
        claimed = best_block(m1, m2, c, nu, rng.choice([0.0, 0.5, 0.75, 1.0]), rng.random())
        assert (nu >= 0.0).all() and (nu <= c).all()
        assert block_value(m1, m2, nu) == pytest.approx(claimed, abs=1e-9)
        assert claimed == pytest.approx(block_optimum(m1, m2, np.diag(c)), abs=1e-7)


def random_matrix(rng, k):
    c = rng.random((k, k)) * rng.choice([0.1, 1.0, 3.0])
    if rng.random() < 0.3:
        c *= rng.random((k, k)) < 0.4
    return np.round(2.0 * c) if rng.random() < 0.3 else c


@sweep_seeds()
def test_a_step_on_a_matrix_is_the_best_there_is(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        m1, m2, _ = random_block(rng)
        c, scale = random_matrix(rng, len(m1)), 10.0 ** rng.integers(-3, 6)
        nu = np.zeros(c.shape)
        claimed = best_matrix_block(scale * m1, scale * m2, scale * c, nu) / scale
        assert (nu >= 0.0).all() and (nu <= scale * c).all()
        assert block_value(m1, m2, nu / scale) == pytest.approx(claimed, abs=1e-9)
        assert claimed == pytest.approx(block_optimum(m1, m2, c), abs=1e-7)


@sweep_seeds(0.3)
def test_a_diagonal_matrix_is_agreement_by_label(seeds):
    for seed in seeds:
        m1, m2, c = random_block(np.random.default_rng(seed))
        nu, same = np.zeros(len(c)), np.zeros((len(c), len(c)))
        best = best_block(m1, m2, c, nu)
        assert best_matrix_block(m1, m2, np.diag(c), same) == pytest.approx(best, abs=1e-9)
        assert (same[~np.eye(len(c), dtype=bool)] == 0.0).all()


def test_blocks_that_nothing_can_be_in():
    none, nu = np.full(2, -np.inf), np.full((2, 2), 0.5)
    for m1, m2 in ((none, np.zeros(2)), (np.zeros(2), none)):
        assert best_matrix_block(m1, m2, np.ones((2, 2)), nu) == -np.inf
        assert (nu == 0.5).all()


def test_no_pair_of_states_tells_the_multipliers_of_a_matrix():
    """The paper takes the best pair (21) for the block's optimum: that may lie above it."""
    above = 0
    for seed in range(500):
        rng = np.random.default_rng(seed)
        m1, m2, c = rng.normal(size=3), rng.normal(size=3), rng.random((3, 3))
        pair = (m1[:, None] + m2 - c.sum(axis=1, keepdims=True) + c).max()
        best = best_matrix_block(m1, m2, c, np.zeros((3, 3)))
        assert best >= pair - 1e-9
        above += best > pair + 1e-6
    assert above > 25


def printed_block(m1, m2, c):
    """The step as printed in the paper."""
    k = len(c)
    pairs = list(itertools.product(range(k), repeat=2))
    first, second = max(pairs, key=lambda p: m1[p[0]] + m2[p[1]] - c[p[0]] * (p[0] != p[1]))
    others = [i for i in range(k) if i not in (first, second)]
    nu = np.zeros(k)
    if first == second:
        high = min((m1[first] - m1[i] for i in range(k) if i != first), default=0.0)
        low = max((m2[j] - m2[first] + c[j] for j in range(k) if j != first), default=0.0)
        nu[first] = 0.5 * (high + low)
    else:
        nu[first], nu[second] = 0.0, c[second]
    for i in others:
        low = -m1[i] + m1[first] + nu[first]
        nu[i] = 0.5 * (m2[second] - m2[i] + nu[second] + low)
    return np.clip(nu, 0.0, c)


def test_the_printed_step_is_not_the_best():
    """What the corrections are for: most blocks that disagree are left with a worse bound."""
    worse = apart = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        m1, m2, c = rng.normal(size=3), rng.normal(size=3), rng.random(3)
        best = best_block(m1, m2, c, np.zeros(3))
        if best > (m1 + m2).max() + 1e-6:
            apart += 1
            worse += block_value(m1, m2, printed_block(m1, m2, c)) > best + 1e-6
    assert apart > 50
    assert worse == apart


def corpus(rng, dense=False, matrix=False, sentences=3, length=3, states=3):
    """Chains of which some words should be tagged alike, and the same with plain tables."""
    g = at.FactorGraph()
    found = []
    for i in range(sentences):
        scores = rng.normal(size=(length, states))
        tag = g.categorical(length, states=states, scores=scores, name=f"s{i}")
        tables = rng.normal(size=(length - 1, states, states))
        if dense:
            g.add(at.Dense(tag[:-1], tag[1:], scores=tables))
        else:
            g.add(at.Chain(tag, transitions=tables))
        found.append(tag)
    for k in range(2):
        top = g.categorical(states=states, name=f"top{k}")
        for tag in found:
            word = int(rng.integers(length))
            penalty = rng.random((states, states) if matrix else states)
            penalty *= 1.0 if matrix else 2.0
            if dense:
                table = -penalty[:, None] * (1.0 - np.eye(states))
                g.add(at.Dense(tag[word], top, scores=table))
            else:
                g.add(at.Soft(at.Agree(tag[word], top), penalty=penalty))
    return g


def relaxation(graph):
    compiled = graph.compile()
    return hull_lp(compiled.problem, compiled.flat_scores(graph_scores(graph)))


def every(sizes):
    return itertools.product(*(range(size) for size in sizes))


@sweep_seeds(0.3)
def test_sentences_that_should_agree(seeds):
    for seed in seeds:
        g = corpus(np.random.default_rng(seed))
        optimum = relaxation(corpus(np.random.default_rng(seed), dense=True))
        size = 1e-3 * (1.0 + abs(optimum))
        steps = at.decode(g, at.BoxSubgradient(max_iterations=3000))
        assert optimum - 1e-7 <= steps.bound <= optimum + size
        copies = at.decode(g, at.AD3())
        assert optimum - 1e-7 <= copies.bound <= optimum + 1e-2 * size
        blocks = at.decode(g, at.BoxMPLP())
        assert optimum - 1e-7 <= blocks.bound
        bounds = [step.bound for step in blocks.trace.reports]
        assert (np.diff(bounds) <= 1e-9 * (1.0 + abs(optimum))).all()
        for result in (steps, copies, blocks):
            assert result.feasible and result.certificate.verify()
            assert result.value <= optimum + 1e-7


@sweep_seeds(0.2)
def test_sentences_with_matrices_of_penalties(seeds):
    for seed in seeds:
        g = corpus(np.random.default_rng(seed), matrix=True)
        best = at.decode(g, at.AD3(gap_tolerance=1e-7))
        result = at.decode(g, at.BoxMPLP())
        assert result.value <= best.bound + 1e-7
        assert best.value <= result.bound + 1e-7
        assert result.certificate.verify()
        duals, bounds = descent(g, at.BoxMPLP(passes=2), 12)
        for line in (duals, bounds):
            assert (np.diff(line) <= 1e-9 * (1.0 + abs(best.bound))).all()
        assert (np.array(bounds) <= np.array(duals) + 1e-9).all()
        # Never below what the box allows at all, where subgradient steps end.
        steps = at.decode(g, at.BoxSubgradient(max_iterations=3000, gap_tolerance=0.0))
        assert duals[-1] >= steps.bound - 1e-7


def descent(graph, solver, sweeps):
    """Values of the box dual and bounds, sweep by sweep."""
    compiled = graph.compile()
    problem, scores = compiled.problem, compiled.flat_scores(graph_scores(graph))
    workspace = solver.init(problem, scores)
    duals, bounds = [], []
    for _ in range(sweeps):
        solver.advance(problem, scores, workspace, 1)
        duals.append(solver.box_dual(scores, workspace))
        bounds.append(solver.bound(problem, scores, workspace))
    return duals, bounds


def chain_max_marginals(scores, tables):
    """Best value with each state of each word, by trying all sequences."""
    length, states = scores.shape
    best = np.full(scores.shape, -np.inf)
    for labels in every([states] * length):
        value = sum(scores[t, k] for t, k in enumerate(labels))
        value += sum(tables[t][labels[t], labels[t + 1]] for t in range(length - 1))
        for t, k in enumerate(labels):
            best[t, k] = max(best[t, k], value)
    return best


def walk_slowly(scores, tables, links, penalty, mirrored, sweeps):
    """Multipliers ``[links, K]`` after walks along all sentences, every block asked anew.

    ``links`` are (sentence, word, top); ``mirrored`` tells that tops are the blocks' first side.
    """
    nu = np.zeros(penalty.shape)
    sign = -1.0 if mirrored else 1.0
    tops = np.bincount(links[:, 2])
    for sweep in range(sweeps):
        for s in range(len(scores)):
            here = [b for b in range(len(links)) if links[b, 0] == s]
            way = 1 if sweep % 2 == 0 else -1
            for b in sorted(here, key=lambda b: way * links[b, 1]):
                left = scores[s].copy()
                for other in here:
                    left[links[other, 1]] -= sign * nu[other] * (other != b)
                mine = chain_max_marginals(left, tables[s])[links[b, 1]]
                same = links[:, 2] == links[b, 2]
                theirs = sign * (nu[same].sum(axis=0) - nu[b])
                keep, at_best = 2.0 / (2.0 + np.sqrt(tops[links[b, 2]])), 0.5
                if sweep == 0:
                    keep, at_best = 0.5 * keep, 0.9
                if mirrored:
                    best_block(theirs, mine, penalty[b], nu[b], 1.0 - at_best, 1.0 - keep)
                else:
                    best_block(mine, theirs, penalty[b], nu[b], at_best, keep)
    return nu


@pytest.mark.parametrize("mirrored", [False, True])
@sweep_seeds(0.05)
def test_a_walk_takes_exact_steps_one_after_the_other(seeds, mirrored, monkeypatch):
    monkeypatch.setattr("assent.solvers.boxes.box_mplp.MOST_RESTS", 0)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        sentences, length, states = 3, int(rng.integers(1, 5)), 3
        scores = rng.normal(size=(sentences, length, states))
        tables = rng.normal(size=(sentences, length - 1, states, states))
        if length > 1 and rng.random() < 0.3:
            tables[:, 0, 0, 1] = -np.inf
        links = rng.integers([sentences, length, 2], size=(6, 3))
        penalty = 2.0 * rng.random((6, states))
        g = at.FactorGraph()
        tag = g.categorical((sentences, length), states=states, scores=scores)
        g.add(at.Chain(tag, transitions=tables))
        top = g.categorical(2, states=states)
        words, tops = tag[links[:, 0], links[:, 1]], top[links[:, 2]]
        pair = (tops, words) if mirrored else (words, tops)
        g.add(at.Soft(at.Agree(*pair), penalty=penalty))
        compiled = g.compile()
        problem, flat = compiled.problem, compiled.flat_scores(graph_scores(g))
        solver = at.BoxMPLP()
        workspace = solver.init(problem, flat)
        for sweeps in range(1, 4):
            solver.advance(problem, flat, workspace, 1)
            slow = walk_slowly(scores, tables, links, penalty, mirrored, sweeps)
            assert workspace.linked.nu.reshape(6, states) == pytest.approx(slow, abs=1e-9)


def test_sentences_rest_where_nothing_is_to_be_gained(monkeypatch):
    asked, ends = {}, {}
    for rests in (0, 3):
        monkeypatch.setattr("assent.solvers.boxes.box_mplp.MOST_RESTS", rests)
        asked[rests], ends[rests] = 0.0, []
        for seed in range(10):
            g = corpus(np.random.default_rng(seed), sentences=8)
            result = at.decode(g, at.BoxMPLP(gap_tolerance=0.0))
            asked[rests] += result.trace.calls[-1] / result.iterations
            ends[rests].append(result.bound)
            duals, _ = descent(g, at.BoxMPLP(), 12)
            assert (np.diff(duals) <= 1e-9 * (1.0 + abs(duals[-1]))).all()
    assert asked[3] < 0.8 * asked[0]
    assert ends[3] == pytest.approx(ends[0], abs=0.1)


def linked_chains(rng):
    """Chains and trees of labels or literals, with evidence, linked to each other and to tops."""
    g = at.FactorGraph()
    tops = g.categorical(2, states=2, scores=rng.normal(size=(2, 2)))
    found = []
    for _ in range(3):
        length = int(rng.integers(1, 5))
        tables = rng.normal(size=(length - 1, 2, 2))
        if rng.random() < 0.5:
            word = g.binary(length, scores=rng.normal(size=length))
            if length > 1 and rng.random() < 0.3:
                g.fix(word[0], 1)
        else:
            word = g.categorical(length, states=2, scores=rng.normal(size=(length, 2)))
        parents = rng.permutation(length)
        if length > 2 and rng.random() < 0.3:  # a chain in another order, or a star
            star = np.where(np.arange(length) == parents[0], -1, parents[0])
            line = np.full(length, -1)
            line[parents[:-1]] = parents[1:]
            g.add(at.Tree(word, parents=line if rng.random() < 0.5 else star, scores=tables[0]))
        else:
            limit = (1, 1) if rng.random() < 0.2 else None
            g.add(at.Chain(word, transitions=tables, at_most=limit))
        found.append(word)
    for _ in range(5):
        word = found[rng.integers(3)]
        other = tops if rng.random() < 0.7 else found[rng.integers(3)]
        one, two = word[rng.integers(word.shape[0])], other[rng.integers(other.shape[0])]
        mixed = isinstance(one, at.Literals) != isinstance(two, at.Literals)
        if other is not word and not mixed:
            g.add(at.Soft(at.Agree(one, two), penalty=2.0 * rng.random(2)))
    return g


@sweep_seeds(0.1)
def test_walks_and_questions_side_by_side(seeds):
    for seed in seeds:
        g = linked_chains(np.random.default_rng(seed))
        best = at.decode(g, exact=True).value
        result = at.decode(g, at.BoxMPLP())
        assert result.value <= best + 1e-7
        assert best <= result.bound + 1e-7
        assert result.certificate.verify()
        duals, _ = descent(g, at.BoxMPLP(), 12)
        assert (np.diff(duals) <= 1e-9 * (1.0 + abs(best))).all()


def soft_graph(rng):
    """Variables on their own, linked by soft agreement and counts; scores and charges by hand."""
    g = at.FactorGraph()
    theta = rng.normal(size=(3, 3))
    y = g.categorical(3, states=3, scores=theta, name="y")
    bias = rng.normal(size=3)
    x = g.binary(3, scores=bias, name="x")
    penalty, price = rng.random(3), float(rng.random())
    g.add(at.Soft(at.Agree(y[0], y[1]), penalty=penalty))
    g.add(at.Soft(at.Agree(x[0], ~x[1]), penalty=0.4))
    lits = [y[0].indicators[0], y[2].indicators[0], ~x[2], x[0]]
    k = int(rng.integers(0, 4))
    kind = [at.AtMost, at.AtLeast, at.Exactly][rng.integers(3)]
    g.add(at.SoftCount(kind(k, lits), penalty=price))
    fixed = rng.random() < 0.3
    if fixed:
        g.fix(x[0], 1)

    def value(labels, bits):
        total = theta[np.arange(3), labels].sum() + bias @ bits
        total -= penalty[labels[0]] * (labels[0] != labels[1])
        total -= 0.4 * (bits[0] == bits[1])
        number = int(labels[0] == 0) + int(labels[2] == 0) + (1 - bits[2]) + bits[0]
        off = number - k
        off = max(off, 0) if kind is at.AtMost else max(-off, 0) if kind is at.AtLeast else abs(off)
        return total - price * off

    best = max(
        value(np.array(labels), np.array(bits))
        for labels in every([3, 3, 3])
        for bits in every([2, 2, 2])
        if not fixed or bits[0] == 1
    )
    return g, best


@sweep_seeds(0.3)
def test_counts_literals_and_evidence(seeds):
    for seed in seeds:
        g, best = soft_graph(np.random.default_rng(seed))
        result = at.decode(g, at.BoxSubgradient(max_iterations=3000))
        assert result.value <= best + 1e-7
        assert best <= result.bound + 1e-7
        assert result.certificate.verify()
        # The same softened problem by copies: the same relaxation.
        copied = at.decode(g)
        assert result.bound == pytest.approx(copied.bound, abs=1e-3 * (1.0 + abs(best)))


@sweep_seeds(0.1)
def test_matrices_of_penalties(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        theta, matrix = rng.normal(size=(2, 3)), rng.random((3, 3))
        y = g.categorical(2, states=3, scores=theta, name="y")
        g.add(at.Soft(at.Agree(y[0], y[1]), penalty=matrix))
        result = at.decode(g, at.BoxSubgradient(max_iterations=3000))
        # The hinge's own relaxation, in which the two sides are distributions.
        cost = np.concatenate([-theta.ravel(), matrix.ravel()])
        rows = np.zeros((9, 15))
        for t, (i, j) in enumerate(every([3, 3])):
            rows[t, [i, 3 + j, 6 + t]] = 1.0, -1.0, -1.0
        sums = np.zeros((2, 15))
        sums[0, :3] = sums[1, 3:6] = 1.0
        found = linprog(cost, rows, np.zeros(9), sums, np.ones(2))
        best = max(
            theta[0, i] + theta[1, j] - matrix[i].sum() + matrix[i, j] for i, j in every([3, 3])
        )
        # Read as a dual point of the pair, which is tighter, multipliers may prove more.
        assert best - 1e-9 <= result.bound <= -found.fun + 1e-3
        assert result.certificate.verify()
        # One block: a single step is the whole optimum.
        step = at.decode(g, at.BoxMPLP())
        assert best - 1e-9 <= step.bound <= -found.fun + 1e-7
        assert step.value <= best + 1e-9


def test_submodels_choose_again_beside_each_other():
    """Where many vertices are best, those that go together are found, with few exceptions."""
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        g = at.FactorGraph()
        theta, matrix = rng.normal(size=(2, 3)), rng.random((3, 3))
        y = g.categorical(2, states=3, scores=theta, name="y")
        g.add(at.Soft(at.Agree(y[0], y[1]), penalty=matrix))
        worth = theta[0][:, None] + theta[1] - matrix.sum(axis=1, keepdims=True) + matrix
        found += at.decode(g, at.BoxMPLP()).value > worth.max() - 1e-9
    assert found >= 38
    found = 0
    for seed in range(20):
        g = corpus(np.random.default_rng(seed), matrix=True)
        best = at.decode(g, exact=True).value
        found += at.decode(g, at.BoxMPLP()).value > best - 1e-6
    assert found >= 17


BOX_SOLVERS = {"BoxMPLP": at.BoxMPLP(), "BoxSubgradient": at.BoxSubgradient(max_iterations=500)}


def sentences_without_scores(penalty):
    g = at.FactorGraph()
    tag = g.categorical((3, 4), states=3)
    g.add(at.Chain(tag, transitions=np.zeros((3, 3))))
    top = g.categorical(2, states=3)
    g.add(at.Soft(at.Agree(tag[:, 0], top[0]), penalty=penalty))
    g.add(at.Soft(at.Agree(tag[:, 2], top[1]), penalty=np.full((3, 3), penalty)))
    g.add_constant(3.0)
    return g


@pytest.mark.parametrize("name", BOX_SOLVERS)
def test_ties_constants_and_limits(name):
    solver = BOX_SOLVERS[name]
    for penalty in (0.0, 1.0, 1e6):
        result = at.decode(sentences_without_scores(penalty), solver)
        assert result.status is at.Status.OPTIMAL and result.value == pytest.approx(3.0)
    rounded = at.decode(sentences_without_scores(1e9), solver)  # sums are off by 1e-5 or so
    assert rounded.value == pytest.approx(3.0) and rounded.certificate.verify()
    assert 0.0 <= rounded.certificate.relative_gap < 1e-4
    g = at.FactorGraph()
    tag = g.categorical(2, states=2, scores=[[1.0, 0.0], [0.0, 1.0]])
    g.add(at.Soft(at.Agree(tag[0], tag[1]), penalty=1.0))
    assert at.decode(g, solver).value == pytest.approx(1.0)
    h = corpus(np.random.default_rng(3))
    for limit in ({"time_limit": 1e-9}, {"callback": lambda step: True}):
        result = at.decode(h, solver, **limit)
        assert result.feasible and result.certificate.verify()


@pytest.mark.parametrize("name", BOX_SOLVERS)
def test_an_interrupt_keeps_the_best_so_far(name):
    def interrupt(step):
        raise KeyboardInterrupt

    g = corpus(np.random.default_rng(8), matrix=True)
    result = at.decode(g, BOX_SOLVERS[name], callback=interrupt)
    assert result.status is at.Status.STOPPED and result.message.startswith("Interrupted")
    assert result.certificate.verify()


@pytest.mark.parametrize("name", BOX_SOLVERS)
def test_a_submodel_without_an_answer(name):
    """Hard parts may contradict themselves, soft ones never."""
    for limit, possible in ((2, True), (1, False)):
        g = at.FactorGraph()
        tag = g.categorical(4, states=2)
        changes = [[-np.inf, 0.0], [0.0, -np.inf]]
        g.add(at.Chain(tag, transitions=changes, at_most=(1, limit)))
        top = g.categorical(states=2, scores=[0.0, 1.0])
        g.add(at.Soft(at.Agree(tag[:2], top), penalty=1e3))
        result = at.decode(g, BOX_SOLVERS[name])
        assert result.feasible == possible and result.certificate.verify()
        assert result.value == (-999.0 if possible else -np.inf)


def test_what_a_box_solver_does_not_take():
    g = at.FactorGraph()
    y = g.categorical(3, states=2, name="y")
    g.add(at.Chain(y, transitions=np.zeros((2, 2))))
    inside = g.add(at.Soft(at.Agree(y[0], y[2]), penalty=1.0))
    with pytest.raises(ModelError, match="two variables of one"):
        at.decode(g, at.BoxMPLP())
    assert at.decode(g, at.BoxSubgradient()).feasible and inside
    g.add(at.AtMost(1, y.indicators[:, 0]))
    for solver in (at.BoxMPLP(), at.BoxSubgradient()):
        with pytest.raises(ModelError, match="share nothing but soft constraints"):
            at.decode(g, solver)
    h = at.FactorGraph()
    x = h.binary(3, name="x")
    h.add(at.SoftCount(at.AtMost(1, x), penalty=1.0))
    with pytest.raises(ModelError, match="a SoftCount is none"):
        at.decode(h, at.BoxMPLP())
    with pytest.raises(ValueError, match="passes"):
        at.BoxMPLP(passes=0)
    with pytest.raises(ValueError, match="step is one of"):
        at.BoxSubgradient(step="large")
