"""Files that are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from typing import IO

from assent.io.text import PathLike


@contextlib.contextmanager
def whole_file(path: PathLike) -> Iterator[IO[bytes]]:
    """A file to write bytes to, which takes the place of that at ``path`` when the block ends.

    If the block fails or is stopped, what was there stays.  Permissions are those of the file that
    was there.  Pipes and devices are written to directly.

    Example:
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     new = Path(folder, "new")
        ...     with whole_file(new) as file:
        ...         file.write(b"all"), new.exists()
        ...     new.read_bytes()
        (3, False)
        b'all'
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    target = os.path.realpath(path)  # a link goes on to point there
    mode = _mode(target)
    folder, name = os.path.split(target)
    try:
        descriptor, draft = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    except OSError as error:
        error.filename = os.fspath(path)  # nobody has asked for the draft
        raise
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        os.chmod(draft, mode)
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise


def _mode(target: str) -> int:
    """The permissions of a file, which must allow writing, or those of the user's new files."""
    try:
        with open(target, "r+b") as file:
            return stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)  # it can only be read by setting it
        os.umask(mask)
        return 0o666 & ~mask
