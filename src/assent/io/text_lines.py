"""Text files read line by line, plain or compressed: memory does not depend on their length."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator
from typing import Any

from assent.io.text import GZIP_MAGIC, XZ_MAGIC, FormatError, PathLike


def text_lines(path: PathLike) -> Iterator[tuple[int, str]]:
    """The lines of a plain, ``.gz`` or ``.xz`` file in UTF-8, with their numbers from 1.

    The content decides what the file is, not its name; ends of lines are left out.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     _ = file.write(gzip.compress(b"un\\r\\ndeux"))
        ...     file.flush()
        ...     list(text_lines(file.name))
        [(1, 'un'), (2, 'deux')]
    """
    with _opened(path) as file:
        number = 0
        try:
            for number, raw in enumerate(file, start=1):
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                yield number, text.rstrip("\r\n")
        except UnicodeDecodeError as error:
            bad = repr(error.object[error.start])
            raise FormatError.found(path, number, bad, "text in UTF-8") from None
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise FormatError(path, f"the compressed file is damaged ({error})") from None


def _opened(path: PathLike) -> Any:
    """The file as bytes, unpacked while it is read."""
    with open(path, "rb") as file:
        head = file.read(len(XZ_MAGIC))
    if head.startswith(GZIP_MAGIC):
        return gzip.open(path)
    return lzma.open(path) if head.startswith(XZ_MAGIC) else open(path, "rb")  # noqa: SIM115
