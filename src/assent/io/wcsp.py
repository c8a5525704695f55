"""The ``.wcsp`` format: weighted constraint networks, costs negated to scores.

A file holds a name, the number of variables, the largest number of states, the number of cost
functions and ``top``; the number of states of each variable; and for each function the number of
its variables, the variables, the cost of unlisted tuples, the number of tuples listed, and for
each of those its states and its cost.  A function of no variables is a constant.

Costs become scores of the opposite sign.  A cost of ``top`` or more is forbidden; sums of smaller
costs are not limited, so that an answer may cost ``top`` or more in all.  Functions written by the
name of a global constraint (a default cost of -1) are refused.
"""

from __future__ import annotations

import numpy as np

from assent.io.declared_sizes import DeclaredSizes, read_scope
from assent.io.text import FormatError, PathLike, TokenReader, read_text
from assent.io.uai import UaiModel


def read_wcsp(path: PathLike) -> UaiModel:
    """Read a network; scores are negated costs, ``-inf`` for a cost of ``top`` or more.

    Raises:
        FormatError: naming file, line and token, where the file does not follow the format.

    Example:
        >>> model = read_wcsp("celar6.wcsp.xz")                          # doctest: +SKIP
    """
    reader = TokenReader(path, read_text(path))
    reader.word("the name of the problem")
    n = reader.integer("the number of variables", 0, reader.remaining)
    most = reader.integer("the largest number of states", low=0)
    n_functions = reader.integer("the number of cost functions", low=0)
    top = reader.number("top, the cost that is forbidden (a positive number)", lambda v: v > 0)
    sizes, scopes, tables = DeclaredSizes(reader), [], []
    states = [sizes.read_states(f"the states of variable {v}, 1 to {most}", most) for v in range(n)]
    for factor in range(n_functions):
        arity = reader.integer(f"the number of variables of factor {factor}", 0, n)
        scope = read_scope(reader, arity, factor, n - 1)
        shape = tuple(states[v] for v in scope)
        costs = _read_costs(reader, sizes, factor, shape)
        scopes.append(scope)
        tables.append(np.where(costs >= top, -np.inf, -costs))
    reader.finish()
    return UaiModel.from_factors(states, scopes, tables)


def _read_costs(
    reader: TokenReader, sizes: DeclaredSizes, factor: int, shape: tuple[int, ...]
) -> np.ndarray:
    """The costs of all states of a function's variables, ``shape``."""
    default = reader.number(f"the default cost of factor {factor}")
    if default < 0:
        raise FormatError(
            reader.path,
            f"factor {factor} is a global constraint, written by its name "
            f"{reader.word('its name')!r}: these are not read; write its tuples",
        )
    size = sizes.take_table(factor, shape)
    listed = reader.integer(f"the number of tuples of factor {factor}", 0, reader.remaining)
    begin, width = reader.position, len(shape) + 1
    expected = f"states and cost of tuples of factor {factor}"
    rows = reader.numbers(listed * width, expected).reshape(listed, width)
    wrong = (rows < 0) | (rows >= np.array([*shape, np.inf]))
    wrong[:, :-1] |= rows[:, :-1] != np.floor(rows[:, :-1])
    if wrong.any():
        at = begin + int(np.argmax(wrong))
        raise reader.error(f"a state or cost (not negative) of factor {factor}", at)
    costs = np.full(size, default)
    index = np.zeros(listed, np.int64)
    for column, count in zip(rows[:, :-1].T, shape, strict=True):
        index = index * count + column.astype(np.int64)
    costs[index] = rows[:, -1]
    return costs.reshape(shape)
