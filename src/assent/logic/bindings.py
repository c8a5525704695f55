"""Bindings: tables of values of logic variables, and the values of expressions and atoms there.

A rule is grounded for all rows together.  Values are positions in the variables' domains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.kernels.problem import Int32
from assent.logic.domains import Domain, Positions, translate
from assent.logic.expressions import (
    ARITHMETIC,
    Absolute,
    Arithmetic,
    Constant,
    Expression,
    TableEntry,
    Variable,
)
from assent.logic.formulas import Atom, Formula, IndexComparison, Junction, Not
from assent.logic.predicates import FALSE, TRUE

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
    """The context of a rule: its name, the variables' domains, the limit on bindings."""

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
        """The distinct values of ``variables``, and each row's index among them.

        The index is ``None`` where all rows are distinct.
        """
        kept = {v: self.columns[v] for v in self.columns if v in set(variables)}
        if len(kept) == len(self.columns) or self.count == 0:
            return self, None
        key, range_ = np.zeros(self.count, np.int64), 1
        for variable, column in kept.items():
            size = len(self.scope.domains[variable])
            if range_ * size > LARGEST_KEY:  # renumber the combinations so far
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
        with np.errstate(over="ignore", invalid="ignore"):  # weights are checked to be finite
            return np.asarray(ARITHMETIC[expression.op](left, right))
    assert isinstance(expression, TableEntry)
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


def compare(condition: IndexComparison, table: Bindings) -> NDArray[np.bool_]:
    """Truth of a comparison for every row."""
    left, right = condition.left, condition.right
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Constant) and not one.is_number:
            if not isinstance(other, Variable):
                raise table.scope.error(f"{condition!r} compares a label with a number")
            label = np.array(table.scope.domains[other].position(one.value))
            column = table.columns[other]
            pair = (label, column) if one is left else (column, label)
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
    """Truth of a condition for every row; it may depend on data, but not on variables."""
    if isinstance(formula, IndexComparison):
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
    raise table.scope.error(f"where= takes comparisons and data joined by & | ~, got {formula!r}")
