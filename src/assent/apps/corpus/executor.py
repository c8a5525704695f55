"""Who works on parts of a corpus: threads, processes, or whatever runs calls elsewhere.

An executor calls a function for each of several parts and waits.  Functions are known by name,
parts are arrays and lists, and what a function finds is what it returns: all of it can be sent to
another process or machine.  A cluster's engine needs no more than `run`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Protocol, Self, TypeVar

Part = TypeVar("Part")
Found = TypeVar("Found")


class Executor(Protocol):
    """Runs calls somewhere."""

    def run(self, function: Callable[[Part], Found], parts: Sequence[Part]) -> list[Found]:
        """Call ``function(part)`` for every part; results in the order of parts."""


@dataclass(frozen=True)
class Threads:
    """Threads of this process: kernels let go of Python's lock, so that they use all cores.

    Attributes:
        count: how many; ``None`` takes as many as there are cores.
    """

    count: int | None = None

    def run(self, function: Callable[[Part], Found], parts: Sequence[Part]) -> list[Found]:
        """Call ``function(part)`` for every part; results in the order of parts.

        Example:
            >>> Threads(2).run(sum, [(0, 2), (2, 5)])
            [2, 7]
        """
        count = self.count or os.cpu_count() or 1
        if count == 1 or len(parts) <= 1:
            return [function(part) for part in parts]
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(function, parts))


class Processes:
    """Processes of their own, started at the first call and kept until `close`.

    Parts are sent to them and results are sent back, which costs more than threads do: this is
    for functions that hold Python's lock, and for trying what a cluster would run.  As always with
    such processes, a script has to begin its work below ``if __name__ == "__main__":``.

    Args:
        count: how many; ``None`` takes as many as there are cores.

    Example:
        >>> with Processes(1) as processes:
        ...     processes.run(sum, [(0, 2), (2, 5)])
        [2, 7]
    """

    def __init__(self, count: int | None = None) -> None:
        self._count = count
        self._pool: ProcessPoolExecutor | None = None

    def run(self, function: Callable[[Part], Found], parts: Sequence[Part]) -> list[Found]:
        """Call ``function(part)`` for every part; results in the order of parts.

        Raises:
            RuntimeError: if a process ended before its call did.
        """
        if self._pool is None:
            # Forked children would inherit kernels' threads in the middle of their work.
            self._pool = ProcessPoolExecutor(self._count, mp_context=get_context("spawn"))
        try:
            return list(self._pool.map(function, parts))
        except BrokenProcessPool as error:
            self.close()
            raise RuntimeError(
                "a process that worked on a part of the corpus has ended before its time: it may "
                "have run out of memory (take fewer processes, or Threads), or the script does its "
                'work outside of: if __name__ == "__main__"'
            ) from error

    def close(self) -> None:
        """End the processes; another `run` starts new ones."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
