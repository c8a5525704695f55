"""Statements of a file of rules, read one after the other into a model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.errors import ModelError
from assent.io.text import FormatError, PathLike
from assent.kernels.problem import Float
from assent.logic import formulas as f
from assent.logic.data_files import DataFile, find_file, members, read_data
from assent.logic.domains import Domain
from assent.logic.predicates import FALSE, TRUE, Predicate, Table, flat_keys, relation
from assent.logic.rules import Rules
from assent.logic.syntax import STARTS, Parser, Token
from assent.model.graph import FactorGraph
from assent.model.variables import Literals

if TYPE_CHECKING:
    from assent.result import Result


# Members of a domain a..b: each has a label and a place in memory, some hundred bytes.
MOST_MEMBERS = 1_000_000


@dataclass
class RuleModel:
    """The model of a file of rules.

    Attributes:
        graph: the model to decode.
        rules: its rules, which report and explain.
        domains, names: what the file declares; ``names`` holds predicates, relations and tables.
        unknown: the predicates whose atoms are to be found, in the order of declaration.
    """

    graph: FactorGraph
    rules: Rules
    domains: dict[str, Domain] = field(default_factory=dict)
    names: dict[str, Predicate | Table] = field(default_factory=dict)
    unknown: list[Predicate] = field(default_factory=list)

    def atoms(self, result: Result) -> dict[str, list[tuple[Any, ...]]]:
        """The atoms that hold in an answer (the least violating one if none is feasible)."""
        found = {}
        for own in self.unknown:
            keys, codes = own.atoms()
            known = (codes == TRUE) | (codes == FALSE)
            truth = codes == TRUE
            lits = Literals(self.graph, codes[~known])
            truth[~known] = result.least_violating[lits] == 1
            found[own.name] = [own.labels_of(key) for key in keys[truth]]
        return found


class Reader:
    """Reads statements one after the other into a model."""

    def __init__(self, path: PathLike, folder: Path | None, limit: int, model: RuleModel) -> None:
        self.path, self.folder, self.limit, self.model = path, folder, limit, model
        self._declared = 0  # tuples so far

    def read(self, tokens: list[Token]) -> None:
        """One statement; its errors name its line."""
        kinds: dict[str, Callable[[Parser], None]] = {
            "domain": self.domain,
            "relation": self.relation,
            "table": self.table,
            "unknown": self.unknown,
            "choice": self.choice,
            "observe": self.observe,
            "rule": self.rule,
        }
        parser = Parser(self.path, tokens, self.model.names, self.model.domains)
        word = parser.accept(*kinds)
        if word is None:
            parser.fail("one of " + ", ".join(kinds))
        try:
            kinds[word](parser)
            parser.finish()
        except ModelError as error:
            raise FormatError(self.path, str(error), tokens[0].line) from None

    # ------------------------------------------------------------ declarations

    def domain(self, parser: Parser) -> None:
        """``domain NAME = members`` or ``domain NAME from FILE, FILE.COLUMN``."""
        name = parser.name("the domain's name")
        if name in self.model.domains:
            raise ModelError(f"domain {name!r} is declared twice")
        if parser.accept("from"):
            labels: Any = members(parser.separated(lambda: self._column(parser)))
        else:
            parser.expect("=", "'=' or 'from'")
            labels = self._members(parser)
        self.model.domains[name] = Domain(name, labels)

    def _members(self, parser: Parser) -> Any:
        labels = parser.separated(lambda: self._label(parser))
        first = labels[0]
        if len(labels) == 1 and isinstance(first, int) and parser.accept(".."):
            last = self._label(parser)
            if not isinstance(last, int):
                parser.fail("the last number of the range")
            number = max(last - first + 1, 0)
            most = min(MOST_MEMBERS, self.limit)
            if number > most:
                raise ModelError(
                    f"a domain of {number:,} members is more than the {most:,} that a range may "
                    "declare; list them in a file"
                )
            return range(first, last + 1)
        return labels

    def _label(self, parser: Parser) -> Any:
        sign = -1 if parser.accept("-") else 1
        kinds = ("number",) if sign < 0 else ("number", "name", "text")
        token = parser.take(kinds, "a member")
        if token.kind == "name":
            return token.text
        return -token.value if sign < 0 else token.value

    def _column(self, parser: Parser) -> Any:
        name = self._file_name(parser)
        if find_file(self.folder, name) is None and "." in name:
            name, column = name.rsplit(".", 1)
            return self._file(parser, name).column(column)
        return next(iter(self._file(parser, name).columns.values()))

    def relation(self, parser: Parser) -> None:
        """``relation NAME(domains)``, then ``= tuples`` or ``from FILE`` or nothing."""
        name, domains = self._signature(parser)
        if parser.accept("="):
            rows = parser.separated(lambda: self._row(parser))
            self._declare(relation(name, rows, *domains))
            return
        file = self._file(parser, self._source(parser, name))
        keys = np.unique(flat_keys(file.positions(domains), domains))
        self._declare(Predicate(name, domains, None, keys, np.full(len(keys), TRUE, np.int32)))

    def _row(self, parser: Parser) -> tuple[Any, ...]:
        if not parser.accept("("):
            return (self._label(parser),)
        row = parser.separated(lambda: self._label(parser))
        parser.expect(")")
        return tuple(row)

    def table(self, parser: Parser) -> None:
        """``table NAME(domains) from FILE default NUMBER``."""
        name, domains = self._signature(parser)
        source = self._source(parser, name)
        default = self._default(parser)
        keys = np.arange(self._cells(domains))
        entries = self._scores(self._file(parser, source), domains, keys, default)
        self._declare(Table(name, domains, entries.reshape(tuple(map(len, domains)))))

    def unknown(self, parser: Parser) -> None:
        """``unknown NAME(domains) at RELATION from FILE default NUMBER``."""
        name, domains = self._signature(parser)
        if parser.accept("at"):
            keys = self._places(parser, domains)
        else:
            keys = np.arange(self._cells(domains))
        lits = self.model.graph.binary(
            len(keys), scores=self._own_scores(parser, name, domains, keys), name=name
        )
        self._declare(Predicate(name, domains, self.model.graph, keys, lits.codes))

    def choice(self, parser: Parser) -> None:
        """``choice NAME(domains): STATES``: one state for every tuple."""
        name, domains = self._signature(parser)
        parser.expect(":", "':' and the domain of states")
        states = parser.domain()
        sets = (*domains, states)
        keys = np.arange(self._cells(sets))
        scores = self._own_scores(parser, name, sets, keys).reshape(tuple(map(len, sets)))
        graph = self.model.graph
        variable = graph.categorical(scores.shape[:-1], states.labels, scores=scores, name=name)
        codes = variable.codes.ravel()
        self._declare(Predicate(name, sets, graph, keys, codes, one_state=True))

    def _own_scores(
        self, parser: Parser, name: str, domains: tuple[Domain, ...], keys: Any
    ) -> Float:
        """Scores of variables: from a file that is named, or one of the predicate's name."""
        named = self._file_name(parser) if parser.accept("from") else None
        default = self._default(parser)
        if named is None and find_file(self.folder, name) is None:
            return np.full(len(keys), default)
        return self._scores(self._file(parser, named or name), domains, keys, default)

    def _scores(
        self, file: DataFile, domains: tuple[Domain, ...], keys: Any, default: float
    ) -> Float:
        """Numbers of a file at flat indices ``keys``."""
        given = flat_keys(file.positions(domains), domains)
        order = np.argsort(given, kind="stable")
        entries = np.full(len(keys), default)
        if len(order):
            place = np.minimum(np.searchsorted(given[order], keys), len(order) - 1)
            found = given[order][place] == keys
            entries[found] = file.numbers(len(domains))[order[place[found]]]
        return entries

    def _cells(self, domains: tuple[Domain, ...]) -> int:
        """Number of tuples; those of all declarations stay within the limit."""
        cells = math.prod(map(len, domains))
        self._declared += cells
        if self._declared > self.limit:
            before = self._declared - cells
            raise ModelError(
                f"{cells:,} tuples are more than limit={self.limit:,} (with {before:,} declared "
                "before); say with 'at' where there are variables"
            )
        return cells

    def _places(self, parser: Parser, domains: tuple[Domain, ...]) -> Any:
        """The tuples with variables: those of a relation or of a file."""
        name = self._file_name(parser)
        known = self.model.names.get(name)
        if isinstance(known, Predicate):
            if [d.name for d in known.domains] != [d.name for d in domains]:
                raise ModelError(f"{known!r} is over other domains")
            return flat_keys(known.possible(), domains)
        return np.unique(flat_keys(self._file(parser, name).positions(domains), domains))

    def observe(self, parser: Parser) -> None:
        """``observe NAME from FILE`` or ``observe atom, ~atom``; ``closed``: all else is false."""
        closed = parser.accept("closed") is not None
        start = parser.place
        name = None if parser.peek("~") else parser.name("a predicate")
        if name is not None and parser.accept("from"):
            own = self._observable(parser, name)
            file = self._file(parser, self._file_name(parser))
            some = len(file.columns) > own.arity
            truth: Any = file.numbers(own.arity) != 0 if some else True
            own.observe_keys(flat_keys(file.positions(own.domains), own.domains), truth, closed)
            return
        parser.place = start
        seen: dict[Predicate, list[tuple[tuple[Any, ...], bool]]] = {}

        def read() -> None:
            negated = parser.accept("~") is not None
            name = parser.name("a predicate")
            own = self._observable(parser, name)
            atom = parser.applied(name)
            if any(not hasattr(arg, "value") for arg in atom.args):
                raise ModelError(f"observe: {atom!r} has variables; write labels in quotes")
            row = tuple(arg.value for arg in atom.args)
            seen.setdefault(own, []).append((row, not negated))

        parser.separated(read)
        for own, pairs in seen.items():
            rows, values = zip(*pairs, strict=True)
            own.observe(list(rows), list(values), closed=closed)

    def _observable(self, parser: Parser, name: str) -> Predicate:
        known = parser.known(name)
        if not isinstance(known, Predicate):
            raise ModelError(f"observe: {name} is a table, not a predicate")
        return known

    # ------------------------------------------------------------ rules

    def rule(self, parser: Parser) -> None:
        """``rule NAME: formula for x in domain where condition weight number``."""
        line = parser.line
        name = f"{self._rule_name(parser)} (line {line})"
        statement: Any = parser.formula()
        if parser.accept(":="):
            try:
                statement = f.Definition(statement, parser.formula())
            except TypeError as error:
                raise ModelError(f"{name}: {error}") from None
        if parser.accept("for"):
            parser.bound_variables()
        where = parser.formula() if parser.accept("where") else None
        soft: dict[str, Any] = {}
        if word := parser.accept("weight", "penalty"):
            soft[word] = parser.expression()
        parser.finish()
        self.model.rules.add(statement, where=where, name=name, limit=self.limit, **soft)

    def _rule_name(self, parser: Parser) -> str:
        """The words before the first colon, unless they are a formula."""
        start = parser.place
        words: list[str] = []
        while parser.place < len(parser.tokens):
            token = parser.tokens[parser.place]
            parser.place += 1
            if token.text == ":":
                return " ".join(words) or "rule"
            if (token.kind == "symbol" and token.text not in "-./") or token.text in STARTS:
                break
            words.append(token.text.strip("\"'"))
        parser.place = start
        return "rule"

    # ------------------------------------------------------------ pieces

    def _signature(self, parser: Parser) -> tuple[str, tuple[Domain, ...]]:
        name = parser.name("a name")
        if name in self.model.names:
            raise ModelError(f"{name!r} is declared twice")
        return name, tuple(parser.parenthesized(parser.domain))

    def _declare(self, value: Predicate | Table) -> None:
        self.model.names[value.name] = value
        if isinstance(value, Predicate) and value.graph is not None:
            self.model.unknown.append(value)

    def _default(self, parser: Parser) -> float:
        if not parser.accept("default"):
            return 0.0
        sign = -1.0 if parser.accept("-") else 1.0
        return sign * float(parser.take(("number",), "a number").value)

    def _source(self, parser: Parser, name: str) -> str:
        return self._file_name(parser) if parser.accept("from") else name

    def _file_name(self, parser: Parser) -> str:
        token = parser.take(("name", "text"), "the name of a file")
        if token.kind == "text":
            return str(token.value)
        words = [token.text]
        while parser.accept("."):
            words.append(parser.take(("name",), "the rest of the file's name").text)
        return ".".join(words)

    def _file(self, parser: Parser, name: str) -> DataFile:
        path = find_file(self.folder, name)
        if path is None:
            where = "no data folder is given" if self.folder is None else f"in {self.folder}"
            raise FormatError(
                self.path, f"there is no data file {name!r} (.csv, .tsv or .parquet), {where}",
                parser.line,
            )  # fmt: skip
        return read_data(path)
