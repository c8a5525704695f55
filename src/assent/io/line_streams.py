"""Text line by line, plain or compressed, from files and pipes, without holding it whole."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from assent.arguments import shown
from assent.io.text import DAMAGED, FormatError, PathLike, packed, unpacked
from assent.io.whole_file import whole_file

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

STANDARD_INPUT = "-"


def read_lines(source: PathLike | IO[Any]) -> Iterator[str]:
    """Lines of a file with their ends, as they are read; ``-`` is standard input.

    The content decides whether it is compressed (gzip or xz), not the name.  A stream may give
    text or bytes.

    Raises:
        FormatError: naming the line that is no UTF-8, or a compressed file that is damaged.

    Example:
        >>> import io
        >>> list(read_lines(io.StringIO("one\\ntwo")))
        ['one\\n', 'two']
    """
    if isinstance(source, io.TextIOBase):
        yield from source
        return
    name = source_name(source)
    with _opened(source) as raw:
        file = unpacked(raw)
        number = 0
        try:
            for line in file:
                number += 1
                if number == 1:
                    line = line.removeprefix(_BYTE_ORDER_MARK)
                yield line.decode()
        except UnicodeDecodeError as error:
            raise FormatError.in_other_encoding(name, number, error) from None
        except DAMAGED as error:
            raise FormatError(name, f"the compressed file is damaged ({error})", number) from None


def source_name(source: PathLike | IO[Any]) -> str:
    """What errors call a source."""
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if os.fspath(source) == STANDARD_INPUT else os.fspath(source)
    return str(getattr(source, "name", "a stream"))


@contextlib.contextmanager
def _opened(source: PathLike | IO[Any]) -> Iterator[Any]:
    """A source as a stream of bytes that can look ahead."""
    if not isinstance(source, (str, os.PathLike)):
        if not hasattr(source, "read"):
            raise TypeError(f"a source is a path or a stream, got {shown(source)}")
        yield _looking_ahead(source)
    elif os.fspath(source) == STANDARD_INPUT:
        if sys.stdin is None:
            raise OSError("standard input is closed; give a file or a pipe")
        yield _looking_ahead(sys.stdin.buffer)
    else:
        with open(source, "rb") as file:
            yield file


def _looking_ahead(stream: Any) -> Any:
    return stream if hasattr(stream, "peek") else io.BufferedReader(stream)


def write_pieces(target: PathLike | IO[str], pieces: Iterable[str]) -> None:
    """Write pieces of text as they come, to a stream or a file (``.gz`` and ``.xz`` compressed).

    A file is there when all is written: it may be the one that the pieces are read from, and a run
    that is stopped leaves none in part.  ``-`` is standard output.
    """
    if not isinstance(target, (str, os.PathLike)):
        for piece in pieces:
            target.write(piece)
    elif os.fspath(target) == STANDARD_INPUT:
        for piece in pieces:
            sys.stdout.write(piece)
    else:
        with whole_file(target) as raw, packed(raw, Path(target).suffix) as file:
            for piece in pieces:
                file.write(piece.encode())
