"""Kernels that are not compiled yet run as plain Python at first, while that takes less time.

Most first models are small: interpreted they are solved in less than a second, where compiling
takes a minute.  What is rented before it is bought costs little more than the better of the two: a
kernel is interpreted for a quarter of the time that compiling it is likely to take, over all
processes that share a cache, and compiled then.  (Time of the processor: where others use it too,
compiling takes longer as well.)  A call that takes longer than is left of that is given up, its
arrays are put back, and the kernel is compiled for it.  What other threads write to could not be
put back: only the main thread interprets, and not while others work with it.

An interpreted kernel calls others as plain Python too: its *twin* is the same function in a world
where all kernels are replaced by their twins.
"""

from __future__ import annotations

import dis
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from assent.kernels import kernel_cache
from assent.kernels.compile_clock import compiles_always, seconds_left

# Share of the time that compiling takes for which a kernel is interpreted.
SHARE = 0.25
# Share of the time that is left until a deadline for one interpreted call.
DEADLINE_SHARE = 0.5
# Loops over longer arrays are not tried: the clock is read between functions only.
MOST_ELEMENTS = 100_000
# Seconds of which no note on disk is made.
UNNOTED = 0.1

_SUFFIX = ".interpreted"


class NotInterpreted(Exception):
    """A call is left to the compiler."""


@contextmanager
def only_compiled() -> Iterator[None]:
    """A block in which other threads write to the same arrays: nothing is interpreted."""
    outer, _LIMIT.at = _LIMIT.at, 0.0
    try:
        yield
    finally:
        _LIMIT.at = outer


class Interpreter:
    """How long one kernel has been interpreted, and may be."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.left = 0.0  # seconds
        self.unnoted = 0.0
        # Code typed at a prompt has no file, hence no place for a note.
        source = Path(kernel.py_func.__code__.co_filename)
        if source.is_file() and not kernel_cache.is_kept(kernel):
            likely = kernel_cache.likely_seconds(kernel.py_func)
            self.left = SHARE * likely - self._noted()

    def call(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What the kernel returns; raises :class:`NotInterpreted`, with all arrays as before."""
        begun = time.thread_time()
        others = min(DEADLINE_SHARE * seconds_left(), _LIMIT.at - begun)
        left = min(self.left, others)
        if left <= 0.0 or compiles_always() or not _in_main_thread():
            raise NotInterpreted
        before = _copies(self._read_in_full(args))
        outer, _LIMIT.at = _LIMIT.at, begun + left
        try:
            with np.errstate(all="ignore"):  # as compiled code divides and overflows
                return twin_of(self.kernel)(*args, **kwargs)
        except BaseException as end:
            for array, copy in before:
                array[...] = copy
            if not isinstance(end, Exception):
                raise
            # What a deadline cut short may go on another time.
            if self.left <= others or not isinstance(end, NotInterpreted):
                self.left = 0.0
            raise NotInterpreted from end
        finally:
            _LIMIT.at = outer
            self._note(time.thread_time() - begun)

    def _read_in_full(self, args: tuple) -> tuple:
        """The arguments but for tables that are only looked up."""
        function = self.kernel.py_func
        tables = _looked_up.get(function, ())
        named = zip(function.__code__.co_varnames, args, strict=False)
        return tuple(value for name, value in named if name not in tables)

    def _note(self, seconds: float) -> None:
        """Write down what was spent, for this process and later ones."""
        self.left -= seconds
        self.unnoted += seconds
        path = self._path()
        if self.unnoted >= UNNOTED and path is not None:
            spent = self._noted() + self.unnoted
            self.unnoted = 0.0
            with suppress(OSError):
                path.write_text(f"{spent:.3f}")

    def _noted(self) -> float:
        path = self._path()
        with suppress(OSError, ValueError):
            return 0.0 if path is None else float(path.read_text())
        return 0.0

    def _path(self) -> Path | None:
        function = self.kernel.py_func
        folder = kernel_cache.writable_folder(Path(function.__code__.co_filename))
        return None if folder is None else folder / f"{function.__qualname__}{_SUFFIX}"


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _copies(value: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Every array in arguments that can be written to, and a copy of it."""
    if isinstance(value, np.ndarray):
        if value.size > MOST_ELEMENTS:
            raise NotInterpreted
        return [(value, value.copy())] if value.flags.writeable else []
    if isinstance(value, tuple):
        return [pair for part in value for pair in _copies(part)]
    return []


# ---------------------------------------------------------------- twins


class _Limit(threading.local):
    at = float("inf")  # a time of `time.thread_time`


_LIMIT = _Limit()
_twins: dict[Any, Callable] = {}
_looked_up: dict[Any, tuple[str, ...]] = {}


def interpreted_as(plain: Callable) -> Callable[[Any], Any]:
    """A decorator of kernels that Python cannot run: it runs ``plain`` in their place."""

    def register(kernel: Any) -> Any:
        _twins[getattr(kernel, "py_func", kernel)] = plain
        return kernel

    return register


def looks_up(*tables: str) -> Callable[[Any], Any]:
    """A decorator of kernels with tables, of any size, of which a call reads a few places only."""

    def register(kernel: Any) -> Any:
        _looked_up[getattr(kernel, "py_func", kernel)] = tables
        return kernel

    return register


def twin_of(kernel: Any) -> Callable:
    """A kernel as plain Python, which calls plain Python.

    Example:
        >>> import numba
        >>> @numba.njit
        ... def twice(x):
        ...     return 2 * x
        >>> @numba.njit
        ... def four_times(x):
        ...     return twice(twice(x))
        >>> twin_of(four_times)(3), len(twice.signatures)
        (12, 0)
    """
    function = kernel.py_func
    if function not in _twins:
        code, world = function.__code__, {"__builtins__": function.__globals__["__builtins__"]}
        cells = tuple(CellType(_replaced(c.cell_contents)) for c in function.__closure__ or ())
        twin = FunctionType(code, world, function.__name__, function.__defaults__, cells)
        twin.__kwdefaults__ = function.__kwdefaults__
        _twins[function] = _timed(twin) if _loops(code) else twin
        known = function.__globals__
        world |= {name: _replaced(known[name]) for name in _names(code) if name in known}
    return _twins[function]


def _replaced(value: Any) -> Any:
    return twin_of(value) if isinstance(value, Dispatcher) else value


def _timed(twin: Callable) -> Callable:
    """A twin that is not begun after the limit."""

    def begin(*args: Any, **kwargs: Any) -> Any:
        if time.thread_time() > _LIMIT.at:
            raise NotInterpreted
        return twin(*args, **kwargs)

    return begin


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Code with that of the functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _names(code: CodeType) -> set[str]:
    return {name for part in _codes(code) for name in part.co_names}


def _loops(code: CodeType) -> bool:
    return any("JUMP_BACKWARD" in step.opname for step in dis.get_instructions(code))
