"""Answers of submodels that soft agreement links: each takes what is best beside all the others.

At the best multipliers many vertices of a submodel are equally good, and those it happens to name
need not go together.  Once the others' are known, its own best one is one maximisation, in which
literals are charged what disagreement costs.  Submodel after submodel, the value never falls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.boxes.submodels import solve_submodel
from assent.kernels.core.copies import copy_values
from assent.kernels.core.residual_scores import settle
from assent.kernels.jit import jit, jit_internal_no_allocation

# Rounds over all of them; most answers rest after two or three.
MOST_ROUNDS = 10


class SubmodelOrder(NamedTuple):
    """Who chooses: submodels with links, then coordinates in none.

    Attributes:
        factor: ``[U]`` the submodel, or ``~v`` for a coordinate.
        start: ``[U + 1]`` where their blocks begin.
        block, side: the blocks, and which side of each they are.
    """

    factor: np.ndarray
    start: np.ndarray
    block: np.ndarray
    side: np.ndarray


@jit_internal_no_allocation
def holds(boxes, term, x):
    """Whether the literal of a term is true."""
    if boxes.known[term] != 0:
        return boxes.known[term] == 1
    lit = boxes.lits[term]
    return x[~lit] < 0.5 if lit < 0 else x[lit] > 0.5


@jit_internal_no_allocation
def charge_beside(boxes, box, side, x, r):
    """Charge one side's literals what a block costs beside what the other side's are.

    Of ``c [y1 - y2]+`` the first side pays ``c`` for its literal where the second's is false, and
    the second side earns ``c`` for its own where the first's is true.
    """
    for t in range(boxes.first[box], boxes.first[box + 1]):
        mine, other = boxes.term[t] + side, boxes.term[t] + 1 - side
        if boxes.known[mine] == 0 and holds(boxes, other, x) == (side == 1):
            settle(boxes.lits[mine], boxes.upper[t] if side == 0 else -boxes.upper[t], r)


@jit_internal_no_allocation
def forget(boxes, box, side, theta, r):
    """Scores ``r`` of one side's literals as they were before all charges."""
    for t in range(boxes.first[box], boxes.first[box + 1]):
        lit = boxes.lits[boxes.term[t] + side]
        v = ~lit if lit < 0 else lit
        r[v] = theta[v]


@jit
def improve(flat, submodels, boxes, order, inner, theta, s, x, work):
    """Let everybody choose again beside the others, into ``x[n]``, until all rest."""
    r, before = theta.copy(), x.copy()
    for _ in range(MOST_ROUNDS):
        copy_values(x, before)
        for place in range(len(order.factor)):
            blocks = range(order.start[place], order.start[place + 1])
            for at in blocks:
                charge_beside(boxes, order.block[at], order.side[at], x, r)
            factor = order.factor[place]
            if factor >= 0:
                solve_submodel(flat, submodels, inner, factor, r, s, x, work)
            else:
                x[~factor] = 1.0 if r[~factor] > 0.0 else 0.0
            for at in blocks:
                forget(boxes, order.block[at], order.side[at], theta, r)
        if (x == before).all():
            break
