"""AD3's ``.fg`` format: binary variables with log-potentials, logic factors, pairs and tables.

A file holds one or more graphs, one after the other (blank lines between them are customary), each

    number of variables
    number of factors
    one log-potential per variable
    one line per factor:  TYPE n literal_1 ... literal_n [numbers]

Literals count from 1 and ``-`` negates, but not in ``PAIR`` and ``DENSE``. Types with an output
have it as their last literal. ``#`` starts a comment. Numbers follow

    PAIR        its score
    BUDGET      its limit
    KNAPSACK    a weight per literal, then the capacity
    DENSE       the number of multi-valued variables its literals are the states of, the number of
                states of each, then a score per joint state, the last variable changing fastest
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.io.text import HASH_COMMENT, PathLike, TokenReader, read_text, starts, write_text

# Fewest literals of each type of factor; a position in this table is the type's code.
FEWEST_LITERALS = {
    "PAIR": 2,
    "XOR": 1,
    "XOROUT": 2,
    "ATMOSTONE": 1,
    "OR": 1,
    "OROUT": 2,
    "ANDOUT": 2,
    "IMPLY": 2,
    "BUDGET": 1,
    "KNAPSACK": 1,
    "DENSE": 1,
}
TYPES = tuple(FEWEST_LITERALS)
CODES = {name: code for code, name in enumerate(TYPES)}
# Types whose literals are plain variables.
UNSIGNED = ("PAIR", "DENSE")

Triple = tuple[str, Sequence[int], Sequence[float] | NDArray[np.float64]]


@dataclass(frozen=True)
class FgModel:
    """One graph as its file describes it, in flat arrays.

    Attributes:
        scores: ``[n]`` log-potential of each variable being true; −inf forbids it.
        types: ``[F]`` type of each factor, an index into ``TYPES``.
        start: ``[F+1]`` factor ``f`` has the literals ``literals[start[f]:start[f+1]]``.
        literals: variable ``v`` (counted from 0), or ``~v`` for its negation.
        number_start: ``[F+1]`` the same for ``numbers``.
        numbers: the numbers after the literals in each factor's line.

    Example:
        >>> model = FgModel.from_factors([0.5, 1.0], [("XOR", [0, ~1], [])])
        >>> model.n_factors
        1
    """

    scores: NDArray[np.float64]
    types: NDArray[np.int8]
    start: NDArray[np.int64]
    literals: NDArray[np.int32]
    number_start: NDArray[np.int64]
    numbers: NDArray[np.float64]

    @classmethod
    def from_factors(
        cls,
        scores: Sequence[float] | NDArray[np.float64],
        factors: Iterable[Triple],
    ) -> FgModel:
        """A model from ``(type, literals, numbers)`` triples."""
        triples = list(factors)
        return cls(
            scores=np.array(scores, np.float64),
            types=np.array([CODES[name] for name, _, _ in triples], np.int8),
            start=starts([len(literals) for _, literals, _ in triples]),
            literals=np.array([lit for _, lits, _ in triples for lit in lits], np.int32),
            number_start=starts([len(numbers) for _, _, numbers in triples]),
            numbers=np.concatenate([np.zeros(0), *(numbers for _, _, numbers in triples)]),
        )

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.scores)

    @property
    def n_factors(self) -> int:
        """Number of factors."""
        return len(self.types)


def read_fg(path: PathLike) -> list[FgModel]:
    """Read all graphs of an AD3 ``.fg`` file, plain or compressed.

    Raises:
        FormatError: naming file, line and token, where the file does not follow the format.

    Example:
        >>> [model] = read_fg("coref.fg")                               # doctest: +SKIP
    """
    text = HASH_COMMENT.sub("", read_text(path))
    reader = TokenReader(path, text)
    # libDAI has files of tables with the same suffix, in which no factor type occurs.
    has_words = re.search("[A-Z]", text) is not None
    models = [_read_graph(reader, has_words)]
    while reader.remaining:
        models.append(_read_graph(reader, has_words))
    return models


def write_fg(models: FgModel | Iterable[FgModel], path: PathLike) -> None:
    """Write one or several graphs; compressed if the name ends in ``.gz`` or ``.xz``."""
    chosen = [models] if isinstance(models, FgModel) else list(models)
    write_text(path, "\n".join(map(_format_graph, chosen)))


def _read_graph(reader: TokenReader, has_words: bool) -> FgModel:
    n_variables = reader.integer("the number of variables", low=0)
    n_factors = reader.integer("the number of factors", low=0)
    scores = reader.numbers(
        n_variables,
        f"the log-potentials (finite, or -inf) of {n_variables} variables",
        valid=lambda values: values < np.inf,  # false for nan as well
    )
    hint = "" if has_words else " (a file without any is in libDAI's format: read_libdai)"
    factors = [_read_factor(reader, f, n_variables, hint) for f in range(n_factors)]
    return FgModel.from_factors(scores, factors)


def _read_factor(reader: TokenReader, factor: int, n_variables: int, hint: str) -> Triple:
    name = reader.word(f"the type of factor {factor + 1}")
    if name not in FEWEST_LITERALS:
        known = ", ".join(TYPES)
        raise reader.error(
            f"the type of factor {factor + 1}, one of {known}{hint}", reader.position - 1
        )
    fewest = FEWEST_LITERALS[name]
    most = 2 if name == "PAIR" else 2 * n_variables
    counted = "2, the number" if name == "PAIR" else f"the number (at least {fewest})"
    size = reader.integer(f"{counted} of literals of a {name}", fewest, most)
    literals = [_read_literal(reader, name, n_variables) for _ in range(size)]
    if len(set(literals)) < size:
        twice = next(i for i, lit in enumerate(literals) if lit in literals[:i])
        raise reader.error(f"distinct literals in a {name}", reader.position - size + twice)
    return name, literals, _read_numbers(reader, name, size)


def _read_numbers(reader: TokenReader, name: str, size: int) -> Sequence[float] | NDArray:
    """The numbers after the literals."""
    if name == "PAIR":
        return [reader.number("the score of a PAIR (finite, or -inf)", lambda v: v < np.inf)]
    if name == "BUDGET":
        return [min(reader.integer("the limit of a BUDGET", low=0), size)]
    if name == "KNAPSACK":
        expected = f"the {size} weights (at least 0) and the capacity (at least 0) of a KNAPSACK"
        return reader.numbers(size + 1, expected, lambda v: np.isfinite(v) & (v >= 0))
    if name == "DENSE":
        return _read_table(reader, size)
    return []


def _read_table(reader: TokenReader, size: int) -> NDArray[np.float64]:
    """Number of variables, their numbers of states (``size`` in all), scores of joint states."""
    count = reader.integer("the number of multi-valued variables of a DENSE", 1, size)
    states, left, entries = [], size, 1
    for later in reversed(range(count)):
        expected = f"numbers of states of {count} variables, {size} in all"
        low = left if later == 0 else 1
        states.append(reader.integer(expected, low, left - later))
        left -= states[-1]
        entries *= states[-1]
    expected = f"the {entries} scores (finite, or -inf) of a DENSE"
    scores = reader.numbers(entries, expected, lambda v: v < np.inf)
    return np.concatenate([[count], states, scores])


def _read_literal(reader: TokenReader, name: str, n_variables: int) -> int:
    """A variable counted from 0, or its complement ``~v`` for a negated one."""
    lowest = 1 if name in UNSIGNED else -n_variables
    expected = f"a variable from 1 to {n_variables}"
    if name not in UNSIGNED:
        expected += ", or minus one"
    number = reader.integer(expected, lowest, n_variables)
    if number == 0:
        raise reader.error(expected, reader.position - 1)
    return number - 1 if number > 0 else number  # ~v == -(v + 1): the negated count from 1


def _format_graph(model: FgModel) -> str:
    counts = [str(model.n_variables), str(model.n_factors)]
    scores = map(repr, model.scores.tolist())
    shown = np.where(model.literals < 0, model.literals, model.literals + 1).tolist()
    start, number_start = model.start.tolist(), model.number_start.tolist()
    numbers = model.numbers.tolist()
    lines = []
    for factor, code in enumerate(model.types.tolist()):
        literals = shown[start[factor] : start[factor + 1]]
        own = numbers[number_start[factor] : number_start[factor + 1]]
        # The limit of a BUDGET and the shape of a DENSE are written as integers, which others need.
        name = TYPES[code]
        integers = 1 if name == "BUDGET" else 1 + int(own[0]) if name == "DENSE" else 0
        fields = [name, len(literals), *literals, *map(int, own[:integers]), *own[integers:]]
        lines.append(" ".join(map(str, fields)))
    return "\n".join([*counts, *scores, *lines]) + "\n"
