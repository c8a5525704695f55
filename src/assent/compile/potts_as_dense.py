"""POTTS tables, which score common states, as DENSE tables of all joint states where asked for.

A linear program has columns for the common states of a POTTS table alone.  Cuts on other states
can be separated once all joint states have columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from assent.compile.table_groups import all_groups, table_groups
from assent.kernels.problem import (
    DENSE,
    POTTS,
    Float,
    Int64,
    Problem,
    Scores,
    joint_places,
    make_tables,
)


@dataclass(frozen=True)
class TabulatedPotts:
    """A problem some of whose POTTS tables are DENSE, and the way back.

    Attributes:
        problem, scores: the same optimisation problem.
        link: ``[links]`` the original link of each.
        place: ``[places]`` the original place of scores (see `problem.joint_places`): coordinate
            ``v``, pair ``n + p``, or joint state ``n + P + j``.
        chosen: which of the original tables are tabulated, by their numbers.
    """

    problem: Problem
    scores: Scores
    link: Int64
    place: Int64
    chosen: NDArray[np.bool_]


def tabulate_potts(problem: Problem, scores: Scores, chosen: NDArray[np.bool_]) -> TabulatedPotts:
    """The problem with the ``chosen[tables]`` POTTS factors as DENSE ones."""
    groups, link, entry, values = [], [], [], []
    joint, parts = joint_places(problem.tables), []
    structures = len(problem.tables.kind) - len(problem.models)  # begin here
    for group in all_groups(problem):
        kind, states, links, own = group.kind, group.states, group.links, group.scores(scores.table)
        out = chosen[group.factors] & (kind == POTTS)
        for rows, dense in ((np.flatnonzero(~out), False), (np.flatnonzero(out), True)):
            if not len(rows):
                continue
            table, places = own[rows], joint[group.number][rows]
            if dense:
                table = np.zeros((len(rows), states[0], states[0]))
                both = np.arange(states[0])
                table[:, both, both] = own[rows]
            elif kind == POTTS:
                places = places[:, :: states[0] + 1]
            groups.append((DENSE if dense else kind, states, group.first, group.lits[rows]))
            link.append(links[rows].ravel())
            entry.append(places.ravel())
            values.append(table.ravel())
            if group.number >= structures:
                parts.append(own.shape[1])
    first_link = 2 * problem.n_pairs + len(problem.lits)  # of tables
    first_entry = problem.n + problem.n_pairs
    return TabulatedPotts(
        replace(problem, tables=make_tables(groups, parts)),
        replace(scores, table=np.concatenate([np.zeros(0), *values])),
        np.concatenate([np.arange(first_link), *link]),
        np.concatenate([np.arange(first_entry), *(first_entry + part for part in entry)]),
        chosen,
    )


def fractional_potts(problem: Problem, marginals: Float, tolerance: float) -> NDArray[np.bool_]:
    """Which POTTS tables have two variables that are fractional at ``marginals[n]``."""
    out = np.zeros(int(problem.tables.factor[-1]), bool)
    fractional = (marginals > tolerance) & (marginals < 1.0 - tolerance)
    for group in table_groups(problem):
        if group.kind == POTTS:
            one, other = (fractional[group.lits[:, own]].any(axis=1) for own in group.columns)
            out[group.factors] = one & other
    return out
