"""Who works on shares of a corpus: threads of this process, or whatever runs calls elsewhere.

An executor runs a function for each of several shares of sentences, and waits.  Kernels let go of
Python's lock, so that threads use all cores; a cluster's engine takes the place of `Executor` by
offering `run` with the same meaning, where arrays are shared or sent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

Share = tuple[int, int]
Found = TypeVar("Found")

# Shares are the same however many threads there are, and so are all sums over them.
_SHARES = 16


def shares(sentences: int) -> list[Share]:
    """First and last (exclusive) sentence of each share.

    Example:
        >>> shares(3)
        [(0, 1), (1, 2), (2, 3)]
    """
    count = max(1, min(_SHARES, sentences))
    ends = [sentences * i // count for i in range(count + 1)]
    return list(pairwise(ends))


@dataclass(frozen=True)
class Executor:
    """Threads.

    Attributes:
        threads: how many; ``None`` takes as many as there are cores.
    """

    threads: int | None = None

    def run(self, function: Callable[[Share], Found], parts: Sequence[Share]) -> list[Found]:
        """Call ``function(share)`` for every share; results in the order of shares.

        Example:
            >>> Executor(threads=2).run(lambda share: share[1] - share[0], [(0, 2), (2, 5)])
            [2, 3]
        """
        threads = self.threads or os.cpu_count() or 1
        if threads == 1 or len(parts) == 1:
            return [function(part) for part in parts]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(function, parts))
