"""Consensus sets, the other side of links: what multipliers are worth to them.

In both forms a linked position pays ``nu[K]`` and the other side earns it.

BOX (Belanger et al., 2014, figure 1): a set is one variable without scores, worth the greatest
entry of the sum of its links' multipliers, and ``0 <= nu <= c``.

COPIES (figure 2, after Rush et al., 2012): a set is a star, one variable with a copy of every
linked position around it; a copy that differs from the middle costs ``c``, and ``nu`` is free.
With the middle in state k the copy is worth ``max(nu[k], max nu - c)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.boxes.agreement_block import best_block
from assent.kernels.core.copies import copy_values
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation

BOX, COPIES = 0, 1


class LinkBuffers(NamedTuple):
    """Scratch for a link's step, ``[K]`` each; ``marginals`` are those of its position."""

    marginals: Any
    mine: Any
    other: Any
    penalties: Any
    new: Any
    change: Any


@jit_internal
def new_buffers(width):
    """Scratch for links of ``width`` states."""
    return LinkBuffers(
        np.empty(width), np.empty(width), np.empty(width), np.empty(width), np.empty(width),
        np.empty(width),
    )  # fmt: skip


@jit_internal_no_allocation
def add_link(form, own, c, sign, total):
    """Add ``sign`` times what a link with multipliers ``own[K]`` is worth, to ``total[K]``."""
    lowest = -np.inf
    if form == COPIES:
        for k in range(len(own)):
            lowest = max(lowest, own[k] - c)
    for k in range(len(own)):
        total[k] += sign * max(own[k], lowest)


@jit
def sum_sets(form, model, nu, total):
    """What each state of each set is worth, into ``total[S, K]``; returns the sum of the best."""
    total[:] = 0.0
    for link in range(len(nu)):
        add_link(form, nu[link], model.penalty[link], 1.0, total[model.sets[link]])
    value = 0.0
    for s in range(len(total)):
        value += total[s].max()
    return value


@jit_internal_no_allocation
def first_best(values):
    """The first of the greatest entries."""
    best = 0
    for k in range(1, len(values)):
        if values[k] > values[best]:
            best = k
    return best


@jit_internal_no_allocation
def state_beside(form, own, c, middle):
    """The state of a link's other side, if the set is in its state ``middle``."""
    if form == BOX:
        return middle
    best = first_best(own)
    return best if own[best] - c > own[middle] else middle


@jit_internal_no_allocation
def is_settled(form, own, c, state, other):
    """Whether a position in ``state`` and the ``other`` side leave nothing to gain."""
    if state == other:
        return True
    return form == BOX and own[state] >= c and own[other] <= 0.0


@jit_internal
def step_box(m, own, c, total, at_best, elsewhere, buffers):
    """Algorithm 4, corrected: the best multipliers of a link, into ``buffers.new[K]``."""
    buffers.penalties[:] = c
    for k in range(len(m)):
        buffers.mine[k] = m[k] + own[k]
        buffers.other[k] = total[k] - own[k]
    best_block(buffers.mine, buffers.other, buffers.penalties, buffers.new, at_best, elsewhere)


@jit_internal
def step_copies(m, own, c, total, buffers):
    """Algorithm 3: multipliers that make both max-marginals equal, into ``buffers.new[K]``."""
    copy_values(total, buffers.other)
    add_link(COPIES, own, c, -1.0, buffers.other)
    lowest = buffers.other.max() - c
    # Only differences count: without the greatest entries, numbers stay small.
    mine, other = -np.inf, -np.inf
    for k in range(len(m)):
        buffers.mine[k] = m[k] + own[k]
        buffers.other[k] = max(buffers.other[k], lowest)
        mine, other = max(mine, buffers.mine[k]), max(other, buffers.other[k])
    for k in range(len(m)):
        own_side = buffers.mine[k] - mine
        if own_side == -np.inf:
            # A state that the position cannot have: so low that no copy takes it for its own sake.
            own_side = -3.0 * c
        buffers.new[k] = 0.5 * (own_side - buffers.other[k] + other)


@jit_internal
def step_link(form, model, w, link, buffers):
    """The best step of a link, from ``buffers.marginals`` of its position, which it keeps up.

    What the position gains goes into ``buffers.change``.
    """
    own, total, c = w.nu[link], w.total[model.sets[link]], model.penalty[link]
    if form == BOX:
        step_box(buffers.marginals, own, c, total, w.at_best[link], w.elsewhere[link], buffers)
    else:
        step_copies(buffers.marginals, own, c, total, buffers)
    add_link(form, own, c, -1.0, total)
    for k in range(len(own)):
        buffers.change[k] = own[k] - buffers.new[k]
        buffers.marginals[k] += buffers.change[k]
        own[k] = buffers.new[k]
    add_link(form, own, c, 1.0, total)
