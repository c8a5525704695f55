"""Auto: a plan by what a model is made of, and solvers that take turns; the default of `decode`."""

from __future__ import annotations

from dataclasses import dataclass

from assent.compile.compiled import Compiled, GraphScores
from assent.result import Result
from assent.solvers.auto.plan import first_turn, improvement, plan
from assent.solvers.auto.turns import Goal, Turns
from assent.solvers.base.outcome import finished
from assent.solvers.base.protocol import GraphSolver, Request
from assent.solvers.base.settings import check_exact, check_tolerance


@dataclass(frozen=True)
class Auto(GraphSolver):
    """Choose by what the model is made of: directly where that is quick, else in turns.

    ``result.plan`` says what was chosen and why.  Answers mean the same whatever is chosen: a
    value, a bound, a certificate that can be rechecked.

    Attributes:
        exact: go on until the answer is proven optimal.
        gap_tolerance: relative gap at which an answer counts as optimal.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=1.0)
        >>> rule = g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
        >>> result = at.decode(g, at.Auto())
        >>> result.status.name, result.plan
        ('OPTIMAL', 'Elimination, as the graph is narrow: at most 2 variables beside each.')
    """

    exact: bool = False
    gap_tolerance: float = 1e-6

    def __post_init__(self) -> None:
        check_exact(self.exact)
        check_tolerance("gap_tolerance", self.gap_tolerance)

    @property
    def searches(self) -> bool:
        """Whether it proves optimality by itself."""
        return self.exact

    def drive(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Result:
        """Solve a compiled graph as planned, until one of the steps has the answer."""
        goal = Goal.ANSWER if request.uses_time else Goal.RELAXATION
        goal = Goal.PROOF if self.exact else goal
        tolerance, problem = self.gap_tolerance, compiled.problem
        steps = plan(compiled, goal, tolerance, Auto(exact=True))
        turns = Turns(steps, compiled, graph_scores, request, tolerance, goal, first_turn(problem))
        if goal is Goal.RELAXATION:
            turns.improving = improvement(problem, tolerance)
        turns.go_on()
        return finished(turns.result)
