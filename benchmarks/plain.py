"""Plain C loops of the same recurrences, compiled on the spot: what the kernels are judged by."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).with_name("plain.c")
# Sums and maxima may be reordered into vectors, as in the kernels; nothing here is infinite.
FLAGS = ("-O3", "-march=native", "-ffast-math", "-shared", "-fPIC")


@cache
def library() -> ctypes.CDLL | None:
    """The loops, compiled by gcc; None where there is none."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "plain.so"
        subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(target)], check=True)
        return ctypes.CDLL(str(target))


def loop(name: str, *arguments: Any) -> Callable[[int], float] | None:
    """``run(times)`` of a C function; None without a compiler.

    Arrays are handed over by address and kept alive; whole numbers and floats as they are.
    """
    plain = library()
    if plain is None:
        return None
    function = getattr(plain, name)
    function.restype = ctypes.c_double
    kept = [np.ascontiguousarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    passed = [_passed(argument) for argument in kept]

    def run(times: int, kept: list[Any] = kept) -> float:
        return function(*passed, ctypes.c_long(times))

    return run


def _passed(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return ctypes.c_double(argument) if isinstance(argument, float) else ctypes.c_long(argument)
