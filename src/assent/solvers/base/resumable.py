"""Solves in progress: what may be asked of each, and one that cannot be divided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import DualPoint
from assent.trace import Trace

if TYPE_CHECKING:
    from assent.result import Result
    from assent.solvers.base.protocol import Request


class Resumable(Protocol):
    """A solve in progress: it goes on from where it was, and its best can be stated at any time.

    Attributes:
        message: why it is over; nothing as long as it can go on.
        bound: no assignment is worth more.
        value: what the best answer is worth; minus infinity if there is none.
        iterations: how many are done.
        trace: what was reported.
        done: the same as iterations, less where those go over a part of the model only, and more
            where they take longer than usual; estimated microseconds of linear programs.
    """

    @property
    def message(self) -> str: ...

    @property
    def trace(self) -> Trace: ...

    @property
    def bound(self) -> float: ...

    @property
    def value(self) -> float: ...

    @property
    def iterations(self) -> int: ...

    @property
    def done(self) -> float: ...

    @property
    def assignment(self) -> NDArray[np.int8] | None:
        """The best answer ``[N]`` for the graph as written, if there is one."""

    @property
    def dual(self) -> DualPoint | None:
        """Link scores that another solve may begin at, if there are any."""

    def go_on(self, until: float = np.inf) -> None:
        """Advance to the end, or until so much is ``done`` in all."""

    def offer(self, assignment: NDArray[np.int8]) -> None:
        """Take an answer ``[N]`` that was found elsewhere."""

    def result(self) -> Result:
        """The best so far, for the graph as written."""


class AtOnce:
    """A solve that cannot be divided: the first time it goes on, it goes to its end."""

    dual = None

    def __init__(self, solve: Callable[[Request], Result], request: Request) -> None:
        self.solve, self.request = solve, request
        self.found: Result | None = None
        self.message, self.trace, self.iterations, self.done = "", Trace(), 0, 0.0
        self.bound, self.value = np.inf, -np.inf
        self.assignment: NDArray[np.int8] | None = None

    def go_on(self, until: float = np.inf) -> None:
        """Solve, whatever ``until`` says."""
        found = self.found = self.solve(self.request)
        self.bound, self.value, self.trace = found.bound, found.value, found.trace
        self.assignment = found.certificate.assignment if found.feasible else None
        # An interrupt in between finds the rest in place once there is a message.
        self.iterations, self.done, self.message = found.iterations, 1.0, found.message

    def result(self) -> Result:
        assert self.found is not None
        return self.found

    def offer(self, assignment: NDArray[np.int8]) -> None:
        """Take an answer ``[N]`` to begin with."""
        self.request = replace(self.request, known=assignment)
