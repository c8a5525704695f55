"""One subproblem of a search: the graph with some values known, bounded by a decoder."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.problem import SUM, DualPoint, Float, Problem, Scores
from assent.proof.field_checks import Known
from assent.proof.proof_tree import Conditioned, FarkasRay, LinkScores
from assent.proof.regions import Regions
from assent.solvers.base import infeasibility
from assent.solvers.base.protocol import IterativeSolver, WarmStart
from assent.solvers.base.reduced_costs import losses_of
from assent.solvers.direct.tabulated_problem import find_variables, group_lits

# Iterations between two probes of the bound.
STEP = 10
# A subproblem is bounded as long as the last probe took off this share of what is missing.
WORTH = 0.03
# Probes at the root, and at a node without an answer to compare with: there a bound only guides.
ROOT_PROBES = 60
BLIND_PROBES = 5
# Probes between two attempts to prove that nothing is possible.
RAY_PROBES = 5
# Residuals at which a relaxation counts as solved.
SOLVED = 1e-6


class Start(NamedTuple):
    """What nodes below another start from: links as written, rounded, and marginals ``[N]``."""

    links: tuple[NDArray[np.float32], ...]
    marginals: NDArray[np.float32]
    penalty: float


@dataclass
class Subproblem:
    """The graph compiled with some values known, and what a decoder made of it."""

    compiled: Compiled
    graph_scores: GraphScores
    scores: Scores = field(init=False)
    bound: float = np.inf
    dual: DualPoint | None = None
    marginals: Float | None = None
    penalty: float = float("nan")
    iterations: int = 0  # of all decoders
    impossible: bool = False  # the dual point is a ray that shows it
    proof: Any = None  # of the bound, from solvers whose link scores alone do not show it

    def __post_init__(self) -> None:
        self.scores = self.compiled.flat_scores(self.graph_scores)

    @property
    def problem(self) -> Problem:
        return self.compiled.problem

    @property
    def known(self) -> Known:
        return self.compiled.fixed

    def settle(self) -> None:
        """No factor is left: every coordinate decides alone."""
        theta = self.scores.theta
        self.bound = self.scores.constant + float(np.maximum(theta, 0.0).sum())
        self.dual = DualPoint(np.zeros((0, 2)), np.zeros(0))
        self.marginals = (theta > 0.0).astype(np.float64)

    def leaf(self) -> LinkScores | FarkasRay | Conditioned:
        """The proof of the bound."""
        assert self.dual is not None
        if self.proof is not None:
            return Conditioned(self.known, self.proof)
        return (FarkasRay if self.impossible else LinkScores)(self.dual, self.known)

    def start(self) -> Start:
        """What subproblems below this one start from."""
        assert self.dual is not None and self.marginals is not None
        links = self.compiled.graph_dual(self.dual, self.graph_scores)
        return Start(
            tuple(part.astype(np.float32) for part in links),
            self.compiled.full(self.marginals.astype(np.float32)),
            self.penalty,
        )

    def warm(self, start: Start) -> WarmStart:
        """A start for this subproblem."""
        dual = self.compiled.flat_dual(start.links, self.graph_scores)
        dual = handed_over(self.problem, self.scores, dual)
        marginals = start.marginals[self.compiled.free].astype(np.float64)
        return WarmStart(marginals, dual, start.penalty)

    def losses(self) -> Float | None:
        """What the bound loses with each coordinate 0 or 1, ``[n, 2]``."""
        assert self.dual is not None
        if self.proof is None:
            return losses_of(self.problem, self.scores, self.dual)
        if isinstance(self.proof, Regions):  # link scores of the reparametrised problem
            return losses_of(*self.proof.reparametrised(self.problem, self.scores))
        return None

    def read(self, solver: Any, workspace: Any, bound: float) -> None:
        """Keep a bound that is better, with what shows it."""
        if self.dual is None or bound < self.bound:
            self.proof = solver.proof(self.compiled, workspace)
            self.dual = solver.dual_point(self.problem, self.scores, workspace)
            self.bound = bound


def handed_over(problem: Problem, scores: Scores, dual: DualPoint) -> DualPoint:
    """Link scores, with what is left of coordinates handed to their exactly-one factor.

    A table that a known value makes unary is scores of single states, which pay one by one; an
    exactly-one factor knows that one alone is paid: the bound is no larger then.
    """
    lits, links, logic = problem.all_lits, dual.joined(), dual.logic.copy()
    coordinate, charge = np.where(lits < 0, ~lits, lits), np.where(lits < 0, -links, links)
    left = scores.theta - np.bincount(coordinate, charge, minlength=problem.n)
    is_block = find_variables(problem).is_block
    for group in np.flatnonzero(problem.group_kind == SUM).tolist():
        own, first = group_lits(problem, group), int(problem.group_factor[group])
        begin = int(problem.group_link[group])
        given = logic[begin : begin + own.size].reshape(own.shape[::-1]).T
        taking = is_block[first : first + len(own)]
        given[taking] += left[own[taking]]
    return DualPoint(dual.pair, logic, dual.table)


def bound_subproblem(
    sub: Subproblem,
    solver: IterativeSolver,
    start: Start | None,
    cutoff: float,
    deadline: float,
    probe: Callable[[Subproblem], float],
    thorough: bool,
) -> None:
    """Lower the bound of a subproblem until it is closed or no longer falls quickly.

    ``probe`` is shown the subproblem after every few iterations and returns the new cutoff; a
    ``thorough`` bound is worth more iterations.
    """
    if not sub.problem.n_links:
        sub.settle()
        probe(sub)
        return
    problem, scores = sub.problem, sub.scores
    warm = None if start is None else sub.warm(start)
    solver = solver.in_time(deadline)
    workspace = solver.init(problem, scores, warm)
    probes, before, ray_from, earlier = 0, np.inf, None, sub.iterations
    while True:
        info = solver.advance(problem, scores, workspace, STEP)
        probes += 1
        sub.iterations = earlier + info.iterations
        bound = solver.bound(problem, scores, workspace)
        sub.read(solver, workspace, bound)
        sub.marginals, sub.penalty = solver.marginals(workspace), info.penalty
        cutoff = probe(sub)
        residual = max(info.primal_residual, info.dual_residual)
        if sub.bound <= cutoff or info.finished or residual <= SOLVED:
            return
        if info.iterations >= solver.max_iterations or time.perf_counter() >= deadline:
            return
        if cutoff == -np.inf and probes % RAY_PROBES == 0:
            ray_from = _seek_ray(sub, solver, workspace, ray_from)
            if sub.impossible:
                return
        if probes >= ROOT_PROBES and before - sub.bound <= WORTH * abs(bound):
            return
        if not thorough and _is_slow(probes, before - sub.bound, sub.bound - cutoff):
            return
        before = sub.bound


def _is_slow(probes: int, fall: float, missing: float) -> bool:
    """Whether branching is worth more than going on; without an answer a bound only guides."""
    if np.isinf(missing):
        return probes >= BLIND_PROBES
    return probes > 1 and fall <= WORTH * missing


def _seek_ray(sub: Subproblem, solver: Any, workspace: Any, before: DualPoint | None) -> DualPoint:
    """Whether the drift of multipliers shows that nothing is possible; returns where they are."""
    problem, table = sub.problem, sub.scores.table
    now = solver.dual_point(problem, sub.scores, workspace)
    if before is not None:
        ray = infeasibility.drift(before, now)
        if infeasibility.proves(problem, ray, table):
            sub.dual, sub.bound, sub.impossible, sub.proof = ray, -np.inf, True, None
    return now
