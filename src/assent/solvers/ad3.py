"""AD3: alternating directions dual decomposition (Martins et al., 2011 and 2015).

Every factor keeps its own copy ``q`` of its coordinates; a quadratic penalty pulls the copies
to their consensus ``p`` while multipliers learn to hold them there.  The multipliers are a dual
point at any moment, so a bound can be had whenever one is wanted.

What was tried for fewer iterations and left out: restarts from the average and restarted
Halpern iterations (better on some problems, worse on others, never as good as merely taking the
bound at the average), Anderson acceleration (slower on nearly integral problems), sweeps of
block-coordinate descent before a bound (a quarter off the gap, for more than an iteration's
time) or as a start, and other starting points (no effect after thirty iterations).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assent.factors.pair import inner_part
from assent.kernels import ad3 as kernel
from assent.kernels import bound as bound_kernel
from assent.kernels.projections import LANES, new_lanes
from assent.problem import SUM, DualPoint, Float, Problem, Scores
from assent.solvers.protocol import Info, WarmStart

# The penalty is first looked at after so many iterations, then at doubling distances.
FIRST_LOOK = 20

# Ratios of spread to move between 1/2 and 2 are left alone: the time to a good bound hardly
# depends on the penalty there.
BALANCED = 2.0
LARGEST_CHANGE = 4.0

# Pairs whose relaxed values are added up at a time.
SLICE = 1 << 20

# Of the two dual points at hand only the better one is evaluated, except every so often.
TRY_BOTH = 4


@dataclass
class Workspace:
    """State of a running solve; see :mod:`assent.kernels.ad3` for the symbols."""

    w_pair: Float  # [P, 2]
    w_logic: Float  # [L], literal space
    p: Float  # [n], consensus
    penalty: float
    weight: Float  # [G], penalties of the groups relative to the pairs'
    mass: Float  # [n], weight of each coordinate's links
    links: float  # weight of all links
    mean_w_pair: Float = field(init=False)  # running averages of the three
    mean_w_logic: Float = field(init=False)
    mean_p: Float = field(init=False)
    tau: Float = field(init=False)  # [F], remembered thresholds
    pairs_asleep: NDArray[np.bool_] = field(init=False)  # idle blocks
    logic_asleep: NDArray[np.bool_] = field(init=False)
    total: Float = field(init=False)  # scratch
    block: Float = field(init=False)
    lanes: Float = field(init=False)
    iterations: int = 0
    primal_residual: float = np.inf
    dual_residual: float = np.inf
    balance: float = 0.0  # sum of log(spread / move) since the last look at the penalty
    balanced_at: int = 0  # iteration of that look
    bounds_taken: int = 0
    prefer_mean: bool = True  # which dual point gave the better bound when both were tried

    def allocate(self, problem: Problem) -> None:
        """Arrays that start empty."""
        self.mean_w_pair = np.zeros_like(self.w_pair)
        self.mean_w_logic = np.zeros_like(self.w_logic)
        self.mean_p = np.zeros_like(self.p)
        self.tau = np.zeros(problem.n_logic)
        blocks = int(np.sum(-(-problem.group_count // LANES)))
        self.pairs_asleep = np.zeros(-(-problem.n_pairs // kernel.PAIR_BLOCK), np.bool_)
        self.logic_asleep = np.zeros(blocks, np.bool_)
        self.total = np.zeros(problem.n)
        self.block = np.zeros(int(problem.group_size.max(initial=1)) * LANES)
        self.lanes = new_lanes()

    def dual_state(self, mean: bool) -> tuple[Float, Float, Float, float, Float]:
        """The average or the current dual point, as :mod:`assent.kernels.bound` reads it."""
        scales = self.penalty * np.append(self.weight, 1.0)
        if mean and self.iterations >= kernel.ROUND:
            return scales, self.mean_w_pair, self.mean_w_logic, 1.0, self.mean_p
        return scales, self.w_pair, self.w_logic, 1.0, self.p


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
        over_relaxation: between 0 and 2, 1 being the plain method; ``None`` chooses by the factors.
        penalty: initial penalty; ``None`` scales it from the scores.
        adapt: whether the penalty follows the iterates.
        cache_idle: whether factors that agree with the consensus sleep for a few iterations.
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 100_000
    over_relaxation: float | None = None
    penalty: float | None = None
    adapt: bool = True
    cache_idle: bool = True

    def __post_init__(self) -> None:
        if self.over_relaxation is not None and not 0.0 < self.over_relaxation < 2.0:
            raise ValueError(f"over_relaxation lies between 0 and 2, got {self.over_relaxation}")
        if self.penalty is not None and not 0.0 < self.penalty < np.inf:
            raise ValueError(f"penalty is a positive number or None, got {self.penalty}")
        for name in ("gap_tolerance", "residual_tolerance"):
            if not getattr(self, name) >= 0.0:
                raise ValueError(f"{name} is at least 0, got {getattr(self, name)}")
        if self.max_iterations < 1:
            raise ValueError(f"max_iterations is at least 1, got {self.max_iterations}")

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> Workspace:
        """Fresh state, or one that continues from ``warm_start`` (same problem, any scores)."""
        weight = group_weights(problem)
        of_link = np.repeat(weight, problem.group_size * problem.group_count)
        mass = problem.degree + _sum_logic(problem, of_link - 1.0)
        if warm_start is None:
            p = np.where(mass > 0.0, 0.5, (scores.theta > 0.0).astype(np.float64))
            penalty = self.penalty or initial_penalty(problem, scores)
            rest = scores.theta
        else:
            p = warm_start.marginals.copy()
            penalty = self.penalty or warm_start.penalty
            rest = _residual(problem, scores, warm_start.dual)
        links = float(mass.sum())
        mass = np.where(mass > 0.0, mass, 1.0)
        # u = score / penalty: what the link scores leave of theta is shared by weight.
        share = rest / (mass * penalty)
        w_pair = (share - p)[problem.pair_var]
        w_logic = _to_literals(problem, share, 0.0) - _to_literals(problem, p, 1.0)
        if warm_start is not None:
            w_pair += warm_start.dual.pair / penalty
            w_logic += warm_start.dual.logic / (penalty * of_link)
        workspace = Workspace(w_pair, w_logic, p, penalty, weight=weight, mass=mass, links=links)
        workspace.allocate(problem)
        return workspace

    def advance(
        self, problem: Problem, scores: Scores, workspace: Workspace, iterations: int
    ) -> Info:
        """Run ``iterations`` more, best a multiple of five."""
        w = workspace
        if self.adapt:
            self._adapt_penalty(problem, w)
        w.primal_residual, w.dual_residual, balance = kernel.advance(
            problem.pair_var, problem.group_kind, problem.group_size, problem.group_count,
            problem.group_link, problem.group_factor, problem.lits, problem.k,
            w.weight, w.mass, w.links, scores.pair, w.penalty,
            self.over_relaxation or default_relaxation(problem),
            self.cache_idle, w.iterations, iterations,
            w.w_pair, w.w_logic, w.tau, w.p, w.mean_w_pair, w.mean_w_logic, w.mean_p,
            w.pairs_asleep, w.logic_asleep, w.total, w.block, w.lanes,
        )  # fmt: skip
        w.iterations += iterations
        w.balance += balance
        return Info(w.iterations, w.primal_residual, w.dual_residual, w.penalty)

    def _adapt_penalty(self, problem: Problem, workspace: Workspace) -> None:
        """Double or halve the time between looks; move the penalty if it is clearly off.

        The copies of a coordinate spread about their mean as much as the mean moves when the
        penalty is right, on every kind of problem tried; the ratio falls about like the root
        of the penalty.  Looks at doubling distances are finitely many in any run, so that the
        convergence of the plain method is kept.
        """
        w = workspace
        if w.iterations < max(FIRST_LOOK, 2 * w.balanced_at):
            return
        rounds = w.iterations // kernel.ROUND - w.balanced_at // kernel.ROUND
        ratio = float(np.exp(w.balance / max(rounds, 1)))
        w.balance, w.balanced_at = 0.0, w.iterations
        if 1.0 / BALANCED <= ratio <= BALANCED:
            return
        factor = min(max(ratio, 1.0 / LARGEST_CHANGE), LARGEST_CHANGE)
        kernel.rescale(problem.pair_var, problem.lits, 1.0 / factor, w.w_pair, w.w_logic, w.p)
        kernel.rescale(
            problem.pair_var, problem.lits, 1.0 / factor, w.mean_w_pair, w.mean_w_logic, w.mean_p
        )
        w.penalty *= factor
        w.pairs_asleep[:] = False
        w.logic_asleep[:] = False

    def bound(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Upper bound on the optimum at the average dual point or the current one.

        The better one is found out by trying both now and then.
        """
        w = workspace
        if w.bounds_taken % TRY_BOTH == 0:
            current, average = (self._bound_at(problem, scores, w, m) for m in (False, True))
            w.prefer_mean = average < current
            best = min(current, average)
        else:
            best = self._bound_at(problem, scores, w, w.prefer_mean)
        w.bounds_taken += 1
        return best

    def _bound_at(
        self, problem: Problem, scores: Scores, workspace: Workspace, mean: bool
    ) -> float:
        return bound_kernel.scaled_bound(
            problem.pair_var, problem.group_kind, problem.group_size, problem.group_count,
            problem.group_link, problem.group_factor, problem.lits, problem.k,
            scores.theta, scores.pair, scores.constant,
            *workspace.dual_state(mean),
        )  # fmt: skip

    def dual_point(
        self,
        problem: Problem,
        scores: Scores,
        workspace: Workspace,
        out: DualPoint | None = None,
    ) -> DualPoint:
        """The dual point of the last :meth:`bound`, as link scores, into ``out`` if given."""
        w = workspace
        if out is None:
            out = DualPoint(np.empty_like(w.w_pair), np.empty_like(w.w_logic))
        state = w.dual_state(w.prefer_mean)
        bound_kernel.link_scores(
            problem.pair_var, problem.group_size, problem.group_count, problem.group_link,
            problem.lits, *state, out.pair, out.logic,
        )  # fmt: skip
        return out

    def marginals(self, workspace: Workspace) -> Float:
        """The consensus ``[n]``."""
        return workspace.p

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Score of the consensus in the relaxation: each pair takes its best consistent value."""
        total = scores.constant + float(scores.theta @ workspace.p)
        # In slices: temporary arrays as long as all pairs would be most of the memory in use.
        for start in range(0, problem.n_pairs, SLICE):
            part = slice(start, start + SLICE)
            ends = workspace.p[problem.pair_var[part]]
            total += float(scores.pair[part] @ inner_part(ends, scores.pair[part]))
        return total


def initial_penalty(problem: Problem, scores: Scores) -> float:
    """A fifth of the typical size of the scores that matter; 1 if all scores are zero.

    The typical size is the mean of ``|score|`` weighted by ``|score|``: many zero or small
    scores beside a few large ones do not lower it, as they would a plain mean.
    """
    linked = np.abs(scores.theta[problem.degree > 0])
    scale = max(_self_weighted_mean(linked), _self_weighted_mean(np.abs(scores.pair)))
    return 0.2 * scale if scale > 0.0 else 1.0


def default_relaxation(problem: Problem) -> float:
    """Over-relaxation that needed the fewest iterations: pairs overshoot earlier than logic."""
    pairs_dominate = 2 * problem.n_pairs > len(problem.lits)
    return 1.5 if pairs_dominate else 1.85


def group_weights(problem: Problem) -> Float:
    """Penalty of each group relative to the pairs': more for long exactly-k factors.

    With equal penalties such a factor is one voice among many at each of its coordinates; the
    root of its size took a tenth to a third off the iterations of parsing problems.  Heavier
    CAP or ANYOF factors did not help, nor did lighter ones.
    """
    root = np.sqrt(0.5 * problem.group_size)
    return np.where(problem.group_kind == SUM, root, 1.0)


def _sum_logic(problem: Problem, values: Float) -> Float:
    """Sum of ``values[L]`` over the logic links of each coordinate ``[n]``."""
    own = np.where(problem.lits < 0, ~problem.lits, problem.lits)
    return np.bincount(own, weights=values, minlength=problem.n).astype(np.float64, copy=False)


def _residual(problem: Problem, scores: Scores, dual: DualPoint) -> Float:
    """What the link scores leave of ``theta[n]``."""
    signed = np.where(problem.lits < 0, -dual.logic, dual.logic)
    rest = scores.theta - _sum_logic(problem, signed)
    for end in range(2):
        rest -= np.bincount(problem.pair_var[:, end], dual.pair[:, end], problem.n)
    return rest


def _self_weighted_mean(sizes: Float) -> float:
    """``sum x^2 / sum x``, safe for any finite sizes; 0 for none."""
    largest = float(sizes.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    relative = sizes / largest
    return largest * float(relative @ relative) / float(relative.sum())


def _to_literals(problem: Problem, values: Float, base: float) -> Float:
    """``values[v]`` per logic link, ``base - values[v]`` on negated literals."""
    negated = problem.lits < 0
    own = values[np.where(negated, ~problem.lits, problem.lits)]
    return np.where(negated, base - own, own)
