"""POTTS tables, which score common states, as DENSE tables of all joint states where asked for.

A linear program has columns for the common states of a POTTS table alone.  Cuts on other states
can be separated once all joint states have columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

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
    tables, groups, link, entry, values = problem.tables, [], [], [], []
    joint, parts = joint_places(tables), []
    for t, kind in enumerate(tables.kind):
        slots = slice(tables.slot[t], tables.slot[t + 1])
        states = tuple(tables.states[slots].tolist())
        first = tuple(tables.first[slots].tolist())
        m = int(tables.factor[t + 1] - tables.factor[t])
        links = np.arange(tables.link[t], tables.link[t + 1]).reshape(m, -1)
        own = scores.table[tables.entry[t] : tables.entry[t + 1]].reshape(m, -1)
        out = chosen[tables.factor[t] : tables.factor[t + 1]] & (kind == POTTS)
        for rows, dense in ((np.flatnonzero(~out), False), (np.flatnonzero(out), True)):
            if not len(rows):
                continue
            table, places = own[rows], joint[t][rows]
            if dense:
                table = np.zeros((len(rows), states[0], states[0]))
                both = np.arange(states[0])
                table[:, both, both] = own[rows]
            elif kind == POTTS:
                places = places[:, :: states[0] + 1]
            groups.append((DENSE if dense else int(kind), states, first, tables.lits[links[rows]]))
            link.append(links[rows].ravel())
            entry.append(places.ravel())
            values.append(table.ravel())
            if t >= len(tables.kind) - len(problem.models):
                parts.append(own.shape[1])
    first_link = 2 * problem.n_pairs + len(problem.lits)
    first_entry = problem.n + problem.n_pairs
    return TabulatedPotts(
        replace(problem, tables=make_tables(groups, parts)),
        replace(scores, table=np.concatenate([np.zeros(0), *values])),
        np.concatenate([np.arange(first_link), *(first_link + part for part in link)]),
        np.concatenate([np.arange(first_entry), *(first_entry + part for part in entry)]),
        chosen,
    )


def fractional_potts(problem: Problem, marginals: Float, tolerance: float) -> NDArray[np.bool_]:
    """Which POTTS tables have two variables that are fractional at ``marginals[n]``."""
    tables = problem.tables
    out = np.zeros(int(tables.factor[-1]), bool)
    fractional = (marginals > tolerance) & (marginals < 1.0 - tolerance)
    for t in np.flatnonzero(tables.kind == POTTS):
        m = int(tables.factor[t + 1] - tables.factor[t])
        lits = tables.lits[tables.link[t] : tables.link[t + 1]].reshape(m, 2, -1)
        one, other = (fractional[lits[:, side]].any(axis=1) for side in (0, 1))
        out[tables.factor[t] : tables.factor[t + 1]] = one & other
    return out
