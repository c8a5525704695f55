"""TRWS: sequential tree-reweighted message passing (Kolmogorov, 2006).

The sweeps are those of :mod:`assent.kernels.messages.star_sweep`; what makes them TRW-S are the
shares that factors get back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assent.errors import ModelError
from assent.kernels.core.factor_list import CODE, FACTOR, TABLE
from assent.kernels.messages import star_sweep as edge
from assent.kernels.messages.star_sweep import Stars
from assent.kernels.problem import DENSE, POTTS, Float, Int64, Problem, Scores
from assent.solvers.base.protocol import WarmStart
from assent.solvers.messages import star_descent
from assent.solvers.messages.star_descent import StarDescent, StarMessages
from assent.solvers.messages.star_layout import edges_at

LOGIC_NAMES = ("AtMost", "Exactly", "AtLeastOne with output", "Parity", "Knapsack")


@dataclass(frozen=True)
class TRWS(StarDescent):
    """Sequential tree-reweighted message passing: quick on graphs of unary and pairwise terms.

    Variables are visited in the order they were declared, then backwards; a variable collects
    what the factors around it know and passes it on to those that are still to come.  The bound
    never rises.  Factors may tie two variables at most.

    Attributes:
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (scale + |bound|)``.
        residual_tolerance: stop when the sweeps between two reports lower the bound by less than
            this, relative to ``scale + |bound|``.
        max_iterations: stop after this many sweeps, forward and backward alternating.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(3, 2, scores=[[1.0, 0.0], [0.0, 0.5], [0.0, 0.2]])
        >>> same = g.add(at.Potts(tag[:-1], tag[1:], scores=1.0))
        >>> at.decode(g, at.TRWS())[tag].tolist()
        [0, 0, 0]
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-8
    max_iterations: int = 10_000

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> StarMessages:
        """Fresh state, or link scores from an earlier run."""
        workspace = star_descent.start("TRWS", problem, scores, warm_start)
        workspace.shares = _shares(problem, workspace)
        return workspace


def _shares(problem: Problem, workspace: StarMessages) -> Float:
    """Forward and backward: equal ones for the factors ahead, none for those behind.

    As many parts are made as there are factors on the side that has more (Kolmogorov's gamma).
    """
    stars = workspace.stars
    ahead, behind = _sides(problem, workspace, stars)
    parts = np.maximum(edges_at(stars, ahead), edges_at(stars, behind))
    share = 1.0 / np.maximum(parts, 1)
    return np.stack([np.where(ahead, share, 0.0), np.where(behind, share, 0.0)])


def _sides(
    problem: Problem, workspace: StarMessages, stars: Stars
) -> tuple[np.ndarray, np.ndarray]:
    """Of every edge, whether its factor's other variable comes later, and whether earlier."""
    groups = workspace.flat.groups
    unit = np.repeat(stars.unit, np.diff(stars.start))
    factor = groups[stars.edges[:, edge.GROUP], FACTOR] + stars.edges[:, edge.MEMBER]
    number = int(factor.max(initial=0)) + 1
    low, high = np.full(number, len(stars.first)), np.full(number, -1)
    np.minimum.at(low, factor, unit)
    np.maximum.at(high, factor, unit)
    between = (unit != low[factor]) & (unit != high[factor])
    if between.any():
        name = _name(problem, groups, int(stars.edges[between, edge.GROUP][0]))
        raise ModelError(
            f"TRWS takes factors over two variables at most, and {name} "
            "ties more; decode with MPLP(), StarDiffusion() or AD3()"
        )
    return unit < high[factor], unit > low[factor]


def _name(problem: Problem, groups: Int64, group: int) -> str:
    """A group's kind in words."""
    code = int(groups[group, CODE])
    if code < TABLE:  # a pair has no more than two
        return f"a constraint of the form {LOGIC_NAMES[code]}"
    if code in (TABLE + DENSE, TABLE + POTTS):
        return "a Dense table"
    return f"a {problem.models[group - len(groups)].structure.kind}"  # models come last
