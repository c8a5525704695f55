"""Large-neighbourhood search: parts of a net say what the whole says, answers only get better."""

from __future__ import annotations

import time

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.search import neighbourhood as kernel
from assent.kernels.search.table_answers import worth
from assent.proof.certify import check_assignment
from assent.solvers.base.protocol import Request
from assent.solvers.base.stop_reasons import CALLED_OFF, TIME_LIMIT
from assent.solvers.search import large_neighbourhood
from assent.solvers.search.large_neighbourhood import LargeNeighbourhood
from assent.solvers.search.table_network import layout_of
from tests.oracles.sweep import sweep_seeds
from tests.strategies import optimum, random_graph


def begun(g, **request):
    request = Request(time.perf_counter(), **request)
    return LargeNeighbourhood().begin(g.compile(), graph_scores(g), request)


def searchable(seed, factors=10):
    """A random graph that neighbourhoods can be searched of."""
    rng = np.random.default_rng(seed)
    while True:
        g = random_graph(rng, factors=factors)
        compiled = g.compile()
        left = compiled.conflict is None and compiled.problem.n_links
        if left and not isinstance(layout_of(compiled.problem), str):
            return g


def colouring(seed, nodes=40, colours=3, edges=70):
    """Neighbours differ, which is hard to satisfy and easy to break."""
    rng = np.random.default_rng(seed)
    g = at.FactorGraph()
    x = g.categorical(nodes, states=colours, scores=rng.normal(size=(nodes, colours)))
    planted = rng.integers(colours, size=nodes)
    pairs = [(i, j) for i in range(nodes) for j in range(i) if planted[i] != planted[j]]
    chosen = np.array(pairs)[rng.choice(len(pairs), edges, replace=False)]
    differ = np.where(np.eye(colours, dtype=bool), -np.inf, 0.0)
    g.add(at.Dense(x[chosen[:, 0]], x[chosen[:, 1]], scores=np.tile(differ, (edges, 1, 1))))
    return g


def test_neighbourhoods_are_grown_where_answer_and_relaxation_differ():
    g = colouring(0)
    known = at.decode(g, at.IntegerProgram()).certificate.assignment
    relaxed = known.astype(float)
    assert len(begun(g, known=known, relaxed=relaxed).order) == 40  # nothing tells them apart
    relaxed[[3, 4, 30]] = 0.5  # of the second node and of the eleventh
    few, all_ = begun(g, known=known, relaxed=relaxed), begun(g, known=known)
    assert sorted(few.order) == [1, 10] and sorted(all_.order) == list(range(40))
    assert few.round_reads == pytest.approx(all_.round_reads / 20)
    few.go_on(1.0)
    assert few.done >= 1.0 and few.value >= all_.value


@sweep_seeds(0.3)
def test_a_part_says_what_the_whole_says(seeds):
    """Whatever states the open variables have: the difference of values is the same."""
    for seed in seeds:
        g = searchable(seed)
        rng = np.random.default_rng(seed)
        search = begun(g)
        net, part, variables = search.tables.net, search.part, len(search.x)
        x = (rng.random(variables) * net.card).astype(np.int32)
        most = int(rng.integers(1, variables + 1))
        count, _ = kernel.grow(net, part, int(rng.integers(variables)), most, 1)
        opened = part.queue[:count].copy()
        assert len(set(opened.tolist())) == count <= most
        kernel.restrict(net, x, part, count)
        own, domains = large_neighbourhood._written(part)
        members = part.variables[: len(own.card)]
        assert set(opened.tolist()) == set(members[domains.size == own.card].tolist()) | {
            v for v in opened.tolist() if net.card[v] == 1
        }
        before = worth(own, x[members])
        for _ in range(5):
            y = x.copy()
            y[opened] = (rng.random(count) * net.card[opened]).astype(np.int32)
            change = worth(net, y) - worth(net, x)
            assert worth(own, y[members]) - before == pytest.approx(
                change, rel=1e-9, abs=1e-9 * (1.0 + abs(worth(net, y)))
            )


@sweep_seeds(0.3)
def test_answers_get_better_and_are_what_they_are_said_to_be(seeds, monkeypatch):
    monkeypatch.setattr(large_neighbourhood, "FIRST", 2)
    for seed in seeds:
        g = searchable(seed)
        search, best, values = begun(g, seed=seed), optimum(g), []
        while not search.message and search.iterations < 200:
            search.go_on(search.done + 1e-9)
            values.append(search.value)
        assert (np.diff([v for v in values if v > -np.inf]) >= 0.0).all()
        assert search.value <= best + 1e-6 * (1.0 + abs(best)) if np.isfinite(best) else True
        if search.message:  # all of it was searched
            assert search.value == pytest.approx(best, rel=1e-5, abs=1e-5)
        if search.assignment is not None:
            check = check_assignment(g.compile(), graph_scores(g), search.assignment)
            assert check.feasible and check.value == pytest.approx(search.value)


def test_what_is_broken_is_mended_first():
    """A colouring that breaks many rules leads to one that breaks none."""
    mended = 0
    for seed in range(5):
        g = colouring(seed)
        search = begun(g)
        assert search.assignment is None  # everybody's favourite colour
        search.go_on(400.0)
        mended += search.value > -np.inf
    assert mended == 5


def test_frustrated_grids_are_solved():
    """From everybody's favourite to the optimum, nearly."""
    rng = np.random.default_rng(0)
    side = 12
    g = at.FactorGraph()
    x = g.binary((side, side), scores=rng.normal(size=(side, side)))
    right, down = rng.normal(size=(side, side - 1)), rng.normal(size=(side - 1, side))
    g.add(at.Pair(x[:, :-1], x[:, 1:], scores=3.0 * right))
    g.add(at.Pair(x[:-1], x[1:], scores=3.0 * down))
    best = at.decode(g, at.Elimination())
    search = begun(g)
    begins_at = search.value
    search.go_on(500.0)
    assert begins_at < search.value == pytest.approx(best.value, rel=2e-3)


def test_a_limit_and_a_callback_end_it():
    g = colouring(1)
    search = begun(g, time_limit=1e-9)
    search.go_on()
    assert search.message == TIME_LIMIT and search.iterations == 1
    search = begun(g, report=lambda step: True)
    search.go_on()
    assert search.message == CALLED_OFF


def test_structures_are_refused():
    g = at.FactorGraph()
    x = g.categorical(4, states=3)
    g.add(at.Chain(x, transitions=np.zeros((3, 3))))
    g.add(at.Pair(x[0] == 0, x[3] == 0, scores=1.0))
    with pytest.raises(at.ModelError, match="neighbourhoods of this graph cannot be searched"):
        begun(g)
