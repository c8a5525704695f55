"""`presolve`: a smaller problem with the same optimum, and the way back from its best answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from assent.compile.compiled import graph_scores
from assent.decode import asked_for, check_settings, choose_solver, compiled_for
from assent.model.graph import FactorGraph
from assent.proof.conflict import SECONDS, small_conflict
from assent.result import Result, Status
from assent.solvers.base.driver import drive
from assent.solvers.base.protocol import Request
from assent.solvers.base.settings import check_flag
from assent.solvers.presolve.presolve_rounds import THOROUGH, SmallerProblem, presolve_compiled

if TYPE_CHECKING:
    from assent.solvers.base.protocol import Solver


@dataclass(frozen=True, eq=False, repr=False)
class Presolved(SmallerProblem):
    """A graph made smaller step by step.

    Attributes:
        reductions: the graph before every step, and after the last one.
        steps: what was done, one less.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(4, scores=[3.0, 1.0, -2.0, 0.5], name="x")
        >>> rule = g.add(at.Pair(x[:-1], x[1:], scores=[-2.0, 1.0, 1.0]))
        >>> made = at.presolve(g)
        >>> made
        Presolved: 0 of 4 variables left: 4 variables fixed to persistent values
        >>> result = made.decode()
        >>> result[x].tolist(), result.certificate.verify()
        ([1, 0, 0, 1], True)
    """

    def decode(
        self,
        solver: Solver | None = None,
        *,
        exact: bool = False,
        time_limit: float | None = None,
    ) -> Result:
        """Solve the smaller problem, and state the answer for the graph as written.

        Args:
            solver: settings as `decode` takes them; by default `Auto`.
            exact: go on until the answer is proven optimal.
            time_limit: seconds after which the best answer so far is returned.
        """
        request = Request(time.perf_counter(), time_limit)
        check_settings(time_limit, None, None)
        chosen = choose_solver(asked_for(solver, exact), time_limit)
        result = drive(self.compiled, self.scores, chosen, request)
        result = self.lift(result)
        if result.status is not Status.INFEASIBLE:
            return result
        left = max(request.deadline - time.perf_counter(), 0.0)
        few = small_conflict(self.reductions[0].compiled, min(left, SECONDS))
        return replace(result, certificate=replace(result.certificate, conflict=few))


def presolve(
    graph: FactorGraph, *, scores: Mapping[Any, Any] | None = None, thorough: bool = False
) -> Presolved:
    """Make a graph smaller: the same optimum, and a way from its best answer to one of the graph.

    - *Dominated* values are pruned: where another value is at least as good whatever the other
      variables are, and breaks no constraint.
    - *Persistent* values of binary pairwise graphs are fixed, as `RoofDuality` finds them.
    - Variables of *degree one* are eliminated: their neighbour gets what they are worth.
    - Factors over the same variables are *merged*, those that say nothing are left out.
    - What follows from evidence and from all this is propagated through every kind of factor.

    Of several best answers some may be lost, and marginals change their meaning: this is for the
    single best answer, not for `k_best`.

    Args:
        graph: what to presolve; it stays as it is.
        scores: new scores for variables or handles, in place of those written.
        thorough: look for states of variables in tables that can be pruned *together*, as
            exchanging all of them at once never loses; it takes as long as a decoder.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(3, states="NVD", scores=[[2, 0, 0], [0, 1, 0], [3, 0, 1]])
        >>> rule = g.add(at.Potts(tag[[0, 1, 2]], tag[[1, 2, 0]], scores=0.4))
        >>> at.presolve(g)
        Presolved: 0 of 3 variables left: 6 values pruned by dominance
    """
    if not isinstance(graph, FactorGraph):
        raise TypeError(f"presolve takes a FactorGraph, got {type(graph).__name__}")
    check_settings(None, None, scores)
    check_flag("thorough", thorough)
    own = graph_scores(graph, scores)
    last = THOROUGH if thorough else ()
    made = presolve_compiled(compiled_for(graph, own), own, last=last)
    return Presolved(made.reductions, made.steps)
