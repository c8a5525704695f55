"""Bounds with one more value known, all at once, against one by one."""

from __future__ import annotations

import numpy as np
import pytest

from assent.compile.closure import Closure
from assent.compile.compiled import graph_scores
from assent.kernels.problem import split_links
from assent.proof import conditioned_bounds
from assent.proof.certify import upper_bound
from assent.proof.conditioned_bounds import bounds_with_each
from assent.proof.proof_tree import Fixed, LinkScores, Trusted
from assent.proof.replay import Replay
from tests.oracles.sweep import sweep_size
from tests.solvers.search.test_branch_and_bound import over_structure, tangled
from tests.structures import STRUCTURES


def all_at_once(rng, g) -> None:
    compiled, scores = g.compile(), graph_scores(g)
    if compiled.conflict is not None:
        return
    dual = tuple(rng.normal(size=block.factor.codes.shape) for block in compiled.blocks)
    known, closure = compiled.fixed.copy(), Closure(compiled)
    free = np.flatnonzero(known == -1)
    literals = np.where(rng.random(len(free)) < 0.5, free, ~free).tolist()
    bounds = bounds_with_each(compiled, scores, dual, known, literals)
    for literal, bound in zip(literals, bounds, strict=True):
        after = known.copy()
        after[max(literal, ~literal)] = literal >= 0
        if closure.extend(known, [literal]) is None:  # no bound is asked for where nothing can be
            continue
        alone = upper_bound(compiled, scores, dual, after)
        assert bound == pytest.approx(alone, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("at_once", [conditioned_bounds.AT_ONCE, 4])
def test_mixed_graphs(at_once, monkeypatch):
    monkeypatch.setattr(conditioned_bounds, "AT_ONCE", at_once)
    for seed in range(sweep_size() // 2):
        rng = np.random.default_rng(seed)
        all_at_once(rng, tangled(rng))


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures(name):
    for seed in range(sweep_size() // 30):
        rng = np.random.default_rng(seed)
        all_at_once(rng, over_structure(rng, STRUCTURES[name]))


def test_what_is_known_or_named_before_is_left_to_others():
    g = tangled(np.random.default_rng(0))
    compiled = g.compile()
    dual = tuple(np.zeros(block.factor.codes.shape) for block in compiled.blocks)
    known = compiled.fixed.copy()
    first, second = np.flatnonzero(known == -1)[:2].tolist()
    known[second] = 1
    literals = [first, ~first, first, second, ~second]
    bounds = bounds_with_each(compiled, graph_scores(g), dual, known, literals)
    assert np.isfinite(bounds[0]) and np.isinf(bounds[1:]).all()


@pytest.mark.parametrize("rest", [-np.inf, 0.5, 2.5, np.inf])
def test_replaying_shows_the_same_as_one_case_after_the_other(rest):
    for seed in range(sweep_size() // 10):
        g = tangled(np.random.default_rng(seed))
        compiled, scores = g.compile(), graph_scores(g)
        if compiled.conflict is not None:
            continue
        replay = Replay(compiled, scores)
        problem = compiled.problem
        links = np.random.default_rng(seed).normal(size=problem.n_links)
        leaf = LinkScores(split_links(problem, links))
        literals = tuple(compiled.free.tolist())
        nodes = [replay.closure.extend(compiled.fixed, (~literal,)) for literal in literals]
        worst = [leaf.bound(replay, node) for node in nodes if node is not None]
        if replay.closure.extend(compiled.fixed, literals) is not None:
            worst.append(rest)
        shown = replay.bound(Fixed(leaf, literals, Trusted("a friend", rest)))
        assert shown == pytest.approx(max(worst, default=-np.inf))
