"""Kernels as Python sees them: what calling one does before it is compiled, and after."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba.core.registry import CPUDispatcher

from assent.interrupts import Uninterrupted
from assent.kernels.interpreted import Interpreter, NotInterpreted
from assent.kernels.kernel_library import can_be_called


class Kernel(CPUDispatcher):
    """A kernel that is never left in the middle: a Ctrl-C in the meantime counts afterwards.

    A compiler that is left in the middle would keep pieces of the kernel, and of those that it
    calls, with which it cannot be compiled again in this process.  While arrays and named tuples
    are handed over to Python, Numba runs Python, which would raise at its first line: the call
    would fail with a ``SystemError``, or end the process.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the kernel returns; `PlainKernel` does without this."""
        with Uninterrupted():
            return super().__call__(*args, **kwargs)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Types for a call from another kernel.

        Numbers written at a call would else be types of their own, ``0`` another than ``1`` and
        than a variable that is zero at first: a kernel for each.  Code that is for running only
        gives way; Python's next call finds it again.
        """
        if not all(map(can_be_called, self.overloads.values())):
            self._reset_overloads()
        plain = numba.types.unliteral
        named = {name: plain(value) for name, value in kws.items()}
        return super().get_call_template(tuple(map(plain, args)), named)

    def compile(self, sig: Any) -> Any:
        """Compile or load to the end; kernels that return plain numbers are quicker to enter."""
        with Uninterrupted(), _uncollected():
            entry = super().compile(sig)
        returned = [found.signature.return_type for found in self.overloads.values()]
        self.__class__ = PlainKernel if all(map(_is_plain, returned)) else Kernel
        return entry


class NewKernel(Kernel):
    """A kernel without code: its first calls are interpreted, see `assent.kernels.interpreted`."""

    interpreter: Interpreter | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the kernel returns, with or without the compiler."""
        if self.interpreter is None:
            self.interpreter = Interpreter(self)
        try:
            return self.interpreter.call(args, kwargs)
        except NotInterpreted:
            pass
        # Not super(): another thread may have compiled it meanwhile, and it is new no more.
        return Kernel.__call__(self, *args, **kwargs)


class PlainKernel(Kernel):
    """A kernel that returns nothing or numbers: C code makes them, which no Ctrl-C can stop."""

    __call__ = CPUDispatcher.__call__


@contextmanager
def _uncollected() -> Iterator[None]:
    """A block in which Python looks for no reference cycles.

    The compiler makes so many objects, most of which stay, that looking for those that do not
    would take an eighth of its time.
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def _is_plain(returned: Any) -> bool:
    """Whether Python needs to run nothing to receive a value of this type."""
    types = numba.types
    if isinstance(returned, types.BaseTuple) and not isinstance(returned, types.BaseNamedTuple):
        return all(map(_is_plain, returned))
    return isinstance(returned, types.Number | types.Boolean | types.NoneType)
