"""The UAI format: tables of non-negative potentials over discrete variables, and evidence.

A file holds ``MARKOV`` or ``BAYES``, the number of variables, their cardinalities, the number of
factors, the scope of each factor, and then each factor's table, preceded by its size, with the last
variable of the scope running fastest. Lines beginning with ``c`` are comments. Potentials multiply;
here they are kept as natural logarithms, which add, and a zero becomes −inf: forbidden.

A file named ``.LG`` holds the logarithms themselves, ``-inf`` for forbidden.

Evidence comes as ``N v x v x ...`` or, in the older dialect, as ``1 N v x v x ...``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assent.arguments import as_array, is_whole, shown
from assent.errors import ModelError
from assent.io.declared_sizes import DeclaredSizes
from assent.io.text import (
    FormatError,
    PathLike,
    TokenReader,
    parse_numbers,
    read_text,
    starts,
    write_text,
)
from assent.model.scores import clean_scores

KINDS = ("MARKOV", "BAYES")

_COMMENT_LINE = re.compile(r"^c(?:[ \t\r].*)?$", re.MULTILINE)


@dataclass(frozen=True)
class UaiModel:
    """A discrete model as its file describes it, in flat arrays; scores are log-potentials.

    Attributes:
        kind: ``"MARKOV"`` or ``"BAYES"``; the score is the sum of all tables either way.
        cardinalities: ``[n]`` number of states of each variable.
        scope_start: ``[F+1]`` factor ``f`` covers ``scope[scope_start[f]:scope_start[f+1]]``.
        scope: variables of all factors, one factor after the other.
        table_start: ``[F+1]`` the same for ``log_tables``.
        log_tables: entries of all tables, last variable fastest, −inf for forbidden.
        evidence: observed variables and their states.

    Example:
        >>> model = UaiModel.from_factors([2, 2], [[0], [0, 1]], [[0, 1], [[0, 0], [0, 2]]])
        >>> model.score([1, 1])
        3.0
    """

    kind: str
    cardinalities: NDArray[np.int64]
    scope_start: NDArray[np.int64]
    scope: NDArray[np.int64]
    table_start: NDArray[np.int64]
    log_tables: NDArray[np.float64]
    evidence: dict[int, int] = field(default_factory=dict)

    @classmethod
    def from_factors(
        cls,
        cardinalities: Sequence[int],
        scopes: Sequence[Sequence[int]],
        log_tables: Sequence[ArrayLike],
        kind: str = "MARKOV",
        evidence: Mapping[int, int] | None = None,
    ) -> UaiModel:
        """A model from one scope and one table of log-potentials per factor."""
        states = as_array(cardinalities)
        if states is None or states.ndim != 1 or (states.size and states.dtype.kind not in "iu"):
            raise ModelError(f"cardinalities are whole numbers, got {shown(cardinalities)}")
        if not isinstance(scopes, Sequence) or len(scopes) != len(log_tables):
            raise ModelError(f"there are {len(log_tables)} tables, but scopes {shown(scopes)}")
        tables = [clean_scores(table, f"factor {f}") for f, table in enumerate(log_tables)]
        for factor, (scope, table) in enumerate(zip(scopes, tables, strict=True)):
            own = isinstance(scope, (Sequence, np.ndarray))
            if not own or not all(is_whole(v) and 0 <= v < len(states) for v in scope):
                raise ModelError(f"factor {factor}: {shown(scope)} are no variables of the model")
            shape = tuple(int(states[v]) for v in scope)
            if table.shape != shape:
                raise ValueError(
                    f"factor {factor} over variables {list(scope)} needs a table of shape "
                    f"{shape}, got {table.shape}"
                )
        return cls(
            kind=kind,
            cardinalities=np.array(cardinalities, np.int64),
            scope_start=starts([len(scope) for scope in scopes]),
            scope=np.array([v for scope in scopes for v in scope], np.int64),
            table_start=starts([table.size for table in tables]),
            log_tables=np.concatenate([np.zeros(0), *(table.ravel() for table in tables)]),
            evidence=dict(evidence or {}),
        )

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cardinalities)

    @property
    def n_factors(self) -> int:
        """Number of factors."""
        return len(self.scope_start) - 1

    def scope_of(self, factor: int) -> NDArray[np.int64]:
        """Variables of one factor."""
        return self.scope[self.scope_start[factor] : self.scope_start[factor + 1]]

    def table_of(self, factor: int) -> NDArray[np.float64]:
        """Log-potentials of one factor, one axis per variable of its scope."""
        flat = self.log_tables[self.table_start[factor] : self.table_start[factor + 1]]
        return flat.reshape(self.cardinalities[self.scope_of(factor)])

    def score(self, assignment: Sequence[int]) -> float:
        """Sum of the log-potentials of a full assignment; evidence is not checked."""
        states = np.asarray(assignment)
        factors = range(self.n_factors)
        return float(sum(self.table_of(f)[tuple(states[self.scope_of(f)])] for f in factors))


def read_uai(
    path: PathLike,
    evidence: PathLike | Mapping[int, int] | None = None,
    *,
    logs: bool | None = None,
) -> UaiModel:
    """Read a UAI model and, if given, its evidence (a file, or states by variable).

    ``logs`` says whether the file holds natural logarithms of the potentials; by default, if its
    name ends in ``.LG``.

    Raises:
        FormatError: naming file, line and token, where the file does not follow the format.

    Example:
        >>> model = read_uai("grid.uai", evidence="grid.uai.evid")      # doctest: +SKIP
    """
    reader = TokenReader(path, _without_comments(read_text(path)))
    kind = reader.word("MARKOV or BAYES")
    if kind not in KINDS:
        raise reader.error("MARKOV or BAYES", position=0)
    n_variables = reader.integer("the number of variables", low=0)
    cardinalities = _read_cardinalities(reader, n_variables)
    n_factors = reader.integer("the number of factors", low=0)
    scope_start, scope = _read_scopes(reader, n_factors, n_variables)
    sizes = _table_sizes(reader, cardinalities, scope_start, scope)
    logs = holds_logs(path) if logs is None else logs
    table_start, log_tables = _read_tables(reader, sizes, logs)
    reader.finish()
    if isinstance(evidence, Mapping):
        for v, x in evidence.items():
            if not (0 <= v < n_variables and 0 <= x < cardinalities[v]):
                raise ValueError(f"evidence: {path} has no variable {v} with a state {x}")
    elif evidence is not None:
        evidence = read_evidence(evidence, cardinalities)
    return UaiModel(
        kind=kind,
        cardinalities=np.array(cardinalities, np.int64),
        scope_start=scope_start,
        scope=scope,
        table_start=table_start,
        log_tables=log_tables,
        evidence=dict(evidence or {}),
    )


def holds_logs(path: PathLike) -> bool:
    """Whether a file holds logarithms by its name: ``.LG``, possibly compressed.

    Example:
        >>> holds_logs("grid.uai.LG.gz"), holds_logs("grid.uai")
        (True, False)
    """
    name = os.fspath(path).lower().removesuffix(".gz").removesuffix(".xz")
    return name.endswith(".lg")


def read_evidence(path: PathLike, cardinalities: ArrayLike) -> dict[int, int]:
    """Observed states by variable; the number of tokens decides between the two dialects.

    Example:
        >>> read_evidence("grid.uai.evid", model.cardinalities)         # doctest: +SKIP
        {3: 1, 7: 0}
    """
    states = np.asarray(cardinalities).tolist()
    reader = TokenReader(path, _without_comments(read_text(path)))
    n_tokens = reader.remaining
    count = reader.integer("the number of observed variables", low=0)
    if n_tokens != 1 + 2 * count and count == 1:
        count = reader.integer("the number of observed variables", low=0)
    observed: dict[int, int] = {}
    for _ in range(count):
        v = reader.integer(f"a variable between 0 and {len(states) - 1}", 0, len(states) - 1)
        x = reader.integer(f"a state of variable {v}, 0 to {states[v] - 1}", 0, states[v] - 1)
        if observed.setdefault(v, x) != x:
            raise reader.error(f"state {observed[v]} again for variable {v}", reader.position - 1)
    reader.finish()
    return observed


def write_uai(model: UaiModel, path: PathLike) -> None:
    """Write a model's potentials; compressed if the name ends in ``.gz`` or ``.xz``.

    A name that ends in ``.LG`` (``.LG.gz``, ``.LG.xz``) means their logarithms.  Evidence is a
    separate file, see :func:`write_evidence`.

    Raises:
        ValueError: if a potential would overflow or vanish as a floating-point number.
    """
    lines = [model.kind, str(model.n_variables), _join(model.cardinalities.tolist())]
    lines.append(str(model.n_factors))
    scope = model.scope.tolist()
    for start, end in pairwise(model.scope_start.tolist()):
        lines.append(_join([end - start, *scope[start:end]]))
    numbers = model.log_tables if holds_logs(path) else _exponentiate(model)
    potentials = numbers.tolist()
    for start, end in pairwise(model.table_start.tolist()):
        lines += ["", str(end - start), _join(potentials[start:end])]
    write_text(path, "\n".join(lines) + "\n")


def write_evidence(evidence: Mapping[int, int], path: PathLike) -> None:
    """Write observed states in the dialect ``N v x v x ...``."""
    pairs = [number for item in sorted(evidence.items()) for number in item]
    write_text(path, _join([len(evidence), *pairs]) + "\n")


def _without_comments(text: str) -> str:
    # Lines are emptied, not dropped, so that line numbers stay right.
    return _COMMENT_LINE.sub("", text)


def _read_cardinalities(reader: TokenReader, n_variables: int) -> list[int]:
    expected = f"the cardinalities (at least 1) of {n_variables} variables"
    if n_variables > reader.remaining:
        reader.words(n_variables, expected)
    sizes = DeclaredSizes(reader)
    return [sizes.read_states(expected) for _ in range(n_variables)]


def _read_scopes(
    reader: TokenReader, n_factors: int, n_variables: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Starts of all scopes and their variables."""
    rows = _TokenRows(reader)
    for factor in range(n_factors):
        size = reader.integer(f"the number of variables of factor {factor}", 0, n_variables)
        rows.take(size, f"{size} variables of factor {factor}")
    start, values = rows.parse(
        lambda v: (v >= 0) & (v < n_variables) & (v == np.floor(v)),
        f"a variable, 0 to {n_variables - 1},",
    )
    scope = values.astype(np.int64)
    owner = np.repeat(np.arange(n_factors), np.diff(start))
    order = np.lexsort((scope, owner))
    twice = (np.diff(scope[order]) == 0) & (np.diff(owner[order]) == 0)
    if twice.any():
        raise rows.error(int(order[1:][twice].min()), "another variable")
    return start, scope


def _table_sizes(
    reader: TokenReader, cardinalities: list[int], scope_start: NDArray, scope: NDArray
) -> list[int]:
    """Entries of each table; checked factor by factor, as a corrupted file may claim any size."""
    sizes = []
    variables = scope.tolist()
    for factor, (start, end) in enumerate(pairwise(scope_start.tolist())):
        size = 1
        for v in variables[start:end]:
            size *= cardinalities[v]
            if size > reader.remaining:
                raise reader.error(f"the {size} or more entries of factor {factor}'s table")
        sizes.append(size)
    return sizes


def _read_tables(
    reader: TokenReader, sizes: list[int], logs: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Starts of all tables and their log-potentials."""
    rows = _TokenRows(reader)
    for factor, size in enumerate(sizes):
        reader.integer(f"{size}, the table size of factor {factor}", low=size, high=size)
        rows.take(size, f"{size} potentials of factor {factor}")
    if logs:
        return rows.parse(lambda v: v < np.inf, "a logarithm (a number or -inf)")
    start, values = rows.parse(
        lambda v: np.isfinite(v) & (v >= 0.0), "a potential (a number, not negative)"
    )
    with np.errstate(divide="ignore"):  # log 0 = −inf is what a zero potential means
        return start, np.log(values)


class _TokenRows:
    """Numbers of one row per factor, collected as tokens and converted together."""

    def __init__(self, reader: TokenReader) -> None:
        self.reader = reader
        self._sizes: list[int] = []
        self._first: list[int] = []  # position in the file of each row's first number
        self._tokens: list[str] = []

    def take(self, size: int, expected: str) -> None:
        """Take the ``size`` tokens of the next row."""
        self._sizes.append(size)
        self._first.append(self.reader.position)
        self._tokens += self.reader.words(size, expected)

    def parse(
        self, valid: Callable[[NDArray], NDArray], expected: str
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Starts of all rows and their numbers; raises for the first that is not ``valid``."""
        values, bad = parse_numbers(self._tokens, valid)
        if bad is not None:
            raise self.error(bad, expected)
        return starts(self._sizes), values

    def error(self, index: int, expected: str) -> FormatError:
        """The error about one number, by its index among all."""
        start = starts(self._sizes)
        factor = int(np.searchsorted(start, index, side="right")) - 1
        position = self._first[factor] + index - int(start[factor])
        return self.reader.error(f"{expected} in factor {factor}", position)


def _exponentiate(model: UaiModel) -> NDArray[np.float64]:
    logs = model.log_tables
    with np.errstate(over="ignore", under="ignore"):
        potentials = np.exp(logs)
    lost = ~np.isfinite(potentials) | ((potentials == 0.0) & (logs > -np.inf))
    if lost.any():
        entry = int(np.argmax(lost))
        factor = int(np.searchsorted(model.table_start, entry, side="right")) - 1
        raise ValueError(
            f"factor {factor} has the log-potential {logs[entry]}, whose exponential is not a "
            "finite positive number; write logarithms (a name that ends in .LG)"
        )
    return potentials


def _join(numbers: Sequence[float]) -> str:
    return " ".join(map(repr, numbers))
