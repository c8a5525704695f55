"""AD3: alternating directions dual decomposition (Martins et al., 2011 and 2015).

Every factor keeps its own copy ``q`` of its coordinates; a quadratic penalty pulls the copies
to their consensus ``p`` while multipliers learn to hold them there.  The multipliers are a dual
point at any moment, so a bound can be had whenever one is wanted.

What was tried for fewer iterations, kept or left out, stands with figures in
``docs/convergence.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assent.interrupts import Uninterrupted
from assent.kernels.ad3 import anderson, extrapolation, initial_multipliers
from assent.kernels.ad3 import iteration as kernel
from assent.kernels.core import evaluate, schedule
from assent.kernels.core.barrier import CALLED_OFF, new_gate
from assent.kernels.core.thread_shares import LINKS, PAIR_BLOCK, PAIRS, SEGMENT, SEGMENTS, Division
from assent.kernels.kinds.logic_projections import LANE_ROWS, LANES
from assent.kernels.problem import DualPoint, Float, Int32, Int64, Problem, Scores
from assent.solvers.base.dual_bound import DualState, bound_of_state, bounds_of_states, write_links
from assent.solvers.base.protocol import Info, IterativeSolver, WarmStart
from assent.solvers.base.settings import check_count, check_settings
from assent.solvers.base.starting_point import (
    default_relaxation,
    first_consensus,
    initial_penalty,
    link_weights,
)
from assent.solvers.base.thread_plan import all_common, common, divide
from assent.solvers.base.thread_team import team_size, together

if TYPE_CHECKING:
    from assent.solvers.ad3.outside_factors import Aside
    from assent.solvers.ad3.quadratic import Squares

# No link scores to start from, and links of equal weight.
NO_DUAL = DualPoint(np.zeros((0, 2)), np.zeros(0), np.zeros(0))
EVEN = np.zeros(0)

# The dual points at hand: the iterate, the running average, and the average of that.
CURRENT, MEAN, SMOOTH = range(3)
# The running average circles as well, if less: the second one weighs iteration t by about t to this
# power.  Of 6, 12, 24 and 48 it needed the fewest iterations to 1e-5 and 1e-6.
SMOOTHING = 12
# Beyond this many links a second average is too much memory; small problems do without.
SMOOTHED = 1_000_000
# It begins after so many iterations, which by its weights are soon forgotten.
SMOOTHED_FROM = 200
# Links and entries of tables in one call into compiled code: interrupts wait for its end.
TABLE_WORK = 20_000_000
# Where so many iterations have passed since the last bound, three of them cost nothing.
RARE = 40


@dataclass
class Workspace:
    """State of a running solve; see :mod:`assent.kernels.ad3.iteration` for the symbols."""

    w_pair: Float  # [P, 2]
    w_logic: Float  # [L], literal space
    w_table: Float  # one per link of the tables, literal space
    p: Float  # [n], consensus
    penalty: float
    weight: Float  # [G], penalties of the groups relative to the pairs'
    mass: Float  # [n], weight of each coordinate's links
    links: float  # weight of all links
    aside: Aside | Squares | None = None  # factors that are stepped outside the fused loop
    mean_w_pair: Float = field(init=False)  # running averages of the four
    mean_w_logic: Float = field(init=False)
    mean_w_table: Float = field(init=False)
    mean_p: Float = field(init=False)
    tau: Float = field(init=False)  # [F], remembered thresholds
    pairs_asleep: NDArray[np.bool_] = field(init=False)  # idle blocks
    logic_asleep: NDArray[np.bool_] = field(init=False)
    division: Division = field(init=False)  # of the work between threads
    totals: Float = field(init=False)  # scratch of each thread
    block: Float = field(init=False)
    lanes: Float = field(init=False)
    idle: float = 0.0  # mean squares that put a block to sleep
    iterations: int = 0
    primal_residual: float = np.inf
    dual_residual: float = np.inf
    balance: float = 0.0  # sum of log(spread / move) since the last look at the penalty
    balanced_at: int = 0  # iteration of that look
    calls: float = 0.0  # projections asked of factors
    bounds_taken: int = 0
    bounded_at: int = 0  # iteration of the last one
    tried_at: float = np.inf  # larger residual when all dual points were tried last
    smooth: tuple[Float, Float, Float, Float] | None = None  # the averages, averaged again
    prefer: int = MEAN  # the dual point that gave the best bound when all were tried
    warm: bool = False  # begun at the end of an earlier run
    answer: NDArray[np.int8] | None = None  # what was proven before any iteration
    history: anderson.History | None = None  # of the iterations from which others are guessed
    marks: Float | None = None  # [3, links], where the multipliers were before a leap
    leapt_at: int = 0  # iteration of the last leap

    def allocate(self, problem: Problem, threads: int) -> None:
        """Arrays that start empty."""
        self.mean_w_pair = np.zeros(self.w_pair.shape)
        self.mean_w_logic = np.zeros(len(self.w_logic))
        self.mean_w_table = np.zeros(len(self.w_table))
        self.mean_p = np.zeros(problem.n)
        self.tau = np.zeros(problem.n_logic)
        blocks = sum(-(-count // LANES) for count in problem.group_count.tolist())
        self.pairs_asleep = np.zeros(-(-problem.n_pairs // PAIR_BLOCK), np.bool_)
        self.logic_asleep = np.zeros(blocks, np.bool_)
        self.division = divide(problem, threads)
        self.totals = np.zeros((threads, problem.n))
        self.block = np.zeros((threads, int(problem.group_size.max(initial=1)) * LANES))
        self.lanes = np.zeros((threads, LANE_ROWS, LANES))

    @property
    def threads(self) -> int:
        return len(self.division.shares)

    def averages(self) -> tuple[Float, Float, Float, Float]:
        """The running averages."""
        return self.mean_w_pair, self.mean_w_logic, self.mean_w_table, self.mean_p

    def begin_smoothing(self) -> None:
        """Start the average of averages where there is none, with what there is by then."""
        if self.smooth is None and self.iterations >= SMOOTHED_FROM:
            pair, logic, table, p = (average.copy() for average in self.averages())
            self.smooth = pair, logic, table, p

    def smoothing(self, iterations: int) -> float:
        """Weight of the averages after so many more iterations in their own average."""
        if self.smooth is None:
            return 0.0
        return 1.0 - (self.iterations / (self.iterations + iterations)) ** SMOOTHING

    def fold_smooth(self, thread: int, share: float) -> None:
        """Fold a thread's part of the averages into their own average."""
        if share == 0.0 or self.smooth is None:
            return
        own = self.division.shares[thread]
        (pairs, *others), (mean_pairs, *means) = self.smooth, self.averages()
        blocks = self.division.order[slice(*own[PAIRS : PAIRS + 2])]
        kernel.fold_pairs(share, blocks, self.threads, pairs.ravel(), mean_pairs.ravel())
        links, coordinates = own[LINKS : LINKS + 2], SEGMENT * own[SEGMENTS : SEGMENTS + 2]
        tables = (None,) if thread == 0 else (0,)  # these have one thread
        for part, smooth, mean in zip((links, tables, coordinates), others, means, strict=True):
            kernel.fold(share, smooth[slice(*part)], mean[slice(*part)])

    def dual_state(self, point: int) -> DualState:
        """The current dual point, the average or the average of averages."""
        scales = np.empty(len(self.weight) + 1)
        np.multiply(self.weight, self.penalty, out=scales[:-1])
        scales[-1] = self.penalty
        if point != CURRENT and self.iterations >= kernel.ROUND:
            smooth = self.smooth if point == SMOOTH else None
            pair, logic, table, p = self.averages() if smooth is None else smooth
            return DualState(scales, pair, logic, table, 1.0, p)
        return DualState(scales, self.w_pair, self.w_logic, self.w_table, 1.0, self.p)


@dataclass(frozen=True)
class AD3(IterativeSolver):
    """Alternating directions dual decomposition: a good bound within moments, at any size.

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
            While factors take turns (``kernels/ad3/iteration.py``) it is 1.7 at most.
        penalty: initial penalty; ``None`` scales it from the scores.
        adapt: whether the penalty follows the iterates.
        cache_idle: whether factors that agree with the consensus sleep for a few iterations.
        extrapolate: whether small problems (below 2,000 links) guess where their iterations lead.
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

    def __post_init__(self) -> None:
        for name in ("gap_tolerance", "residual_tolerance", "over_relaxation", "penalty"):
            value = getattr(self, name)
            optional = name in ("over_relaxation", "penalty")
            if not (isinstance(value, Real) or (optional and value is None)):
                raise TypeError(f"{name} is a number{' or None' * optional}, got {value!r}")
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
        weight, of_link, mass, links = link_weights(problem)
        if warm_start is None:
            p = first_consensus(problem, scores)
            penalty = self.penalty or initial_penalty(problem, scores)
            rest = scores.theta
        else:
            alone = problem.degree == 0  # nothing ever moves them: they decide by their scores
            p = np.where(alone, scores.theta > 0.0, warm_start.marginals)
            known = np.isfinite(warm_start.penalty) and warm_start.penalty > 0.0
            penalty = self.penalty or (
                warm_start.penalty if known else initial_penalty(problem, scores)
            )
            rest = residual_scores(problem, scores, warm_start.dual)
        # u = score / penalty: what the link scores leave of theta is shared by weight.
        share = rest / (mass * penalty)
        before = NO_DUAL if warm_start is None else warm_start.dual
        w_pair = np.empty(problem.pair_var.shape)
        w_logic, w_table = np.empty(len(problem.lits)), np.empty(len(problem.tables.lits))
        for lits, scored, of, w in (
            (problem.pair_var.ravel(), before.pair.ravel(), EVEN, w_pair.ravel()),
            (problem.lits, before.logic, of_link, w_logic),
            (problem.tables.lits, before.table, EVEN, w_table),
        ):
            initial_multipliers.start_links(lits, share, p, scored, of, penalty, w)
        workspace = Workspace(
            w_pair, w_logic, w_table, p, penalty, weight=weight, mass=mass, links=links,
            aside=None if all_common(problem) else _start_aside(problem),
            warm=warm_start is not None,
        )  # fmt: skip
        # Factors stepped elsewhere take turns with the fused loop, an iteration at a time.
        threads = team_size(self.threads, problem) if workspace.aside is None else 1
        workspace.allocate(problem, threads)
        return workspace

    def advance(
        self, problem: Problem, scores: Scores, workspace: Workspace, iterations: int
    ) -> Info:
        """Run ``iterations`` more, best a multiple of five."""
        w = workspace
        if self.adapt:
            self._adapt_penalty(problem, w)
        smoothing = w.smoothing(iterations)
        alpha = self.over_relaxation or default_relaxation(problem)
        guessing = self._begin_guessing(problem, w)
        if w.aside is None and not guessing:
            self._run_leaping(problem, scores, w, alpha, iterations, smoothing)
        elif w.aside is not None and w.aside.searched_alone is not None:
            w.primal_residual, w.dual_residual, balance, w.idle = w.aside.searched_alone.advance(
                scores, w.iterations, iterations, w.penalty, alpha, self.cache_idle, w.idle,
                w.mass, w.links, w.w_table, w.mean_w_table, w.p, w.mean_p, w.totals[0],
            )  # fmt: skip
            w.iterations += iterations
            w.balance += balance
        elif w.aside is not None and w.aside.tables_alone is not None and not guessing:
            self._run_tables(problem, scores, w, w.aside.tables_alone, alpha, iterations)
        else:
            for _ in range(iterations):
                self._step(problem, scores, w, alpha, guessing)
        if w.aside is not None or guessing:
            w.fold_smooth(0, smoothing)
        if schedule.SMALL_LINKS < problem.n_links <= SMOOTHED:
            w.begin_smoothing()
        w.calls += _asked(problem, w, iterations, self.cache_idle)
        return Info(
            w.iterations, w.primal_residual, w.dual_residual, w.penalty, calls=int(w.calls),
            settling=schedule.is_settling(w.iterations, w.leapt_at),
        )  # fmt: skip

    def _begin_guessing(self, problem: Problem, workspace: Workspace) -> bool:
        """Whether the next iterations are extrapolated; the first time, room is made for that."""
        w = workspace
        plain = self.extrapolate and not problem.models
        if not plain or not schedule.is_guessing(w.iterations, problem.n_links, w.warm):
            return False
        if w.history is None:
            parts = (w.w_pair, w.w_logic, w.w_table, w.p)
            with Uninterrupted():
                w.history = anderson.make_history(sum(part.size for part in parts))
            w.prefer = CURRENT
        return True

    def _step(
        self, problem: Problem, scores: Scores, workspace: Workspace, alpha: float, guessing: bool
    ) -> None:
        """One iteration, from where the last ones lead if ``guessing``; then nobody sleeps."""
        w, idle = workspace, self.cache_idle and not guessing
        if guessing:
            assert w.history is not None
            anderson.extrapolate(w.history, w.w_pair.ravel(), w.w_logic, w.w_table, w.p)
        squares = 0.0
        if w.aside is not None:
            full = not idle or (w.iterations + 1) % kernel.ROUND == 0
            squares = w.aside.step(
                problem, scores, w.iterations, w.penalty, alpha, full, w.idle,
                w.weight, w.w_logic, w.w_table, w.tau, w.p, w.totals[0],
            )  # fmt: skip
        self._run(problem, scores, w, alpha, 1, squares, idle)

    def _run_leaping(
        self, problem: Problem, scores: Scores, workspace: Workspace,
        alpha: float, iterations: int, smoothing: float,
    ) -> None:  # fmt: skip
        """Iterate the fused loop, with leaps in between where multipliers drift steadily."""
        w = workspace
        end = w.iterations + iterations
        while w.iterations < end:
            self._leap(problem, w)
            count = min(end - w.iterations, schedule.until_mark(w.iterations))
            self._run(problem, scores, w, alpha, count, 0.0, self.cache_idle, smoothing)

    def _leap(self, problem: Problem, workspace: Workspace) -> None:
        """Mark where the multipliers are, if that is due; leap, if they come straight from there.

        A warm start has nowhere far to go.
        """
        w = workspace
        number = schedule.mark_at(w.iterations)
        able = schedule.takes_turns(w.iterations, problem.n_links, w.threads > 1) and not w.warm
        if number < 0 or not able:
            return
        if w.marks is None:
            w.marks = np.zeros((3, problem.n_links))
        state = w.w_pair, w.w_logic, w.p
        extrapolation.mark(problem.pair_var, problem.lits, w.penalty, *state, w.marks[number])
        if number == 2 and extrapolation.is_straight(w.marks):
            length = schedule.leap_length(w.iterations)
            averages = w.mean_w_pair, w.mean_w_logic, w.mean_p
            extrapolation.leap(problem.pair_var, problem.lits, length, *state, *averages)
            w.leapt_at = w.iterations
            w.pairs_asleep[:] = False
            w.logic_asleep[:] = False

    def _run(
        self, problem: Problem, scores: Scores, workspace: Workspace,
        alpha: float, iterations: int, squares: float, idle: bool, smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        """Iterate the fused loop; ``squares`` belong to the factors stepped outside of it.

        ``idle`` says whether factors that agree may sleep, ``smoothing`` the weight of the new
        averages in their own average.
        """
        w = workspace
        model, sums = _fused_model(problem, scores, w), np.zeros((w.threads, kernel.SUMS))
        others = w.aside is not None or w.threads > 1
        in_turn = schedule.takes_turns(w.iterations, problem.n_links, others)

        def share(thread: int, gate: Int64) -> tuple[float, float, float, float]:
            outcome = kernel.advance(
                *model, w.penalty, alpha, in_turn, idle, w.iterations, iterations, squares, w.idle,
                *_fused_state(w, thread, gate, sums),
            )  # fmt: skip
            if not gate[CALLED_OFF]:
                w.fold_smooth(thread, smoothing)
            return outcome

        w.primal_residual, w.dual_residual, balance, w.idle = together(share, w.threads)
        w.iterations += iterations
        w.balance += balance
        if len(w.w_table) and w.iterations % kernel.ROUND == 0:
            kernel.fold(kernel.pull(w.iterations), w.mean_w_table, w.w_table)

    def _run_tables(
        self, problem: Problem, scores: Scores, workspace: Workspace, tables: Aside,
        alpha: float, iterations: int,
    ) -> None:  # fmt: skip
        """Iterate where ``tables`` are the only factors outside the fused loop."""
        w, sums = workspace, np.zeros((1, kernel.SUMS))
        most = max(1, TABLE_WORK // (problem.n_links + len(scores.table)))
        end = w.iterations + iterations
        while w.iterations < end:
            count = min(most, end - w.iterations)
            w.primal_residual, w.dual_residual, balance, w.idle = tables.advance(
                problem, scores, w.iterations, count, w.penalty, alpha, self.cache_idle, w.idle,
                _fused_model(problem, scores, w), _fused_state(w, 0, new_gate(), sums),
                w.w_table, w.mean_w_table,
            )  # fmt: skip
            w.iterations += count
            w.balance += balance

    def _adapt_penalty(self, problem: Problem, workspace: Workspace) -> None:
        """Double or halve the time between looks; move the penalty if it is clearly off.

        The copies of a coordinate spread about their mean as much as the mean moves when the
        penalty is right, on every kind of problem tried; the ratio falls about like the root
        of the penalty.  Looks at doubling distances are finitely many in any run, so that the
        convergence of the plain method is kept.
        """
        w = workspace
        if not schedule.look_due(w.iterations, w.balanced_at):
            return
        rounds = w.iterations // kernel.ROUND - w.balanced_at // kernel.ROUND
        factor = schedule.penalty_factor(w.balance, rounds)
        w.balance, w.balanced_at = 0.0, w.iterations
        if factor == 1.0:
            return
        for pair, logic, table, p in (
            (w.w_pair, w.w_logic, w.w_table, w.p),
            (w.mean_w_pair, w.mean_w_logic, w.mean_w_table, w.mean_p),
        ):
            kernel.rescale(problem.pair_var, problem.lits, 1.0 / factor, pair, logic, p)
            if len(table):
                kernel.rescale(
                    problem.pair_var[:0], problem.tables.lits, 1.0 / factor, pair[:0], table, p
                )
        w.penalty *= factor
        w.smooth = None
        if w.history is not None:
            anderson.forget(w.history)
        w.pairs_asleep[:] = False
        w.logic_asleep[:] = False
        if w.aside is not None:
            w.aside.wake()

    def bound(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Upper bound on the optimum at an average dual point or the current one.

        The best one is found out by trying all now and then.
        """
        w = workspace
        rare = w.smooth is not None and w.iterations >= w.bounded_at + RARE
        residual = max(w.primal_residual, w.dual_residual)
        if schedule.tries_all(w.bounds_taken, residual, w.tried_at) or rare:
            w.tried_at = residual
            points = (CURRENT, MEAN) if w.smooth is None else (CURRENT, MEAN, SMOOTH)
            states = [w.dual_state(point) for point in points]
            bounds = bounds_of_states(problem, scores, states, w.division)
            best = min(bounds)
            w.prefer = points[bounds.index(best)]
        else:
            best = self._bound_at(problem, scores, w, w.prefer)
        w.bounds_taken += 1
        w.bounded_at = w.iterations
        return best

    def _bound_at(
        self, problem: Problem, scores: Scores, workspace: Workspace, point: int
    ) -> float:
        return bound_of_state(problem, scores, workspace.dual_state(point), workspace.division)

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
            out = DualPoint(
                np.empty_like(w.w_pair), np.empty_like(w.w_logic), np.empty_like(w.w_table)
            )
        state = w.dual_state(w.prefer)
        write_links(problem, state, w.division, out.pair, out.logic)
        if len(w.w_table):
            literals = _to_literals(problem.tables.lits, state.p, 1.0)
            np.multiply(w.penalty, state.table + literals, out=out.table)
        return out

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
        return total if workspace.aside is None else total + workspace.aside.inner_value(problem)

    def table_marginals(self, problem: Problem, workspace: Workspace) -> Float:
        """Weights of the tables' entries, laid out as ``Scores.table``, in their own copies."""
        if workspace.aside is None:
            return np.zeros(0)
        if workspace.answer is not None:
            weights = np.empty(problem.tables.entry[-1])
            evaluate.weigh_entries(problem.tables, workspace.answer, weights)
            return weights
        return workspace.aside.inner_marginals(problem)


def _fused_model(problem: Problem, scores: Scores, workspace: Workspace) -> tuple[Any, ...]:
    """What the fused loop reads: the factors it takes, their scores and weights."""
    w = workspace
    return (
        problem.pair_var, *common(problem)[:5], problem.lits, problem.k, w.weight, w.mass, w.links,
        scores.pair,
    )  # fmt: skip


def _fused_state(workspace: Workspace, thread: int, gate: Int64, sums: Float) -> tuple[Any, ...]:
    """What the fused loop writes, and how its threads share it."""
    w = workspace
    return (
        w.w_pair, w.w_logic, w.tau, w.p, w.mean_w_pair, w.mean_w_logic, w.mean_p,
        w.pairs_asleep, w.logic_asleep, w.totals, w.block, w.lanes,
        w.division, thread, gate, sums,
    )  # fmt: skip


def _asked(problem: Problem, workspace: Workspace, iterations: int, idle: bool) -> float:
    """Projections in the last iterations: sleeping blocks are asked once in a round only."""
    w = workspace
    tables = int(problem.tables.factor[-1])
    everything = problem.n_pairs + problem.n_logic + tables
    if not idle:
        return float(iterations * everything)
    awake = float(tables)
    for count, asleep in ((problem.n_pairs, w.pairs_asleep), (problem.n_logic, w.logic_asleep)):
        if count:
            awake += count * (1.0 - np.count_nonzero(asleep) / len(asleep))
    return iterations * (awake + (everything - awake) / kernel.ROUND)


def _start_aside(problem: Problem) -> Aside:
    """Imported when needed: most problems do without these kernels."""
    from assent.solvers.ad3.outside_factors import Aside

    return Aside.of(problem)


def residual_scores(problem: Problem, scores: Scores, dual: DualPoint) -> Float:
    """What the link scores leave of ``theta[n]``."""
    rest = scores.theta.copy()
    for lits, links in (
        (problem.pair_var.ravel(), dual.pair.ravel()),
        (problem.lits, dual.logic),
        (problem.tables.lits, dual.table),
    ):
        initial_multipliers.take_links(lits, links, rest)
    return rest


def _to_literals(lits: Int32, values: Float, base: float) -> Float:
    """``values[v]`` per link, ``base - values[v]`` on negated literals."""
    negated = lits < 0
    if not negated.any():
        return values[lits]
    own = values[np.where(negated, ~lits, lits)]
    return np.where(negated, base - own, own)
