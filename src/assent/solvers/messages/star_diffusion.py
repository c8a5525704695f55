"""StarDiffusion: max-sum diffusion with star updates (Werner, 2007; Sontag et al., 2011)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assent.kernels.problem import Problem, Scores
from assent.solvers.base.protocol import WarmStart
from assent.solvers.messages import star_descent
from assent.solvers.messages.star_descent import StarDescent, StarMessages
from assent.solvers.messages.star_layout import edges_at


@dataclass(frozen=True)
class StarDiffusion(StarDescent):
    """Coordinate descent on the bound, one variable and the factors around it at a time.

    All factors around a variable are made to report the same max-marginals.  As with `MPLP` the
    bound never rises, and may come to rest above the relaxation's optimum.  Sweeps run forward
    and backward alternating.

    Attributes:
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (scale + |bound|)``.
        residual_tolerance: stop when the sweeps between two reports lower the bound by less than
            this, relative to ``scale + |bound|``.
        max_iterations: stop after this many sweeps.
        keep: whether the variable keeps an equal part for itself; without it all goes to the
            factors, as in the MPLP that ties submodels together (Belanger et al., 2014).

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(3, 2, scores=[[1.0, 0.0], [0.0, 0.5], [0.0, 0.2]])
        >>> same = g.add(at.Potts(tag[:-1], tag[1:], scores=1.0))
        >>> at.decode(g, at.StarDiffusion())[tag].tolist()
        [0, 0, 0]
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-8
    max_iterations: int = 10_000
    keep: bool = True

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> StarMessages:
        """Fresh state, or link scores from an earlier run."""
        workspace = star_descent.start("StarDiffusion", problem, scores, warm_start)
        around = edges_at(workspace.stars, np.ones(len(workspace.stars.edges), bool))
        share = 1.0 / (around + (1.0 if self.keep else 0.0))
        workspace.shares = np.stack([share, share])
        return workspace
