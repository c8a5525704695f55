"""AD3's factors outside the fused loop: tables, structures, parities and knapsacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assent.kernels.ad3 import parity_knapsack_steps, structure_steps, table_steps
from assent.kernels.ad3.state import Instance, Outside, Quadratic, Structures
from assent.kernels.core.structure_addresses import NONE, raise_pending
from assent.kernels.problem import Float, Problem
from assent.solvers.base.thread_plan import all_common, common_groups

if TYPE_CHECKING:
    from assent.factors.structure import Structure


def start_outside(problem: Problem, quadratic: Quadratic | None = None) -> Outside | None:
    """Empty state of these factors; None where the fused loop takes all."""
    if all_common(problem) and quadratic is None:
        return None
    common, tables = common_groups(problem), problem.written
    layout = table_steps.layout_of(problem)
    longest = int(problem.group_size[common:].max(initial=1))
    nothing = np.zeros(0)
    return Outside(
        tables,
        layout,
        table_steps.make_supports(tables, layout),
        table_steps.make_flat_work(tables, layout),
        np.zeros(tables.factor[-1], np.bool_),
        np.zeros(int(problem.group_count[common:].sum()), np.bool_),
        np.zeros((parity_knapsack_steps.ROWS, longest)),
        quadratic or Quadratic(nothing, nothing, nothing, nothing),
        _start_structures(problem),
    )


def _start_structures(problem: Problem) -> Structures:
    searcher = structure_steps.searcher_of(problem)
    return Structures(
        searcher.groups(),
        searcher.first_link,
        searcher.first_entry,
        table_steps.make_supports(searcher.tables, searcher.layout),
        np.zeros(searcher.n_structures, np.bool_),
        np.zeros(searcher.models.memory_at[-1]),
    )


def rescore(own: Instance, outside: Outside) -> None:
    """New tables: the supports stay, with the entries and inner scores that are theirs now."""
    table_steps.rescore_tables(outside.tables, outside.layout, own.table, outside.supports)
    s = outside.structures
    structure_steps.rescore_models(s.groups, own.table[s.first_entry :], s.supports)
    raise_pending()
    s.inactive[:] = False


def inner_marginals(problem: Problem, outside: Outside) -> Float:
    """Weights of the entries of tables and of the inner parts of structures."""
    out = np.empty(outside.tables.entry[-1])
    table_steps.inner_marginals(outside.tables, outside.layout, outside.supports, out)
    own = outside.structures
    parts = [_inner_parts(m.structure, own, s) for s, m in enumerate(problem.models)]
    return np.concatenate([out, *(part.ravel() for part in parts)])


def _inner_parts(structure: Structure, own: Structures, s: int) -> Float:
    """Weights ``[factors, parts]`` of the inner parts of group ``s``; NaN where nobody knows."""
    kernels, models = structure.kernels(), own.groups.models
    support = table_steps.group_support(own.groups.tables, own.groups.layout, own.supports, s)
    out = np.zeros((len(support.size), structure.scores.shape[1]))
    if models.projection[s] != NONE:
        if kernels.blend is not None:
            begin, end = models.memory_at[s : s + 2]
            places = int(structure.start[-1])
            for row, kept in zip(out, own.memory[begin:end].reshape(len(out), -1), strict=True):
                kernels.blend(structure.start, structure.data, kept[:places], row)
        return out
    if kernels.parts is None:
        return out + np.nan
    for f, size in enumerate(support.size):
        for i in range(size):
            states, weight = support.states[f, i], support.weight[f, i]
            kernels.parts(structure.start, structure.data, states, weight, out[f])
    return out
