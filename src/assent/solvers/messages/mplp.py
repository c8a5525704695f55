"""MPLP: coordinate descent in the dual, one factor at a time (Globerson and Jaakkola, 2008)."""

from __future__ import annotations

from dataclasses import dataclass

from assent.kernels.core.factor_oracles import number_of_factors
from assent.kernels.messages import mplp_sweep as kernel
from assent.kernels.problem import Problem, Scores
from assent.solvers.base.protocol import Info, WarmStart
from assent.solvers.messages import block_descent
from assent.solvers.messages.block_descent import BlockDescent, Messages


@dataclass(frozen=True)
class MPLP(BlockDescent):
    """Coordinate descent on the bound by max-marginals: no step size, never a worse bound.

    A sweep visits every factor once and gives it the best link scores there are while all others
    keep theirs.  It may come to rest above the relaxation's optimum, where AD3 would go on.

    Attributes:
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (scale + |bound|)``.
        residual_tolerance: stop when the sweeps between two reports lower the bound by less than
            this, relative to ``scale + |bound|``.
        max_iterations: stop after this many sweeps.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[1.0, -0.5, 0.2])
        >>> rule = g.add(at.Pair(x[:-1], x[1:], scores=1.0))
        >>> at.decode(g, at.MPLP())[x].tolist()
        [1, 1, 1]
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-8
    max_iterations: int = 10_000

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> Messages:
        """Fresh state, or link scores from an earlier run."""
        return block_descent.start("MPLP", problem, scores, warm_start)

    def advance(
        self, problem: Problem, scores: Scores, workspace: Messages, iterations: int
    ) -> Info:
        """Do ``iterations`` sweeps."""
        w = workspace
        block_descent.settle(w, scores)
        kernel.sweep(w.flat, w.inner, iterations, w.s, w.belief, w.work)
        asked = number_of_factors(w.flat)
        return block_descent.finish(w, problem, scores, iterations, asked, self.residual_tolerance)
