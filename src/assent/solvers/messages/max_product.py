"""MaxProduct: damped loopy belief propagation (Pearl, 1988)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assent.arguments import is_real, shown
from assent.kernels.problem import Float, Problem, Scores
from assent.solvers.base.protocol import Info, IterativeSolver, WarmStart
from assent.solvers.messages import block_descent, star_descent
from assent.solvers.messages.block_descent import votes
from assent.solvers.messages.star_descent import StarMessages

CONVERGED = (
    "The messages have converged. Max-product proves no bound: AD3(), with warm_start=result, "
    "tells how good the answer is."
)


@dataclass(frozen=True)
class MaxProduct(IterativeSolver):
    """Damped max-product belief propagation: often a good answer soon, without any bound.

    Exact where the factors form a tree.  Elsewhere messages may run in circles; the answer is
    rounded and checked like any other, but nothing tells how far from optimal it is:
    ``result.bound`` is infinite.

    Attributes:
        damping: part of the old message that is kept, from 0 to below 1.
        residual_tolerance: stop when no message changes by more than this, relative to the scores.
        gap_tolerance: without effect, as there is no gap.
        max_iterations: stop after this many sweeps, forward and backward alternating.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[1.0, -0.5, 0.2])
        >>> rule = g.add(at.Pair(x[:-1], x[1:], scores=1.0))
        >>> result = at.decode(g, at.MaxProduct())
        >>> result[x].tolist(), result.bound
        ([1, 1, 1], inf)
    """

    damping: float = 0.5
    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_real(self.damping) or not 0.0 <= self.damping < 1.0:
            raise ValueError(f"damping is at least 0 and below 1, got {shown(self.damping)}")

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> StarMessages:
        """Empty messages: those of another solver mean something else."""
        return star_descent.start("MaxProduct", problem, scores, None)

    def advance(
        self, problem: Problem, scores: Scores, workspace: StarMessages, iterations: int
    ) -> Info:
        """Do ``iterations`` sweeps, forward and backward; fewer where messages come to rest."""
        w = workspace
        change = np.inf
        for _ in range(iterations):
            before = w.s.copy()
            star_descent.sweep(w, scores, 1, self.damping)
            w.iterations += 1
            w.calls += len(w.stars.edges)
            size = 1e-300 + float(np.abs(w.s).max(initial=0.0))
            change = float(np.abs(w.s - before).max(initial=0.0)) / size
            if change <= self.residual_tolerance:
                break
        block_descent.raise_pending()
        done = change <= self.residual_tolerance
        return Info(
            w.iterations, np.inf, change, finished=done, reason=CONVERGED if done else "",
            calls=w.calls,
        )  # fmt: skip

    def bound(self, problem: Problem, scores: Scores, workspace: StarMessages) -> float:
        """Infinite: max-product proves nothing."""
        return np.inf

    def marginals(self, workspace: StarMessages) -> Float:
        """Beliefs as numbers between 0 and 1."""
        return votes(workspace.belief)
