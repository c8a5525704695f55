"""The ``.alist`` format: sparse parity-check matrices of error-correcting codes.

A file holds the number of columns (bits) and of rows (checks), the largest number of ones in a
column and in a row, these numbers for every column and every row, then the places of the ones,
counted from 1, column by column and once more row by row.  Shorter lists may be filled up with 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.parity import Parity
from assent.io.text import FormatError, PathLike, TokenReader, read_text, write_text
from assent.model.graph import FactorGraph
from assent.model.variables import coordinates_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def read_alist(path: PathLike) -> csr_array:
    """Read a parity-check matrix ``[checks, bits]`` of zeros and ones.

    Raises:
        FormatError: naming file, line and token, where the file does not follow the format.

    Example:
        >>> checks = read_alist("code.alist.gz")                          # doctest: +SKIP
    """
    from scipy.sparse import coo_array, csr_array

    reader = TokenReader(path, read_text(path))
    n = reader.integer("the number of bits", 1, reader.remaining)
    m = reader.integer("the number of checks", 1, reader.remaining)
    most_of_bit = reader.integer("the most checks of a bit", 0, m)
    most_of_check = reader.integer("the most bits of a check", 0, n)
    of_bit = [
        reader.integer(f"the number of checks of bit {j + 1}", 0, most_of_bit) for j in range(n)
    ]
    of_check = [
        reader.integer(f"the number of bits of check {i + 1}", 0, most_of_check) for i in range(m)
    ]
    rows = _read_lists(reader, of_bit, most_of_bit, "a check of bit", m)
    columns = _read_lists(reader, of_check, most_of_check, "a bit of check", n)
    reader.finish()
    by_bit = {(i, j) for j, own in enumerate(rows) for i in own}
    by_check = {(i, j) for i, own in enumerate(columns) for j in own}
    if by_bit != by_check:
        i, j = min(by_bit ^ by_check)
        raise FormatError(
            path, f"check {i + 1} and bit {j + 1} are listed together in one half of the file only"
        )
    ones = np.array(sorted(by_check), np.int64).reshape(-1, 2)
    return csr_array(coo_array((np.ones(len(ones), np.uint8), ones.T), shape=(m, n)))


def _read_lists(
    reader: TokenReader, sizes: list[int], most: int, expected: str, high: int
) -> list[list[int]]:
    """Lists of different numbers from 1 to ``high``, as numbers from 0."""
    lists = []
    for number, size in enumerate(sizes):
        own: dict[int, None] = {}
        for _ in range(size):
            value = reader.integer(f"{expected} {number + 1}, 1 to {high}", 1, high)
            if value - 1 in own:
                raise reader.error(f"another one: {expected} {number + 1}", reader.position - 1)
            own[value - 1] = None
        for _ in range(most - size):
            if reader.peek() == "0":
                reader.word("0")
        lists.append(list(own))
    return lists


def alist_to_graph(checks: csr_array) -> FactorGraph:
    """A graph of bits ``x`` in which every check is a `Parity`; bits score nothing.

    Example:
        >>> import assent as at
        >>> from scipy.sparse import csr_array
        >>> g = alist_to_graph(csr_array([[1, 1, 0, 1], [0, 1, 1, 1]]))
        >>> at.decode(g, scores={g["x"]: [1.0, -0.4, 1.0, -0.3]})[g["x"]].tolist()
        [1, 0, 1, 1]
    """
    graph = FactorGraph()
    bits = graph.binary(checks.shape[1], name="x")
    degrees = np.diff(checks.indptr)
    for degree in np.unique(degrees[degrees > 0]):
        own = np.flatnonzero(degrees == degree)
        places = checks.indices[checks.indptr[own][:, None] + np.arange(degree)]
        graph.add(Parity(bits[places], axis=-1), name="check")
    return graph


def alist_from_graph(graph: FactorGraph) -> csr_array:
    """The matrix ``[checks, bits]`` of a graph that has even parities only.

    Raises:
        ModelError: naming the first thing that a matrix cannot express.
    """
    from scipy.sparse import coo_array, csr_array

    if any(variable.states is not None for variable in graph.variables):
        raise ModelError("the .alist format knows bits only, no categorical variables")
    if any(variable.scores.any() for variable in graph.variables) or len(graph.evidence()):
        raise ModelError("the .alist format holds checks only, no scores and no evidence")
    rows: list[NDArray[np.int32]] = []
    for handle in graph.handles:
        factor = handle.factor
        even = isinstance(factor, Parity) and ((factor.codes < 0).sum(axis=1) % 2 == factor.odd)
        if not np.all(even):
            raise ModelError(f"{factor.words(0)}: the .alist format knows even parities only")
        rows += list(coordinates_of(factor.codes))
    numbers = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    places = np.concatenate([np.zeros(0, np.int32), *rows])
    ones = np.ones(len(places), np.uint8)
    return csr_array(coo_array((ones, (numbers, places)), shape=(len(rows), graph.size)))


def write_alist(checks: csr_array, path: PathLike) -> None:
    """Write a parity-check matrix ``[checks, bits]``; what is not 0 counts as 1.

    Example:
        >>> write_alist(checks, "code.alist")                             # doctest: +SKIP
    """
    from scipy.sparse import csr_array

    by_check = csr_array(checks)
    by_bit = csr_array(by_check.T)
    halves = [np.diff(half.indptr) for half in (by_bit, by_check)]
    lines = [
        f"{by_check.shape[1]} {by_check.shape[0]}",
        " ".join(str(degrees.max(initial=0)) for degrees in halves),
        *(" ".join(map(str, degrees)) for degrees in halves),
    ]
    for half, degrees in zip((by_bit, by_check), halves, strict=True):
        for own in np.split(half.indices, half.indptr[1:-1]):
            filled = [*sorted(own + 1), *[0] * (degrees.max(initial=0) - len(own))]
            lines.append(" ".join(map(str, filled)))
    write_text(path, "\n".join(lines) + "\n")
