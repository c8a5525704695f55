"""The factors and variables of one rule, collected before any is added to the graph."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.kernels.problem import Float, Int32
from assent.logic.bindings import Bindings, Scope
from assent.logic.literal_rows import RowIndex, unique_rows
from assent.model.variables import coordinates_of

CONSTRAINT, DEFINITION, SCORE = "constraint", "definition", "score"


@dataclass(frozen=True, eq=False)
class GroundBatch:
    """Ground factors of one kind: literals ``[m, size]``, and the binding each came from.

    ``parameter`` is the kind's other argument, one row per factor: k, weights with a capacity
    last, or scores.
    """

    kind: str
    role: str
    lits: Int32
    bindings: Bindings
    parameter: Any = None


Store = dict[tuple[Any, ...], RowIndex]


@dataclass(eq=False)
class RuleDraft:
    """A rule that is being grounded.

    Attributes:
        scope: the rule's name, domains and limit.
        first: the code the first auxiliary variable will have.
        store: factors and reified rows of earlier rules; entries are copied before they change.
    """

    scope: Scope
    first: int
    store: Store
    batches: list[GroundBatch] = field(default_factory=list)
    auxiliaries: int = 0
    constant: float = 0.0
    merged: int = 0
    changed: Store = field(default_factory=dict)

    def known(self, key: tuple[Any, ...]) -> RowIndex:
        """Rows stored under ``key``, to read or to add to."""
        if key not in self.changed:
            self.changed[key] = copy.copy(self.store.get(key, RowIndex()))
        return self.changed[key]

    def fresh(self, count: int) -> Int32:
        """Literals of new auxiliary variables."""
        start = self.first + self.auxiliaries
        if start + count >= 2**31 - 1:
            raise self.scope.error("more than 2^31 variables in one graph")
        self.auxiliaries += count
        return np.arange(start, start + count, dtype=np.int32)

    def constrain(
        self,
        kind: str,
        lits: Int32,
        table: Bindings,
        parameter: Any = None,
        role: str = CONSTRAINT,
    ) -> None:
        """Add hard factors, without those that earlier rules have added."""
        if not len(lits):
            return
        rows = lits if parameter is None else np.column_stack([lits, parameter]).astype(np.int32)
        first, _ = unique_rows(rows)
        known = self.known(("factor", kind, rows.shape[1]))
        new = first[~known.find(rows[first])[0]]
        self.merged += len(lits) - len(new)
        if len(new):
            known.add(rows[new], np.zeros(len(new), np.int64))
            new.sort()
            own = None if parameter is None else parameter[new]
            self.batches.append(GroundBatch(kind, role, lits[new], table.take(new), own))

    def score(self, kind: str, lits: Int32, scores: Float, table: Bindings) -> None:
        """Add scored factors, scores ``[m]`` or ``[m, entries]``; those of equal ones add up."""
        if not len(lits):
            return
        first, inverse = unique_rows(lits)
        self.merged += len(lits) - len(first)
        total = np.zeros((len(first), *scores.shape[1:]))
        np.add.at(total, inverse, scores)
        order = np.argsort(first)
        order = order[(total.reshape(len(first), -1)[order] != 0.0).any(axis=1)]
        rows = first[order]
        if len(rows):
            self.batches.append(
                GroundBatch(kind, SCORE, lits[rows], table.take(rows), total[order])
            )

    def reify_rows(
        self,
        key: str,
        rows: Int32,
        table: Bindings,
        outputs: Int32 | None,
        define: Callable[[Int32, Int32, Bindings], None],
        width: int | None = None,
    ) -> Int32:
        """A literal for each row: the one it has already, its output, or a new variable.

        ``define(rows, literals, bindings)`` writes the factors that tie a literal to its row.  The
        first ``width`` columns (by default all) are literals; an output among them would define
        itself, so such a row gets a new variable.
        """
        first, inverse = unique_rows(rows)
        known = self.known((key, rows.shape[1]))
        found, values = known.find(rows[first])
        new = np.flatnonzero(~found)
        if len(new):
            at = first[new]
            if outputs is None:
                names = self.fresh(len(new))
            else:
                names = outputs[at]
                inside = (coordinates_of(rows[at, :width]) == coordinates_of(names)[:, None]).any(
                    axis=1
                )
                names[inside] = self.fresh(int(inside.sum()))
            values[new] = names
            known.add(rows[at], names.astype(np.int64))
            define(rows[at], names, table.take(at))
        return values[inverse].astype(np.int32)

    def contradiction(self, table: Bindings, what: str) -> ModelError:
        """The error for bindings at which a hard rule is false whatever the variables are."""
        more = f", and for {table.count - 1} more bindings" if table.count > 1 else ""
        where = f" for {table.words(0)}{more}" if table.columns else ""
        return self.scope.error(
            f"the rule contradicts what is known{where}: {what}; "
            "correct the data, add a where= condition, or give the rule a weight"
        )
