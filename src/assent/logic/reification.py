"""Reification: literals that are true exactly when disjunctions or equivalences hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Int32
from assent.logic.bindings import Bindings
from assent.logic.literal_rows import Disjunctions
from assent.logic.predicates import FALSE, TRUE
from assent.logic.rule_draft import CONSTRAINT, DEFINITION, RuleDraft
from assent.model.variables import coordinates_of


def require_literals(
    draft: RuleDraft, lits: Int32, table: Bindings, role: str = CONSTRAINT
) -> None:
    """Make literals true."""
    false = np.flatnonzero(lits == FALSE)
    if len(false):
        raise draft.contradiction(table.take(false), "it is false")
    rows = np.flatnonzero(lits != TRUE)
    draft.constrain("All", lits[rows][:, None], table.take(rows), role=role)


def require_equal(draft: RuleDraft, a: Int32, b: Int32, table: Bindings, role: str) -> None:
    """Make literals equal, pair by pair; ``a`` holds no constants."""
    clash = np.flatnonzero(a == ~b)
    if len(clash):
        raise draft.contradiction(table.take(clash), "something would equal its negation")
    fixed = np.flatnonzero(constant(b))
    require_literals(draft, np.where(b == TRUE, a, ~a)[fixed], table.take(fixed), role)
    rows = np.flatnonzero(~constant(b) & (a != b))
    draft.constrain("Agree", np.stack([a, b], axis=1)[rows], table.take(rows), role=role)


def reify_any(
    draft: RuleDraft, found: Disjunctions, table: Bindings, outputs: Int32 | None
) -> Int32:
    """A literal per row, true exactly when one of the row's literals is."""
    out = np.full(table.count, FALSE, np.int32)
    out[found.true] = TRUE
    for part in found.parts:
        if part.lits.shape[1] == 1:
            out[part.rows] = part.lits[:, 0]
        elif part.lits.shape[1] > 1:
            own = None if outputs is None else outputs[part.rows]
            out[part.rows] = _reify(draft, "any", part.lits, table.take(part.rows), own)
    return out


def _reify(
    draft: RuleDraft, key: str, lits: Int32, table: Bindings, outputs: Int32 | None
) -> Int32:
    def define(rows: Int32, names: Int32, where: Bindings) -> None:
        kind = {"any": "AtLeastOne→", "equal": "Parity", "difference": "AtMostOne→"}[key]
        # A difference has rows (a, b) with b ⇒ a, and the name is a ∧ ¬b: b + name = a.
        parts = [rows[:, 1], names, rows[:, 0]] if key == "difference" else [rows, names]
        draft.constrain(kind, np.column_stack(parts).astype(np.int32), where, role=DEFINITION)

    return draft.reify_rows(key, lits, table, outputs, define)


def reify_equal(
    draft: RuleDraft, a: Int32, b: Int32, table: Bindings, outputs: Int32 | None
) -> Int32:
    """A literal per row, true exactly when two literals are equal."""
    out = np.where(constant(a), np.where(a == TRUE, b, ~b), np.where(b == TRUE, a, ~a))
    out = np.where(a == b, TRUE, np.where(a == ~b, FALSE, out)).astype(np.int32)
    rows = np.flatnonzero(~constant(a) & ~constant(b) & (coordinates_of(a) != coordinates_of(b)))
    if not len(rows):
        return out
    # Signs move out of the equivalence, so that its four equivalent forms share one variable.
    pair = np.sort(np.stack([coordinates_of(a[rows]), coordinates_of(b[rows])], axis=1), axis=1)
    flip = -((a[rows] < 0) ^ (b[rows] < 0)).astype(np.int32)  # x ^ -1 is ~x
    own = None if outputs is None else outputs[rows] ^ flip
    out[rows] = _reify(draft, "equal", pair, table.take(rows), own) ^ flip
    return out


def reify_difference(
    draft: RuleDraft, a: Int32, b: Int32, table: Bindings, outputs: Int32 | None
) -> Int32:
    """A literal per row, true exactly when a and not b, where b implies a."""
    out = np.where(b == FALSE, a, np.where(a == TRUE, ~b, FALSE)).astype(np.int32)
    out = np.where((b == TRUE) | (a == FALSE) | (a == b), FALSE, out)
    rows = np.flatnonzero(~constant(a) & ~constant(b) & (a != b))
    if len(rows):
        own = None if outputs is None else outputs[rows]
        pair = np.stack([a[rows], b[rows]], axis=1)
        out[rows] = _reify(draft, "difference", pair, table.take(rows), own)
    return out


def constant(lits: Int32) -> NDArray[np.bool_]:
    """Which literals are TRUE or FALSE."""
    return (lits == TRUE) | (lits == FALSE)
