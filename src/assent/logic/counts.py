"""Counting: how many literals of a row are true, required or named."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Int32, Int64
from assent.logic.bindings import Bindings
from assent.logic.formulas import AT_LEAST, AT_MOST, EXACTLY
from assent.logic.literal_rows import Part, Sums, as_disjunctions, coordinate
from assent.logic.naming import name_any, name_difference, name_equal
from assent.logic.predicates import FALSE, TRUE
from assent.logic.rule_draft import DEFINITION, Draft


def require_count(draft: Draft, op: str, k: int, found: Sums, table: Bindings) -> None:
    """Make the number of true literals at most, at least or exactly ``k``."""
    for part, weights in zip(found.parts, found.weights, strict=True):
        need = k - found.sure[part.rows]
        total = weights.sum(axis=1)
        bad = np.zeros(len(need), bool)
        if op != AT_LEAST:
            bad |= need < 0
        if op != AT_MOST:
            bad |= need > total
        if bad.any():
            rows = part.rows[bad]
            first = int(found.sure[rows[0]])
            raise draft.contradiction(
                table.take(rows),
                f"{first} to {first + int(total[bad][0])} are true where {op} {k} should be",
            )
        plain = (weights == 1).all(axis=1)
        _plain_counts(draft, op, need, _some(part, plain), table, plain)
        heavy = np.flatnonzero(~plain)
        if len(heavy):
            own = table.take(part.rows[heavy])
            _weighted(draft, op, need[heavy], part.lits[heavy], weights[heavy], own)


def _some(part: Part, mask: NDArray[np.bool_]) -> Part:
    return part if mask.all() else Part(part.rows[mask], part.lits[mask])


def _plain_counts(
    draft: Draft, op: str, need: Int64, part: Part, table: Bindings, mask: NDArray[np.bool_]
) -> None:
    """One factor per row, of the kind that says it in the plainest way."""
    need, size = need[mask], part.lits.shape[1]
    if size == 0:
        return

    def write(rows: NDArray[np.bool_], kind: str, lits: Int32, with_k: bool = False) -> None:
        where = np.flatnonzero(rows)
        parameter = need[where] if with_k else None
        draft.constrain(kind, lits[where], table.take(part.rows[where]), parameter)

    one = {AT_MOST: "AtMostOne", AT_LEAST: "AtLeastOne", EXACTLY: "ExactlyOne"}[op]
    many = {AT_MOST: "AtMost", AT_LEAST: "AtLeast", EXACTLY: "Exactly"}[op]
    none, every = need == 0, need == size
    if op == AT_LEAST:
        none = np.zeros(len(need), bool)
    if op == AT_MOST:
        every = np.zeros(len(need), bool)
    _write_units(draft, part, none, ~part.lits, table)
    _write_units(draft, part, every, part.lits, table)
    idle = need <= 0 if op == AT_LEAST else need >= size
    rest = ~none & ~every & ~idle
    write(rest & (need == 1), one, part.lits)
    write(rest & (need != 1), many, part.lits, True)


def _write_units(
    draft: Draft, part: Part, mask: NDArray[np.bool_], lits: Int32, table: Bindings
) -> None:
    """All of the literals are true: one factor of one literal each."""
    rows = np.repeat(np.flatnonzero(mask), lits.shape[1])
    draft.constrain("All", lits[mask].reshape(-1, 1), table.take(part.rows[rows]))


def _weighted(
    draft: Draft,
    op: str,
    need: Int64,
    lits: Int32,
    weights: Int32,
    table: Bindings,
    role: str = "constraint",
) -> None:
    """A literal that counts several times makes a knapsack: weights, the capacity last."""
    total = weights.sum(axis=1)
    if op != AT_LEAST:
        rows = np.flatnonzero(need < total)
        load = np.column_stack([weights, need])[rows]
        draft.constrain("Knapsack", lits[rows], table.take(rows), load, role)
    if op != AT_MOST:
        rows = np.flatnonzero(need > 0)
        load = np.column_stack([weights, total - need])[rows]
        draft.constrain("Knapsack", ~lits[rows], table.take(rows), load, role)


def name_count(
    draft: Draft, op: str, k: int, found: Sums, table: Bindings, outputs: Int32 | None
) -> Int32:
    """A literal per row that says whether the number of true literals is as asked."""
    if op == AT_LEAST:
        return _name_reached(draft, k, found, table, outputs)
    if op == AT_MOST:
        turned = None if outputs is None else ~outputs
        return ~_name_reached(draft, k + 1, found, table, turned)
    return _name_exactly(draft, k, found, table, outputs)


def _name_exactly(
    draft: Draft, k: int, found: Sums, table: Bindings, outputs: Int32 | None
) -> Int32:
    """Exactly k: at least k and not more.  One of two is simpler: they differ."""
    out = np.empty(table.count, np.int32)
    for part, weights in zip(found.parts, found.weights, strict=True):
        plain_pair = (weights == 1).all(axis=1) & (part.lits.shape[1] == 2)
        differ = plain_pair & (found.sure[part.rows] == k - 1)
        for chosen, simple in ((np.flatnonzero(differ), True), (np.flatnonzero(~differ), False)):
            if not len(chosen):
                continue
            rows, lits = part.rows[chosen], part.lits[chosen]
            own, where = None if outputs is None else outputs[rows], table.take(rows)
            if simple:
                turned = None if own is None else ~own
                out[rows] = ~name_equal(draft, lits[:, 0], lits[:, 1], where, turned)
            else:
                some = Part(np.arange(len(rows)), lits)
                small = Sums(found.sure[rows], [some], [weights[chosen]])
                enough = _name_reached(draft, k, small, where, None)
                more = _name_reached(draft, k + 1, small, where, None)
                out[rows] = name_difference(draft, enough, more, where, own)
    return out


def _name_reached(
    draft: Draft, k: int, found: Sums, table: Bindings, outputs: Int32 | None
) -> Int32:
    """A literal per row that says whether at least ``k`` literals are true."""
    out = np.empty(table.count, np.int32)
    for part, weights in zip(found.parts, found.weights, strict=True):
        need = k - found.sure[part.rows]
        total = weights.sum(axis=1)
        out[part.rows] = np.where(need <= 0, TRUE, FALSE)
        for mask, turn in (((need == 1) & (total >= 1), 0), ((need == total) & (total > 1), -1)):
            rows = np.flatnonzero(mask)
            if len(rows):
                own = None if outputs is None else outputs[part.rows[rows]] ^ turn
                lits = as_disjunctions(_canonical(part.lits[rows] ^ np.int32(turn)))
                named = name_any(draft, lits, table.take(part.rows[rows]), own)
                out[part.rows[rows]] = named ^ np.int32(turn)
        rows = np.flatnonzero((need > 1) & (need < total))
        if len(rows):
            own = None if outputs is None else outputs[part.rows[rows]]
            where = table.take(part.rows[rows])
            out[part.rows[rows]] = _name_load(
                draft, part.lits[rows], weights[rows], need[rows], where, own
            )
    return out


def _canonical(lits: Int32) -> Int32:
    """Literals in the order of their coordinates, as disjunctions are known by."""
    order = np.argsort(coordinate(lits), axis=1, kind="stable")
    return np.take_along_axis(lits, order, axis=1)


def _name_load(
    draft: Draft, lits: Int32, weights: Int32, need: Int64, table: Bindings, outputs: Int32 | None
) -> Int32:
    """z = [w·x ≥ need] by two knapsacks: z = 0 caps the load below it, z = 1 caps what is missing.

    With T the sum of the weights: ``w·x + (T − need + 1)·(1 − z) ≤ T`` and
    ``w·(1 − x) + need·z ≤ T``.
    """
    size = lits.shape[1]

    def define(rows: Int32, names: Int32, where: Bindings) -> None:
        own, load, goal = rows[:, :size], rows[:, size:-1], rows[:, -1:]
        total = load.sum(axis=1, keepdims=True)
        below = np.column_stack([load, total - goal + 1, total])
        draft.constrain("Knapsack", np.column_stack([own, ~names]), where, below, DEFINITION)
        above = np.column_stack([load, goal, total])
        draft.constrain("Knapsack", np.column_stack([~own, names]), where, above, DEFINITION)

    rows = np.column_stack([lits, weights, need]).astype(np.int32)
    return draft.name_rows("reached", rows, table, outputs, define, width=size)
