"""Many small problems, one after the other, in one compiled call.

All problems stand end to end in flat arrays; ``ends`` says where each begins.  A problem's own
arrays are views into them, so that everything that works on one problem works here as well.
Nothing is shared between problems but the stop flag: any thread may take any of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from assent.kernels.ad3.state import Instance, Links
from assent.kernels.batch.instance import Answer, BatchStart
from assent.kernels.batch.instance_loop import make_outside, solve
from assent.kernels.batch.searched_structures import view_layout, view_structures, view_tables
from assent.kernels.jit import jit, jit_internal
from assent.kernels.problem import LogicGroups, ScoredProblem

# Columns of ``Batch.ends`` and of the sizes it is made from.
COORDINATES, PAIRS, GROUPS, LINKS, FACTORS = 0, 1, 2, 3, 4
WEIGHTS, CAPACITIES = 5, 6
# Tables; links and entries are those of structures too, which stand behind them, then without.
TABLE_GROUPS, SLOTS, TABLE_LINKS, ENTRIES, WRITTEN_LINKS, WRITTEN_ENTRIES = 7, 8, 9, 10, 11, 12
COLUMNS = 13

# Columns of ``Batch.numbers``.
CONSTANT, TOTAL_WEIGHT, ALPHA, PENALTY, LEAST_GAP = 0, 1, 2, 3, 4
NUMBERS = 5


class Batch(NamedTuple):
    """Problems, scores and state, end to end; names as in ``ad3.state.Instance``.

    ``warm[b]`` says whether ``warm_*`` hold link scores to start problem ``b`` from, ``known[b]``
    whether ``x`` holds an assignment.
    """

    ends: np.ndarray  # int64[B + 1, COLUMNS]
    numbers: np.ndarray  # float64[B, NUMBERS]
    pair_var: np.ndarray
    kind: np.ndarray
    size: np.ndarray
    members: np.ndarray
    link: np.ndarray
    factor: np.ndarray
    lits: np.ndarray
    k: np.ndarray
    weights: np.ndarray
    capacity: np.ndarray
    weight: np.ndarray
    of_link: np.ndarray
    mass: np.ndarray
    degree: np.ndarray
    theta: np.ndarray
    pair: np.ndarray
    table: np.ndarray
    table_lits: np.ndarray
    warm: np.ndarray  # bool[B]
    warm_pair: np.ndarray
    warm_logic: np.ndarray
    warm_table: np.ndarray
    known: np.ndarray  # bool[B]
    p: np.ndarray  # the consensus, first and last
    x: np.ndarray  # int8, the best assignment, first and last
    dual_pair: np.ndarray  # the dual point, last
    dual_logic: np.ndarray
    dual_table: np.ndarray
    entry_weight: np.ndarray  # weights of table entries, last


@jit_internal
def view_instance(batch, b):
    """Problem ``b`` and its scores."""
    begin, end, numbers = batch.ends[b], batch.ends[b + 1], batch.numbers[b]
    n0, n1 = begin[COORDINATES], end[COORDINATES]
    p0, p1 = begin[PAIRS], end[PAIRS]
    g0, g1 = begin[GROUPS], end[GROUPS]
    l0, l1 = begin[LINKS], end[LINKS]
    groups = LogicGroups(
        batch.kind[g0:g1], batch.size[g0:g1], batch.members[g0:g1], batch.link[g0:g1],
        batch.factor[g0:g1], batch.lits[l0:l1], batch.k[begin[FACTORS] : end[FACTORS]],
        batch.weights[begin[WEIGHTS] : end[WEIGHTS]],
        batch.capacity[begin[CAPACITIES] : end[CAPACITIES]],
    )  # fmt: skip
    return Instance(
        ScoredProblem(
            batch.pair_var[p0:p1], groups, batch.theta[n0:n1], batch.pair[p0:p1], numbers[CONSTANT]
        ),
        batch.table[begin[ENTRIES] : end[ENTRIES]],
        batch.table_lits[begin[TABLE_LINKS] : end[TABLE_LINKS]],
        batch.weight[g0:g1], batch.of_link[l0:l1], batch.mass[n0:n1], batch.degree[n0:n1],
        numbers[TOTAL_WEIGHT], numbers[ALPHA],
    )  # fmt: skip


@jit_internal
def view_start(batch, b):
    """What problem ``b`` starts from."""
    begin, end = batch.ends[b], batch.ends[b + 1]
    known = batch.x[:0]
    if batch.known[b]:
        known = batch.x[begin[COORDINATES] : end[COORDINATES]].copy()
    warm = Links(batch.warm_pair[:0], batch.warm_logic[:0], batch.warm_table[:0])
    if batch.warm[b]:
        warm = Links(
            batch.warm_pair[begin[PAIRS] : end[PAIRS]],
            batch.warm_logic[begin[LINKS] : end[LINKS]],
            batch.warm_table[begin[TABLE_LINKS] : end[TABLE_LINKS]],
        )
    return BatchStart(batch.numbers[b, PENALTY], batch.numbers[b, LEAST_GAP], known, warm)


@jit_internal
def view_answer(batch, b):
    """Where the outcome of problem ``b`` goes."""
    begin, end = batch.ends[b], batch.ends[b + 1]
    n0, n1 = begin[COORDINATES], end[COORDINATES]
    dual = Links(
        batch.dual_pair[begin[PAIRS] : end[PAIRS]],
        batch.dual_logic[begin[LINKS] : end[LINKS]],
        batch.dual_table[begin[TABLE_LINKS] : end[TABLE_LINKS]],
    )
    weights = batch.entry_weight[begin[ENTRIES] : end[ENTRIES]]
    return Answer(batch.p[n0:n1], dual, batch.x[n0:n1], weights)


def searched_of(structures, b, written):
    """The structures of problem ``b``, behind what is ``written`` of each kind, or nothing."""
    if structures is None:
        return None
    return view_structures(structures, b, written[WRITTEN_LINKS], written[WRITTEN_ENTRIES])


@overload(searched_of)
def _choose_searched_of(structures, b, written):
    """One or the other by type: what may be either would be compiled apart from what is sure."""
    if isinstance(structures, types.NoneType):
        return lambda structures, b, written: None
    return lambda structures, b, written: view_structures(
        structures, b, written[WRITTEN_LINKS], written[WRITTEN_ENTRIES]
    )


@jit_internal
def some_outside(own, batch, tables, layout, searched, b):
    """Factors of problem ``b`` outside the fused loop."""
    begin, end = batch.ends[b], batch.ends[b + 1]
    groups, slots = (begin[TABLE_GROUPS], end[TABLE_GROUPS]), (begin[SLOTS], end[SLOTS])
    links = begin[WRITTEN_LINKS], end[WRITTEN_LINKS]
    own_layout = view_layout(layout, b, groups, slots)
    own_tables = view_tables(tables, b, groups, slots, links)
    return make_outside(own, own_tables, own_layout, searched.own)


def outside_of(own, batch, tables, layout, searched, b):
    """The same, or nothing."""
    return None if tables is None else some_outside(own, batch, tables, layout, searched, b)


@overload(outside_of)
def _choose_outside_of(own, batch, tables, layout, searched, b):
    if isinstance(tables, types.NoneType):
        return lambda own, batch, tables, layout, searched, b: None
    return lambda own, batch, tables, layout, searched, b: some_outside(
        own, batch, tables, layout, searched, b
    )


@jit
def solve_range(batch, tables, layout, structures, settings, first, last, stop, outcomes):
    """Solve problems ``first:last``; see ``instance_loop.solve``.

    ``tables``, ``layout`` and ``structures`` hold those of all problems, or are ``None`` together.
    ``outcomes[B, 9]`` receives the fields of ``BatchOutcome``.
    """
    for b in range(first, last):
        own = view_instance(batch, b)
        searched = searched_of(structures, b, batch.ends[b + 1] - batch.ends[b])
        outside = outside_of(own, batch, tables, layout, searched, b)
        outcome = solve(
            own, outside, searched, settings, view_start(batch, b), stop, view_answer(batch, b)
        )
        outcomes[b, 0] = outcome.ending
        outcomes[b, 1] = outcome.value
        outcomes[b, 2] = outcome.bound
        outcomes[b, 3] = outcome.violations
        outcomes[b, 4] = outcome.iterations
        outcomes[b, 5] = outcome.primal
        outcomes[b, 6] = outcome.dual
        outcomes[b, 7] = outcome.penalty
        outcomes[b, 8] = outcome.relaxed
