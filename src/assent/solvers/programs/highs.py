"""HiGHS: programs are loaded, run so that Ctrl-C stops them, and their answers read."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assent.interrupts import Uninterrupted
from assent.kernels.problem import DualPoint, Float, Problem, Scores, split_links
from assent.proof.gap_rule import least_and_relative
from assent.solvers.base.stop_reasons import TIME_LIMIT
from assent.solvers.programs.compact_lp import CompactLP, row_scores

Method = Literal["simplex", "ipm", "choose"]


# Programs of at most this many entries run without a thread of their own, which takes longer than
# they do (twice as long at 5,000, four times at 500); a Ctrl-C waits for them.
SMALL_PROGRAM = 8_000

# HiGHS' largest number of pivots: no limit.
MOST_PIVOTS = 2**31 - 1

# What a run is counted as, in microseconds: as such, as its answer is read, proven and cut off; for
# every entry, as the matrix is copied and factorised; for every pivot, times the root of the
# entries, as it touches fewer and fewer of them.  From 300 to 100,000 entries most programs take
# half to twice that; parses and tables of many states up to three times, side chains a third.
RUN, RUN_ENTRY, PIVOT = 1000.0, 0.4, 0.08


# HiGHS' usual tolerance on rows and whole numbers, and a smaller one that it keeps to.
FEASIBILITY = (1e-9, 1e-6)


# What HiGHS calls a feasible solution.
SOLUTION_FOUND = 2


# Seconds between two checks whether somebody pressed Ctrl-C.
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


def import_highspy() -> Any:
    """HiGHS's own module.

    Raises:
        ImportError: that says what stands in the way, and what to do.
    """
    try:
        import highspy
    except ImportError as error:
        raise ImportError(
            f"HiGHS, which linear programs need, cannot be loaded: {_obstacle(error)} Auto, "
            "decoders such as AD3, and BranchAndBound do without it. "
            f"({type(error).__name__}: {error})",
            name="highspy",
        ) from error
    return highspy


def has_highs() -> bool:
    """Whether HiGHS can be loaded."""
    try:
        import_highspy()
    except ImportError:
        return False
    return True


def _obstacle(error: ImportError) -> str:
    """Why HiGHS is not loaded, and the way out."""
    if isinstance(error, ModuleNotFoundError) and error.name == "highspy":
        return 'it is not installed: pip install "highspy>=1.7".'
    if "undefined symbol" in str(error) and "ortools" in sys.modules:
        return (
            "ortools was loaded before and brings another HiGHS, under the same names; one process "
            "can hold only one of them. Use ortools in a process of its own."
        )
    return "another library that is loaded may bring a HiGHS of its own, or it is damaged."


def new_highs(options: dict[str, Any]) -> Any:
    """HiGHS without a model, silent and on one thread; options of None are left as they are."""
    highs = import_highspy().Highs()
    highs.silent()
    for name, value in {"threads": 1, "parallel": "off", **options}.items():
        if value is not None:
            highs.setOptionValue(name, value)
    return highs


def load_highs(
    lp: CompactLP, options: dict[str, Any], integral: NDArray[np.bool_] | None = None
) -> Any:
    """HiGHS with the model and options set.

    ``integral`` says which columns of an integer program take integral values only.
    """
    highspy, highs = import_highspy(), new_highs(options)
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = lp.matrix.shape
    model.col_cost_, model.row_lower_, model.row_upper_ = lp.cost, lp.row_lower, lp.row_upper
    model.col_lower_, model.col_upper_ = np.zeros(len(lp.cost)), lp.column_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = lp.matrix.indptr
    model.a_matrix_.index_ = lp.matrix.indices
    model.a_matrix_.value_ = lp.matrix.data
    if integral is not None:
        kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
        model.integrality_ = [kinds[int(must)] for must in integral]
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


def run_until(highs: Any, deadline: float, work: float = np.inf) -> float:
    """Run HiGHS once more, until then or for so much work at most; what was done of it.

    Work is counted in estimated microseconds.  HiGHS counts the time of all its runs together.
    Without presolving it goes on where a run before was cut short.
    """
    left, entries = time_left(deadline), max(1, highs.getNumNz())
    run, pivot = RUN + RUN_ENTRY * entries, PIVOT * entries**0.5
    if left is not None:
        highs.setOptionValue("time_limit", highs.getRunTime() + left)
    if work < np.inf:
        highs.setOptionValue("presolve", "off")
    # A run that is paused at once would have been begun for nothing.
    most = max(work - run, run) / pivot
    highs.setOptionValue("simplex_iteration_limit", int(min(1.0 + most, MOST_PIVOTS)))
    if entries <= SMALL_PROGRAM:
        with Uninterrupted():
            highs.run()
    else:
        run_highs(highs)
    pivots = max(0, highs.getInfo().simplex_iteration_count)  # -1: none were needed
    return run + pivots * pivot


def highs_status(highs: Any) -> str:
    """What HiGHS has to say, in words."""
    name = highs.getModelStatus().name
    return STATUS.get(name, name)


def why_it_stopped(status: str) -> str:
    """What a run says that ended with ``status``; nothing where it is optimal."""
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


def search_options(tolerance: float, scores: Scores, lp: CompactLP) -> dict[str, Any]:
    """Options by which a search of HiGHS ends within three quarters of the gap allowed."""
    least, relative = least_and_relative(tolerance, scores.scale)
    feasibility = min(max(0.25 * least / lp.scale, FEASIBILITY[0]), FEASIBILITY[1])
    gaps = {"mip_rel_gap": 0.5 * relative, "mip_abs_gap": 0.5 * (least / lp.scale) * (not relative)}
    return {**gaps, "mip_feasibility_tolerance": feasibility}


def searched_bound(highs: Any, lp: CompactLP) -> float:
    """What a search of HiGHS has shown, in units of the scores; infinite if nothing.

    HiGHS knows the program's offset.  Whatever is better than its answer by no more than its
    tolerances it gives up, and then says that the answer is the best; its relaxations are solved
    within a tenth of the first of them.
    """
    if highs_status(highs) not in ("optimal", "time limit"):
        return np.inf
    info = highs.getInfo()
    names = "mip_feasibility_tolerance", "mip_rel_gap", "mip_abs_gap"
    tolerance, relative, absolute = (highs.getOptionValue(name)[1] for name in names)
    least = info.mip_dual_bound
    if info.primal_solution_status == SOLUTION_FOUND:
        best = info.objective_function_value
        least = min(least, best - max(relative * abs(best), absolute))
    least -= tolerance
    return float(-lp.scale * least) if np.isfinite(least) else np.inf


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
