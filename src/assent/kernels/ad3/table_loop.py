"""AD3 iterations of tables and blockwise factors in one compiled call.

One iteration takes a fraction of a millisecond on grids of some hundred variables; entering two
kernels from Python for each would add a fifth to it.
"""

from __future__ import annotations

from assent.kernels.ad3.active_set import EXACT
from assent.kernels.ad3.iteration import ROUND, advance, fold, pull
from assent.kernels.ad3.table_steps import step_tables
from assent.kernels.core import schedule
from assent.kernels.jit import jit

vertices = jit(schedule.vertices)


@jit
def advance_tables(
    model, rho, alpha, cache, done, iterations, limit, state, tables, layout, scores,
    w, mean_w, asleep, supports, work,
):  # fmt: skip
    """Run ``iterations`` of AD3 in place, after ``done`` earlier ones; returns as ``ad3.advance``.

    ``model`` and ``state`` are the arguments of :func:`assent.kernels.ad3.iteration.advance` before
    and after the numbers; the others belong to the tables, as in ``structures.step_tables``.
    """
    primal, dual, balance = 0.0, 0.0, 0.0
    p, totals = state[3], state[9]
    for t in range(done, done + iterations):
        full = not cache or (t + 1) % ROUND == 0
        squares = step_tables(
            tables, layout, scores, 1.0 / rho, alpha, vertices(t, EXACT), full, limit,
            w, asleep, p, totals[0], supports, work,
        )  # fmt: skip
        primal, dual, more, limit = advance(
            *model, rho, alpha, False, cache, t, 1, squares, limit, *state
        )
        balance += more
        if (t + 1) % ROUND == 0:
            fold(pull(t + 1), mean_w, w)
    return primal, dual, balance, limit
