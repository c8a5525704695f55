"""RoofDuality: the relaxation of binary pairwise graphs by one maximum flow.

With a posiform of terms ``-b x y`` (:mod:`assent.solvers.direct.posiform`), the dual of the
relaxation asks how much each term takes from its two literals so that the scores left over are as
near to zero as can be.  What a term takes from ``x`` it takes from ``y`` as well, that is, gives to
``~y``: a flow in a network with a node per literal (Boros and Hammer, 2002; Kolmogorov and Rother,
2007).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.kernels.direct import roof_network
from assent.kernels.graph_cut.maxflow import SOURCE, Network, make_arcs, max_flow
from assent.kernels.problem import Float, Int32, Problem, Scores
from assent.solvers.base.one_step import OneStep, OneStepSolution, OneStepState
from assent.solvers.base.protocol import Info
from assent.solvers.direct.posiform import Posiform, make_posiform

# Capacities below this part of the largest count as none: they are rounding errors.
TINY = 1e-13


@dataclass(frozen=True, kw_only=True)
class RoofSolution(OneStepSolution):
    """The solved relaxation, ``x[n]`` being 0, 1 or one half.

    Some best assignment has all the values that are not one half.
    """

    level: Float  # [E] what every term takes from its literals


@dataclass(frozen=True)
class RoofDuality(OneStep):
    """The exact relaxation of binary pairwise graphs in one maximum flow, with persistent labels.

    Takes variables of two states, pairs and tables over two of them, and rules over two literals.
    Where all pairs attract after some variables are negated, the answer is the optimum.
    Otherwise ``result.marginals`` are 0, 1 or one half, and *persistent*: some best assignment has
    every value that is 0 or 1 there.

    Attributes:
        gap_tolerance: relative gap at which an answer counts as optimal.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(4, scores=[1.0, 1.0, 1.0, -3.0])
        >>> rule = g.add(at.Pair(x[[0, 1, 2, 2]], x[[1, 2, 0, 3]], scores=[-2.0, -2.0, -2.0, 0.5]))
        >>> result = at.decode(g, at.RoofDuality())
        >>> result.marginals[x].tolist(), result.bound, result.value
        ([0.5, 0.5, 0.5, 0.0], 1.5, 1.0)
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 1  # one step does everything

    def advance(
        self, problem: Problem, scores: Scores, workspace: OneStepState, iterations: int = 1
    ) -> Info:
        """Solve; one iteration is the whole solve."""
        workspace.solution = solve_roof(problem, scores)
        return Info(1, 0.0, 0.0, finished=True, calls=len(workspace.solution.level))


def solve_roof(problem: Problem, scores: Scores) -> RoofSolution:
    """Optimum of the relaxation, a dual point that proves it, and persistent values."""
    made = make_posiform(problem, scores)
    level, side = balance(made)
    x = 0.5 + 0.5 * side.astype(float)
    return RoofSolution(x, made.value_at(x), made.links_at(problem, level), level=level)


def balance(made: Posiform) -> tuple[Float, NDArray[np.int8]]:
    """Levels ``[E]`` of the terms that leave the least, and values ``[n]``: 1, -1 or 0 for both."""
    lits, price = made.terms.lits, made.terms.price
    n, e = len(made.theta), len(price)
    node = np.where(lits < 0, 2 * ~lits + 1, 2 * lits)
    most = 1.0 + np.abs(made.theta).sum() + price[np.isfinite(price)].sum()
    room = np.where(np.isinf(price), most, price)  # no flow is larger than `most`
    begin = np.where(np.isinf(price), 0.0, 0.5 * price)
    kept = np.empty(2 * n, np.bool_)
    roof_network.mark_kept(node[:, 0], node[:, 1] ^ 1, kept)
    # A term is an arc from its first literal to the negated second, and the mirror image of it.
    tails, heads = node.T.ravel(), node[:, ::-1].T.ravel() ^ 1
    chosen = np.flatnonzero(kept[tails])
    first, head, sister, forward = make_arcs(2 * n, tails[chosen], heads[chosen])
    residual = np.empty(len(head))
    residual[forward] = (room - begin)[chosen % e] if e else 0.0
    residual[sister[forward]] = begin[chosen % e] if e else 0.0
    left = made.theta - _taken(lits, begin, n)
    terminal = np.where(kept, np.stack([left, -left], axis=1).ravel(), 0.0)
    tiny = TINY * float(np.abs(terminal).max(initial=0.0))
    sides = np.empty(2 * n, np.int8)
    network = Network(first, head, sister, residual, terminal, np.zeros(2 * n, np.int32))
    max_flow(network, tiny, sides)
    level = _levels(residual[sister[forward]], chosen, price)
    return level, _values(sides, kept, node, level, price, tiny)


def _taken(lits: Int32, level: Float, n: int) -> Float:
    """What terms take from their coordinates; a negated literal's gains are its losses."""
    signed = np.where(lits < 0, -level[:, None], level[:, None])
    coordinate = np.where(lits < 0, ~lits, lits)
    return np.bincount(coordinate.ravel(), signed.ravel(), minlength=n).astype(float)


def _levels(pushed: Float, chosen: NDArray[np.int64], price: Float) -> Float:
    """The mean of a term's two flows, where both arcs are there."""
    e = len(price)
    if not e:
        return np.zeros(0)
    total = np.bincount(chosen % e, pushed, minlength=e)
    return np.clip(total / np.bincount(chosen % e, minlength=e), 0.0, price)


def _values(
    sides: NDArray[np.int8],
    kept: NDArray[np.bool_],
    node: NDArray[np.int64],
    level: Float,
    price: Float,
    tiny: float,
) -> NDArray[np.int8]:
    """Values ``[n]`` that a minimum cut gives, as many as possible; 0 where it cannot decide."""
    alone = ~(kept[0::2] & kept[1::2])  # where a mirror image was left out, any cut will do
    side = np.where(kept[0::2], sides[0::2], -sides[1::2])
    loose = np.where(kept[0::2], -1, 1).astype(np.int8)
    side = np.where(alone & (side == 0), loose, side).astype(np.int8)
    open_terms = np.flatnonzero((side[node >> 1] == 0).all(axis=1))
    if not len(open_terms):
        return np.where(side == 0, SOURCE, side)
    return _undecided(side, node[open_terms], level[open_terms], price[open_terms], tiny)


def _undecided(
    side: NDArray[np.int8], node: NDArray[np.int64], level: Float, price: Float, tiny: float
) -> NDArray[np.int8]:
    """Decide the rest where no open arcs lead from a literal to its negation and back."""
    tails, heads = node.T.ravel(), node[:, ::-1].T.ravel() ^ 1
    count = 2 * len(side)
    first, head, sister, forward = make_arcs(count, tails, heads)
    is_open = np.empty(len(head), np.bool_)
    is_open[forward] = np.tile(level < price - tiny, 2)
    is_open[sister[forward]] = np.tile(level > tiny, 2)
    number = np.empty(count, np.int32)
    roof_network.strong_components(first, head, is_open, number)
    found = np.sign(number[1::2] - number[0::2]).astype(np.int8)
    return np.where(side == 0, found, side)
