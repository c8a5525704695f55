"""A barrier for threads that run one compiled loop together.

The threads are ordinary Python threads inside compiled code that has let go of the interpreter:
there is no pool that a forked child would miss or two callers would fight over.  A barrier is a
small array they share.  Waiting spins, since the others are a fraction of a millisecond behind,
and after a while lets other work of the machine go first, so that more threads than processors
are slow but never stuck.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import types
from numba.extending import intrinsic

from assent.kernels.jit import jit, jit_internal_no_allocation

# Places in a barrier, each on cache lines of its own.
ARRIVED = 0  # how many wait at the moment
PHASE = 16  # how often all have arrived
CALLED_OFF = 32  # not zero: not everybody will come
BARRIER_SIZE = 48

# Rounds of the waiting loop, some ten microseconds, before other work goes first.
SPINS = 100000

# Rounds before a helper without work leaves: some tenths of a millisecond, longer than a report.
SPINS_AFTERWARDS = 1_000_000

_let_others_run = types.ExternalFunction(
    "SwitchToThread" if sys.platform == "win32" else "sched_yield", types.intc()
)


def new_barrier() -> np.ndarray:
    """A barrier that no thread has reached yet."""
    return np.zeros(BARRIER_SIZE, np.int64)


@intrinsic
def _add(typing_context, array, place, amount):
    """``array[place] += amount`` in one indivisible step; returns what was there before."""

    def generate(context, builder, signature, arguments):
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(values.data, [arguments[1]])
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), generate


@intrinsic
def _read(typing_context, array, place):
    """``array[place]``, and everything its writer wrote before it."""

    def generate(context, builder, signature, arguments):
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(values.data, [arguments[1]])
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(array, types.intp), generate


@jit
def wait_for_all(barrier, threads):
    """Wait until all ``threads`` are here; False if that was called off.

    What a thread wrote before is seen by all of them after.
    """
    if threads == 1:
        return True
    phase = _read(barrier, PHASE)
    if _add(barrier, ARRIVED, 1) == threads - 1:
        _add(barrier, ARRIVED, -threads)
        _add(barrier, PHASE, 1)
        return True
    rounds = 0
    while _read(barrier, PHASE) == phase:
        if _read(barrier, CALLED_OFF) != 0:
            return False
        rounds += 1
        if rounds > SPINS:
            _let_others_run()
    return True


@jit
def spin_briefly(barrier):
    """Wait a moment for a thread to reach the barrier, or to call that off."""
    for _ in range(SPINS_AFTERWARDS):
        if _read(barrier, ARRIVED) != 0 or _read(barrier, CALLED_OFF) != 0:
            break


@jit
def wait_until(flag):
    """Wait until ``flag[0]`` is set."""
    rounds = 0
    while _read(flag, 0) == 0:
        rounds += 1
        if rounds > SPINS:
            _let_others_run()


@jit_internal_no_allocation
def gather_totals(totals, touched, segment, begin, end):
    """Bring the totals of a segment together; returns the thread in whose row they stand.

    It is the first one that touched the segment, as often as not the one that asks.  The others'
    rows are cleared there.
    """
    home = 0
    while home < len(totals) - 1 and not touched[home, segment]:
        home += 1
    for thread in range(home + 1, len(totals)):
        if touched[thread, segment]:
            for i in range(begin, end):
                totals[home, i] += totals[thread, i]
                totals[thread, i] = 0.0
    return home
