"""Enumeration of a rule's bindings: joins with relations, cross products, early filters.

Only bindings at which the rule could be violated (or have its weight) are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.logic.bindings import Bindings, known_truth
from assent.logic.domains import translate
from assent.logic.expressions import Constant, Variable
from assent.logic.formulas import Atom, Formula, IndexComparison, Junction, Not, free_variables
from assent.logic.predicates import FALSE, Predicate


@dataclass
class Guards:
    """Necessary conditions of a binding: atoms that may be true, conditions that are."""

    atoms: list[Atom]
    conditions: list[Formula]


def relevant(formula: Formula, want: bool, guards: Guards) -> Guards:
    """Collect necessary conditions for ``formula`` (in negation normal form) to be ``want``."""
    if isinstance(formula, IndexComparison):
        guards.conditions.append(formula if want else Not(formula))
    elif isinstance(formula, Not):
        relevant(formula.inner, not want, guards)
    elif isinstance(formula, Atom):
        if want and formula.predicate.sparse:
            guards.atoms.append(formula)
    elif isinstance(formula, Junction) and (formula.op == "&") == want:
        for term in formula.terms:
            if not term.variables:
                relevant(term.formula, want, guards)
    return guards


def guards_of(where: Formula | None) -> Guards:
    """Guards of a condition that must be true: relations in it can be joined."""
    guards = Guards([], [])
    if where is not None:
        guards.conditions += _conjuncts(where)
        relevant(where, True, guards)
    return guards


def _conjuncts(where: Formula) -> list[Formula]:
    if isinstance(where, Junction) and where.op == "&":
        return [part for term in where.terms for part in _conjuncts(term.formula)]
    return [where]


# ---------------------------------------------------------------- enumeration


def extend(
    table: Bindings, variables: Sequence[Variable], guards: Guards
) -> tuple[Bindings, NDArray[np.int64]]:
    """All values of further ``variables`` that pass the guards, and the row each came from."""
    columns = {v: c for v, c in table.columns.items() if v not in set(variables)}
    state = _JoinState(table.with_columns(columns, table.count), np.arange(table.count))
    missing = dict.fromkeys(variables)
    joins = [a for a in guards.atoms if all(isinstance(x, (Variable, Constant)) for x in a.args)]
    conditions = list(guards.conditions)
    state.filter(conditions)
    joins = state.semi_join(joins)
    while missing:
        binding = [atom for atom in joins if missing.keys() & set(atom.args)]
        if binding:
            atom = min(binding, key=state.join_size)
            joins = [other for other in joins if other is not atom]
            for variable in state.join(atom):
                missing.pop(variable, None)
        else:
            if not conditions and not joins:  # nothing will filter the product: refuse it now
                state.check_product(list(missing))
            variable = _next(missing, state.table, conditions)
            del missing[variable]
            state.cross(variable)
        state.filter(conditions)
        joins = state.semi_join(joins)
    return state.table, state.parent


def _next(missing: Mapping[Variable, None], table: Bindings, conditions: list[Formula]) -> Variable:
    """The last unbound variable of a condition, otherwise that of the smallest domain."""
    for condition in conditions:
        open_ = [v for v in free_variables(condition) if v not in table.columns]
        if len(open_) == 1 and open_[0] in missing and len(table.columns):
            return open_[0]
    return min(missing, key=lambda v: len(table.scope.domains[v]))


class _JoinState:
    """A table that is being extended, with the row of the original table of each row."""

    def __init__(self, table: Bindings, parent: NDArray[np.int64]) -> None:
        self.table, self.parent = table, parent

    def filter(self, conditions: list[Formula]) -> None:
        """Apply and remove the conditions whose variables are all bound."""
        for condition in list(conditions):
            if all(v in self.table.columns for v in free_variables(condition)):
                conditions[:] = [c for c in conditions if c is not condition]
                keep = known_truth(condition, self.table)
                if not keep.all():
                    self._take(np.flatnonzero(keep))

    def _take(self, rows: NDArray[np.int64]) -> None:
        self.table, self.parent = self.table.take(rows), self.parent[rows]

    def semi_join(self, atoms: list[Atom]) -> list[Atom]:
        """Drop rows at which an atom is false whose variables are bound; returns the others."""
        waiting = []
        for atom in atoms:
            if any(isinstance(a, Variable) and a not in self.table.columns for a in atom.args):
                waiting.append(atom)
                continue
            keep = self._may_hold(atom)
            if not keep.all():
                self._take(np.flatnonzero(keep))
        return waiting

    def _may_hold(self, atom: Atom) -> NDArray[np.bool_]:
        places, inside = [], np.ones(self.table.count, bool)
        for _, at in self._bound_arguments(atom):
            inside &= at >= 0
            places.append(np.maximum(at, 0))
        return inside & (atom.predicate.codes_at(places) != FALSE)

    def _bound_arguments(self, atom: Atom) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Axis and positions of the arguments with values, −1 for values outside the domain."""
        for axis, (arg, domain) in enumerate(zip(atom.args, atom.predicate.domains, strict=True)):
            if isinstance(arg, Constant):
                yield axis, np.array(domain.position(arg.value))
            elif isinstance(arg, Variable) and arg in self.table.columns:
                own = self.table.scope.domains[arg]
                yield axis, translate(self.table.columns[arg], own, domain)

    def check_product(self, variables: list[Variable]) -> None:
        """Refuse all combinations of several variables before the first of them is added."""
        rows = self.table.count
        for variable in variables:
            rows *= len(self.table.scope.domains[variable])
        self._check(rows, ", ".join(v.name for v in variables))

    def cross(self, variable: Variable) -> None:
        """Every row with every member of a variable's domain."""
        size = len(self.table.scope.domains[variable])
        count = self.table.count
        self._check(count * size, variable.name)
        self._take(np.repeat(np.arange(count), size))
        self.table.columns[variable] = np.tile(np.arange(size), count)

    def _match(self, atom: Atom) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Tuples sorted by their bound arguments, and the range of every row's matches."""
        tuples, count = _consistent(atom), self.table.count
        row_key, tuple_key = np.zeros(count, np.int64), np.zeros(len(tuples), np.int64)
        impossible = np.zeros(count, bool)
        for axis, at in self._bound_arguments(atom):
            size = atom.predicate.sizes[axis]
            impossible |= at < 0
            row_key = row_key * size + at
            tuple_key = tuple_key * size + tuples[:, axis]
        order = np.argsort(tuple_key, kind="stable")
        ordered = tuple_key[order]
        begin = np.searchsorted(ordered, row_key, side="left")
        end = np.where(impossible, begin, np.searchsorted(ordered, row_key, side="right"))
        return tuples[order], begin, end

    def join_size(self, atom: Atom) -> int:
        """The number of rows after a join with the atom."""
        _, begin, end = self._match(atom)
        return int((end - begin).sum())

    def join(self, atom: Atom) -> list[Variable]:
        """Every row with every matching tuple; returns the variables this binds."""
        tuples, begin, end = self._match(atom)
        counts = end - begin
        total = int(counts.sum())
        self._check(total, repr(atom))
        rows = np.repeat(np.arange(self.table.count), counts)
        offset = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        chosen = tuples[begin[rows] + offset]
        self._take(rows)
        bound, keep = [], np.ones(total, bool)
        for axis, arg in enumerate(atom.args):
            if isinstance(arg, Variable) and arg not in self.table.columns:
                target = self.table.scope.domains[arg]
                column = translate(chosen[:, axis], atom.predicate.domains[axis], target)
                self.table.columns[arg] = column
                keep &= column >= 0
                bound.append(arg)
        if not keep.all():
            self._take(np.flatnonzero(keep))
        return bound

    def _check(self, rows: int, step: str) -> None:
        scope = self.table.scope
        if rows > scope.limit:
            sizes = ", ".join(f"{v.name} has {len(d)}" for v, d in scope.domains.items())
            raise scope.error(
                f"grounding {step} would make {rows:,} bindings, more than limit={scope.limit:,} "
                f"({sizes} values); put a relation or a comparison into where= or the premise, "
                "or raise the limit"
            )


def _consistent(atom: Atom) -> NDArray[np.int64]:
    """Tuples of a predicate in which a repeated variable has one value."""
    pred: Predicate = atom.predicate
    tuples = pred.possible()
    seen: dict[Variable, int] = {}
    for axis, arg in enumerate(atom.args):
        if not isinstance(arg, Variable):
            continue
        if arg in seen:
            first = translate(tuples[:, seen[arg]], pred.domains[seen[arg]], pred.domains[axis])
            tuples = tuples[first == tuples[:, axis]]
        seen.setdefault(arg, axis)
    return tuples
