"""Copies and views of arrays without what Numba does besides.

``out[:] = values`` compiles words for an error about shapes, which takes two seconds in every
process that compiles a kernel with one.
"""

from __future__ import annotations

from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload

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


def as_read_only(values):
    """The same array as one that kernels only read: what they call with it is compiled once."""
    return values


@intrinsic
def _as_read_only(context, values):
    def give(context, builder, signature, args):
        return impl_ret_borrowed(context, builder, signature.return_type, args[0])

    return values.copy(readonly=True)(values), give


@overload(as_read_only)
def _choose_as_read_only(values):
    return lambda values: _as_read_only(values)
