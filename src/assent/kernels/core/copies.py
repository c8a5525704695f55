"""Copies and views of arrays without what Numba does besides.

``out[:] = values`` compiles words for an error about shapes, which takes two seconds in every
process that compiles a kernel with one.
"""

from __future__ import annotations

from assent.kernels.jit import jit_inline, jit_internal_no_allocation


@jit_internal_no_allocation
def copy_values(values, out):
    """``out[:] = values`` for as many as there are ``values``."""
    for i in range(len(values)):
        out[i] = values[i]


@jit_inline
def flat_view(rows):
    """``rows.ravel()`` for kernels that count no references: that returns a counted one."""
    return rows.reshape(rows.size)
