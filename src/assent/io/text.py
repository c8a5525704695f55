"""Text files, plain or compressed, as a stream of tokens that knows its line numbers."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import math
import os
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.arguments import shown

PathLike = str | os.PathLike[str]

HASH_COMMENT = re.compile(r"#[^\n]*")
_GZIP_MAGIC = b"\x1f\x8b"
_XZ_MAGIC = b"\xfd7zXZ\x00"
DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error, lzma.LZMAError)  # what unpacking may raise

# Bytes that a compressed file may unpack to: a few kilobytes can hold any number of them.
MOST_UNPACKED = 1 << 30


class FormatError(ValueError):
    """A file does not follow its format.

    Attributes:
        path: the file.
        line: line of the offending token, counted from 1; ``None`` for the file as such.
        token: the token itself; ``None`` for the end of the file.
    """

    def __init__(
        self, path: PathLike, message: str, line: int | None = None, token: str | None = None
    ) -> None:
        self.path = os.fspath(path)
        self.line = line
        self.token = token
        place = self.path if line is None else f"{self.path}, line {line}"
        super().__init__(f"{place}: {message}")

    @classmethod
    def found(cls, path: PathLike, line: int, token: str | None, expected: str) -> FormatError:
        """The error "expected ``expected``, found ``token``"."""
        shown = "the end of the file"
        if token is not None:
            shown = repr(token if len(token) <= 40 else token[:37] + "...")
        return cls(path, f"expected {expected}, found {shown}", line, token)

    @classmethod
    def in_other_encoding(cls, path: PathLike, line: int, error: UnicodeDecodeError) -> FormatError:
        """The error of a line that is no UTF-8."""
        found = f"the byte {error.object[error.start]:#04x}"
        return cls(path, f"expected text in UTF-8, found {found}; convert the file first", line)


def unpacked(raw: Any) -> Any:
    """A stream of bytes that can look ahead, unpacked if it begins as gzip or xz does."""
    begin = raw.peek(len(_XZ_MAGIC))
    if begin.startswith(_GZIP_MAGIC):
        return gzip.open(raw)
    return lzma.open(raw) if begin.startswith(_XZ_MAGIC) else raw


def packed(raw: Any, suffix: str) -> Any:
    """A stream that compresses what is written to ``raw`` if a name ends in ``.gz`` or ``.xz``."""
    if suffix == ".gz":  # no name or time inside: equal texts give equal files
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
    return lzma.open(raw, "wb") if suffix == ".xz" else contextlib.nullcontext(raw)


def read_text(path: PathLike) -> str:
    """The text of a plain, ``.gz`` or ``.xz`` file; the content decides, not the suffix."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a file is named by its path, got {shown(path)}")
    with open(path, "rb") as raw:
        file = unpacked(raw)
        try:
            data = raw.read() if file is raw else file.read(MOST_UNPACKED + 1)
        except DAMAGED as error:
            raise FormatError(path, f"the compressed file is damaged ({error})") from None
    if file is not raw and len(data) > MOST_UNPACKED:
        raise FormatError(
            path,
            f"the compressed file holds more than {MOST_UNPACKED} bytes; if that is right, unpack "
            "it and read the plain file",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError.in_other_encoding(path, line, error) from None


def write_text(path: PathLike, text: str) -> None:
    """Write ``text``, compressed if the name ends in ``.gz`` or ``.xz``."""
    data = text.encode()  # what cannot be written leaves an earlier file as it was
    with open(path, "wb") as raw, packed(raw, Path(path).suffix) as file:
        file.write(data)


class TokenReader:
    """Reads a text token by token; errors name the line.

    Example:
        >>> reader = TokenReader("example", "2 0.5 -1.5")
        >>> reader.numbers(reader.integer("a count", low=0), "a score")
        array([ 0.5, -1.5])
    """

    def __init__(self, path: PathLike, text: str) -> None:
        self.path = path
        self.position = 0
        self._text = text
        self._tokens = text.split()
        self._count = len(self._tokens)

    @property
    def remaining(self) -> int:
        """Number of tokens not yet read."""
        return self._count - self.position

    @property
    def length(self) -> int:
        """Number of all tokens."""
        return self._count

    def peek(self) -> str:
        """The next token, which stays the next one; nothing at the end."""
        return self._tokens[self.position] if self.position < self._count else ""

    def error(self, expected: str, position: int | None = None) -> FormatError:
        """The error "expected this, found that" for the token at ``position`` (default: next)."""
        position = self.position if position is None else position
        token = self._tokens[position] if position < self._count else None
        return FormatError.found(self.path, self._line_of(position), token, expected)

    def word(self, expected: str) -> str:
        """The next token."""
        if self.position >= self._count:
            raise self.error(expected)
        self.position += 1
        return self._tokens[self.position - 1]

    def words(self, count: int, expected: str) -> list[str]:
        """The next ``count`` tokens."""
        start, end = self.position, self.position + count
        # Checked before anything is allocated: a corrupted count may be arbitrarily large.
        if end > self._count:
            raise self.error(expected, self._count)
        self.position = end
        return self._tokens[start:end]

    def integer(self, expected: str, low: int, high: int | None = None) -> int:
        """The next token as an integer with ``low <= value <= high``."""
        token = self.word(expected)
        try:
            value = int(token)
        except ValueError:
            value = low - 1
        if value < low or (high is not None and value > high):
            raise self.error(expected, self.position - 1)
        return value

    def number(self, expected: str, valid: Callable[[float], bool] = math.isfinite) -> float:
        """The next token as a number for which ``valid`` is true."""
        value = _number_or_nan(self.word(expected))
        if not valid(value):
            raise self.error(expected, self.position - 1)
        return value

    def numbers(
        self, count: int, expected: str, valid: Callable[[NDArray], NDArray] = np.isfinite
    ) -> NDArray[np.float64]:
        """The next ``count`` tokens as numbers for all of which the mask ``valid`` is true."""
        start = self.position
        values, bad = parse_numbers(self.words(count, expected), valid)
        if bad is not None:
            raise self.error(expected, start + bad)
        return values

    def finish(self) -> None:
        """Insist that everything has been read."""
        if self.remaining:
            raise self.error("the end of the file")

    def _line_of(self, position: int) -> int:
        """Line of a token; found by counting, as only errors need it."""
        lines = self._text.rstrip().split("\n")
        for number, line in enumerate(lines, start=1):
            position -= len(line.split())
            if position < 0:
                return number
        return len(lines)


def parse_numbers(
    tokens: Sequence[str], valid: Callable[[NDArray], NDArray] = np.isfinite
) -> tuple[NDArray[np.float64], int | None]:
    """Numbers of all ``tokens`` and the index of the first that is none or not ``valid``."""
    try:
        values = np.fromiter(map(float, tokens), np.float64, len(tokens))
    except ValueError:
        values = np.fromiter(map(_number_or_nan, tokens), np.float64, len(tokens))
    accepted = valid(values)
    return values, None if accepted.all() else int(np.argmin(accepted))


def starts(sizes: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
    """``[len(sizes) + 1]`` where each of consecutive blocks begins, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def _number_or_nan(token: str) -> float:
    try:
        return float(token)
    except ValueError:
        return float("nan")
