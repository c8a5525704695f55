"""Quantifiers, and connectives over any number of formulas."""

from __future__ import annotations

from typing import Any

from assent.errors import ModelError
from assent.logic.expressions import Variable
from assent.logic.formulas import (
    AND,
    AT_LEAST,
    AT_MOST,
    EXACTLY,
    OR,
    Count,
    Formula,
    Junction,
    Term,
    formula,
)


def forall(*parts: Any, where: Any = None) -> Formula:
    """``forall(x, y, formula)``: the formula holds for all values for which ``where`` holds.

    Example:
        >>> from assent import logic
        >>> p = logic.relation("p", [1], range(3))
        >>> x = logic.Variable("x")
        >>> logic.forall(x, p(x), where=x != 1)
        forall x where x != 1: p(x)
    """
    return Junction(AND, (_term(parts, where, "forall"),))


def exists(*parts: Any, where: Any = None) -> Formula:
    """``exists(x, y, formula)``: it holds for some values.

    Example:
        >>> from assent import logic
        >>> x = logic.Variable("x")
        >>> logic.exists(x, logic.relation("p", [1], range(3))(x))
        exists x: p(x)
    """
    return Junction(OR, (_term(parts, where, "exists"),))


def exists_one(*parts: Any, where: Any = None) -> Formula:
    """``exists_one(x, formula)``: it holds for one value, no more, no less."""
    return Count(EXACTLY, 1, (_term(parts, where, "exists_one"),), unique=True)


def at_most(k: int, *parts: Any, where: Any = None) -> Formula:
    """``at_most(k, x, formula)``: it holds for at most k values."""
    return Count(AT_MOST, _whole(k), (_term(parts, where, "at_most"),))


def at_least(k: int, *parts: Any, where: Any = None) -> Formula:
    """``at_least(k, x, formula)``: it holds for at least k values."""
    return Count(AT_LEAST, _whole(k), (_term(parts, where, "at_least"),))


def exactly(k: int, *parts: Any, where: Any = None) -> Formula:
    """``exactly(k, x, formula)``: it holds for exactly k values."""
    return Count(EXACTLY, _whole(k), (_term(parts, where, "exactly"),))


def all_of(*formulas: Any) -> Formula:
    """All of the formulas hold: ``a & b & c``."""
    return Junction(AND, _terms(formulas, "all_of"))


def any_of(*formulas: Any) -> Formula:
    """At least one of the formulas holds: ``a | b | c``."""
    return Junction(OR, _terms(formulas, "any_of"))


def one_of(*formulas: Any) -> Formula:
    """Exactly one of the formulas holds; in a definition it reads as ``exists_one`` does."""
    return Count(EXACTLY, 1, _terms(formulas, "one_of"), unique=True)


def _terms(formulas: tuple[Any, ...], name: str) -> tuple[Term, ...]:
    if not formulas:
        raise ModelError(f"{name} needs at least one formula")
    return tuple(Term((), None, formula(f)) for f in formulas)


def _term(parts: tuple[Any, ...], where: Any, name: str) -> Term:
    *bound, body = parts or (None,)
    if not bound or not all(isinstance(v, Variable) for v in bound):
        raise TypeError(f"{name} takes logic variables, then a formula: {name}(x, y, formula); "
                        f"got {parts!r}")  # fmt: skip
    return Term(tuple(bound), None if where is None else formula(where), formula(body))


def _whole(k: Any) -> int:
    if not isinstance(k, int) or isinstance(k, bool) or k < 0:
        raise ModelError(f"a count is a whole number >= 0, got {k!r}")
    return k
