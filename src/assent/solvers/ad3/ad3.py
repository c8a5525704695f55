"""AD3: alternating directions dual decomposition (Martins et al., 2011 and 2015).

Every factor keeps its own copy ``q`` of its coordinates; a quadratic penalty pulls the copies
to their consensus ``p`` while multipliers learn to hold them there.  The multipliers are a dual
point at any moment, so a bound can be had whenever one is wanted.

What was tried for fewer iterations, kept or left out, stands with figures in
``docs/convergence.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assent.arguments import is_real, shown
from assent.kernels.ad3 import ad3_schedule, anderson, dual_points, initial_multipliers
from assent.kernels.ad3 import advance as kernel
from assent.kernels.ad3 import state as places
from assent.kernels.ad3.iteration import ROUND
from assent.kernels.ad3.outside_steps import inner_values
from assent.kernels.ad3.state import CURRENT, Instance, Links, Outside, Point, Settings, State
from assent.kernels.core import evaluate, schedule
from assent.kernels.core.structure_addresses import raise_pending
from assent.kernels.problem import DualPoint, Float, Int64, Problem, ScoredProblem, Scores
from assent.proof.certify import FARKAS_MARGIN
from assent.proof.gap_rule import least_and_relative
from assent.solvers.ad3.outside_factors import inner_marginals, rescore, start_outside
from assent.solvers.base.dual_bound import read_only
from assent.solvers.base.protocol import Info, IterativeSolver, WarmStart
from assent.solvers.base.settings import check_count, check_settings
from assent.solvers.base.starting_point import (
    default_relaxation,
    first_consensus,
    initial_penalty,
    link_weights,
)
from assent.solvers.base.thread_plan import divide
from assent.solvers.base.thread_team import team_size, together

Given = TypeVar("Given")

# Beyond this many links a second average is too much memory; small problems do without.
SMOOTHED = 1_000_000
# It begins after this many iterations, which by its weights are soon forgotten.
SMOOTHED_FROM = 200
# Links and entries of tables in one call into compiled code: interrupts wait for its end.
TABLE_WORK = 20_000_000


@dataclass
class Workspace:
    """State of a running solve; see :mod:`assent.kernels.ad3.iteration` for the symbols."""

    own: Instance  # the problem with its scores
    scores: Scores  # which those are
    state: State
    outside: Outside | None  # factors outside the fused loop
    settings: Settings
    history: anderson.History  # empty until iterations are accelerated
    calls: float = 0.0  # projections asked of factors
    answer: NDArray[np.int8] | None = None  # what was proven before any iteration

    @property
    def threads(self) -> int:
        return len(self.state.division.shares)

    @property
    def p(self) -> Float:
        """The consensus ``[n]``."""
        return self.state.current.p

    @property
    def iterations(self) -> int:
        return int(self.state.numbers[places.ITERATIONS])

    @property
    def penalty(self) -> float:
        return float(self.state.numbers[places.PENALTY])

    def prefer(self, point: int) -> None:
        """Take the next bound, and the dual point, at CURRENT, MEAN or SMOOTH."""
        self.state.numbers[places.PREFERRED] = point

    def advance(self, settings: Settings, iterations: int) -> None:
        """Iterate in one compiled call."""
        arguments = self.own, self.outside, self.state, self.history, settings, iterations
        self.together(partial(kernel.advance, *arguments))

    def together(self, work: Callable[[int, Int64], Given]) -> Given:
        """Have compiled work done by all threads, and raise what a structure raised in it."""
        answer = together(work, self.threads)
        raise_pending()
        return answer

    def read(self, problem: Problem, scores: Scores) -> None:
        """Go on with these scores."""
        if self.scores is scores:
            return
        self.own = self.own._replace(
            problem=_scored(problem, scores), table=read_only(scores.table)
        )
        if self.outside is not None and self.scores.table is not scores.table:
            rescore(self.own, self.outside)
        self.scores = scores

    def smooth(self, smoothed: bool) -> None:
        """Begin the average of averages, with what there is by then, or forget it."""
        size = None if smoothed else 0
        pair, logic, table, p = (average[:size].copy() for average in self.state.mean)
        self.state = self.state._replace(smooth=Point(pair, logic, table, p))


@dataclass(frozen=True)
class AD3(IterativeSolver):
    """Alternating directions dual decomposition: a good bound within moments, at any size.

    Example:
        >>> solver = AD3(gap_tolerance=1e-4)
        >>> workspace = solver.init(problem, scores)            # doctest: +SKIP
        >>> info = solver.advance(problem, scores, workspace, 10)     # doctest: +SKIP
        >>> solver.bound(problem, scores, workspace)            # doctest: +SKIP

    Attributes:
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (scale + |bound|)``.
        residual_tolerance: stop when both root-mean-square residuals are below.
        max_iterations: stop after this many.
        over_relaxation: between 0 and 2, 1 being the plain method; ``None`` chooses by the factors.
            In Gauss-Seidel order (``kernels/ad3/iteration.py``) it is 1.7 at most.
        penalty: initial penalty; ``None`` scales it from the scores.
        adapt: whether the penalty follows the iterates.
        cache_idle: whether factors that agree with the consensus are inactive for a few iterations.
        extrapolate: whether small problems (up to 2,000 links) use Anderson acceleration.
        threads: how many work on one problem; small ones (below 30,000 links) and those with
            tables, parities or knapsacks use one.  The outcome depends on the number in its
            last digits only, and is the same whenever the number is.
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 100_000
    over_relaxation: float | None = None
    penalty: float | None = None
    adapt: bool = True
    cache_idle: bool = True
    extrapolate: bool = True
    threads: int = 1
    has_first_bound = True
    in_score_units = ("penalty",)

    def __post_init__(self) -> None:
        for name in ("gap_tolerance", "residual_tolerance", "over_relaxation", "penalty"):
            value = getattr(self, name)
            optional = name in ("over_relaxation", "penalty")
            if not (is_real(value) or (optional and value is None)):
                raise TypeError(f"{name} is a number{' or None' * optional}, got {shown(value)}")
        check_settings(self.gap_tolerance, self.residual_tolerance, self.max_iterations)
        check_count("threads", self.threads)
        if self.over_relaxation is not None and not 0.0 < self.over_relaxation < 2.0:
            raise ValueError(f"over_relaxation lies between 0 and 2, got {self.over_relaxation}")
        if self.penalty is not None and not 0.0 < self.penalty < np.inf:
            raise ValueError(f"penalty is a positive number or None, got {self.penalty}")

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> Workspace:
        """Fresh state, or one that continues from ``warm_start`` (same problem, any scores)."""
        group, of_link, mass, total = link_weights(problem)
        own = Instance(
            _scored(problem, scores), read_only(scores.table), problem.tables.lits, group, of_link,
            mass, problem.degree, total,
            float(self.over_relaxation or default_relaxation(problem)),
        )  # fmt: skip
        outside = start_outside(problem)
        # Factors outside the fused loop are stepped before it, by one thread.
        threads = team_size(self.threads, problem) if outside is None else 1
        ordered = ad3_schedule.in_gauss_seidel_order(
            problem.n_links, outside is not None or threads > 1
        )
        # A warm start has nowhere far to go.
        marked = problem.n_links if ordered and warm_start is None else 0
        p, penalty, before = _starting_point(problem, scores, warm_start)
        state = places.make_state(own, divide(problem, threads), marked, p)
        state.numbers[places.PENALTY] = self.penalty or penalty
        state.numbers[places.WARM] = warm_start is not None
        state.numbers[places.ORDERED] = ordered
        dual_points.start(own, state, before)
        return Workspace(own, scores, state, outside, self.compiled_settings(), no_history())

    def advance(
        self, problem: Problem, scores: Scores, workspace: Workspace, iterations: int
    ) -> Info:
        """Run ``iterations`` more, best a multiple of five."""
        w = workspace
        w.read(problem, scores)
        w.history = with_room(w.history, w.state, w.settings)
        penalty, most = w.penalty, iterations
        if w.outside is not None:
            most = max(1, TABLE_WORK // max(1, problem.n_links + len(scores.table)))
        w.advance(w.settings, min(most, iterations))
        for done in range(most, iterations, most):  # the first call has adapted the penalty
            w.advance(w.settings._replace(adapt=False), min(most, iterations - done))
        w.calls += _asked(problem, w, iterations, self.cache_idle)
        now = w.state.numbers.tolist()
        done = int(now[places.ITERATIONS])
        if now[places.PENALTY] != penalty:
            w.smooth(False)
        moderate = schedule.SMALL_LINKS < problem.n_links <= SMOOTHED
        if moderate and done >= SMOOTHED_FROM and not len(w.state.smooth.p):
            w.smooth(True)
        return Info(
            done, now[places.PRIMAL], now[places.DUAL], now[places.PENALTY], calls=int(w.calls),
            settling=ad3_schedule.is_settling(done, int(now[places.EXTRAPOLATED_AT])),
        )  # fmt: skip

    def compiled_settings(self, random_state: int = 0) -> Settings:
        """These settings as compiled code reads them, with a state of the random numbers."""
        return Settings(
            least_and_relative(self.gap_tolerance, 1.0)[1], float(self.residual_tolerance),
            int(self.max_iterations),
            bool(self.adapt), bool(self.cache_idle), bool(self.extrapolate), FARKAS_MARGIN,
            random_state,
        )  # fmt: skip

    def bound(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Upper bound on the optimum at an average dual point or the current one."""
        w = workspace
        w.read(problem, scores)
        return w.together(partial(dual_points.latest_bound, w.own, w.outside, w.state))

    def dual_point(self, problem: Problem, scores: Scores, workspace: Workspace) -> DualPoint:
        """The dual point of the last :meth:`bound`, as link scores."""
        w, now = workspace, workspace.state.current
        links = Links(*(np.empty_like(part) for part in (now.pair, now.logic, now.table)))
        w.together(
            lambda thread, barrier: dual_points.write_dual(w.own, w.state, thread, barrier, links)
        )
        return DualPoint(*links)

    def rest_at(self, problem: Problem, workspace: Workspace, answer: NDArray[np.int8]) -> Info:
        """No iteration is needed: ``answer[n]`` is the relaxed one too, and all agree on it."""
        workspace.answer = answer
        workspace.p[:] = answer
        return Info(0, 0.0, 0.0, workspace.penalty)

    def marginals(self, workspace: Workspace) -> Float:
        """The consensus ``[n]``."""
        return workspace.p

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Score of the consensus in the relaxation: each pair takes its best consistent value.

        A table's inner parts are those of its own copy, which agrees with the consensus up to
        the primal residual.
        """
        if workspace.answer is not None:
            return evaluate.value(problem, scores, workspace.answer)
        total = scores.constant + initial_multipliers.relaxed_score(
            scores.theta, problem.pair_var, scores.pair, workspace.p
        )
        return total if workspace.outside is None else total + inner_values(workspace.outside)

    def table_marginals(self, problem: Problem, workspace: Workspace) -> Float:
        """Weights of the tables' entries, laid out as ``Scores.table``, in their own copies."""
        if workspace.outside is None:
            return np.zeros(0)
        if workspace.answer is not None:
            weights = np.empty(problem.tables.entry[-1])
            evaluate.weigh_entries(problem.tables, workspace.answer, weights)
            return weights
        return inner_marginals(problem, workspace.outside)


def _starting_point(
    problem: Problem, scores: Scores, warm_start: WarmStart | None
) -> tuple[Float, float, Links]:
    """The consensus ``[n]``, penalty and link scores to start from."""
    if warm_start is None:
        p, nothing = first_consensus(problem, scores), Links(np.zeros((0, 2)), *np.zeros((2, 0)))
        return p, initial_penalty(problem, scores), nothing
    alone = problem.degree == 0  # nothing ever moves them: they decide by their scores
    p = np.where(alone, scores.theta > 0.0, warm_start.marginals)
    known = np.isfinite(warm_start.penalty) and warm_start.penalty > 0.0
    penalty = warm_start.penalty if known else initial_penalty(problem, scores)
    dual = warm_start.dual
    return p, penalty, Links(_plain(dual.pair), _plain(dual.logic), _plain(dual.table))


def _scored(problem: Problem, scores: Scores) -> ScoredProblem:
    """The problem with its scores, as kernels take them."""
    theta, pair = _plain(scores.theta), _plain(scores.pair)
    return ScoredProblem(problem.pair_var, problem.groups, theta, pair, float(scores.constant))


def _plain(values: Float) -> Float:
    """The same, as kernels know it: others would have them compiled once more."""
    flags = values.flags
    return values if flags.writeable and flags.c_contiguous else np.array(values, order="C")


@cache
def no_history() -> anderson.History:
    """One without room: there is nothing to remember in it."""
    return anderson.make_history(0)


def with_room(history: anderson.History, state: State, settings: Settings) -> anderson.History:
    """The history; one with room the first time that the next iterations are accelerated."""
    if not settings.extrapolate or len(history.z):
        return history
    numbers, (pair, logic, table, p) = state.numbers, state.current
    links = pair.size + logic.size + table.size
    if not ad3_schedule.is_accelerated(
        numbers[places.ITERATIONS], links, numbers[places.WARM] != 0.0
    ):
        return history
    numbers[places.PREFERRED] = CURRENT
    return anderson.make_history(links + p.size)


def _asked(problem: Problem, workspace: Workspace, iterations: int, idle: bool) -> float:
    """Projections in the last iterations: inactive blocks are asked once in a round only."""
    w = workspace
    tables = int(problem.tables.factor[-1])
    everything = problem.n_pairs + problem.n_logic + tables
    if not idle:
        return float(iterations * everything)
    active = float(tables)
    for count, inactive in (
        (problem.n_pairs, w.state.pairs_inactive),
        (problem.n_logic, w.state.logic_inactive),
    ):
        if count:
            active += count * (1.0 - np.count_nonzero(inactive) / max(len(inactive), 1))
    return iterations * (active + (everything - active) / ROUND)
