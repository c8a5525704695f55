"""AD3 as it was published (Martins et al., 2011), factor by factor: a reference to measure against.

Every factor is projected on its own, multipliers take steps of ``step`` times the penalty, and a
factor all of whose variables are idle is skipped.  None of what the library adds is here: averages,
over-relaxation, penalties that scale with the scores, blocks of factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit
from assent.kernels.kinds.logic_projections import project_logic, project_pair
from assent.kernels.problem import DualPoint, Float, Int32, Problem, Scores, split_links
from assent.solvers.base.protocol import Info, IterativeSolver, WarmStart
from assent.solvers.base.starting_point import share_out

PAIR = -1  # the form of pairs, beside CAP, SUM and ANYOF
# Copies this close to their consensus agree with it: most of them are at 0 or 1.
AGREES = 1e-10
# The penalty doubles or halves when one residual (a mean square) is this multiple of the other.
OUT_OF_BALANCE = 10.0

VARIABLES, FACTORS, MESSAGES = range(3)  # columns of ``activity``


class Factors(NamedTuple):
    """One row per factor; link j of a factor is ``link + j * stride``."""

    kind: np.ndarray
    k: np.ndarray
    score: np.ndarray
    link: np.ndarray
    stride: np.ndarray
    size: np.ndarray


def factors_of(problem: Problem, scores: Scores) -> Factors:
    """All factors of a problem of pairs and logic."""
    if len(problem.tables.lits) or (problem.group_kind > 2).any():
        raise ValueError("the published AD3 takes pairs and logic factors only")
    pairs = problem.n_pairs
    parts = [
        (
            np.full(pairs, PAIR), np.ones(pairs), scores.pair, 2 * np.arange(pairs),
            np.ones(pairs), np.full(pairs, 2),
        )
    ]  # fmt: skip
    for kind, size, m, link, factor in zip(
        problem.group_kind, problem.group_size, problem.group_count, problem.group_link,
        problem.group_factor, strict=True,
    ):  # fmt: skip
        parts.append((
            np.full(m, kind), problem.k[factor : factor + m], np.zeros(m),
            2 * pairs + link + np.arange(m), np.full(m, m), np.full(m, size),
        ))  # fmt: skip
    kind, k, score, link, stride, size = (
        np.concatenate(columns) for columns in zip(*parts, strict=True)
    )
    integers = [column.astype(np.int64) for column in (kind, k, link, stride, size)]
    return Factors(integers[0], integers[1], score.astype(float), *integers[2:])


@jit
def in_literal(lits, link, values):
    """A coordinate's value as the literal of a link sees it."""
    lit = lits[link]
    return 1.0 - values[~lit] if lit < 0 else values[lit]


@jit
def project_factor(factors, f, lits, u, p, penalty, point, out):
    """Step 1: the nearest point to consensus plus multipliers, into ``out[size]``."""
    for j in range(factors.size[f]):
        link = factors.link[f] + j * factors.stride[f]
        point[j] = in_literal(lits, link, p) + u[link]
    size = factors.size[f]
    if factors.kind[f] == PAIR:
        out[0], out[1] = project_pair(point[0], point[1], factors.score[f] / penalty)
    else:
        project_logic(factors.kind[f], factors.k[f], point[:size], out[:size])


class Iterate(NamedTuple):
    """Link scores over the penalty, copies, consensus, which coordinates are idle, residuals."""

    u: np.ndarray
    q: np.ndarray
    p: np.ndarray
    idle: np.ndarray
    residuals: np.ndarray


@jit
def advance(factors, lits, degree, penalty, step, cache, iterate, activity):
    """Iterate; residuals are mean squares, ``activity[iterations, 3]`` are counts."""
    u, q, p, idle, residuals = iterate
    largest = factors.size.max()
    point, out = np.empty(largest), np.empty(largest)
    total = np.empty(len(p))
    for t in range(len(activity)):
        activity[t] = 0
        activity[t, VARIABLES] = len(idle) - idle.sum()
        for f in range(len(factors.kind)):
            resting = True
            for j in range(factors.size[f]):
                lit = lits[factors.link[f] + j * factors.stride[f]]
                resting = resting and idle[~lit if lit < 0 else lit]
            if not resting:
                activity[t, FACTORS] += 1
                activity[t, MESSAGES] += factors.size[f]
            if resting and cache:
                continue
            project_factor(factors, f, lits, u, p, penalty, point, out)
            for j in range(factors.size[f]):
                q[factors.link[f] + j * factors.stride[f]] = out[j]
        # 2. Consensus.
        total[:] = 0.0
        idle[:] = True
        for link in range(len(lits)):
            v = ~lits[link] if lits[link] < 0 else lits[link]
            own = 1.0 - q[link] if lits[link] < 0 else q[link]
            total[v] += own
            if np.abs(own - p[v]) > AGREES:
                idle[v] = False
        residuals[:] = 0.0
        for v in range(len(p)):
            if degree[v] > 0:
                new = total[v] / degree[v]
                residuals[1] += degree[v] * (new - p[v]) ** 2
                p[v] = new
        # 3. Multipliers.
        for link in range(len(lits)):
            off = in_literal(lits, link, p) - q[link]
            residuals[0] += off * off
            u[link] += step * off
        residuals /= len(lits)


@dataclass
class Workspace:
    """State of a running solve."""

    factors: Factors
    lits: Int32
    u: Float  # link scores over the penalty
    q: Float  # copies
    p: Float  # consensus
    idle: np.ndarray
    penalty: float
    iterations: int = 0
    activity: list[np.ndarray] | None = None  # per iteration: variables, factors, messages


@dataclass(frozen=True)
class Published(IterativeSolver):
    """DD-ADMM with the papers' parameters; goes wherever a solver does.

    Attributes:
        penalty: of one coordinate per binary variable (ρ).  Martins et al. (ICML 2011) penalise
            both of a variable's indicators, so their η is half of it.
        step: τ, what the multipliers' steps are multiplied by, 1 … 1.618.
        adapt: whether the penalty follows the residuals.
        cache: whether factors at rest are skipped.
    """

    penalty: float
    step: float = 1.0
    adapt: bool = False
    cache: bool = True
    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-9
    max_iterations: int = 1000

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> Workspace:
        """One half everywhere, no multipliers, scores shared out evenly."""
        lits = problem.all_lits
        p = np.where(problem.degree > 0, 0.5, (scores.theta > 0.0).astype(float))
        return Workspace(
            factors_of(problem, scores), lits, share_out(problem, scores, None) / self.penalty,
            np.full(len(lits), 0.5), p, np.zeros(problem.n, np.bool_), self.penalty,
            activity=[],
        )  # fmt: skip

    def advance(
        self, problem: Problem, scores: Scores, workspace: Workspace, iterations: int
    ) -> Info:
        """Run ``iterations`` more."""
        w = workspace
        residuals = np.zeros(2)
        at_a_time = 1 if self.adapt else iterations
        for _ in range(iterations // at_a_time):
            activity = np.zeros((at_a_time, 3), np.int64)
            advance(
                w.factors, w.lits, problem.degree, w.penalty, self.step, self.cache,
                Iterate(w.u, w.q, w.p, w.idle, residuals), activity,
            )  # fmt: skip
            assert w.activity is not None
            w.activity.append(activity)
            w.iterations += at_a_time
            if self.adapt:
                self._adapt(w, *residuals)
        primal, dual = np.sqrt(residuals)
        return Info(w.iterations, float(primal), float(dual), w.penalty, calls=self._calls(w))

    def _adapt(self, workspace: Workspace, primal: float, dual: float) -> None:
        factor = 1.0
        if primal > OUT_OF_BALANCE * dual:
            factor = 2.0
        elif dual > OUT_OF_BALANCE * primal:
            factor = 0.5
        if factor != 1.0:
            workspace.penalty *= factor
            workspace.u /= factor
            workspace.idle[:] = False

    def _calls(self, workspace: Workspace) -> int:
        if not self.cache:
            return workspace.iterations * len(workspace.factors.kind)
        return int(sum(part[:, FACTORS].sum() for part in workspace.activity or []))

    def dual_point(self, problem: Problem, scores: Scores, workspace: Workspace) -> DualPoint:
        """Multipliers and shares of scores, link by link."""
        return split_links(problem, workspace.penalty * workspace.u)

    def marginals(self, workspace: Workspace) -> Float:
        """The consensus."""
        return workspace.p

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Not asked for here."""
        return float("nan")
