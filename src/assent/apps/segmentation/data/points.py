"""Point clouds in text files: ``x y z [label [more]]`` per line, ``#`` begins a comment."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assent.io.line_streams import read_lines, write_pieces
from assent.io.text import FormatError, PathLike
from assent.kernels.problem import Float, Int64

# In the file's units: farther out, numbers of cells of a fraction of a unit are no longer exact.
FARTHEST = 1e12


class PointCloud(NamedTuple):
    """Points and, where the file has them, numbers of labels.

    Attributes:
        name: the file's, up to its first dot.
        points: ``[n, 3]``, z upwards.
        numbers: ``[n]`` numbers of labels, or None.
    """

    name: str
    points: Float
    numbers: Int64 | None = None


def cloud_name(path: PathLike) -> str:
    """The name of a file, up to its first dot.

    Example:
        >>> cloud_name("scans/a.xyz.gz")
        'a'
    """
    return Path(path).name.partition(".")[0]


def read_points(path: PathLike, *, labelled: bool = False) -> PointCloud:
    """Read a file, plain or compressed.

    Args:
        path: the file; labels are the fourth column.
        labelled: refuse a file without labels.

    Raises:
        FormatError: naming the line that is no point.
    """
    lines = list(read_lines(path))
    rows = [line for line in lines if line.partition("#")[0].strip()]
    table = np.zeros((0, 0))
    if rows:
        with contextlib.suppress(ValueError):  # the line is named below
            table = np.loadtxt(rows, comments="#", ndmin=2)
    if (
        table.size == 0
        or table.shape[1] < (4 if labelled else 3)
        or not np.isfinite(table).all()
        or np.abs(table[:, :3]).max() > FARTHEST
    ):
        raise _first_problem(path, lines, labelled)
    numbers = None
    if table.shape[1] > 3:
        numbers = table[:, 3].astype(np.int64)
        if (numbers != table[:, 3]).any():
            raise _first_problem(path, lines, labelled)
    return PointCloud(cloud_name(path), table[:, :3].copy(), numbers)


def _first_problem(path: PathLike, lines: list[str], labelled: bool) -> FormatError:
    """The error of the first line that does not do."""
    columns = 0
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].split()
        columns = columns or len(words)
        if words and (expected := _expected(words, labelled, columns)):
            return FormatError.found(path, number, line.strip(), expected)
    return FormatError(path, "no points in this file")


def _expected(words: list[str], labelled: bool, columns: int) -> str:
    """What a line should be that is no point; empty for one that is."""
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    far = any(abs(value) > FARTHEST for value in values[:3])
    whole = len(values) < 4 or values[3].is_integer()
    finite = all(map(math.isfinite, values))
    expected = "x y z and a number of its label" if labelled else "x y z [label]"
    if len(words) != columns:
        return f"{expected}, {columns} columns as before"
    if far:
        return f"{expected}, coordinates up to {FARTHEST:g}"
    return "" if len(values) >= (4 if labelled else 3) and whole and finite else expected


def write_points(path: PathLike, points: Float, numbers: Int64) -> None:
    """Write points with numbers of labels; names ending in ``.gz`` or ``.xz`` are compressed."""
    rows = zip(points.tolist(), numbers.tolist(), strict=True)
    write_pieces(path, (f"{x!r} {y!r} {z!r} {number}\n" for (x, y, z), number in rows))
