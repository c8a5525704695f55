"""The text syntax of formulas: tokens, and a parser from tokens to formulas.

    formula     a <=> b,  a => b,  a | b,  a & b,  ~a  (from loose to tight), parentheses
    quantifier  forall x, y where x < y: a     exists x in word: a     exists_one x: a
                at_most 2 x: a     at_least 2 x: a     exactly 2 x: a     one_of(a, b, c)
    atom        arc(h, m - 1)     tag(i, "V")     comparisons  h != m,  cost(x, y) >= 2

Bare names among arguments are variables; labels are in quotes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from assent.errors import ModelError
from assent.io.text import FormatError, PathLike
from assent.logic import formulas as f
from assent.logic import quantifiers as q
from assent.logic.domains import Domain
from assent.logic.expressions import Expression, Variable, expression
from assent.logic.predicates import Predicate, Table

Item = TypeVar("Item")
TOKEN = re.compile(
    r"""(?P<space>[ \t]+|\#[^\n]*)
      | (?P<text>"[^"\n]*"|'[^'\n]*')
      | (?P<number>\d+\.\d+(?:[eE][+-]?\d+)?|\d+(?:[eE][+-]?\d+)?)
      | (?P<name>[^\W\d]\w*)
      | (?P<symbol><=>|:=|=>|>>|==|!=|<=|>=|\.\.|[<>&|~(),:+\-*=./])""",
    re.VERBOSE,
)
QUANTIFIERS: dict[str, Callable[..., f.Formula]] = {
    "forall": q.forall,
    "exists": q.exists,
    "exists_one": q.exists_one,
    "at_most": q.at_most,
    "at_least": q.at_least,
    "exactly": q.exactly,
}
COUNTING = ("at_most", "at_least", "exactly")
LISTS: dict[str, Callable[..., f.Formula]] = {
    "one_of": q.one_of, "any_of": q.any_of, "all_of": q.all_of,
}  # fmt: skip
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
MOST_DIGITS = 15  # that a float holds exactly
DEEPEST = 50  # nested parentheses, negations and quantifiers: keeps clear of Python's stack limit
STARTS = {*QUANTIFIERS, *LISTS}  # words that begin a formula
RESERVED = {*STARTS, "where", "weight", "penalty", "abs", "in", "for"}


@dataclass(frozen=True)
class Token:
    """A token, its line, and whether it begins that line."""

    kind: str
    text: str
    line: int
    first: bool

    @property
    def value(self) -> Any:
        """The value of a quoted text or a number."""
        if self.kind == "text":
            return self.text[1:-1]
        return int(self.text) if self.text.isdigit() else float(self.text)


def tokens_of(path: PathLike, text: str) -> list[Token]:
    """All tokens of a text; anything else is an error."""
    found: list[Token] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        place = 0
        while place < len(line):
            match = TOKEN.match(line, place)
            if match is None:
                raise FormatError.found(path, number, line[place], "a name, number or operator")
            if match.lastgroup == "number" and len(match[0]) > MOST_DIGITS:
                raise FormatError.found(path, number, match[0], f"at most {MOST_DIGITS} digits")
            if match.lastgroup != "space":
                found.append(Token(str(match.lastgroup), match[0], number, place == 0))
            place = match.end()
    return found


class Parser:
    """Reads tokens of one statement; ``names`` says which predicates and tables there are."""

    def __init__(
        self,
        path: PathLike,
        tokens: list[Token],
        names: Mapping[str, Predicate | Table],
        domains: Mapping[str, Domain] | None = None,
    ) -> None:
        self.path, self.tokens, self.names = path, tokens, names
        self.domains = domains or {}
        self.place = 0
        self.depth = 0
        self.variables: dict[str, Variable] = {}

    # ------------------------------------------------------------ tokens

    @property
    def line(self) -> int:
        """Line of the next token, or of the last one at the end."""
        return self.tokens[min(self.place, len(self.tokens) - 1)].line

    def peek(self, *texts: str) -> bool:
        """Whether the next token is one of these."""
        return self.place < len(self.tokens) and self.tokens[self.place].text in texts

    def accept(self, *texts: str) -> str | None:
        """Read the next token if it is one of these."""
        if self.peek(*texts):
            self.place += 1
            return self.tokens[self.place - 1].text
        return None

    def expect(self, text: str, what: str | None = None) -> None:
        """Read this very token."""
        if self.accept(text) is None:
            self.fail(what or repr(text))

    def take(self, kinds: tuple[str, ...], what: str) -> Token:
        """Read a token of one of these kinds."""
        if self.place >= len(self.tokens) or self.tokens[self.place].kind not in kinds:
            self.fail(what)
        self.place += 1
        return self.tokens[self.place - 1]

    def separated(self, read: Callable[[], Item], by: str = ",") -> list[Item]:
        """One or more items, separated by a symbol."""
        found = [read()]
        while self.accept(by):
            found.append(read())
        return found

    def parenthesized(self, read: Callable[[], Item]) -> list[Item]:
        """Items in parentheses, separated by commas."""
        self.expect("(")
        found = [] if self.peek(")") else self.separated(read)
        self.expect(")", "',' or ')'")
        return found

    def name(self, what: str) -> str:
        """Read a name that is no reserved word."""
        token = self.take(("name",), what)
        if token.text in RESERVED:
            self.place -= 1
            self.fail(what)
        return token.text

    def fail(self, expected: str) -> NoReturn:
        """The error "expected this, found that"."""
        token = self.tokens[self.place].text if self.place < len(self.tokens) else None
        if token is None:
            raise FormatError(self.path, f"expected {expected}, found the end of the statement",
                              self.line)  # fmt: skip
        raise FormatError.found(self.path, self.line, token, expected)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        """One level of nesting down."""
        if self.depth >= DEEPEST:
            raise FormatError(self.path, f"nested more than {DEEPEST} deep", self.line)
        self.depth += 1
        yield
        self.depth -= 1

    def finish(self) -> None:
        """Insist that the statement ends here."""
        if self.place < len(self.tokens):
            self.fail("the end of the statement")

    # ------------------------------------------------------------ formulas

    def formula(self) -> f.Formula:
        """The loosest: equivalences."""
        left = self.implication()
        while self.accept("<=>"):
            left = left == self.implication()
        return left

    def implication(self) -> f.Formula:
        """Premise => conclusion, to the right."""
        left = self.disjunction()
        if self.accept("=>", ">>"):
            with self._deeper():
                return left >> self.implication()
        return left

    def disjunction(self) -> f.Formula:
        """Joined by ``|``."""
        parts = self.separated(self.conjunction, "|")
        return parts[0] if len(parts) == 1 else q.any_of(*parts)

    def conjunction(self) -> f.Formula:
        """Joined by ``&``."""
        parts = self.separated(self.unary, "&")
        return parts[0] if len(parts) == 1 else q.all_of(*parts)

    def unary(self) -> f.Formula:
        """A negation, a quantifier, a list, something in parentheses, an atom, a comparison."""
        with self._deeper():
            return self._unary()

    def _unary(self) -> f.Formula:
        if self.accept("~"):
            return ~self.unary()
        if self.peek(*QUANTIFIERS):
            return self.quantified()
        if self.peek(*LISTS):
            return self.listed()
        if self.peek("(") and not self._is_comparison():
            self.expect("(")
            inner = self.formula()
            self.expect(")")
            return inner
        return self.atom_or_comparison()

    def quantified(self) -> f.Formula:
        """``exists x, y where condition: formula``, as far to the right as it goes."""
        word = str(self.accept(*QUANTIFIERS))
        counted = []
        if word in COUNTING:
            token = self.take(("number",), "a count")
            if not isinstance(token.value, int):
                self.place -= 1
                self.fail("a whole number")
            counted.append(token.value)
        bound = self.bound_variables()
        where = self.formula() if self.accept("where") else None
        self.expect(":", "':' and a formula")
        return QUANTIFIERS[word](*counted, *bound, self.formula(), where=where)

    def bound_variables(self) -> list[Variable]:
        """``x, y in domain``: variables, each with its domain where that does not follow."""

        def read() -> Variable:
            variable = self.variable()
            if self.accept("in"):
                variable.domain = self.domain()
            return variable

        return self.separated(read)

    def domain(self) -> Domain:
        """The domain of this name."""
        name = self.name("a domain")
        if name not in self.domains:
            known = ", ".join(self.domains) or "none"
            raise FormatError(self.path, f"unknown domain {name!r} (declared: {known})", self.line)
        return self.domains[name]

    def listed(self) -> f.Formula:
        """``one_of(a, b)``."""
        word = str(self.accept(*LISTS))
        return LISTS[word](*self.parenthesized(self.formula))

    def atom_or_comparison(self) -> f.Formula:
        """A predicate with arguments, or two expressions compared."""
        token = self.tokens[self.place] if self.place < len(self.tokens) else None
        known = token is not None and token.kind == "name" and self.names.get(token.text)
        if isinstance(known, Predicate):
            return self.applied(self.name("a predicate"))
        left = self.expression()
        op = self.accept(*COMPARISONS)
        if op is None:
            self.fail("a comparison")
        return left._compare(op, self.expression())

    def applied(self, name: str) -> Any:
        """A predicate or table applied to arguments; errors name the line."""
        args = self.parenthesized(self.expression)
        try:
            return self.known(name)(*args)
        except ModelError as error:
            raise FormatError(self.path, str(error), self.line) from None

    def known(self, name: str) -> Predicate | Table:
        """The predicate or table of this name."""
        if name not in self.names:
            near = difflib.get_close_matches(name, self.names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            known = ", ".join(self.names) or "none"
            raise FormatError(
                self.path, f"unknown predicate {name!r}{hint} (declared: {known})", self.line, name
            )
        return self.names[name]

    def _is_comparison(self) -> bool:
        """Whether the parenthesis ahead groups an expression: an operator follows it."""
        depth = 0
        for number, token in enumerate(self.tokens[self.place :], start=self.place):
            depth += (token.text == "(") - (token.text == ")")
            if depth == 0:
                after = self.tokens[number + 1].text if number + 1 < len(self.tokens) else ""
                return after in (*COMPARISONS, "+", "-", "*")
        return False

    # ------------------------------------------------------------ expressions

    def expression(self) -> Expression:
        """Sums and differences."""
        left = self.product()
        while op := self.accept("+", "-"):
            right = self.product()
            left = left + right if op == "+" else left - right
        return left

    def product(self) -> Expression:
        """Products."""
        left = self.simple()
        while self.accept("*"):
            left = left * self.simple()
        return left

    def simple(self) -> Expression:
        """A number, a label, a variable, an entry of a table, a parenthesis."""
        with self._deeper():
            return self._simple()

    def _simple(self) -> Expression:
        if self.accept("-"):
            inner = self.simple()
            value = getattr(inner, "value", None)
            return expression(-value) if isinstance(value, (int, float)) else -inner
        if self.accept("abs"):
            self.expect("(")
            inner = self.expression()
            self.expect(")")
            return abs(inner)
        if self.accept("("):
            inner = self.expression()
            self.expect(")")
            return inner
        token = self.take(("number", "text", "name"), "a formula or an expression")
        if token.kind != "name":
            return expression(token.value)
        if self.peek("("):
            found = self.applied(token.text)
            if not isinstance(found, Expression):
                raise FormatError(self.path, f"{found!r} is a formula, not a number", token.line)
            return found
        self.place -= 1
        return self.variable()

    def variable(self) -> Variable:
        """A variable; the same name is the same variable in a statement."""
        name = self.name("a variable")
        return self.variables.setdefault(name, Variable(name))
