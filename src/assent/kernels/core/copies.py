"""Copying without Numba's own assignment of arrays.

``out[:] = values`` compiles words for an error about shapes, which takes two seconds in every
process that compiles a kernel with one.
"""

from __future__ import annotations

from assent.kernels.jit import jit_internal_no_allocation


@jit_internal_no_allocation
def copy_values(values, out):
    """``out[:] = values`` for as many as there are ``values``."""
    for i in range(len(values)):
        out[i] = values[i]
