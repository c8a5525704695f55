"""Data of rules: columns of CSV files with a header line, or of Parquet files."""

from __future__ import annotations

import csv
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.io.text import FormatError, parse_numbers, read_text
from assent.logic.domains import Domain

SUFFIXES = (".csv", ".csv.gz", ".csv.xz", ".tsv", ".parquet")


class DataFile:
    """Columns of a file, as arrays of text or numbers, under the names of its header."""

    def __init__(self, path: Path, columns: dict[str, NDArray[Any]]) -> None:
        self.path, self.columns = path, columns

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def column(self, name: str) -> NDArray[Any]:
        """One column by name."""
        if name not in self.columns:
            known = ", ".join(self.columns)
            raise FormatError(self.path, f"there is no column {name!r}; the header has {known}")
        return self.columns[name]

    def positions(self, domains: tuple[Domain, ...]) -> NDArray[np.int64]:
        """Positions ``[rows, arity]`` of the first columns in ``domains``."""
        columns = list(self.columns.values())[: len(domains)]
        if len(columns) < len(domains):
            raise FormatError(
                self.path,
                f"{len(domains)} columns are needed ({', '.join(d.name for d in domains)}), "
                f"there are {len(columns)}",
            )
        out = np.zeros((self.count, len(domains)), np.int64)
        for axis, (labels, domain) in enumerate(zip(columns, domains, strict=True)):
            out[:, axis] = _positions(self, labels, domain)
        return out

    def numbers(self, arity: int) -> NDArray[np.float64]:
        """The column after the arguments, as numbers that are finite or −inf."""
        if len(self.columns) <= arity:
            raise FormatError(self.path, f"a column of numbers is needed after {arity} arguments")
        values = list(self.columns.values())[arity].tolist()
        numbers, bad = parse_numbers(values, lambda v: v < np.inf)  # false for nan as well
        if bad is not None:
            raise FormatError.found(self.path, bad + 2, str(values[bad]), "a number")
        return numbers


def find_file(folder: Path | None, name: str) -> Path | None:
    """The data file of this name (with or without suffix), if there is one."""
    if folder is None:
        return None
    given = folder / name
    if given.is_file():
        return given
    for suffix in SUFFIXES:
        path = folder / f"{name}{suffix}"
        if path.is_file():
            return path
    return None


def read_data(path: Path) -> DataFile:
    """Read a file; the first line of a CSV names its columns."""
    if path.suffix == ".parquet":
        return DataFile(path, _parquet(path))
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    reader = csv.reader(StringIO(read_text(path)), delimiter=delimiter)
    try:
        lines = list(reader)
    except csv.Error as error:
        raise FormatError(path, f"this is no table of values: {error}", reader.line_num) from None
    if not lines:
        raise FormatError(path, "the file is empty; its first line names the columns")
    header, rows = [name.strip() for name in lines[0]], []
    for number, row in enumerate(lines[1:], start=2):
        if not row:
            continue
        if len(row) != len(header):
            raise FormatError(
                path, f"{len(row)} columns where the header has {len(header)}", number
            )
        rows.append(row)
    if len(set(header)) != len(header):
        raise FormatError(path, "two columns have the same name", 1)
    # Objects: in an array of text every value takes as much memory as the longest.
    return DataFile(path, {
        name: np.array([row[i].strip() for row in rows], dtype=object)
        for i, name in enumerate(header)
    })  # fmt: skip


def _parquet(path: Path) -> dict[str, NDArray[Any]]:
    if find_spec("pyarrow") is None:
        raise FormatError(path, 'Parquet files need pyarrow: pip install "assent[parquet]"')
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except pyarrow.ArrowException as error:
        raise FormatError(path, f"this is no Parquet file: {error}") from None
    return {name: np.asarray(table[name].to_pylist()) for name in table.column_names}


def _positions(file: DataFile, labels: NDArray[Any], domain: Domain) -> NDArray[np.int64]:
    """Positions of labels; the first that is unknown is named with its line."""
    unique, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    found = np.zeros(len(unique), np.int64)
    for i, raw in enumerate(unique.tolist()):
        label = _label(raw) if domain.integer else str(raw)
        if label not in domain._lookup:
            row = int(first[i])
            raise FormatError.found(file.path, row + 2, str(raw), f"a member of domain {domain!r}")
        found[i] = domain._lookup[label]
    return found[inverse.ravel()]


def _label(raw: Any) -> Any:
    """A member of a domain: an integer where it reads as one."""
    try:
        return int(raw)
    except ValueError:
        return raw


def members(columns: list[NDArray[Any]]) -> list[Any]:
    """Different members of columns in order of appearance; integers if all of them are."""
    found = list(dict.fromkeys(value for column in columns for value in column.tolist()))
    labels = [_label(value) for value in found]
    return labels if all(type(label) is int for label in labels) else [str(v) for v in found]
