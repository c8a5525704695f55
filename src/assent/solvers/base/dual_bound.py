"""The bound of a dual point, all kinds of factors taken together."""

from __future__ import annotations

import numpy as np

from assent.kernels.core.barrier import new_barrier
from assent.kernels.core.bound_sweep import DualState, scaled_bound
from assent.kernels.kinds.logic_projections import LANES
from assent.kernels.problem import DualPoint, Float, Problem, ScoredProblem, Scores
from assent.solvers.base.thread_plan import all_common, common_groups, divide


def bound_at(problem: Problem, scores: Scores, links: DualPoint) -> float:
    """Upper bound on the optimum that link scores prove; any will do."""
    ones = np.ones(len(problem.group_kind) + 1)
    dual = DualState(ones, links.pair, links.logic, links.table, 0.0, np.zeros(problem.n))
    residuals, parts = np.zeros((1, problem.n)), np.empty((1, 2))
    constant = float(scores.constant)
    if not all_common(problem):
        constant += _bound_outside(problem, scores, dual, residuals[0])
    own = ScoredProblem(problem.pair_var, problem.groups, scores.theta, scores.pair, constant)
    scratch = np.empty((1, LANES * int(problem.group_size.max(initial=1))))
    return scaled_bound(own, dual, divide(problem, 1), 0, new_barrier(), residuals, parts, scratch)


def _bound_outside(problem: Problem, scores: Scores, dual: DualState, residual: Float) -> float:
    """Best values of the factors that the blockwise kernels do not take.

    Takes their link scores off ``residual[n]``.  Imports what is needed: most do without.
    """
    best, tables = 0.0, problem.written
    if common_groups(problem) < len(problem.group_kind):
        from assent.kernels.ad3.parity_knapsack_steps import bound_singles

        best += bound_singles(problem.groups, dual, residual)
    if len(tables.kind):
        from assent.kernels.ad3 import table_steps

        layout = table_steps.layout_of(problem)
        work = table_steps.make_flat_work(tables, layout)
        states = np.empty(len(tables.states), np.int32)
        best += table_steps.bound_tables(
            tables, layout, read_only(scores.table), dual, residual, states, work
        )
    if problem.models:
        from assent.kernels.ad3.structure_steps import searcher_of

        best += searcher_of(problem).bound(scores, dual, residual)
    return best


def read_only(values: np.ndarray) -> np.ndarray:
    """A view that kernels always see as read-only: they are compiled once."""
    view = values.view()
    view.flags.writeable = False
    return view
