"""libDAI's ``.fg`` format: tables of potentials by their entries that are not zero.

A file holds the number of factors and then, for each, the number of its variables, their labels,
the number of states of each, the number of entries listed, and for each of those its index and its
value.  The first variable runs fastest; entries that are not listed are zero: forbidden.  ``#``
starts a comment.  AD3's files of the same name spell out types of factors (``PAIR``, ``XOR``).
"""

from __future__ import annotations

import re

import numpy as np

from assent.io.declared_sizes import DeclaredSizes, read_scope
from assent.io.text import HASH_COMMENT, PathLike, TokenReader, read_text
from assent.io.uai import UaiModel

_TYPE = re.compile(r"\b[A-Z]{2,}\b")

# Labels are counted in 32 bits.
_MOST = 2**31 - 1


def is_libdai(text: str) -> bool:
    """Whether the text of an ``.fg`` file is libDAI's: it has no types of factors.

    Example:
        >>> is_libdai("1  2 0 1  2 2  1  3 0.5"), is_libdai("2 1  0.5 1.0  XOR 2 1 2")
        (True, False)
    """
    bare = HASH_COMMENT.sub("", text)
    numbers = bare.split(maxsplit=2)
    # A graph of AD3's without factors has no types either: its second number is then 0.
    return not _TYPE.search(bare) and numbers[1:2] != ["0"]


def read_libdai(path: PathLike) -> UaiModel:
    """Read a model; its variables are the labels that occur, in increasing order.

    Raises:
        FormatError: naming file, line and token, where the file does not follow the format.

    Example:
        >>> model = read_libdai("alarm.fg")                              # doctest: +SKIP
    """
    reader = TokenReader(path, HASH_COMMENT.sub("", read_text(path)))
    n_factors = reader.integer("the number of factors", low=0)
    sizes, scopes, tables = DeclaredSizes(reader), [], []
    states: dict[int, int] = {}  # by label
    for factor in range(n_factors):
        arity = reader.integer(f"the number of variables of factor {factor}", 0, reader.remaining)
        scope = read_scope(reader, arity, factor, _MOST)
        for label in scope:
            if label not in states:
                expected = f"the states of variable {label}, at least 1"
                states[label] = sizes.read_states(expected)
            else:
                again = states[label]
                reader.integer(f"the states of variable {label}, {again} as before", again, again)
        scopes.append(scope)
        tables.append(_read_table(reader, sizes, factor, tuple(states[v] for v in scope)))
    reader.finish()
    labels = sorted(states)
    place = {label: v for v, label in enumerate(labels)}
    return UaiModel.from_factors(
        [states[label] for label in labels], [[place[v] for v in s] for s in scopes], tables
    )


def _read_table(
    reader: TokenReader, sizes: DeclaredSizes, factor: int, shape: tuple[int, ...]
) -> np.ndarray:
    """Logarithms of a table's entries, ``shape``."""
    size = sizes.take_table(factor, shape)
    listed = reader.integer(f"the number of entries listed for factor {factor}", 0, size)
    begin = reader.position
    numbers = reader.numbers(2 * listed, f"indices and values of factor {factor}")
    index, value = numbers[::2], numbers[1::2]
    wrong = (index < 0) | (index >= size) | (index != np.floor(index))
    if wrong.any():
        at = begin + 2 * int(np.argmax(wrong))
        raise reader.error(f"an index from 0 to {size - 1} of factor {factor}", at)
    if (value < 0.0).any():
        at = begin + 2 * int(np.argmax(value < 0.0)) + 1
        raise reader.error(f"a potential (not negative) of factor {factor}", at)
    table = np.zeros(size)
    table[index.astype(np.int64)] = value
    with np.errstate(divide="ignore"):
        return np.log(table).reshape(shape, order="F")
