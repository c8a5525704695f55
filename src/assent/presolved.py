"""Presolved: a graph made smaller, decoded and read in the terms of the graph as written."""

from __future__ import annotations

import time
from dataclasses import dataclass

from assent.decode import asked_for, check_settings, choose_solver
from assent.result import Result
from assent.solvers.base.driver import drive
from assent.solvers.base.protocol import Request, Solver
from assent.solvers.presolve.presolve_rounds import SmallerProblem


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
        self, solver: Solver | None = None, *, exact: bool = False, time_limit: float | None = None
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
        return self.lift(result).by(request.deadline)
