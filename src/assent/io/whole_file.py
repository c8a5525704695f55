"""Files that are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from assent.io.text import PathLike

# Errors of writing: no room on the device or in the user's share of it, or no larger files.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# How drafts end, so that no reader takes one for a file of its format.
DRAFT_SUFFIX = ".draft"
# Characters of a file's name that are part of its draft's: with all of them, and what comes before
# and after, long names would be longer than file systems allow.
_NAME_LENGTH = 40
# Seconds since anything was written to a draft after which nobody is writing it any more: between
# two trees of a long text hours may pass, hardly a day.
_ABANDONED = 86_400.0


@contextlib.contextmanager
def whole_file(path: PathLike) -> Iterator[IO[bytes]]:
    """A file to write bytes to, which takes the place of that at ``path`` when the block ends.

    If the block fails or is stopped, what was there stays.  Permissions are those of the file that
    was there.  Pipes and devices are written to directly.  A process that is killed leaves a draft,
    a hidden file; a later one that writes the same file removes it.
    """
    with _named(path):
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                yield file
        else:
            with _draft(path) as file:
                yield file


@contextlib.contextmanager
def _named(path: PathLike) -> Iterator[None]:
    """A block in which errors of writing name the file, which the system does not do."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _NO_ROOM:
            error.filename = os.fspath(path)
        raise


@contextlib.contextmanager
def _draft(path: PathLike) -> Iterator[IO[bytes]]:
    """A new file, which takes the place of that at ``path`` when the block ends."""
    target = os.path.realpath(path)  # a link goes on to point there
    mode = _mode(target)
    folder, name = os.path.split(target)
    try:
        descriptor, draft = tempfile.mkstemp(DRAFT_SUFFIX, _prefix(name), folder)
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
    _remove_abandoned(folder, _prefix(name))


def visible_files(folder: PathLike, *, deep: bool = False) -> list[Path]:
    """The files of a folder in order, without hidden ones, of which drafts are some.

    Those of folders inside, too, if ``deep``; hidden folders are left out as well.
    """
    root = Path(folder)
    found = root.rglob("*") if deep else root.iterdir()
    return sorted(path for path in found if path.is_file() and not _is_hidden(path, root))


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _prefix(name: str) -> str:
    """How names of drafts of a file begin."""
    return f".{name[:_NAME_LENGTH]}."


def _remove_abandoned(folder: str, prefix: str) -> None:
    """Remove drafts that processes have left that were killed."""
    oldest = time.time() - _ABANDONED
    with contextlib.suppress(OSError):  # of no importance: the file is written
        for entry in list(os.scandir(folder)):
            is_draft = entry.name.startswith(prefix) and entry.name.endswith(DRAFT_SUFFIX)
            if is_draft and entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)


def _mode(target: str) -> int:
    """The permissions of a file, which must allow writing, or those of the user's new files."""
    try:
        with open(target, "r+b") as file:
            return stat.S_IMODE(os.fstat(file.fileno()).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)  # it can only be read by setting it
        os.umask(mask)
        return 0o666 & ~mask
