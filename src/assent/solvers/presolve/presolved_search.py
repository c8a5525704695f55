"""Presolving: the last of Auto's exact steps on a smaller problem, where there is one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.problem import Problem
from assent.presolve import presolve_compiled
from assent.result import Result
from assent.solvers.base.driver import drive
from assent.solvers.base.outcome import refuted
from assent.solvers.base.protocol import Request, in_time

# A smaller problem is worth it if it has lost this share of the links, or of the coordinates.
WORTH = 0.3

# Another round of presolving is made as long as the last one took off this share.
WORTH_A_ROUND = 0.1


@dataclass(frozen=True)
class Presolving:
    """Presolve a graph, then solve what is left of it exactly.

    Attributes:
        gap_tolerance: relative gap at which an answer counts as optimal.
    """

    gap_tolerance: float = 1e-6

    def drive(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Result:
        """Search what is left; the graph itself where hardly anything went."""
        made = presolve_compiled(
            compiled, graph_scores, deadline=request.deadline, worth=WORTH_A_ROUND
        )
        if not made.refuted and not _is_smaller(made.compiled.problem, compiled.problem):
            return self._go_on(compiled, graph_scores, request, wide=True)
        known = None if request.known is None else made.follow(request.known)
        own = replace(request, warm_start=None, dual=None, known=known)
        return made.lift(self._go_on(made.compiled, made.scores, own, wide=False))

    def _go_on(
        self, compiled: Compiled, scores: GraphScores, request: Request, wide: bool
    ) -> Result:
        """Whatever is exact, however long it takes."""
        from assent.solvers.auto.exact_steps import to_the_end
        from assent.solvers.search.depth_first import gave_up

        if compiled.conflict is not None:
            return refuted(compiled, scores, request.started)
        for step in to_the_end(compiled, self.gap_tolerance, wide):
            solver = in_time(step.solver, request.deadline)
            found = replace(drive(compiled, scores, solver, request), plan=step.words)
            if not gave_up(found):
                break
            if found.feasible:
                request = replace(request, known=found.certificate.assignment)
        return found


def _is_smaller(left: Problem, whole: Problem) -> bool:
    share = min(left.n / max(1, whole.n), left.n_links / max(1, whole.n_links))
    return share <= 1.0 - WORTH
