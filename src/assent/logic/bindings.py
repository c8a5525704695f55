"""Bindings: tables of values of logic variables, extended by joins and cut down by conditions.

A rule is grounded on whole tables at once.  Values are positions in the variables' domains.
Relations in a premise are joined rather than looked up for all combinations of members, and
conditions are applied as soon as their variables are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.logic.domains import Domain, Positions, translate
from assent.logic.expressions import (
    ARITHMETIC,
    Absolute,
    Arithmetic,
    Constant,
    Expression,
    Lookup,
    Variable,
)
from assent.logic.formulas import Atom, Comparison, Formula, Junction, Not, free_variables
from assent.logic.predicates import FALSE, TRUE, Predicate
from assent.problem import Int32

LARGEST_KEY = 2**62  # combinations of values are numbered by 64-bit integers

COMPARE = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


@dataclass(frozen=True, eq=False)
class Scope:
    """What holds for a whole rule: its name, the variables' domains, how much it may ground."""

    rule: str
    domains: Mapping[Variable, Domain]
    limit: int

    def error(self, message: str) -> ModelError:
        """An error that names the rule."""
        return ModelError(f"{self.rule}: {message}")


@dataclass(frozen=True, eq=False)
class Bindings:
    """``count`` rows of values; ``columns`` holds one array of positions per variable."""

    scope: Scope
    columns: dict[Variable, Positions]
    count: int

    def take(self, rows: NDArray[Any]) -> Bindings:
        """Some of the rows."""
        return self.with_columns({v: c[rows] for v, c in self.columns.items()}, len(rows))

    def with_columns(self, columns: dict[Variable, Positions], count: int) -> Bindings:
        """Another table in the same scope."""
        return Bindings(self.scope, columns, count)

    def values(self, row: int) -> dict[Variable, Any]:
        """One row as a mapping from variables to members."""
        domains = self.scope.domains
        return {v: domains[v].labels[int(column[row])] for v, column in self.columns.items()}

    def words(self, row: int) -> str:
        """One row as ``h=1, m=3``."""
        return ", ".join(f"{v.name}={label}" for v, label in self.values(row).items())

    def projected(self, variables: Sequence[Variable]) -> tuple[Bindings, NDArray[np.int64] | None]:
        """Different values of ``variables`` only, and the row of each row among them.

        ``None`` stands for "each row is its own".
        """
        kept = {v: self.columns[v] for v in self.columns if v in set(variables)}
        if len(kept) == len(self.columns) or self.count == 0:
            return self, None
        key, range_ = np.zeros(self.count, np.int64), 1
        for variable, column in kept.items():
            size = len(self.scope.domains[variable])
            if range_ * size > LARGEST_KEY:  # number the combinations so far afresh
                key = np.unique(key, return_inverse=True)[1].ravel()
                range_ = int(key.max()) + 1
            key, range_ = key * size + column, range_ * size
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        if len(first) == self.count:
            return self, None
        small = {v: c[first] for v, c in kept.items()}
        return self.with_columns(small, len(first)), inverse.ravel()


# ---------------------------------------------------------------- values


def evaluate(expression: Expression, table: Bindings) -> NDArray[Any]:
    """Values of an expression, one per row (or one for all)."""
    if isinstance(expression, Variable):
        return table.scope.domains[expression].values[table.columns[expression]]
    if isinstance(expression, Constant):
        if not expression.is_number:
            raise table.scope.error(f"{expression!r} is a label and cannot be computed with")
        return np.array(expression.value)
    if isinstance(expression, Absolute):
        return np.abs(evaluate(expression.inner, table))
    if isinstance(expression, Arithmetic):
        for part in (expression.left, expression.right):
            if isinstance(part, Variable) and not table.scope.domains[part].integer:
                raise table.scope.error(f"{expression!r}: {part} runs over labels, not numbers")
        left, right = evaluate(expression.left, table), evaluate(expression.right, table)
        return np.asarray(ARITHMETIC[expression.op](left, right))
    assert isinstance(expression, Lookup)
    domains = expression.table.domains
    places = [
        positions(arg, domain, table, expression)
        for arg, domain in zip(expression.args, domains, strict=True)
    ]
    return np.asarray(expression.table.entries[tuple(places)])


def positions(arg: Expression, domain: Domain, table: Bindings, user: Any) -> Positions:
    """Positions of an argument in ``domain``, one per row (or one for all)."""
    if isinstance(arg, Constant):
        return np.array(domain.position(arg.value))
    if isinstance(arg, Variable):
        found = translate(table.columns[arg], table.scope.domains[arg], domain)
    else:
        if not domain.integer:
            raise table.scope.error(f"{user!r}: {domain.name} has labels, {arg!r} is a number")
        found = domain.find(evaluate(arg, table))
    if (found < 0).any():
        row = int(np.flatnonzero(np.broadcast_to(found, (table.count,)) < 0)[0])
        raise table.scope.error(
            f"{arg!r} in {user!r} is outside domain {domain!r} for {table.words(row)}; "
            "a where= condition can leave such bindings out"
        )
    return found


def compare(condition: Comparison, table: Bindings) -> NDArray[np.bool_]:
    """Truth of a comparison for every row."""
    left, right = condition.left, condition.right
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Constant) and not one.is_number:
            if not isinstance(other, Variable):
                raise table.scope.error(f"{condition!r} compares a label with a number")
            domain = table.scope.domains[other]
            label = np.array(domain.position(one.value))
            own = table.columns[other]
            pair = (label, own) if one is left else (own, label)
            return np.broadcast_to(COMPARE[condition.op](*pair), (table.count,))
    for one, other in ((left, right), (right, left)):
        labelled = isinstance(other, Variable) and not table.scope.domains[other].integer
        if labelled and not isinstance(one, Variable):
            raise table.scope.error(f"{condition!r} compares a label with a number")
    if isinstance(left, Variable) and isinstance(right, Variable):
        a, b = table.scope.domains[left], table.scope.domains[right]
        if not (a.integer and b.integer) and not a.same_as(b):
            raise table.scope.error(
                f"{condition!r} compares members of {a.name!r} and {b.name!r}, which differ"
            )
    result = COMPARE[condition.op](evaluate(left, table), evaluate(right, table))
    return np.broadcast_to(result, (table.count,))


def literals(atom: Atom, table: Bindings) -> Int32:
    """Literals of an atom, one per row."""
    pred = atom.predicate
    places = [
        positions(arg, domain, table, atom)
        for arg, domain in zip(atom.args, pred.domains, strict=True)
    ]
    return np.broadcast_to(pred.codes_at(places), (table.count,))


def known_truth(formula: Formula, table: Bindings) -> NDArray[np.bool_]:
    """Truth of a condition for every row; it may use data, but no unknowns."""
    if isinstance(formula, Comparison):
        return compare(formula, table)
    if isinstance(formula, Not):
        return ~known_truth(formula.inner, table)
    if isinstance(formula, Junction) and not any(term.variables for term in formula.terms):
        parts = [known_truth(term.formula, table) for term in formula.terms]
        return np.logical_and.reduce(parts) if formula.op == "&" else np.logical_or.reduce(parts)
    if isinstance(formula, Atom):
        codes = literals(formula, table)
        unknown = np.flatnonzero((codes != TRUE) & (codes != FALSE))
        if not len(unknown):
            return codes == TRUE
        raise table.scope.error(
            f"the condition {formula!r} is not known for {table.words(int(unknown[0]))}; "
            "where= takes comparisons and data, the rest belongs into the formula"
        )
    raise table.scope.error(
        f"where= takes comparisons and data joined by & | ~, got {formula!r}"
    )


# ---------------------------------------------------------------- guards


@dataclass
class Guards:
    """What must hold for a binding to matter: atoms that may be true, conditions that are."""

    atoms: list[Atom]
    conditions: list[Formula]


def relevant(formula: Formula, want: bool, guards: Guards) -> Guards:
    """Collect what must be for ``formula`` (in negation normal form) to be possibly ``want``."""
    if isinstance(formula, Comparison):
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
    state = _Growing(table.with_columns(columns, table.count), np.arange(table.count))
    missing = dict.fromkeys(variables)
    joins = [a for a in guards.atoms if all(_is_plain(arg) for arg in a.args)]
    conditions = list(guards.conditions)
    state.filter(conditions)
    joins = state.semi_join(joins)
    while missing:
        best = min(
            ((state.join_size(atom), n) for n, atom in enumerate(joins) if _binds(atom, missing)),
            default=None,
        )
        if best is not None:
            atom = joins.pop(best[1])
            for variable in state.join(atom):
                missing.pop(variable, None)
        else:
            if not conditions and not joins:  # nothing will cut the product down: refuse it now
                state.check_product(list(missing))
            variable = _next(missing, state.table, conditions)
            del missing[variable]
            state.cross(variable)
        state.filter(conditions)
        joins = state.semi_join(joins)
    return state.table, state.parent


def _is_plain(arg: Expression) -> bool:
    return isinstance(arg, (Variable, Constant))


def _binds(atom: Atom, missing: Mapping[Variable, None]) -> bool:
    return any(isinstance(arg, Variable) and arg in missing for arg in atom.args)


def _next(
    missing: Mapping[Variable, None], table: Bindings, conditions: list[Formula]
) -> Variable:
    """The variable that a condition waits for, the smallest domain otherwise."""
    for condition in conditions:
        open_ = [v for v in free_variables(condition) if v not in table.columns]
        if len(open_) == 1 and open_[0] in missing and len(table.columns):
            return open_[0]
    return min(missing, key=lambda v: len(table.scope.domains[v]))


class _Growing:
    """A table on its way, with the row of the original table each row came from."""

    def __init__(self, table: Bindings, parent: NDArray[np.int64]) -> None:
        self.table, self.parent = table, parent

    def filter(self, conditions: list[Formula]) -> None:
        """Apply the conditions whose variables are all there, and forget them."""
        for condition in list(conditions):
            if all(v in self.table.columns for v in free_variables(condition)):
                conditions[:] = [c for c in conditions if c is not condition]
                keep = known_truth(condition, self.table)
                if not keep.all():
                    self._take(np.flatnonzero(keep))

    def _take(self, rows: NDArray[np.int64]) -> None:
        self.table, self.parent = self.table.take(rows), self.parent[rows]

    def semi_join(self, atoms: list[Atom]) -> list[Atom]:
        """Drop rows at which an atom is false whose variables are all there; returns the others."""
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
        pred, scope = atom.predicate, self.table.scope
        places, inside = [], np.ones(self.table.count, bool)
        for arg, domain in zip(atom.args, pred.domains, strict=True):
            if isinstance(arg, Constant):
                places.append(np.array(domain.position(arg.value)))
            else:
                assert isinstance(arg, Variable)
                at = translate(self.table.columns[arg], scope.domains[arg], domain)
                inside &= at >= 0
                places.append(np.maximum(at, 0))
        return inside & (pred.codes_at(places) != FALSE)

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
        """Tuples sorted by what is bound, and for every row where its matches begin and end."""
        tuples = _consistent(atom)
        pred, table = atom.predicate, self.table
        own, theirs = np.zeros(table.count, np.int64), np.zeros(len(tuples), np.int64)
        impossible = np.zeros(table.count, bool)
        for axis, arg in enumerate(atom.args):
            domain = pred.domains[axis]
            if isinstance(arg, Constant):
                at: Any = domain.position(arg.value)
            elif isinstance(arg, Variable) and arg in table.columns:
                at = translate(table.columns[arg], table.scope.domains[arg], domain)
                impossible |= at < 0
            else:
                continue
            own = own * len(domain) + at
            theirs = theirs * len(domain) + tuples[:, axis]
        order = np.argsort(theirs, kind="stable")
        ordered = theirs[order]
        begin = np.searchsorted(ordered, own, side="left")
        end = np.where(impossible, begin, np.searchsorted(ordered, own, side="right"))
        return tuples[order], begin, end

    def join_size(self, atom: Atom) -> int:
        """How many rows joining the atom would give."""
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
    """Tuples of a predicate in which a variable that stands twice has one value."""
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
