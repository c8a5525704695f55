"""AD3: alternating directions dual decomposition (Martins et al., 2011 and 2015).

Every factor keeps its own copy ``q`` of its coordinates; a quadratic penalty pulls the copies
to their consensus ``p`` while multipliers learn to hold them there.  The multipliers are a dual
point at any moment, so a bound can be had whenever one is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from assent.kernels import ad3 as kernel
from assent.kernels import bound as bound_kernel
from assent.kernels.projections import LANES, new_lanes
from assent.problem import DualPoint, Float, Problem, Scores


@dataclass(frozen=True)
class Info:
    """What a person wants to see of a running solver."""

    iterations: int
    primal_residual: float
    dual_residual: float
    penalty: float


@dataclass(frozen=True)
class WarmStart:
    """What a later solve needs: consensus ``marginals[n]``, a dual point and where it was taken.

    ``theta[n]`` are the scores the dual point belongs to; with other scores each link keeps its
    multiplier and takes its share of the difference.
    """

    marginals: Float
    dual: DualPoint
    theta: Float
    penalty: float


@dataclass
class Workspace:
    """State of a running solve; see :mod:`assent.kernels.ad3` for the symbols."""

    w_pair: Float  # [P, 2]
    w_logic: Float  # [L], literal space
    tau: Float  # [F], remembered thresholds
    p: Float  # [n], consensus
    penalty: float
    iterations: int = 0
    primal_residual: float = np.inf
    dual_residual: float = np.inf
    total: Float = field(init=False)  # [n], scratch: sums of the copies
    block: Float = field(init=False)  # scratch of the logic kernels
    lanes: Float = field(init=False)

    def allocate_scratch(self, problem: Problem) -> None:
        largest = int(problem.group_size.max(initial=1))
        self.total = np.zeros(problem.n)
        self.block = np.zeros((largest, LANES))
        self.lanes = new_lanes()


@dataclass(frozen=True)
class AD3:
    """Settings of AD3.

    Example:
        >>> solver = AD3(gap_tolerance=1e-4)
        >>> workspace = solver.init(problem, scores)            # doctest: +SKIP
        >>> info = solver.advance(problem, scores, workspace, 10)     # doctest: +SKIP
        >>> solver.bound(problem, scores, workspace)            # doctest: +SKIP

    Attributes:
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (1 + |bound|)``.
        residual_tolerance: stop when both root-mean-square residuals are below.
        max_iterations: stop after so many iterations.
        over_relaxation: between 1 (plain) and 2 (excluded).
        penalty: initial penalty; ``None`` scales it from the scores.
        adapt: whether the penalty follows the residuals.
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 100_000
    over_relaxation: float = 1.7
    penalty: float | None = None
    adapt: bool = True

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> Workspace:
        """Fresh state, or one that continues from ``warm_start`` (same problem, any scores)."""
        degree = np.maximum(problem.degree, 1)
        share = scores.theta / degree
        if warm_start is None:
            p = np.where(problem.degree > 0, 0.5, (scores.theta > 0.0).astype(np.float64))
            penalty = self.penalty or initial_penalty(problem, scores)
            s_pair, s_logic = share[problem.pair_var], _to_literals(problem, share, 0.0)
        else:
            p = warm_start.marginals.copy()
            penalty = self.penalty or warm_start.penalty
            change = (scores.theta - warm_start.theta) / degree
            s_pair = warm_start.dual.pair + change[problem.pair_var]
            s_logic = warm_start.dual.logic + _to_literals(problem, change, 0.0)
        workspace = Workspace(
            w_pair=s_pair / penalty - p[problem.pair_var],
            w_logic=s_logic / penalty - _to_literals(problem, p, 1.0),
            tau=np.zeros(problem.n_logic),
            p=p,
            penalty=penalty,
        )
        workspace.allocate_scratch(problem)
        return workspace

    def advance(
        self, problem: Problem, scores: Scores, workspace: Workspace, iterations: int
    ) -> Info:
        """Run ``iterations`` more."""
        w = workspace
        w.primal_residual, w.dual_residual = kernel.advance(
            problem.pair_var, problem.group_kind, problem.group_size, problem.group_count,
            problem.group_link, problem.group_factor, problem.lits, problem.k, problem.degree,
            scores.pair, w.penalty, self.over_relaxation, iterations,
            w.w_pair, w.w_logic, w.tau, w.p, w.total, w.block, w.lanes,
        )  # fmt: skip
        w.iterations += iterations
        return Info(w.iterations, w.primal_residual, w.dual_residual, w.penalty)

    def bound(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Upper bound on the optimum from the current multipliers."""
        w = workspace
        return bound_kernel.bound(
            problem.pair_var, problem.group_kind, problem.group_size, problem.group_count,
            problem.group_link, problem.group_factor, problem.lits, problem.k,
            scores.theta, scores.pair, scores.constant,
            w.penalty, w.w_pair, w.w_logic, 1.0, w.p,
        )  # fmt: skip

    def dual_point(self, problem: Problem, scores: Scores, workspace: Workspace) -> DualPoint:
        """The current multipliers written out as link scores."""
        w = workspace
        point = DualPoint(np.empty_like(w.w_pair), np.empty_like(w.w_logic))
        bound_kernel.link_scores(
            problem.pair_var, problem.lits, w.penalty, w.w_pair, w.w_logic,
            1.0, w.p, point.pair, point.logic,
        )  # fmt: skip
        return point

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Score of the consensus in the relaxation: each pair takes its best consistent value."""
        p = workspace.p
        first, second = p[problem.pair_var[:, 0]], p[problem.pair_var[:, 1]]
        both = np.where(
            scores.pair >= 0.0, np.minimum(first, second), np.maximum(first + second - 1.0, 0.0)
        )
        return float(scores.constant + scores.theta @ p + scores.pair @ both)

    def save(self, problem: Problem, scores: Scores, workspace: Workspace) -> WarmStart:
        """What :meth:`init` needs to continue from here, with the same or other scores."""
        dual = self.dual_point(problem, scores, workspace)
        return WarmStart(workspace.p.copy(), dual, scores.theta, workspace.penalty)


def initial_penalty(problem: Problem, scores: Scores) -> float:
    """A penalty on the scale of a link's share of the scores; 1 if all scores are zero."""
    links = problem.n_links
    if links == 0:
        return 1.0
    share = scores.theta**2 / np.maximum(problem.degree, 1)
    scale = np.sqrt((share.sum() + 0.5 * (scores.pair**2).sum()) / links)
    return float(scale) if scale > 0.0 else 1.0


def _to_literals(problem: Problem, values: Float, base: float) -> Float:
    """``values[v]`` per logic link, ``base - values[v]`` on negated literals."""
    negated = problem.lits < 0
    own = values[np.where(negated, ~problem.lits, problem.lits)]
    return np.where(negated, base - own, own)
