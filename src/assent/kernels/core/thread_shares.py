"""How threads divide the work; made by :mod:`assent.solvers.base.thread_plan`.

A thread's share is a range of everything there is, in blocks that are worked on as one.  The
shares of factors and of coordinates go along: where a thread's factors lie among its own
coordinates, no other thread has to read what it wrote.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.jit import jit
from assent.kernels.kinds.logic_projections import LANES

# Pairs (or factors of two literals) that move and sleep together: fewer would not repay the
# start of a vector loop, more would rarely all be idle.  A multiple of LANES.
PAIR_BLOCK = 64

# Coordinates whose totals are added up together: they stay in the nearest cache.
SEGMENT = 256

# Columns of ``Division.shares``: from the first to before the last ...
PAIRS = 0  # ... place in the order of blocks of pairs,
BLOCKS = 2  # ... block of logic factors, counted through all groups,
SEGMENTS = 4  # ... segment of coordinates,
LINKS = 6  # ... link of logic factors.
COLUMNS = 8


class Division(NamedTuple):
    """The shares of all threads.

    Attributes:
        shares: ``[threads, COLUMNS]`` ranges.
        order: blocks of pairs, sorted by coordinates if there are several threads.
        touched: ``[threads, segments]`` whether a thread has factors there.
    """

    shares: NDArray[np.int64]
    order: NDArray[np.int64]
    touched: NDArray[np.bool_]


@jit
def whole_division(pairs, counts, n, links):
    """All the work for one thread, in the order it is stored in.

    ``counts`` are the factors of the groups that the blockwise kernels take.
    """
    blocks = 0
    for count in counts:
        blocks += (count + LANES - 1) // LANES
    pair_blocks = (pairs + PAIR_BLOCK - 1) // PAIR_BLOCK
    shares = np.zeros((1, COLUMNS), np.int64)
    shares[0, PAIRS + 1] = pair_blocks
    shares[0, BLOCKS + 1] = blocks
    shares[0, SEGMENTS + 1] = (n + SEGMENT - 1) // SEGMENT
    shares[0, LINKS + 1] = links
    touched = np.zeros((1, shares[0, SEGMENTS + 1]), np.bool_)
    return Division(shares, np.arange(pair_blocks), touched)
