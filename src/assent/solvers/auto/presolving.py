"""Presolving: a search on what presolving leaves of a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.problem import Problem
from assent.result import Result
from assent.solvers.ad3.ad3 import AD3
from assent.solvers.base.driver import drive
from assent.solvers.base.protocol import GraphSolver, Request
from assent.solvers.base.resumable import AtOnce, Resumable
from assent.solvers.presolve.presolve_rounds import SmallerProblem, presolve_compiled

# A smaller problem is worth beginning anew if it has lost this share of links or coordinates.
WORTH = 0.3


@dataclass(frozen=True)
class Presolving(GraphSolver):
    """Presolve a graph, then solve what is left of it exactly.

    Attributes:
        rest: begins a solve of a graph that is smaller than it was, or hardly.
        gap_tolerance: relative gap at which an answer counts as optimal.
    """

    rest: Callable[[Compiled, GraphScores, Request, bool], Resumable]
    gap_tolerance: float = 1e-6

    def begin(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Resumable:
        """A solve of what is left; of the graph itself where hardly anything went."""
        made = presolve_compiled(compiled, graph_scores, deadline=request.deadline)
        if not made.refuted and not _is_smaller(made.compiled.problem, compiled.problem):
            return self.rest(compiled, graph_scores, request, False)
        known = None if request.known is None else made.follow(request.known)
        own = replace(request, warm_start=None, dual=None, known=known)
        left = made.compiled
        if left.conflict is not None or not left.problem.n_links:
            alone = AD3(gap_tolerance=self.gap_tolerance)
            return Lifted(made, AtOnce(partial(drive, left, made.scores, alone), own))
        return Lifted(made, self.rest(left, made.scores, own, True))


def _is_smaller(left: Problem, whole: Problem) -> bool:
    share = min(left.n / max(1, whole.n), left.n_links / max(1, whole.n_links))
    return share <= 1.0 - WORTH


@dataclass
class Lifted:
    """A solve of a smaller graph, told as one of the graph as written; `Resumable`."""

    made: SmallerProblem
    inner: Any

    def go_on(self, until: float = np.inf) -> None:
        """Advance the solve of the smaller graph."""
        self.inner.go_on(until)

    def offer(self, assignment: NDArray[np.int8]) -> None:
        """Take an answer ``[N]`` of the graph as written."""
        self.inner.offer(self.made.follow(assignment))

    def result(self) -> Result:
        return self.made.lift(self.inner.result())

    @property
    def assignment(self) -> NDArray[np.int8] | None:
        found = self.inner.assignment
        return None if found is None else self.made.undo(found)

    @property
    def dual(self) -> None:
        """Nothing: link scores of the smaller graph are none of the graph as written."""
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)  # what is the same for both
