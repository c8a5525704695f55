"""Expressions over indices: logic variables, arithmetic, tables of numbers, comparisons.

They are evaluated on arrays of bindings; see `bindings`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, NoReturn

import numpy as np

from assent.arguments import shown
from assent.errors import ModelError
from assent.logic.domains import Domain
from assent.logic.formulas import IndexComparison, node

# Values that variables are shown with in place of their names, while a ground rule is shown.
_shown: ContextVar[Mapping[Variable, Any] | None] = ContextVar("shown", default=None)

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


class Expression:
    """Something with a value for every binding of its variables."""

    __slots__ = ()
    __array_ufunc__ = None  # a NumPy number on the left leaves the operation to us
    __hash__ = object.__hash__

    def parts(self) -> tuple[Expression, ...]:
        """The expressions it directly consists of."""
        return ()

    def variables(self) -> Iterator[Variable]:
        """Variables it mentions, with repetitions."""
        for part in self.parts():
            yield from part.variables()

    def __add__(self, other: Any) -> Arithmetic:
        return Arithmetic("+", self, expression(other))

    def __radd__(self, other: Any) -> Arithmetic:
        return Arithmetic("+", expression(other), self)

    def __sub__(self, other: Any) -> Arithmetic:
        return Arithmetic("-", self, expression(other))

    def __rsub__(self, other: Any) -> Arithmetic:
        return Arithmetic("-", expression(other), self)

    def __mul__(self, other: Any) -> Arithmetic:
        return Arithmetic("*", self, expression(other))

    __rmul__ = __mul__

    def __neg__(self) -> Arithmetic:
        return Arithmetic("-", Constant(0), self)

    def __abs__(self) -> Absolute:
        return Absolute(self)

    def __eq__(self, other: Any) -> IndexComparison:  # type: ignore[override]
        return self._compare("==", other)

    def __ne__(self, other: Any) -> IndexComparison:  # type: ignore[override]
        return self._compare("!=", other)

    def __lt__(self, other: Any) -> IndexComparison:
        return self._compare("<", other)

    def __le__(self, other: Any) -> IndexComparison:
        return self._compare("<=", other)

    def __gt__(self, other: Any) -> IndexComparison:
        return self._compare(">", other)

    def __ge__(self, other: Any) -> IndexComparison:
        return self._compare(">=", other)

    def _compare(self, op: str, other: Any) -> IndexComparison:
        return IndexComparison(op, self, expression(other))

    def _refuse(self, other: Any) -> NoReturn:
        raise TypeError(
            f"{self!r} is an index, not a formula; put comparisons in parentheses, "
            "as in arc(h, m) & (h != m)"
        )

    __and__ = __rand__ = __or__ = __ror__ = _refuse

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} has no value in Python; conditions on indices go into where= "
            "(join them with & and |, and do not chain a < b < c)"
        )


class Variable(Expression):
    """A logic variable; its domain follows from where it is used, unless it is given.

    Example:
        >>> from assent import logic
        >>> logic.Variable("h") != logic.Variable("m")
        h != m
    """

    __slots__ = ("domain", "name")

    def __init__(self, name: str, domain: Domain | None = None) -> None:
        self.name = name
        self.domain = domain

    def variables(self) -> Iterator[Variable]:
        yield self

    def __repr__(self) -> str:
        values = _shown.get()
        return str(values[self]) if values is not None and self in values else self.name


def substituted(thing: Any, values: Mapping[Variable, Any]) -> str:
    """A formula or expression as text, with values substituted for some variables.

    Example:
        >>> from assent import logic
        >>> x, y = logic.variables("x y")
        >>> substituted(x + 1 < y, {x: 3})
        '3 + 1 < y'
    """
    token = _shown.set(values)
    try:
        return repr(thing)
    finally:
        _shown.reset(token)


def variables(names: str, domain: Domain | None = None) -> tuple[Variable, ...]:
    """Several logic variables from names separated by spaces or commas.

    Example:
        >>> from assent import logic
        >>> logic.variables("h m")
        (h, m)
    """
    if not isinstance(names, str):
        raise TypeError(f"names of variables are a string such as 'x y', got {shown(names)}")
    return tuple(Variable(name, domain) for name in names.replace(",", " ").split())


@node
class Constant(Expression):
    """A number or a label."""

    value: Any

    @property
    def is_number(self) -> bool:
        """Whether it can be computed with."""
        return isinstance(self.value, (int, float)) and not isinstance(self.value, bool)

    def __repr__(self) -> str:
        return repr(self.value) if isinstance(self.value, str) else str(self.value)


@node
class Arithmetic(Expression):
    """A sum, difference or product."""

    op: str
    left: Expression
    right: Expression

    def parts(self) -> tuple[Expression, ...]:
        return self.left, self.right

    def __repr__(self) -> str:
        return f"{_grouped(self.left)} {self.op} {_grouped(self.right)}"


@node
class Absolute(Expression):
    """The absolute value of an expression."""

    inner: Expression

    def parts(self) -> tuple[Expression, ...]:
        return (self.inner,)

    def __repr__(self) -> str:
        return f"abs({self.inner!r})"


@node
class TableEntry(Expression):
    """An entry of a table of numbers."""

    table: Any
    args: tuple[Expression, ...]

    def parts(self) -> tuple[Expression, ...]:
        return self.args

    def __repr__(self) -> str:
        return f"{self.table.name}({', '.join(map(repr, self.args))})"


def expression(value: Any) -> Expression:
    """``value`` as an expression; constants are numbers or labels."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, (str, int, float, tuple, np.generic)) and not isinstance(value, bool):
        return Constant(value.item() if isinstance(value, np.generic) else value)
    raise TypeError(f"expected a logic variable, a number or a label, got {value!r}")


def check_arity(name: str, args: tuple[Any, ...], domains: tuple[Domain, ...]) -> None:
    """Refuse a wrong number of arguments and constants that are not in their domain."""
    if len(args) != len(domains):
        expected = ", ".join(d.name for d in domains)
        raise ModelError(
            f"{name} takes {len(domains)} arguments ({expected}), got {len(args)}: "
            f"{name}({', '.join(map(repr, args))})"
        )
    for arg, domain in zip(args, domains, strict=True):
        if isinstance(arg, Constant):
            try:
                domain.position(arg.value)
            except ModelError as error:
                shown = ", ".join(map(repr, args))
                raise ModelError(f"{name}({shown}): {error}") from None


def _grouped(value: Expression) -> str:
    return f"({value!r})" if isinstance(value, Arithmetic) else repr(value)
