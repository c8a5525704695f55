"""How threads divide the work; made by :mod:`assent.solvers.shares`.

A thread's share is a range of everything there is, in blocks that are worked on as one.  The
shares of factors and of coordinates go along: where a thread's factors lie among its own
coordinates, no other thread has to read what it wrote.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Pairs (or factors of two literals) that move and sleep together: fewer would not repay the
# start of a vector loop, more would rarely all be idle.  A multiple of LANES.
PAIR_BLOCK = 64

# Coordinates whose totals are added up together: they stay in the nearest cache.
SEGMENT = 256

# Columns of ``Division.shares``: from the first to before the last ...
PAIRS = 0  # ... place in the order of blocks of pairs,
BLOCKS = 2  # ... block of logic factors, counted through all groups,
SEGMENTS = 4  # ... segment of coordinates,
LINKS = 6  # ... link of logic factors,
ENDS = 8  # ... end of a pair, where each pair stands by itself.
COLUMNS = 10


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
