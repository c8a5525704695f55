"""The bound of a dual point, all kinds of factors taken together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assent.kernels.core import bound_sweep as blocks
from assent.kernels.core.thread_shares import Division
from assent.kernels.problem import DualPoint, Float, Int64, Problem, Scores
from assent.solvers.base.thread_plan import all_common, common, common_groups, whole
from assent.solvers.base.thread_team import together


class DualState(NamedTuple):
    """Link scores ``scale * (values + factor * p)``, a form AD3's state has without a copy.

    ``scales[G + 1]`` hold one scale per group of logic factors and, last, that of pairs and
    tables; ``1 - p`` stands in place of ``p`` on negated literals.
    """

    scales: Float
    pair: Float
    logic: Float
    table: Float
    factor: float
    p: Float


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
    own = [_beside_blocks(problem, scores, state) for state in states]
    residuals, parts = np.empty((threads, problem.n)), np.empty((threads, 2))

    def share(thread: int, gate: Int64) -> list[float]:
        return [
            blocks.scaled_bound(
                problem.pair_var, *common(problem), problem.lits, problem.k, theta, scores.pair,
                constant, _common_scales(problem, state.scales), state.pair, state.logic,
                state.factor, state.p, division, thread, gate, residuals, parts,
            )
            for state, (theta, constant) in zip(states, own, strict=True)
        ]  # fmt: skip

    return together(share, threads)


def _common_scales(problem: Problem, scales: Float) -> Float:
    """Those of the groups that the blockwise kernels take, and the last."""
    groups = common_groups(problem)
    return scales if groups + 1 == len(scales) else np.append(scales[:groups], scales[-1])


def _beside_blocks(problem: Problem, scores: Scores, state: DualState) -> tuple[Float, float]:
    """What factors outside the blockwise kernels leave of ``theta[n]``, and their bound."""
    if all_common(problem):
        return scores.theta, scores.constant
    theta = scores.theta.copy()
    best = _bound_singles(problem, state, theta) + _bound_tables(problem, scores, state, theta)
    return theta, scores.constant + best


def write_links(
    problem: Problem, state: DualState, division: Division, pair: Float, logic: Float
) -> None:
    """Link scores of pairs and logic factors at a dual point in AD3's form."""

    def share(thread: int, gate: Int64) -> None:
        blocks.link_scores(
            problem.pair_var, problem.group_size, problem.group_count, problem.group_link,
            problem.lits, state.scales, state.pair, state.logic, state.factor, state.p,
            division, thread, gate, pair, logic,
        )  # fmt: skip

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
