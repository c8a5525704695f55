"""The decorators of all kernels: compile when that pays, keep the result on disk.

``jit`` is for functions that Python calls, the ``jit_internal…`` and ``jit_inline…`` ones for those
that only kernels call.  What a call does: :mod:`assent.kernels.kernel`.  Where compiled code is
kept: :mod:`assent.kernels.kernel_cache`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from assent.kernels.kernel import NewKernel
from assent.kernels.kernel_cache import KernelCache
from assent.kernels.part_library import PartCompiler


def jit(function: Callable | None = None, **options: Any) -> Any:
    """Compile ``function`` with Numba at its first calls; kept on disk, without the GIL.

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
    settings = {"nogil": True, "error_model": "numpy", "_nrt": True, "no_cfunc_wrapper": True}
    settings |= options
    kernel = numba.njit(**settings)(function)
    if numba.config.DISABLE_JIT:
        return kernel
    # Code typed at a prompt has no file, hence nothing that could tell whether it changed.
    if Path(function.__code__.co_filename).is_file():
        kernel._cache = KernelCache(function)
    kernel.__class__ = NewKernel
    return kernel


# Sums and maxima that may be taken in any order, and meet no NaN: they compile to vectors.
VECTOR_SUMS = {"reassoc", "nnan", "nsz"}

_ONLY_KERNELS: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": PartCompiler}

# Functions of a structure, which kernels call by their address.
jit_structure = jit(no_cfunc_wrapper=False)

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

# The same for sums and maxima that compile to vectors.
jit_internal_vector_sums = jit(fastmath=VECTOR_SUMS, **_ONLY_KERNELS)

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
