"""The linear relaxation through HiGHS: oracle, baseline and solver in one builder.

Maximise ``theta . x + sum_e c_e w_e`` over ``x`` in the unit cube and the hull of every factor,
in the most compact form the signs of the pair scores allow: one row and one column per pair.

    c > 0:  w = min(x_i, x_j)        = x_i - t,  t >= x_i - x_j,      t >= 0
    c < 0:  w = max(0, x_i + x_j - 1) = t,       t >= x_i + x_j - 1,  t >= 0

In both cases the column ``t`` costs ``|c|``; for ``c > 0`` coordinate ``i`` earns ``c`` more.
Logic rows, in literals ``l``: CAP ``sum l <= k``, SUM ``sum l == k``, and ANYOF
``l_j - z <= 0`` for every input and ``z - sum l_j <= 0``.

The multipliers of a factor's rows, times the rows' coefficients, are its link scores: by LP
duality the bound they give equals the optimum of the relaxation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from assent.problem import ANYOF, SUM, DualPoint, Float, Int64, Problem, Scores
from assent.solvers.protocol import Info, WarmStart

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

Method = Literal["simplex", "ipm", "choose"]

# HiGHS has absolute tolerances of 1e-7 on costs: their largest is brought into this range by a
# power of two, which loses no digits.
LARGEST_COST = (1.0, 1024.0)

# What the status says, by the name HiGHS has for it.
STATUS = {
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
class LogicRows:
    """Rows of the logic factors as triplets ``(row, link, coefficient)`` over literals.

    ``lower[R] <= sum of coefficient * literal <= upper[R]``.
    """

    row: Int64
    link: Int64
    coefficient: Float
    lower: Float
    upper: Float


@dataclass(frozen=True)
class CompactLP:
    """A relaxation to *minimise*: coordinates first, then one column per scored pair.

    The rows are those of the scored pairs, then the logic rows.  ``offset - scale * minimum`` is
    the optimum of the relaxation.
    """

    matrix: sparse.csc_matrix
    cost: Float
    column_upper: Float
    row_lower: Float
    row_upper: Float
    offset: float
    scale: float
    scored: Int64  # pairs whose score is not zero
    logic: LogicRows


@dataclass(frozen=True)
class LpSolution:
    """What HiGHS found.

    Attributes:
        status: "optimal", "infeasible", "time limit", "interrupted" or another reason to stop.
        value: optimum of the relaxation; -inf if infeasible, nan if unknown.
        x: ``[n]`` the relaxed answer (one half everywhere if there is none).
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
    row_dual: Float
    dual: DualPoint
    ray: DualPoint | None
    seconds: float
    iterations: int


def build_lp(problem: Problem, scores: Scores) -> CompactLP:
    """The compact relaxation of a problem as sparse arrays.

    Example:
        >>> from assent.problem import make_problem
        >>> problem = make_problem(3, np.array([[0, 1], [1, 2]], np.int32), [])
        >>> build_lp(problem, Scores(np.zeros(3), np.array([1.0, -1.0]))).matrix.shape
        (2, 5)
    """
    from scipy import sparse

    n, logic = problem.n, logic_rows(problem)
    scored = np.flatnonzero(scores.pair)
    c = scores.pair[scored]
    rows = np.arange(len(scored))
    i, j = problem.pair_var[scored].T
    lits = problem.lits[logic.link]
    sign = np.where(lits < 0, -1.0, 1.0)
    row = np.concatenate([rows, rows, rows, len(scored) + logic.row])
    column = np.concatenate([i, j, n + rows, np.where(lits < 0, ~lits, lits)])
    ones = np.ones(len(scored))
    entry = np.concatenate([ones, -np.sign(c), -ones, sign * logic.coefficient])
    shape = (len(scored) + len(logic.upper), n + len(scored))
    matrix = sparse.csc_matrix((entry, (row, column)), shape)  # adds up x and ~x of one factor
    matrix.eliminate_zeros()
    # A negated literal 1 - x leaves its coefficient on the right-hand side.
    negated = np.bincount(
        logic.row, np.where(lits < 0, logic.coefficient, 0.0), minlength=len(logic.upper)
    )
    earned = np.bincount(i[c > 0], c[c > 0], minlength=n)
    cost = np.concatenate([-(scores.theta + earned), np.abs(c)])
    scale = cost_scale(cost)
    return CompactLP(
        matrix=matrix,
        cost=cost / scale,
        column_upper=np.concatenate([np.ones(n), np.full(len(scored), np.inf)]),
        row_lower=np.concatenate([np.full(len(scored), -np.inf), logic.lower - negated]),
        row_upper=np.concatenate([np.where(c > 0, 0.0, 1.0), logic.upper - negated]),
        offset=scores.constant,
        scale=scale,
        scored=scored,
        logic=logic,
    )


def cost_scale(cost: Float) -> float:
    """Power of two that brings the largest cost into HiGHS's comfortable range."""
    largest = float(np.abs(cost).max(initial=0.0))
    if largest == 0.0:
        return 1.0
    nearest = min(max(largest, LARGEST_COST[0]), LARGEST_COST[1])
    return float(2.0 ** np.round(np.log2(largest / nearest)))


def logic_rows(problem: Problem) -> LogicRows:
    """Rows of all logic factors, group by group."""
    triplets: list[tuple[Int64, Int64, Float]] = []
    limits: list[tuple[Float, Float]] = []
    first_row = 0
    for g, kind in enumerate(problem.group_kind):
        m, size = int(problem.group_count[g]), int(problem.group_size[g])
        links = problem.group_link[g] + np.arange(m * size).reshape(size, m)
        if kind == ANYOF:
            triplets += _anyof_triplets(first_row, links)
            upper = np.zeros(m * size)
        else:
            triplets.append(_triplets(first_row + np.arange(m), links, 1.0))
            upper = problem.k[problem.group_factor[g] :][:m].astype(float)
        limits.append((upper if kind == SUM else np.full(len(upper), -np.inf), upper))
        first_row += len(upper)
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    row, link, coefficient = map(np.concatenate, zip(nothing, *triplets, strict=True))
    lower, upper = map(np.concatenate, zip(nothing[2:] * 2, *limits, strict=True))
    return LogicRows(row, link, coefficient, lower, upper)


def _triplets(rows: Int64, links: Int64, coefficient: float) -> tuple[Int64, Int64, Float]:
    """Entries of one coefficient; rows and links broadcast against each other."""
    rows, links = np.broadcast_arrays(rows, links)
    return rows.ravel(), links.ravel(), np.full(rows.size, coefficient)


def _anyof_triplets(first_row: int, links: Int64) -> list[tuple[Int64, Int64, Float]]:
    """Row of an input: it implies the output.  Row of the output: it implies some input."""
    rows = first_row + np.arange(links.size).reshape(links.shape)
    return [
        _triplets(rows[:-1], links[:-1], 1.0),
        _triplets(rows[:-1], links[-1], -1.0),
        _triplets(rows[-1], links[:-1], -1.0),
        _triplets(rows[-1], links[-1], 1.0),
    ]


def link_scores(problem: Problem, scores: Scores, lp: CompactLP, row_dual: Float) -> DualPoint:
    """Link scores that row multipliers stand for."""
    c = scores.pair[lp.scored]
    mu = np.clip(row_dual[: len(c)], 0.0, np.abs(c))
    pair = np.zeros((problem.n_pairs, 2))
    pair[lp.scored, 0] = np.where(c > 0, mu - c, mu)
    pair[lp.scored, 1] = np.where(c > 0, -mu, mu)
    return DualPoint(pair, _logic_link_scores(problem, lp, row_dual[len(c) :]))


def _logic_link_scores(problem: Problem, lp: CompactLP, logic_dual: Float) -> Float:
    weights = lp.logic.coefficient * logic_dual[lp.logic.row]
    # (an empty bincount would be integer)
    return np.bincount(lp.logic.link, weights, minlength=len(problem.lits)).astype(float)


def solve_lp(
    problem: Problem,
    scores: Scores,
    method: Method = "choose",
    time_limit: float | None = None,
) -> LpSolution:
    """Solve the relaxation with HiGHS on one thread.

    ``method``: dual "simplex", interior-point "ipm", or HiGHS's own choice ("choose").
    An interrupt (Ctrl-C) stops HiGHS and comes back as the status "interrupted".

    Example:
        >>> from assent.problem import make_problem
        >>> problem = make_problem(2, np.array([[0, 1]], np.int32), [])
        >>> solve_lp(problem, Scores(np.array([1.0, -0.5]), np.array([2.0]))).value
        2.5
    """
    lp = build_lp(problem, scores)
    highs = _load(lp, {"solver": method, "time_limit": time_limit})
    _run(highs)
    status = _status(highs)
    x, row_dual = _read(highs, lp, problem.n)
    value, ray = np.nan, None
    if status == "infeasible":
        value, ray = -np.inf, _find_ray(problem, lp)
    elif status == "optimal":
        value = float(lp.offset - lp.scale * highs.getInfo().objective_function_value)
    info = highs.getInfo()
    iterations = max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count)
    dual = link_scores(problem, scores, lp, row_dual)
    return LpSolution(status, value, x, row_dual, dual, ray, highs.getRunTime(), iterations)


def _load(lp: CompactLP, options: dict[str, Any]) -> Any:
    """HiGHS with the model and options set, silent and on one thread."""
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
    highs.passModel(model)
    return highs


def _run(highs: Any) -> None:
    """Run HiGHS in its own thread, so that Ctrl-C reaches Python and can stop it."""
    highs.HandleUserInterrupt = True
    highs.startSolve()
    try:
        while not highs.wait(1.0)[0]:
            pass
    except KeyboardInterrupt:
        highs.cancelSolve()
        while not highs.wait(1.0)[0]:
            pass


def _status(highs: Any) -> str:
    name = highs.getModelStatus().name
    return STATUS.get(name, f"HiGHS stopped: {name}")


def _read(highs: Any, lp: CompactLP, n: int) -> tuple[Float, Float]:
    """The relaxed answer and the multipliers in units of the scores; neutral where absent."""
    solution = highs.getSolution()
    x, row_dual = np.full(n, 0.5), np.zeros(len(lp.row_upper))
    if solution.value_valid:
        x = np.clip(np.array(solution.col_value[:n]), 0.0, 1.0)
    if solution.dual_valid:
        row_dual = -lp.scale * np.array(solution.row_dual).reshape(-1)
    inequality = np.isneginf(lp.row_lower)
    row_dual[inequality] = np.maximum(row_dual[inequality], 0.0)
    return x, row_dual


def _find_ray(problem: Problem, lp: CompactLP) -> DualPoint | None:
    """Link scores that prove infeasibility: a dual ray, which HiGHS gives without presolve.

    Pair rows can always be met by their own columns, so a ray lives on the logic rows.
    """
    feasibility = replace(lp, cost=np.zeros_like(lp.cost))
    highs = _load(feasibility, {"solver": "simplex", "presolve": "off"})
    _run(highs)
    _, found, ray = highs.getDualRay()
    if not found:
        return None
    logic_dual = np.array(ray)[len(lp.scored) :]
    # HiGHS does not promise the ray's sign: inequalities must have non-negative multipliers.
    inequality = np.isneginf(lp.logic.lower)
    rhs = lp.row_upper[len(lp.scored) :]
    candidates = [-logic_dual, logic_dual]
    for multipliers in candidates:
        multipliers[inequality] = np.maximum(multipliers[inequality], 0.0)
    proofs = [_ray_bound(lp, rhs, multipliers) for multipliers in candidates]
    best = int(np.argmin(proofs))
    if not proofs[best] < 0.0:
        return None
    return DualPoint(
        np.zeros((problem.n_pairs, 2)), _logic_link_scores(problem, lp, candidates[best])
    )


def _ray_bound(lp: CompactLP, rhs: Float, multipliers: Float) -> float:
    """Upper bound on the zero objective that logic multipliers prove; negative: infeasible."""
    reduced = -(lp.matrix[len(lp.scored) :].T @ multipliers)
    return float(rhs @ multipliers + np.maximum(reduced, 0.0).sum())


@dataclass
class Workspace:
    """The solution, once there is one."""

    solution: LpSolution | None = None


@dataclass(frozen=True)
class LinearProgram:
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
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"time_limit is a positive number of seconds, got {self.time_limit}")

    def solve(
        self, problem: Problem, scores: Scores, time_limit: float | None = None
    ) -> LpSolution:
        """The solution of the relaxation; a time limit given here wins over the settings'."""
        limit = self.time_limit if time_limit is None else time_limit
        return solve_lp(problem, scores, self.method, limit)

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> Workspace:
        """An empty workspace: HiGHS cannot start from an interior dual point."""
        return Workspace()

    def advance(
        self, problem: Problem, scores: Scores, workspace: Workspace, iterations: int = 1
    ) -> Info:
        """Solve; one iteration is the whole solve."""
        workspace.solution = self.solve(problem, scores)
        if workspace.solution.status == "interrupted":
            raise KeyboardInterrupt
        done = workspace.solution.status == "optimal"
        residual = 0.0 if done else np.inf
        return Info(1, residual, residual, finished=done)

    def bound(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Upper bound from the multipliers; infinite before the solve."""
        from assent.kernels import bound as kernel

        dual = self.dual_point(problem, scores, workspace)
        return kernel.bound(
            problem.pair_var, problem.group_kind, problem.group_size, problem.group_count,
            problem.group_link, problem.group_factor, problem.lits, problem.k,
            scores.theta, scores.pair, scores.constant,
            1.0, dual.pair, dual.logic, 0.0, np.zeros(problem.n),
        )  # fmt: skip

    def dual_point(
        self,
        problem: Problem,
        scores: Scores,
        workspace: Workspace,
        out: DualPoint | None = None,
    ) -> DualPoint:
        """Link scores of the multipliers; zero before the solve."""
        if workspace.solution is None:
            return DualPoint(np.zeros((problem.n_pairs, 2)), np.zeros(len(problem.lits)))
        return workspace.solution.dual

    def ray(self, workspace: Workspace) -> DualPoint | None:
        """Link scores that prove infeasibility, if HiGHS found such a proof."""
        return None if workspace.solution is None else workspace.solution.ray

    def marginals(self, workspace: Workspace) -> Float:
        """The relaxed answer."""
        assert workspace.solution is not None, "marginals exist after the solve"
        return workspace.solution.x

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Objective of the relaxation at the relaxed answer."""
        x = self.marginals(workspace)
        return relaxed_objective(problem, scores, x)


def relaxed_objective(problem: Problem, scores: Scores, x: NDArray[np.float64]) -> float:
    """``theta . x`` plus every pair's best value given its two marginals."""
    a, b = x[problem.pair_var].T
    both = np.where(scores.pair > 0, np.minimum(a, b), np.maximum(0.0, a + b - 1.0))
    return float(scores.constant + scores.theta @ x + scores.pair @ both)
