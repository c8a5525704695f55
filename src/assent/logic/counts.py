"""Cardinality constraints on rows of literals, hard or reified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Int32, Int64
from assent.logic.bindings import Bindings
from assent.logic.formulas import AT_LEAST, AT_MOST, EXACTLY
from assent.logic.literal_rows import EqualRows, Sums, as_disjunctions
from assent.logic.predicates import FALSE, TRUE
from assent.logic.reification import reify_any, reify_difference, reify_equal
from assent.logic.rule_draft import DEFINITION, RuleDraft
from assent.model.variables import coordinates_of

# Beyond what any number of literals adds up to, and within 64 bits.
MOST_COUNT = 2**62


def is_counted(op: str, k: int, number: Int64) -> NDArray[np.bool_]:
    """Whether numbers are at most, at least or exactly ``k``."""
    if op == EXACTLY:
        return number == k
    return number <= k if op == AT_MOST else number >= k


def require_count(draft: RuleDraft, op: str, k: int, found: Sums, table: Bindings) -> None:
    """Make the number of true literals at most, at least or exactly ``k``."""
    k = min(max(k, -MOST_COUNT), MOST_COUNT)
    for part, weights in zip(found.parts, found.weights, strict=True):
        need = k - found.constant[part.rows]
        total = weights.sum(axis=1)
        bad = np.zeros(len(need), bool)
        if op != AT_LEAST:
            bad |= need < 0
        if op != AT_MOST:
            bad |= need > total
        if bad.any():
            rows = part.rows[bad]
            first = int(found.constant[rows[0]])
            raise draft.contradiction(
                table.take(rows),
                f"{first} to {first + int(total[bad][0])} are true where {op} {k} should be",
            )
        plain = (weights == 1).all(axis=1)
        for mask, write in ((plain, _require_plain), (~plain, _require_weighted)):
            rows = np.flatnonzero(mask)
            if len(rows) and part.lits.shape[1]:
                own = table.take(part.rows[rows])
                write(draft, op, need[rows], part.lits[rows], weights[rows], own)


def _require_plain(
    draft: RuleDraft, op: str, need: Int64, lits: Int32, weights: Int32, table: Bindings
) -> None:
    """One factor per row, of the simplest kind; rows whose literals are fixed become units."""
    size = lits.shape[1]
    none, every = (need == 0) & (op != AT_LEAST), (need == size) & (op != AT_MOST)
    for mask, units in ((none, ~lits), (every, lits)):
        rows = np.repeat(np.flatnonzero(mask), size)
        draft.constrain("All", units[mask].reshape(-1, 1), table.take(rows))
    redundant = need <= 0 if op == AT_LEAST else need >= size
    kind = {AT_MOST: "AtMost", AT_LEAST: "AtLeast", EXACTLY: "Exactly"}[op]
    rest = ~none & ~every & ~redundant
    one, more = np.flatnonzero(rest & (need == 1)), np.flatnonzero(rest & (need != 1))
    draft.constrain(f"{kind}One", lits[one], table.take(one))
    draft.constrain(kind, lits[more], table.take(more), need[more])


def _require_weighted(
    draft: RuleDraft, op: str, need: Int64, lits: Int32, weights: Int32, table: Bindings
) -> None:
    """Knapsacks, as literals count several times; parameters are weights, then the capacity."""
    total = weights.sum(axis=1)
    if op != AT_LEAST:
        rows = np.flatnonzero(need < total)
        load = np.column_stack([weights, need])[rows]
        draft.constrain("Knapsack", lits[rows], table.take(rows), load)
    if op != AT_MOST:
        rows = np.flatnonzero(need > 0)
        load = np.column_stack([weights, total - need])[rows]
        draft.constrain("Knapsack", ~lits[rows], table.take(rows), load)


def reify_count(
    draft: RuleDraft, op: str, k: int, found: Sums, table: Bindings, outputs: Int32 | None
) -> Int32:
    """A literal per row, true exactly when the number of true literals is as asked."""
    if op == AT_LEAST:
        return _reify_at_least(draft, k, found, table, outputs)
    if op == AT_MOST:
        negated = None if outputs is None else ~outputs
        return ~_reify_at_least(draft, k + 1, found, table, negated)
    return _reify_exactly(draft, k, found, table, outputs)


def _reify_exactly(
    draft: RuleDraft, k: int, found: Sums, table: Bindings, outputs: Int32 | None
) -> Int32:
    """Exactly k: at least k, but not k + 1.  Exactly one of two: they differ."""
    out = np.empty(table.count, np.int32)
    for part, weights in zip(found.parts, found.weights, strict=True):
        plain_pair = (weights == 1).all(axis=1) & (part.lits.shape[1] == 2)
        differ = plain_pair & (found.constant[part.rows] == k - 1)
        for chosen, is_pair in ((np.flatnonzero(differ), True), (np.flatnonzero(~differ), False)):
            if not len(chosen):
                continue
            rows, lits = part.rows[chosen], part.lits[chosen]
            own, where = None if outputs is None else outputs[rows], table.take(rows)
            if is_pair:
                negated = None if own is None else ~own
                out[rows] = ~reify_equal(draft, lits[:, 0], lits[:, 1], where, negated)
            else:
                some = EqualRows(np.arange(len(rows)), lits)
                small = Sums(found.constant[rows], [some], [weights[chosen]])
                enough = _reify_at_least(draft, k, small, where, None)
                more = _reify_at_least(draft, k + 1, small, where, None)
                out[rows] = reify_difference(draft, enough, more, where, own)
    return out


def _reify_at_least(
    draft: RuleDraft, k: int, found: Sums, table: Bindings, outputs: Int32 | None
) -> Int32:
    """A literal per row, true exactly when at least ``k`` literals are."""
    out = np.empty(table.count, np.int32)
    for part, weights in zip(found.parts, found.weights, strict=True):
        need = k - found.constant[part.rows]
        total = weights.sum(axis=1)
        out[part.rows] = np.where(need <= 0, TRUE, FALSE)
        # One is a disjunction; all are a conjunction, the negated disjunction of negations.
        for mask, flip in (((need == 1) & (total >= 1), 0), ((need == total) & (total > 1), -1)):
            rows = np.flatnonzero(mask)
            if len(rows):
                own = None if outputs is None else outputs[part.rows[rows]] ^ flip
                lits = as_disjunctions(_canonical(part.lits[rows] ^ np.int32(flip)))
                named = reify_any(draft, lits, table.take(part.rows[rows]), own)
                out[part.rows[rows]] = named ^ np.int32(flip)
        rows = np.flatnonzero((need > 1) & (need < total))
        if len(rows):
            own = None if outputs is None else outputs[part.rows[rows]]
            where = table.take(part.rows[rows])
            out[part.rows[rows]] = _reify_load(
                draft, part.lits[rows], weights[rows], need[rows], where, own
            )
    return out


def _canonical(lits: Int32) -> Int32:
    """Literals in the order of their coordinates, the normal form of disjunctions."""
    order = np.argsort(coordinates_of(lits), axis=1, kind="stable")
    return np.take_along_axis(lits, order, axis=1)


def _reify_load(
    draft: RuleDraft,
    lits: Int32,
    weights: Int32,
    need: Int64,
    table: Bindings,
    outputs: Int32 | None,
) -> Int32:
    """z = [w·x ≥ need] by two knapsacks: z = 0 limits the true literals, z = 1 the false ones.

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
    return draft.reify_rows("reached", rows, table, outputs, define, width=size)
