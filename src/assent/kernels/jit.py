"""The one decorator of all kernels: compile on first call, keep the result on disk.

Numba stores compiled code beside a stamp of the *decorated* function's file. A kernel that calls a
function in another file is therefore served stale after an edit of that other file. Here the cache
folder's name contains a hash of every source file of this package: any edit starts a fresh folder.

The folder is the first usable one of

1. ``$ASSENT_CACHE``, alone if set,
2. ``$NUMBA_CACHE_DIR``,
3. ``__pycache__`` beside this file,
4. ``$XDG_CACHE_HOME/assent`` or ``~/.cache/assent``.

Where none is writable the kernels compile anew in every process, and everything else works.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event

_SOURCES = Path(__file__).resolve().parent
_FOLDER_PREFIX = "kernels-"

# Folders of earlier versions that stay: enough to switch between a few checkouts or branches.
_KEPT_FOLDERS = 4

# A folder used within this time (seconds) may belong to a running process and is left alone.
_IN_USE = 3600.0


def jit(function: Callable | None = None, **options: Any) -> Any:
    """Compile ``function`` with Numba when it is first called; cached, without the GIL.

    No signatures: they would compile at import. Division by zero follows NumPy (inf, nan), which
    spares a branch per division. ``options`` go to :func:`numba.njit` and win over these defaults.
    With ``NUMBA_DISABLE_JIT=1`` the function comes back as it is.

    Example:
        >>> @jit
        ... def total(values):
        ...     result = 0.0
        ...     for value in values:
        ...         result += value
        ...     return result
        >>> total((1.0, 2.5))
        3.5
    """
    if function is None:
        return lambda decorated: jit(decorated, **options)
    settings = {"nogil": True, "error_model": "numpy", **options}
    # Code typed at a prompt has no file, hence no stamp that could tell whether it changed.
    folder = cache_folder() if os.path.isfile(function.__code__.co_filename) else None
    if folder is None:
        return numba.njit(**settings)(function)
    # Numba looks at its setting once, while decorating: lend it our folder for that moment only.
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        return numba.njit(cache=True, **settings)(function)
    finally:
        numba.config.CACHE_DIR = before


@cache
def cache_folder() -> Path | None:
    """Folder that holds this version's compiled kernels; ``None`` if nothing can be kept."""
    name = _FOLDER_PREFIX + _source_hash()
    for parent in _candidate_folders():
        folder = parent / name
        is_new = not folder.is_dir()
        if not _make_usable(folder):
            continue
        if is_new:
            _prune(parent, keep=folder)
        return folder
    return None


def _source_hash() -> str:
    """Hash of the names and contents of all source files of this package."""
    digest = hashlib.sha256()
    for path in sorted(_SOURCES.rglob("*.py")):
        digest.update(path.relative_to(_SOURCES).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _candidate_folders() -> list[Path]:
    chosen = os.environ.get("ASSENT_CACHE")
    if chosen:
        return [Path(chosen).expanduser()]
    user_wide = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    candidates = [_SOURCES / "__pycache__", Path(user_wide) / "assent"]
    if numba.config.CACHE_DIR:
        candidates.insert(0, Path(numba.config.CACHE_DIR))
    return candidates


def _make_usable(folder: Path) -> bool:
    """Create ``folder``, mark it as used now, and say whether files can be written to it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Permissions alone do not tell (read-only mounts, quotas): try to write.
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError:
        return False
    return True


def _prune(parent: Path, keep: Path) -> None:
    """Remove the folders of earlier versions, except the latest few and those in use."""
    oldest_in_use = time.time() - _IN_USE
    others = []
    for folder in parent.glob(_FOLDER_PREFIX + "*"):
        try:
            others.append((folder.stat().st_mtime, folder))
        except OSError:  # another process pruned it first
            continue
    others = sorted((item for item in others if item[1] != keep), reverse=True)
    for used, folder in others[_KEPT_FOLDERS:]:
        if used < oldest_in_use:
            shutil.rmtree(folder, ignore_errors=True)


class _Announcer(event.Listener):
    """Tells a person at a terminal, once, why the first call takes seconds.

    Numba fires its compile event only when the cache has no answer, so a warm start stays silent.
    """

    def __init__(self) -> None:
        self.announced = False

    def on_start(self, event: Any) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if self.announced or not module.startswith(__name__.rpartition(".")[0]):
            return
        self.announced = True
        if sys.stderr is None or not sys.stderr.isatty():
            return
        later = "later starts load them" if cache_folder() else "set ASSENT_CACHE to keep them"
        print(f"assent: compiling kernels for first use ({later}) …", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcer())
