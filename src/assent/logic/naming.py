"""Literals that stand for disjunctions and equivalences of literals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Int32
from assent.logic.bindings import Bindings
from assent.logic.literal_rows import Disjunctions, coordinate
from assent.logic.predicates import FALSE, TRUE
from assent.logic.rule_draft import CONSTRAINT, DEFINITION, Draft


def require_literals(draft: Draft, lits: Int32, table: Bindings, role: str = CONSTRAINT) -> None:
    """Make literals true."""
    false = np.flatnonzero(lits == FALSE)
    if len(false):
        raise draft.contradiction(table.take(false), "it is false")
    rows = np.flatnonzero(lits != TRUE)
    draft.constrain("All", lits[rows][:, None], table.take(rows), role=role)


def require_equal(draft: Draft, a: Int32, b: Int32, table: Bindings, role: str) -> None:
    """Make literals equal, pair by pair; ``a`` holds no constants."""
    clash = np.flatnonzero(a == ~b)
    if len(clash):
        raise draft.contradiction(table.take(clash), "something would equal its opposite")
    known = constant(b)
    sure = np.flatnonzero(known)
    require_literals(draft, np.where(b == TRUE, a, ~a)[sure], table.take(sure), role)
    rows = np.flatnonzero(~known & (a != b))
    draft.constrain("Agree", np.stack([a, b], axis=1)[rows], table.take(rows), role=role)


def name_any(draft: Draft, found: Disjunctions, table: Bindings, outputs: Int32 | None) -> Int32:
    """A literal per row that says whether one of the row's literals is true."""
    out = np.full(table.count, FALSE, np.int32)
    out[found.true] = TRUE
    for part in found.parts:
        if part.lits.shape[1] == 1:
            out[part.rows] = part.lits[:, 0]
        elif part.lits.shape[1] > 1:
            own = None if outputs is None else outputs[part.rows]
            out[part.rows] = _name_each(draft, "any", part.lits, table.take(part.rows), own)
    return out


def _name_each(
    draft: Draft, key: str, lits: Int32, table: Bindings, outputs: Int32 | None
) -> Int32:
    return draft.name_rows(key, lits, table, outputs, lambda *given: _write(draft, key, *given))


def _write(draft: Draft, key: str, rows: Int32, names: Int32, table: Bindings) -> None:
    kind = {"any": "AtLeastOne→", "equal": "Parity", "difference": "AtMostOne→"}[key]
    if key == "difference":  # rows hold (a, b) with b ⇒ a; the name is a and not b: b + name = a
        lits = np.column_stack([rows[:, 1], names, rows[:, 0]])
    else:
        lits = np.column_stack([rows, names])
    draft.constrain(kind, lits.astype(np.int32), table, role=DEFINITION)


def name_equal(draft: Draft, a: Int32, b: Int32, table: Bindings, outputs: Int32 | None) -> Int32:
    """A literal per row that says whether two literals are equal."""
    out = np.where(constant(a), np.where(a == TRUE, b, ~b), np.where(b == TRUE, a, ~a))
    out = np.where(a == b, TRUE, np.where(a == ~b, FALSE, out)).astype(np.int32)
    rows = np.flatnonzero(~constant(a) & ~constant(b) & (coordinate(a) != coordinate(b)))
    if not len(rows):
        return out
    # Signs move out of the equivalence, so that four ways to write it share one variable.
    pair = np.sort(np.stack([coordinate(a[rows]), coordinate(b[rows])], axis=1), axis=1)
    turn = -((a[rows] < 0) ^ (b[rows] < 0)).astype(np.int32)
    own = None if outputs is None else outputs[rows] ^ turn
    out[rows] = _name_each(draft, "equal", pair, table.take(rows), own) ^ turn
    return out


def name_difference(
    draft: Draft, a: Int32, b: Int32, table: Bindings, outputs: Int32 | None
) -> Int32:
    """A literal per row that says "a and not b", where b implies a."""
    out = np.where(b == FALSE, a, np.where(a == TRUE, ~b, FALSE)).astype(np.int32)
    out = np.where((b == TRUE) | (a == FALSE) | (a == b), FALSE, out)
    rows = np.flatnonzero(~constant(a) & ~constant(b) & (a != b))
    if len(rows):
        own = None if outputs is None else outputs[rows]
        pair = np.stack([a[rows], b[rows]], axis=1)
        out[rows] = _name_each(draft, "difference", pair, table.take(rows), own)
    return out


def constant(lits: Int32) -> NDArray[np.bool_]:
    """Which literals are TRUE or FALSE."""
    return (lits == TRUE) | (lits == FALSE)
