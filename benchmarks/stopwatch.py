"""A solver that also measures where its time goes, by wrapping another one."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from assent.solvers.base.protocol import IterativeSolver

TIMED = ("advance", "bound", "dual_point")


@dataclass(frozen=True)
class Stopwatch(IterativeSolver):
    """Behaves like ``solver``; ``spent`` sums the CPU seconds of its main steps by name."""

    solver: Any
    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(TIMED, 0.0))

    def __getattribute__(self, name: str) -> Any:
        # Steps in time are the watch's own: they return the solver that goes on.
        if name in ("solver", "spent", "limited", "in_time") or name.startswith("__"):
            return super().__getattribute__(name)
        found = getattr(self.solver, name)
        if name not in TIMED:
            return found

        def timed(*args: Any, **options: Any) -> Any:
            begun = time.thread_time()
            try:
                return found(*args, **options)
            finally:
                self.spent[name] += time.thread_time() - begun

        return timed
