"""Compiled kernels on disk: those that came with the package, and those that this machine made.

Numba stores compiled code beside a stamp of the *decorated* function's file. A kernel that calls a
function in another file is therefore served stale after an edit of that other file. Here every
source file has a folder of its own, whose name contains a hash of that file and of all files of
this package that it imports, directly or not: an edit starts fresh folders for just those kernels
that it can reach. Every specialisation is one file, whose name says for what types, processor,
Python and Numba it is; a file that is damaged counts as missing.

A wheel carries the code of the kernels that Python calls, for baseline processors (`BASELINES`).
It runs on every processor that has what the baseline has, and is found by the baseline's name.
What would be needed to link it into other kernels is left out, which is four fifths of it.
Whatever is not there is compiled for the processor at hand, and kept in the first usable one of

1. ``$ASSENT_CACHE``, alone if set,
2. ``$NUMBA_CACHE_DIR``,
3. ``__pycache__`` beside this file,
4. ``$XDG_CACHE_HOME/assent`` or ``~/.cache/assent``.

Where none is writable the kernels compile anew in every process, and everything else works.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import IO, Any

import numba
from llvmlite import binding as llvm
from numba.core import event, serialize
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher

try:
    import fcntl
except ImportError:  # Windows: processes then compile side by side
    fcntl = None  # type: ignore[assignment]

from assent.kernels.compile_clock import (
    CLOCK,
    CompileTimeout,
    compile_seconds,
    loading_code,
    seconds_left,
    waiting_for_code,
)
from assent.kernels.kernel_library import (
    KernelUnpickler,
    can_be_called,
    is_linkable,
    rebuilt,
    without_linking,
)

_SOURCES = Path(__file__).resolve().parent
# The folder from which the imports of this package are found.
_ROOT = Path(__file__).resolve().parents[__name__.count(".")]
_PACKAGE = __name__.partition(".")[0]
_FOLDER_PREFIX = "kernels-"
_SUFFIX = ".kernel"
_IMPORTS = re.compile(r"^(?:from ([\w.]+) )?import (\([^)]*\)|.*)$", re.MULTILINE)

# The files that keep and call code do not change it: an edit here compiles nothing anew.
_KEEPERS = frozenset(
    _SOURCES / name
    for name in ("kernel_cache.py", "compile_clock.py", "interpreted.py", "kernel.py")
)

# Where a wheel has its compiled kernels: a folder per baseline.
SHIPPED = _SOURCES / "shipped"

_V3 = "avx avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sahf sse3 sse4.1 sse4.2 ssse3 xsave"
_V4 = "avx512f avx512bw avx512cd avx512dq avx512vl"
# Processors that wheels have code for, by architecture, the best first: what LLVM calls them, and
# what a processor must have to run their code.
BASELINES: dict[str, dict[str, tuple[str, ...]]] = {
    "x86_64": {"x86-64-v4": (*_V3.split(), *_V4.split()), "x86-64-v3": tuple(_V3.split())},
    "aarch64": {"generic": ()},
}

# Folders of earlier versions that stay: enough to switch between a few checkouts or branches.
_KEPT_FOLDERS = 4

# A folder used within this time (seconds) may belong to a running process and is left alone.
_IN_USE = 3600.0

# Seconds that a process waits for another one that compiles the same kernel: more than any takes,
# on a busy machine too, unless that process is stopped.
_MOST_WAIT = 600.0

# Seconds to compile a byte of Python's code: 0.4 to 1.6 milliseconds were measured.
SECONDS_PER_BYTE = 1e-3

# Files that were loaded by this process, in this order.
loaded: list[Path] = []


class KernelCache(_Cache):
    """The kept specialisations of one kernel, as Numba's dispatchers ask for them."""

    def __init__(self, function: Callable) -> None:
        self.function = function
        self.source = Path(function.__code__.co_filename)
        self.claim: IO | None = None  # while this process compiles a specialisation

    @property
    def cache_path(self) -> str:
        """The folder that is looked into first."""
        return str(_candidate_folders()[0] / folder_name(self.source))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature, or ``None``; Numba then compiles it."""
        processor = target_context.codegen().magic_tuple()
        code = self._load(sig, processor, target_context)
        if code is not None:
            return code
        left = seconds_left()
        if left < float("inf"):
            FORECAST.check(self.function, left)
        folder = writable_folder(self.source)
        if folder is None:
            return None
        with waiting_for_code():
            self.claim = _claimed(folder / self._file_name(sig, processor), min(left, _MOST_WAIT))
        # Meanwhile another process may have made it.
        code = self._load(sig, processor, target_context)
        if code is None and seconds_left() <= 0.0:
            self.release()
            raise CompileTimeout(f"another process has not compiled {self.function.__name__} yet")
        if code is not None:
            self.release()
        return code

    def _load(self, sig: Any, processor: tuple[str, str, str], target_context: Any) -> Any:
        with loading_code():
            for path in self._places(sig, processor):
                code = _read(path, sig, target_context)
                if code is not None:
                    loaded.append(path)
                    return code
        return None

    def save_overload(self, sig: Any, data: CompileResult) -> None:
        """Keep the code for a signature, where that is possible."""
        try:
            folder = writable_folder(self.source)
            if folder is None or data.lifted or data.library.has_dynamic_globals:
                return
            reduced = list(data._reduce())
            reduced[_ANNOTATION] = ""  # for inspection only, and a quarter of the size
            path = folder / self._file_name(sig, data.codegen.magic_tuple())
            _write(path, serialize.dumps(tuple(reduced)))
        except OSError:  # the disk is full, say: it is compiled again in the next process
            return
        finally:
            self.release()

    def release(self) -> None:
        """Let other processes compile what this one has, or could not."""
        if self.claim is not None:
            Path(self.claim.name).unlink(missing_ok=True)
            self.claim.close()
            self.claim = None

    def enable(self) -> None:
        """Asked for by Numba's interface: always on."""

    def disable(self) -> None:
        """Asked for by Numba's interface: always on."""

    def flush(self) -> None:
        """Forget the code of this machine."""
        for parent in _candidate_folders():
            for path in (parent / folder_name(self.source)).glob(
                f"{_stem(self.function)}-*{_SUFFIX}"
            ):
                path.unlink(missing_ok=True)

    def _places(self, sig: Any, processor: tuple[str, str, str]) -> Iterator[Path]:
        """Files that may have the code, the first to be preferred."""
        folder = folder_name(self.source)
        for baseline in shipped_baselines():
            name = self._file_name(sig, (processor[0], baseline, ""))
            yield SHIPPED / baseline / folder / name
        name = self._file_name(sig, processor)
        for parent in _candidate_folders():
            yield parent / folder / name

    def _file_name(self, sig: Any, processor: tuple[str, str, str]) -> str:
        """A name that tells a function, types, processor, Python and Numba from all others."""
        code = self.function.__code__
        cells = [cell.cell_contents for cell in self.function.__closure__ or ()]
        facts = (
            code.co_firstlineno, str(sig), processor, sys.implementation.cache_tag,
            numba.__version__,
        )  # fmt: skip
        digest = hashlib.sha256(repr(facts).encode())
        digest.update(serialize.dumps(cells) if cells else b"")
        return f"{_stem(self.function)}-{digest.hexdigest()[:16]}{_SUFFIX}"


def _stem(function: Callable) -> str:
    return re.sub(r"\W", "_", function.__qualname__)


# The place of the type annotation in a reduced compile result.
_ANNOTATION = 6
_SIGNATURE = 3

_DIGEST_SIZE = 16


def _digest(pickled: bytes) -> bytes:
    return hashlib.blake2b(pickled, digest_size=_DIGEST_SIZE).digest()


def _write(path: Path, pickled: bytes) -> None:
    """Write a file at once: another process sees all of it or nothing."""
    handle, draft = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_digest(pickled) + pickled)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def ship(path: Path, folder: Path) -> None:
    """Put what a kept file needs to run into a file of the same name."""
    reduced = _unpickled(path)
    assert reduced is not None  # it was loaded before
    _write(folder / path.name, serialize.dumps(without_linking(reduced)))


def _claimed(path: Path, most: float) -> IO | None:
    """A lock on a file to be: who comes later waits ``most`` seconds at most, and finds it made.

    Processes that start together would otherwise all compile the same.  Callers wait for callees
    only, never the other way round.
    """
    if fcntl is None:
        return None
    begun = time.monotonic()
    try:
        file = path.with_suffix(".lock").open("w")
        while time.monotonic() - begun < most:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return file
            except BlockingIOError:
                time.sleep(0.02)
        file.close()
    except OSError:  # a file system without locks
        return None
    return None


def _unpickled(path: Path) -> tuple | None:
    """What a file has; ``None`` if it is not there, or damaged."""
    try:
        content = path.read_bytes()
        digest, pickled = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
        return KernelUnpickler(io.BytesIO(pickled)).load() if digest == _digest(pickled) else None
    except Exception:  # whatever it is that such a file needs, it can be compiled
        return None


def _read(path: Path, sig: Any, target_context: Any) -> Any:
    """The code in a file, ready to run; ``None`` if it is not there, damaged or of no use."""
    reduced = _unpickled(path)
    try:
        # Two types may have the same name.
        if reduced is None or tuple(reduced[_SIGNATURE].args) != _argument_types(sig):
            return None
        if CLOCK.depth and not is_linkable(reduced):  # a kernel is compiled that calls this one
            return None
        code = rebuilt(target_context, reduced)
    except Exception:  # as above
        return None
    _mark_used(path.parent)
    return code


def _argument_types(sig: Any) -> tuple:
    return tuple(getattr(sig, "args", sig))


# ---------------------------------------------------------------- time


class Forecast:
    """What compiling is likely to take, and whether there is time for it.

    Where it has taken longer so far than expected (others use the machine too), so will the rest.
    """

    def __init__(self) -> None:
        self.expected = 0.0  # of all that was begun
        self.since = time.perf_counter()

    def check(self, function: Callable, left: float) -> None:
        """Raise if compiling a function, with all that it calls, takes longer than is left."""
        own = likely_seconds(function)
        slower = compile_seconds(self.since) / self.expected if self.expected else 1.0
        likely = own * max(1.0, slower)
        if likely > left:
            raise CompileTimeout(f"compiling {function.__name__} takes {likely:.0f} s or so")
        self.expected += own


FORECAST = Forecast()


def likely_seconds(function: Callable) -> float:
    """Seconds that compiling a function, with all that it calls, is likely to take."""
    return SECONDS_PER_BYTE * sum(len(f.__code__.co_code) for f in _not_compiled(function))


def _not_compiled(function: Callable) -> set[Callable]:
    """A function and those it calls of which no code that can be linked is at hand."""
    reached, waiting = {function}, [function]
    while waiting:
        caller = waiting.pop()
        for name in caller.__code__.co_names:
            callee = caller.__globals__.get(name)
            if not isinstance(callee, Dispatcher) or callee.py_func in reached:
                continue
            ready = any(map(can_be_called, callee.overloads.values()))
            if not ready and not any(_kept_by_this_machine(callee.py_func)):
                reached.add(callee.py_func)
                waiting.append(callee.py_func)
    return reached


def is_kept(kernel: Any) -> bool:
    """Whether code of a kernel came with the package or was compiled here before."""
    function = getattr(kernel, "py_func", kernel)  # itself, where the compiler is off
    folder = folder_name(Path(function.__code__.co_filename))
    shipped = [SHIPPED / name / folder for name in shipped_baselines()]
    files = (path for place in shipped for path in place.glob(f"{_stem(function)}-*{_SUFFIX}"))
    return any(files) or any(_kept_by_this_machine(function))


def _kept_by_this_machine(function: Callable) -> Iterator[Path]:
    """Files of all specialisations of a function that were compiled here."""
    folder = folder_name(Path(function.__code__.co_filename))
    for parent in _candidate_folders():
        yield from (parent / folder).glob(f"{_stem(function)}-*{_SUFFIX}")


class _Announcer(event.Listener):
    """Tells a person at a terminal, once, why the first call takes seconds."""

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
        kept = writable_folder(Path(function.__code__.co_filename))
        later = "later starts load them" if kept else "set ASSENT_CACHE to keep them"
        print(f"assent: compiling kernels for first use ({later}) …", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        cache = event.data["dispatcher"]._cache
        # What failed is not saved.  (Numba 0.68's own ``is_failed`` says the opposite.)
        if event._exc_details is not None and isinstance(cache, KernelCache):
            cache.release()


event.register("numba:compile", _Announcer())


# ---------------------------------------------------------------- folders


@cache
def folder_name(source: Path) -> str:
    """Name of the folder of a source file: a hash of it and of all that it imports is part of it.

    Contents count, not paths nor times: checkouts with the same contents share one folder, and
    installers need not keep times.
    """
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
        digest.update(place.as_posix().encode() + b"\0" + _file_digest(path))
    return f"{_FOLDER_PREFIX}{source.stem}-{digest.hexdigest()[:16]}"


@cache
def _file_digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


@cache
def _imported(source: Path) -> frozenset[Path]:
    """Files of this package that a source file names in its imports, at the top of the file."""
    modules = set()
    for origin, names in _IMPORTS.findall(source.read_text(encoding="utf-8")):
        listed = [name.split()[0] for name in names.strip("()").split(",") if name.strip()]
        modules |= {origin, *(f"{origin}.{name}" for name in listed)} if origin else {*listed}
    found = set()
    for module in modules:
        if module.partition(".")[0] == _PACKAGE:
            path = _ROOT.joinpath(*module.split("."))
            found |= {path.with_suffix(".py"), path / "__init__.py"}
    return frozenset(path for path in found - _KEEPERS if path.is_file())


@cache
def writable_folder(source: Path) -> Path | None:
    """Folder for newly compiled kernels of a source file; ``None`` if nothing can be kept."""
    name = folder_name(source)
    for parent in _candidate_folders():
        folder = parent / name
        is_new = not folder.is_dir()
        if not _make_usable(folder):
            continue
        if is_new:
            _prune(parent, name.rpartition("-")[0] + "-", keep=folder)
        return folder
    return None


def _candidate_folders() -> list[Path]:
    chosen = os.environ.get("ASSENT_CACHE")
    if chosen:
        return [Path(chosen).expanduser()]
    user_wide = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    candidates = [_SOURCES / "__pycache__", Path(user_wide) / "assent"]
    if numba.config.CACHE_DIR:
        candidates.insert(0, Path(numba.config.CACHE_DIR))
    return candidates


@cache
def shipped_baselines() -> tuple[str, ...]:
    """Baselines that came with the package and that this processor can run, the best first."""
    # Who asks Numba for a processor, or to do without its vectors, gets just that.
    if numba.config.CPU_NAME is not None or not numba.config.ENABLE_AVX or not SHIPPED.is_dir():
        return ()
    known = BASELINES.get(platform.machine(), {})
    there = [name for name in known if (SHIPPED / name).is_dir()]
    return tuple(name for name in there if has_features(known[name]))


def has_features(features: tuple[str, ...]) -> bool:
    """Whether this processor has all of them."""
    own = llvm.get_host_cpu_features()
    return all(own.get(feature, False) for feature in features)


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


@cache
def _mark_used(folder: Path) -> None:
    """Once per process; folders that came with the package, and read-only ones, are not pruned."""
    try:
        if not folder.is_relative_to(SHIPPED):
            os.utime(folder)
    except OSError:
        return


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
