"""The decorators of all kernels: compile on first call, keep the result on disk.

``jit`` is for functions that Python calls, the ``jit_internal…`` and ``jit_inline…`` ones for those
that only kernels call.

Numba stores compiled code beside a stamp of the *decorated* function's file. A kernel that calls a
function in another file is therefore served stale after an edit of that other file. Here every
source file has a cache folder of its own, whose name contains a hash of that file and of all files
of this package that it imports, directly or not: an edit starts fresh folders for just those
kernels that it can reach.

The folders are in the first usable one of

1. ``$ASSENT_CACHE``, alone if set,
2. ``$NUMBA_CACHE_DIR``,
3. ``__pycache__`` beside this file,
4. ``$XDG_CACHE_HOME/assent`` or ``~/.cache/assent``.

Where none is writable the kernels compile anew in every process, and everything else works.
"""

from __future__ import annotations

import hashlib
import os
import re
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
from numba.core.caching import IndexDataCacheFile

from assent.interrupts import Uninterrupted

_SOURCES = Path(__file__).resolve().parent
# The folder from which the imports of this package are found.
_ROOT = Path(__file__).resolve().parents[__name__.count(".")]
_PACKAGE = __name__.partition(".")[0]
_FOLDER_PREFIX = "kernels-"
_IMPORTS = re.compile(r"^(?:from ([\w.]+) )?import (\([^)]*\)|.*)$", re.MULTILINE)

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
    # Said outright, since Numba would otherwise hand it down: whether a function may allocate would
    # depend on who happened to call it first.
    settings = {"nogil": True, "error_model": "numpy", "_nrt": True, **options}
    # Code typed at a prompt has no file, hence no stamp that could tell whether it changed.
    source = Path(function.__code__.co_filename)
    folder = cache_folder(source) if source.is_file() else None
    if folder is None:
        return _made_whole(numba.njit(**settings)(function))
    # Numba looks at its setting once, while decorating: lend it our folder for that moment only.
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        kernel = numba.njit(cache=True, **settings)(function)
    finally:
        numba.config.CACHE_DIR = before
    if not numba.config.DISABLE_JIT:
        _keep_by_content(kernel, folder)
    return _made_whole(kernel)


# Sums and maxima that may be taken in any order, and meet no NaN: they compile to vectors.
VECTOR_SUMS = {"reassoc", "nnan", "nsz"}

_ONLY_KERNELS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

# For loops over long arrays that sum: without vectors they would wait for their own additions.
jit_vector_sums = jit(fastmath=VECTOR_SUMS)

# Functions that allocate nothing: counting references to their many arrays would take most of the
# compiler's time, and a part of theirs.
jit_no_allocation = jit(_nrt=False)

# Functions that only kernels call need no entry from Python, which takes longer to compile than
# most of their bodies.
jit_internal = jit(**_ONLY_KERNELS)

# The same for those that allocate nothing.
jit_internal_no_allocation = jit(_nrt=False, **_ONLY_KERNELS)

# Inlined by Numba before compilation, which otherwise would optimise what they call again at every
# level of the call tree: functions between a loop and its kernels, and those whose arguments the
# compiler should see.
jit_inline = jit(inline="always")

# Inlined by LLVM: small functions of a few factors each that pass many arrays.  Calls, and counting
# the references to those arrays, would take most of the time.
jit_inline_llvm = jit(forceinline=True, _nrt=False, **_ONLY_KERNELS)

# The same for sums and maxima that compile to vectors.
jit_inline_llvm_vector_sums = jit(
    forceinline=True, _nrt=False, fastmath=VECTOR_SUMS, **_ONLY_KERNELS
)


def _keep_by_content(kernel: Any, folder: Path) -> None:
    """Keep a kernel's code in ``folder`` whatever the path and the time of its source file.

    Numba looks at both before it loads what it kept. The folder's name is a hash of all sources
    already, so that checkouts with the same contents can share one cache.
    """
    cache = kernel._cache
    cache._cache_path = cache._impl.locator._cache_path = str(folder)
    cache._cache_file = IndexDataCacheFile(
        cache_path=str(folder),
        filename_base=cache._impl.filename_base,
        source_stamp=folder.name,
    )


def _made_whole(kernel: Any) -> Any:
    """A kernel that is compiled, or loaded, to the end before a Ctrl-C in the meantime counts.

    A compiler that is left in the middle would keep pieces of the kernel, and of those that it
    calls, with which it cannot be compiled again in this process.
    """
    if numba.config.DISABLE_JIT:
        return kernel
    compile_at_once = kernel.compile

    def compile_whole(signature: Any) -> Any:
        with Uninterrupted():
            return compile_at_once(signature)

    kernel.compile = compile_whole
    return kernel


@cache
def cache_folder(source: Path) -> Path | None:
    """Folder of the compiled kernels of a source file; ``None`` if nothing can be kept."""
    name = f"{_FOLDER_PREFIX}{source.stem}-"
    for parent in _candidate_folders():
        folder = parent / (name + _source_hash(source))
        is_new = not folder.is_dir()
        if not _make_usable(folder):
            continue
        if is_new:
            _prune(parent, name, keep=folder)
        return folder
    return None


def _source_hash(source: Path) -> str:
    """Hash of the contents of a source file and of all that it imports of this package."""
    reached = {source.resolve()}
    waiting = [source.resolve()]
    while waiting:
        new = _imported(waiting.pop()) - reached
        reached |= new
        waiting += new
    digest = hashlib.sha256()
    for path in sorted(reached):
        # Kept code names the modules it came from: a file that moved is another one.
        place = path.relative_to(_ROOT) if path.is_relative_to(_ROOT) else Path(path.name)
        digest.update(place.as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def _imported(source: Path) -> frozenset[Path]:
    """Files of this package that a source file names in its imports, at the top of the file."""
    modules = set()
    for origin, names in _IMPORTS.findall(source.read_text()):
        listed = [name.split()[0] for name in names.strip("()").split(",") if name.strip()]
        modules |= {origin, *(f"{origin}.{name}" for name in listed)} if origin else {*listed}
    found = set()
    for module in modules:
        if module.partition(".")[0] == _PACKAGE:
            path = _ROOT.joinpath(*module.split("."))
            found |= {path.with_suffix(".py"), path / "__init__.py"}
    return frozenset(path for path in found if path.is_file())


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


def _prune(parent: Path, name: str, keep: Path) -> None:
    """Remove the folders of a file's earlier versions, except the latest few and those in use."""
    oldest_in_use = time.time() - _IN_USE
    others = []
    for folder in parent.glob(name + "*"):
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
        function = event.data["dispatcher"].py_func
        module = function.__module__ or ""  # None where code was made by exec
        if self.announced or not module.startswith(__name__.rpartition(".")[0]):
            return
        self.announced = True
        if sys.stderr is None or not sys.stderr.isatty():
            return
        kept = cache_folder(Path(function.__code__.co_filename))
        later = "later starts load them" if kept else "set ASSENT_CACHE to keep them"
        print(f"assent: compiling kernels for first use ({later}) …", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcer())
