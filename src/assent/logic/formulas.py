"""Formulas: atoms joined by connectives and quantifiers, as a person writes them.

There are three connectives.  `Junction` is the conjunction or disjunction of *terms*, `Count`
compares the number of true terms with k, `Iff` is the equivalence of two formulas.  A term is a
formula, possibly quantified over some variables: so ``a | b`` and ``exists(x, p(x))`` are the same
node, and mixtures of both cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from assent.logic.expressions import Expression, Variable
    from assent.logic.predicates import Predicate

T = TypeVar("T")
AND, OR = "&", "|"
AT_MOST, AT_LEAST, EXACTLY = "<=", ">=", "=="
NEGATED_COMPARISON = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass_transform(eq_default=False, frozen_default=True)
def node(cls: type[T]) -> type[T]:
    """A class of syntax nodes: frozen fields; compared by identity, as ``==`` makes a formula."""
    return dataclass(frozen=True, eq=False, repr=False, slots=True)(cls)


class Formula:
    """A statement about atoms; ``&``, ``|``, ``~``, ``>>`` and ``==`` make larger ones."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __and__(self, other: Any) -> Formula:
        return _join(AND, self, other)

    def __or__(self, other: Any) -> Formula:
        return _join(OR, self, other)

    def __rshift__(self, other: Any) -> Formula:
        return Implication((Term((), None, Not(self)), Term((), None, formula(other))))

    def __invert__(self) -> Formula:
        return Not(self)

    def __eq__(self, other: Any) -> Formula:  # type: ignore[override]
        return Iff(self, formula(other))

    def __ne__(self, other: Any) -> Formula:  # type: ignore[override]
        return Not(Iff(self, formula(other)))

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} has no truth value before decoding; write & | ~ >> instead of and, or, not, "
            "if, and do not chain a == b == c"
        )

    def defines(self, body: Formula) -> Definition:
        """Say that this atom holds exactly when ``body`` does; see :class:`Definition`."""
        return Definition(self, formula(body))


@node
class Term:
    """A formula, one instance for all values of ``variables`` for which ``where`` holds."""

    variables: tuple[Variable, ...]
    where: Formula | None
    formula: Formula

    def __repr__(self) -> str:
        if not self.variables:
            return _grouped(self.formula)
        names = ", ".join(v.name for v in self.variables)
        where = f" where {self.where!r}" if self.where is not None else ""
        return f"{names}{where}: {self.formula!r}"


@node
class Atom(Formula):
    """A predicate applied to arguments."""

    predicate: Predicate
    args: tuple[Expression, ...]

    def __repr__(self) -> str:
        return f"{self.predicate.name}({', '.join(map(repr, self.args))})"


@node
class IndexComparison(Formula):
    """Two index expressions compared: known as soon as the variables are bound."""

    op: str
    left: Expression
    right: Expression

    def __repr__(self) -> str:
        return f"{self.left!r} {self.op} {self.right!r}"


@node
class Not(Formula):
    """A negated formula."""

    inner: Formula

    def __repr__(self) -> str:
        return f"~{_grouped(self.inner)}"


@node
class Junction(Formula):
    """All of the terms (``op`` is ``&``) or at least one of them (``|``)."""

    op: str
    terms: tuple[Term, ...]

    def __repr__(self) -> str:
        if len(self.terms) == 1 and self.terms[0].variables:
            return f"{'forall' if self.op == AND else 'exists'} {self.terms[0]!r}"
        return f" {self.op} ".join(map(repr, self.terms))


class Implication(Junction):
    """``premise >> conclusion``: a disjunction that is shown as an implication."""

    __slots__ = ()

    def __init__(self, terms: tuple[Term, ...]) -> None:
        super().__init__(OR, terms)

    def __repr__(self) -> str:
        premise, conclusion = (term.formula for term in self.terms)
        assert isinstance(premise, Not)
        return f"{_grouped(premise.inner)} >> {_grouped(conclusion)}"


@node
class Iff(Formula):
    """Both formulas are true, or both are false."""

    left: Formula
    right: Formula

    def __repr__(self) -> str:
        return f"{_grouped(self.left)} == {_grouped(self.right)}"


@node
class Count(Formula):
    """The number of true terms is at most, at least or exactly ``k``.

    ``unique`` marks an ``exists_one``, which reads differently in a definition.
    """

    op: str
    k: int
    terms: tuple[Term, ...]
    unique: bool = False

    def __repr__(self) -> str:
        terms = ", ".join(map(repr, self.terms))
        if self.unique:
            return f"exists_one {terms}" if self.terms[0].variables else f"one_of({terms})"
        name = {AT_MOST: "at_most", AT_LEAST: "at_least", EXACTLY: "exactly"}[self.op]
        return f"{name}({self.k}) {terms}"


class Definition:
    """An atom and the formula that says when it holds.

    It means the same as ``atom == body``, with one exception taken from the literature: a body
    ``exists_one(...)`` reads "at most one holds, and the atom says whether one does" (one cheap
    factor), while ``atom == exists_one(...)`` allows several and makes the atom false then.
    """

    __slots__ = ("body", "head")

    def __init__(self, head: Formula, body: Formula) -> None:
        inner = head.inner if isinstance(head, Not) else head
        if not isinstance(inner, Atom):
            raise TypeError(f"{head!r} is not an atom: only atoms are defined, as in "
                            "path(a, d).defines(...)")  # fmt: skip
        self.head, self.body = head, body

    def __repr__(self) -> str:
        return f"{self.head!r} := {self.body!r}"


def formula(value: Any) -> Formula:
    """``value`` as a formula; anything else raises with advice."""
    if isinstance(value, Formula):
        return value
    raise TypeError(f"expected a formula such as arc(h, m), got {type(value).__name__}: {value!r}")


def _join(op: str, left: Formula, right: Any) -> Formula:
    right = formula(right)
    if isinstance(right, Implication):
        raise TypeError(
            f"Python reads a {op} b >> c as a {op} (b >> c): write (a {op} b) >> c, "
            f"or {'all_of' if op == AND else 'any_of'}(a, b >> c) if you mean it"
        )
    return Junction(op, (*_operands(op, left), *_operands(op, right)))


def _operands(op: str, part: Formula) -> tuple[Term, ...]:
    """The terms of ``a op b`` if ``part`` is one, so that chains of one operator stay flat."""
    if type(part) is Junction and part.op == op and not any(t.variables for t in part.terms):
        return part.terms
    return (Term((), None, part),)


def _grouped(value: Formula) -> str:
    plain = isinstance(value, (Atom, Not)) or (isinstance(value, Count) and value.unique
                                               and not value.terms[0].variables)  # fmt: skip
    return repr(value) if plain else f"({value!r})"


# ---------------------------------------------------------------- normal form


def negation_normal(value: Formula, negate: bool = False) -> Formula:
    """The negation normal form; `Iff` and `Count` are kept as nodes."""
    if isinstance(value, Not):
        return negation_normal(value.inner, not negate)
    if isinstance(value, IndexComparison):
        op = NEGATED_COMPARISON[value.op] if negate else value.op
        return IndexComparison(op, value.left, value.right)
    if isinstance(value, Junction):
        op = value.op if not negate else (OR if value.op == AND else AND)
        return Junction(op, _normal_terms(value.terms, negate))
    if isinstance(value, Iff):
        return Iff(negation_normal(value.left, negate), negation_normal(value.right))
    if isinstance(value, Count):
        return _normal_count(value, negate)
    return Not(value) if negate else value


def _normal_count(value: Count, negate: bool) -> Formula:
    terms = _normal_terms(value.terms, False)
    if not negate:
        return Count(value.op, value.k, terms, value.unique)
    if value.op == AT_MOST:
        return Count(AT_LEAST, value.k + 1, terms)
    if value.op == AT_LEAST:
        return Count(AT_MOST, value.k - 1, terms)
    return Not(Count(EXACTLY, value.k, terms))


def _normal_terms(terms: tuple[Term, ...], negate: bool) -> tuple[Term, ...]:
    return tuple(
        Term(
            term.variables,
            None if term.where is None else negation_normal(term.where),
            negation_normal(term.formula, negate),
        )
        for term in terms
    )


def subterms(value: Formula) -> tuple[Term, ...]:
    """The formulas that a formula directly consists of, as terms."""
    if isinstance(value, (Junction, Count)):
        return value.terms
    if isinstance(value, Not):
        return (Term((), None, value.inner),)
    if isinstance(value, Iff):
        return Term((), None, value.left), Term((), None, value.right)
    return ()


def atoms(value: Formula) -> Iterator[Atom | IndexComparison]:
    """All atoms and comparisons of a formula, conditions included."""
    if isinstance(value, (Atom, IndexComparison)):
        yield value
    for term in subterms(value):
        yield from atoms(term.formula)
        if term.where is not None:
            yield from atoms(term.where)


def quantified_variables(value: Formula) -> list[Variable]:
    """Variables that a quantifier binds, with repetitions."""
    return [
        v
        for term in subterms(value)
        for v in (*term.variables, *quantified_variables(term.formula))
    ]


def free_variables(value: Formula) -> list[Variable]:
    """Variables that no quantifier binds, in order of appearance, each once."""
    found: dict[Variable, None] = {}
    if isinstance(value, (Atom, IndexComparison)):
        parts = value.args if isinstance(value, Atom) else (value.left, value.right)
        found.update(dict.fromkeys(v for part in parts for v in part.variables()))
    for term in subterms(value):
        inner = free_variables(term.formula)
        if term.where is not None:
            inner += free_variables(term.where)
        found.update(dict.fromkeys(v for v in inner if v not in set(term.variables)))
    return list(found)
