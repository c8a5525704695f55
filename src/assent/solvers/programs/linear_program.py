"""The linear relaxation through HiGHS: oracle, baseline and solver in one.

Maximise ``theta . x`` plus the scores of pairs and tables over ``x`` in the unit cube and the hull
of every factor, in the rows of :mod:`assent.solvers.programs.relaxation_rows`.  The multipliers of
a factor's rows, times the rows' entries, are its link scores: by LP duality the bound they give
equals the optimum of the relaxation.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from assent.interrupts import Uninterrupted
from assent.kernels.problem import DualPoint, Float, Problem, Scores, split_links
from assent.solvers.base.protocol import Info, WarmStart
from assent.solvers.base.settings import check_time_limit
from assent.solvers.programs.relaxation_rows import Rows, relaxation_rows

if TYPE_CHECKING:
    from pathlib import Path

    from scipy import sparse

    from assent.model.graph import FactorGraph

Method = Literal["simplex", "ipm", "choose"]

# HiGHS has absolute tolerances of 1e-7 on costs: their largest is brought into this range by a
# power of two, which loses no digits.
LARGEST_COST = (1.0, 1024.0)

# Programs of so many entries at most are solved sooner as they are: presolving and a thread of
# their own take longer than the simplex method does (twice as long at 5,000, four times at 500).
SMALL_PROGRAM = 8_000

# Seconds between two looks whether somebody pressed Ctrl-C.
PAUSE = 0.05

# What the status says, by the name HiGHS has for it.
STATUS = {
    "kObjectiveBound": "low enough",
    "kOptimal": "optimal",
    "kModelEmpty": "optimal",
    "kInfeasible": "infeasible",
    "kUnboundedOrInfeasible": "infeasible",  # no column is unbounded here
    "kTimeLimit": "time limit",
    "kIterationLimit": "iteration limit",
    "kInterrupt": "interrupted",
    "kHighsInterrupt": "interrupted",
}


@dataclass(frozen=True)
class CompactLP:
    """A relaxation to *minimise*: coordinates first, then the further columns of ``rows``.

    ``offset - scale * minimum`` is the optimum of the relaxation.
    """

    matrix: sparse.csc_matrix
    cost: Float
    column_upper: Float
    row_lower: Float
    row_upper: Float
    offset: float
    scale: float
    rows: Rows


@dataclass(frozen=True)
class LpSolution:
    """What HiGHS found.

    Attributes:
        status: "optimal", "infeasible", "time limit", "interrupted" or another reason to stop.
        value: optimum of the relaxation; -inf if infeasible, nan if unknown.
        x: ``[n]`` the relaxed answer (one half everywhere if there is none).
        relaxed_value: objective at the relaxed answer; nan if there is none.
        row_dual: multipliers of the rows of :func:`build_lp`, non-negative for inequalities.
        dual: link scores; their bound equals ``value`` at an optimum and is valid always.
        ray: if infeasible and a proof was found: link scores whose bound for the zero objective
            is negative.
        seconds: time spent in HiGHS, building not included.
        iterations: simplex plus interior-point iterations.
    """

    status: str
    value: float
    x: Float
    relaxed_value: float
    row_dual: Float
    dual: DualPoint
    ray: DualPoint | None
    seconds: float
    iterations: int


def build_lp(problem: Problem, scores: Scores, integer: bool = False) -> CompactLP:
    """The compact relaxation of a problem as sparse arrays, or rows for an ``integer`` program.

    Example:
        >>> from assent.kernels.problem import make_problem
        >>> problem = make_problem(3, np.array([[0, 1], [1, 2]], np.int32), [])
        >>> build_lp(problem, Scores(np.zeros(3), np.array([1.0, -1.0]))).matrix.shape
        (2, 5)
    """
    from scipy import sparse

    n, rows = problem.n, relaxation_rows(problem, scores, integer)
    lits = problem.all_lits
    coordinate, negated = np.where(lits < 0, ~lits, lits), lits < 0
    sign = np.where(negated, -1.0, 1.0)
    entry = np.concatenate([sign[rows.link] * rows.entry, rows.column_entry])
    place = (
        np.concatenate([rows.row, rows.column_row]),
        np.concatenate([coordinate[rows.link], n + rows.column]),
    )
    shape = (len(rows.upper), n + len(rows.cost))
    matrix = sparse.csc_matrix((entry, place), shape)  # adds up x and ~x of one factor
    matrix.eliminate_zeros()
    # A negated literal 1 - x leaves its entry on the right-hand side, its score in the constant.
    moved = np.bincount(rows.row, rows.entry * negated[rows.link], minlength=len(rows.upper))
    earned = np.bincount(
        coordinate[rows.earned_link], sign[rows.earned_link] * rows.earned, minlength=n
    )
    cost = np.concatenate([-(scores.theta + earned), rows.cost])
    scale = cost_scale(cost)
    return CompactLP(
        matrix=matrix,
        cost=cost / scale,
        column_upper=np.concatenate([np.ones(n), np.full(len(rows.cost), np.inf)]),
        row_lower=rows.lower - moved,
        row_upper=rows.upper - moved,
        offset=scores.constant + rows.constant + float(rows.earned @ negated[rows.earned_link]),
        scale=scale,
        rows=rows,
    )


def cost_scale(cost: Float) -> float:
    """Power of two that brings the largest cost into HiGHS's comfortable range."""
    largest = float(np.abs(cost).max(initial=0.0))
    if largest == 0.0:
        return 1.0
    nearest = min(max(largest, LARGEST_COST[0]), LARGEST_COST[1])
    return float(2.0 ** np.round(np.log2(largest / nearest)))


def link_scores(problem: Problem, rows: Rows, row_dual: Float) -> DualPoint:
    """Link scores that row multipliers stand for."""
    dual = np.minimum(row_dual, rows.limit)
    links = row_scores(problem, rows, dual)
    np.subtract.at(links, rows.earned_link, rows.earned)
    return split_links(problem, links)


def row_scores(problem: Problem, rows: Rows, row_dual: Float) -> Float:
    """One score per link: the multipliers of its rows times their entries."""
    # (an empty bincount would be integer)
    weights = rows.entry * row_dual[rows.row]
    return np.bincount(rows.link, weights, minlength=problem.n_links).astype(float)


def solve_lp(
    problem: Problem,
    scores: Scores,
    method: Method = "choose",
    time_limit: float | None = None,
) -> LpSolution:
    """Solve the relaxation with HiGHS on one thread.

    ``method``: dual "simplex", interior-point "ipm", or HiGHS's own choice ("choose").
    An interrupt (Ctrl-C) stops HiGHS and comes back as the status "interrupted"; a small program
    takes some milliseconds and is solved first.

    Example:
        >>> from assent.kernels.problem import make_problem
        >>> problem = make_problem(2, np.array([[0, 1]], np.int32), [])
        >>> solve_lp(problem, Scores(np.array([1.0, -0.5]), np.array([2.0]))).value
        2.5
    """
    deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
    lp = build_lp(problem, scores)
    if lp.rows.priced:
        from assent.solvers.programs.column_generation import solve_priced

        return solve_priced(problem, scores, lp, method, deadline)
    small = lp.matrix.nnz <= SMALL_PROGRAM
    presolve = "off" if small and method != "ipm" else None
    options = {"solver": method, "presolve": presolve, "time_limit": time_left(deadline)}
    highs = load_highs(lp, options)
    if small:
        highs.run()
    else:
        run_highs(highs)
    status = highs_status(highs)
    columns, row_dual = read_highs(highs, lp)
    x, relaxed_value = np.full(problem.n, 0.5), np.nan
    if columns is not None:
        x = np.clip(columns[: problem.n], 0.0, 1.0)
        if status == "optimal":  # before, rows may be broken
            relaxed_value = float(lp.offset - lp.scale * (lp.cost @ columns))
    value, ray = np.nan, None
    if status == "infeasible":
        value, ray = -np.inf, find_ray(problem, lp, deadline)
    elif status == "optimal":
        value = float(lp.offset - lp.scale * highs.getInfo().objective_function_value)
    info = highs.getInfo()
    iterations = max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count)
    dual = link_scores(problem, lp.rows, row_dual)
    return LpSolution(
        status, value, x, relaxed_value, row_dual, dual, ray, highs.getRunTime(), iterations
    )


def load_highs(
    lp: CompactLP, options: dict[str, Any], whole: NDArray[np.bool_] | None = None
) -> Any:
    """HiGHS with the model and options set, silent and on one thread.

    ``whole`` says which columns of an integer program take whole values only.
    """
    import highspy

    highs = highspy.Highs()
    highs.silent()
    options = {"threads": 1, "parallel": "off", **options}
    for name, value in options.items():
        if value is not None:
            highs.setOptionValue(name, value)
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = lp.matrix.shape
    model.col_cost_, model.row_lower_, model.row_upper_ = lp.cost, lp.row_lower, lp.row_upper
    model.col_lower_, model.col_upper_ = np.zeros(len(lp.cost)), lp.column_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = lp.matrix.indptr
    model.a_matrix_.index_ = lp.matrix.indices
    model.a_matrix_.value_ = lp.matrix.data
    if whole is not None:
        kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
        model.integrality_ = [kinds[int(must)] for must in whole]
    highs.passModel(model)
    return highs


def time_left(deadline: float) -> float | None:
    """Seconds until then for HiGHS, which takes none for no limit."""
    return max(deadline - time.perf_counter(), 1e-3) if np.isfinite(deadline) else None


def run_highs(highs: Any) -> None:
    """Run HiGHS in its own thread, so that Ctrl-C reaches Python and can stop it.

    All programs of a process share the locks of highspy: a Ctrl-C in the middle of its code would
    keep them for ever, and the next program would never begin.
    """
    highs.HandleUserInterrupt = True
    try:
        with Uninterrupted() as block:
            highs.startSolve()
            while not highs.wait(PAUSE)[0]:
                if block.waiting:
                    highs.cancelSolve()
    except KeyboardInterrupt:
        if highs_status(highs) != "interrupted":  # it was done before it heard
            raise


def highs_status(highs: Any) -> str:
    """What HiGHS has to say, in words."""
    name = highs.getModelStatus().name
    return STATUS.get(name, f"HiGHS stopped: {name}")


def why_it_stopped(status: str) -> str:
    """What a run says that ended with ``status``; nothing where it is optimal."""
    from assent.solvers.base.stop_reasons import TIME_LIMIT

    if status == "optimal":
        return ""
    return TIME_LIMIT if status == "time limit" else f"HiGHS stopped: {status}."


def read_highs(highs: Any, lp: CompactLP) -> tuple[Float | None, Float]:
    """All columns, if there is an answer, and the multipliers in units of the scores."""
    solution = highs.getSolution()
    columns = np.array(solution.col_value).reshape(-1) if solution.value_valid else None
    row_dual = np.zeros(len(lp.row_upper))
    if solution.dual_valid:
        row_dual = -lp.scale * np.array(solution.row_dual).reshape(-1)
    return columns, _non_negative(lp, row_dual)


def _non_negative(lp: CompactLP, row_dual: Float) -> Float:
    """Multipliers of inequalities cut off at zero."""
    return np.where(np.isneginf(lp.row_lower), np.maximum(row_dual, 0.0), row_dual)


def find_ray(problem: Problem, lp: CompactLP, deadline: float = np.inf) -> DualPoint | None:
    """Link scores that prove infeasibility: a dual ray, which HiGHS gives without presolve.

    Rows of products can always be met by their own columns: they are no part of a ray.
    """
    feasibility = replace(lp, cost=np.zeros_like(lp.cost))
    options = {"solver": "simplex", "presolve": "off", "time_limit": time_left(deadline)}
    highs = load_highs(feasibility, options)
    run_highs(highs)
    _, found, ray = highs.getDualRay()
    if not found:
        return None
    row_dual = np.where(np.isinf(lp.rows.limit), np.array(ray), 0.0)
    # HiGHS does not promise the ray's sign.
    candidates = [_non_negative(lp, -row_dual), _non_negative(lp, row_dual)]
    proofs = [_ray_bound(lp, multipliers) for multipliers in candidates]
    best = int(np.argmin(proofs))
    if not proofs[best] < 0.0:
        return None
    return split_links(problem, row_scores(problem, lp.rows, candidates[best]))


def _ray_bound(lp: CompactLP, multipliers: Float) -> float:
    """Upper bound on the zero objective that multipliers prove; negative: infeasible.

    Every column of an assignment lies between 0 and 1.
    """
    reduced = -(lp.matrix.T @ multipliers)
    finite = np.where(multipliers == 0.0, 0.0, lp.row_upper)
    return float(finite @ multipliers + np.maximum(reduced, 0.0).sum())


@dataclass
class Workspace:
    """The solution over ``n`` coordinates, once there is one."""

    n: int
    solution: LpSolution | None = None


class SolvedRelaxation:
    """The half of a solver that follows from its workspace's ``solution`` of the relaxation.

    There is none yet where an interrupt came first.
    """

    def dual_point(
        self, problem: Problem, scores: Scores, workspace: Any, out: DualPoint | None = None
    ) -> DualPoint:
        """Link scores of the relaxation's multipliers; zero before the solve."""
        if workspace.solution is None:
            return split_links(problem, np.zeros(problem.n_links))
        return workspace.solution.dual

    def ray(self, workspace: Any) -> DualPoint | None:
        """Link scores that prove infeasibility, if HiGHS found such a proof."""
        return None if workspace.solution is None else workspace.solution.ray

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Any) -> float:
        """Objective of the relaxation at the relaxed answer, if there is one."""
        return np.nan if workspace.solution is None else workspace.solution.relaxed_value

    def marginals(self, workspace: Any) -> Float:
        """The relaxed answer; one half everywhere before the solve."""
        if workspace.solution is None:
            return np.full(workspace.n, 0.5)
        return workspace.solution.x


@dataclass(frozen=True)
class LinearProgram(SolvedRelaxation):
    """Solve the linear relaxation with HiGHS, in one step.

    Attributes:
        method: "simplex", "ipm" or "choose" (HiGHS decides).
        time_limit: seconds after which HiGHS stops, or None.
        gap_tolerance: relative gap at which an answer counts as optimal.

    Example:
        >>> LinearProgram(method="ipm").method
        'ipm'
    """

    method: Method = "choose"
    time_limit: float | None = None
    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 1  # one step does everything

    def __post_init__(self) -> None:
        if self.method not in ("simplex", "ipm", "choose"):
            raise ValueError(f'method is "simplex", "ipm" or "choose", got {self.method!r}')
        check_time_limit(self.time_limit)

    def solve(
        self, problem: Problem, scores: Scores, time_limit: float | None = None
    ) -> LpSolution:
        """The solution of the relaxation; a time limit given here wins over the settings'."""
        limit = self.time_limit if time_limit is None else time_limit
        return solve_lp(problem, scores, self.method, limit)

    def write(self, graph: FactorGraph, path: str | Path) -> None:
        """Write the relaxation to an ``.lp`` or ``.mps`` file, for any other solver.

        The file maximises; constants are included.  Structures that have no rows of their own
        (see ``docs/files.md``) cannot be written.
        """
        from assent.solvers.programs.program_file import write_program

        write_program(graph, path, integer=False)

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> Workspace:
        """An empty workspace: HiGHS cannot start from an interior dual point."""
        return Workspace(problem.n)

    def advance(
        self, problem: Problem, scores: Scores, workspace: Workspace, iterations: int = 1
    ) -> Info:
        """Solve; one iteration is the whole solve."""
        workspace.solution = self.solve(problem, scores)
        if workspace.solution.status == "interrupted":
            raise KeyboardInterrupt
        status = workspace.solution.status
        done = status == "optimal"
        residual = 0.0 if done else np.inf
        return Info(1, residual, residual, finished=done, reason=why_it_stopped(status))

    def bound(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Upper bound from the multipliers; infinite before the solve."""
        from assent.solvers.base.dual_bound import bound_at

        return bound_at(problem, scores, self.dual_point(problem, scores, workspace))
