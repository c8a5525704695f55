"""The bound of a dual point, all kinds of factors taken together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assent.kernels.core.bound_sweep import DualState, link_scores, scaled_bound
from assent.kernels.core.thread_shares import Division
from assent.kernels.problem import DualPoint, Float, Int64, Problem, ScoredProblem, Scores
from assent.solvers.base.thread_plan import all_common, common_groups, whole
from assent.solvers.base.thread_team import together


def plain_state(problem: Problem, links: DualPoint) -> DualState:
    """A dual point as it is."""
    ones = np.ones(len(problem.group_kind) + 1)
    return DualState(ones, links.pair, links.logic, links.table, 0.0, np.zeros(problem.n))


def bound_at(problem: Problem, scores: Scores, links: DualPoint) -> float:
    """Upper bound on the optimum that link scores prove; any will do.

    Example:
        >>> import numpy as np
        >>> from assent.kernels.problem import make_problem
        >>> problem = make_problem(2, np.array([[0, 1]], np.int32), [])
        >>> scores = Scores(np.array([1.0, -1.0]), np.array([3.0]))
        >>> bound_at(problem, scores, DualPoint(np.zeros((1, 2)), np.zeros(0)))
        4.0
    """
    return bound_of_state(problem, scores, plain_state(problem, links))


def bound_of_state(
    problem: Problem, scores: Scores, state: DualState, division: Division | None = None
) -> float:
    """Upper bound on the optimum at a dual point in AD3's form, by the threads of the division."""
    return bounds_of_states(problem, scores, [state], division)[0]


def bounds_of_states(
    problem: Problem,
    scores: Scores,
    states: Sequence[DualState],
    division: Division | None = None,
) -> list[float]:
    """The bounds at several dual points: threads come together once for all of them."""
    if division is None:
        division = whole(problem)
    threads = len(division.shares)
    left = [_beside_blocks(problem, scores, state) for state in states]
    residuals, parts = np.empty((threads, problem.n)), np.empty((threads, 2))

    def share(thread: int, gate: Int64) -> list[float]:
        return [
            scaled_bound(own, state, division, thread, gate, residuals, parts)
            for state, own in zip(states, left, strict=True)
        ]

    return together(share, threads)


def _beside_blocks(problem: Problem, scores: Scores, state: DualState) -> ScoredProblem:
    """What factors outside the blockwise kernels leave to them, their bound in the constant."""
    theta, constant = scores.theta, float(scores.constant)
    if not all_common(problem):
        theta = theta.copy()
        constant += _bound_singles(problem, state, theta)
        constant += _bound_tables(problem, scores, state, theta)
    return ScoredProblem(problem.pair_var, problem.groups, theta, scores.pair, constant)


def write_links(
    problem: Problem, state: DualState, division: Division, pair: Float, logic: Float
) -> None:
    """Link scores of pairs and logic factors at a dual point in AD3's form."""

    def share(thread: int, gate: Int64) -> None:
        link_scores(problem.pair_var, problem.groups, state, division, thread, gate, pair, logic)

    together(share, len(division.shares))


def _bound_singles(problem: Problem, state: DualState, residual: Float) -> float:
    groups = common_groups(problem)
    if groups == len(problem.group_kind):
        return 0.0
    from assent.kernels.ad3.parity_knapsack_steps import bound_singles

    return bound_singles(
        problem.group_kind[groups:], problem.group_size[groups:], problem.group_count[groups:],
        problem.group_link[groups:], problem.group_factor[groups:], problem.lits,
        problem.weights, problem.capacity, problem.n_logic,
        state.scales[groups:-1], state.logic, state.factor, state.p, residual,
    )  # fmt: skip


def _bound_tables(problem: Problem, scores: Scores, state: DualState, residual: Float) -> float:
    best = 0.0
    tables = problem.written
    if len(tables.kind):
        from assent.kernels.ad3 import table_steps

        layout = table_steps.layout_of(problem)
        work = table_steps.make_flat_work(tables, layout)
        best += table_steps.bound_tables(
            tables, layout, read_only(scores.table), state.scales[-1], state.table,
            state.factor, state.p, residual, work,
        )  # fmt: skip
    if problem.models:
        from assent.kernels.ad3.structure_steps import searcher_of

        best += searcher_of(problem).bound(
            scores, state.scales[-1], state.table, state.factor, state.p, residual
        )
    return best


def read_only(values: np.ndarray) -> np.ndarray:
    """A view that kernels always see as read-only: they are compiled once."""
    view = values.view()
    view.flags.writeable = False
    return view
