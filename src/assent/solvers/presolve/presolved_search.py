"""Presolving: the last of Auto's exact steps on a smaller problem, where there is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.problem import Problem
from assent.result import Result
from assent.solvers.base.driver import drive
from assent.solvers.base.protocol import Request, in_time
from assent.solvers.presolve.presolve_rounds import presolve_compiled

# A smaller problem is worth it if it has lost this share of the links, or of the coordinates.
WORTH = 0.3

# Another round of presolving is made as long as the last one took off this share.
WORTH_A_ROUND = 0.1


@dataclass(frozen=True)
class Presolving:
    """Presolve a graph, then solve what is left of it exactly.

    Attributes:
        smaller: solves a problem that is smaller.
        same: solves the graph itself, where hardly anything went.
        gap_tolerance: relative gap at which an answer counts as optimal.
    """

    smaller: Any
    same: Any
    gap_tolerance: float = 1e-6

    def drive(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Result:
        """Search what is left; the graph itself where hardly anything went."""
        made = presolve_compiled(
            compiled, graph_scores, deadline=request.deadline, worth=WORTH_A_ROUND
        )
        if not made.refuted and not _is_smaller(made.compiled.problem, compiled.problem):
            return drive(compiled, graph_scores, self._told(self.same, request), request)
        known = None if request.known is None else made.follow(request.known)
        own = replace(request, warm_start=None, dual=None, known=known)
        solver = self._told(self.smaller, own)
        return made.lift(drive(made.compiled, made.scores, solver, own))

    def _told(self, solver: Any, request: Request) -> Any:
        """The solver with the tolerance and the time that there is."""
        return in_time(replace(solver, gap_tolerance=self.gap_tolerance), request.deadline)


def _is_smaller(left: Problem, whole: Problem) -> bool:
    share = min(left.n / max(1, whole.n), left.n_links / max(1, whole.n_links))
    return share <= 1.0 - WORTH
