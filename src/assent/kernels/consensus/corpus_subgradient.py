"""Subgradient steps over a corpus (Belanger et al., 2014, algorithms 1 and 2, signs corrected).

The multipliers of a link rise where its position has a state and the other side has another; in
the box they stay between zero and the penalty.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.consensus.consensus_sets import BOX, first_best, state_beside
from assent.kernels.jit import jit
from assent.kernels.messages.subgradient_step import count_iteration, next_step


@jit
def other_sides(form, model, nu, total, others):
    """States of the other sides of links, into ``others[L]``."""
    middle = np.empty(len(total), np.int32)
    for s in range(len(total)):
        middle[s] = first_best(total[s])
    for link in range(len(nu)):
        others[link] = state_beside(form, nu[link], model.penalty[link], middle[model.sets[link]])


@jit
def step_size(rule, dual, squares, state):
    """Note an iteration's dual value; returns the step by ``rule``."""
    count_iteration(dual, state)
    return next_step(rule, squares, state)


@jit
def subgradient_squares(form, model, nu, states, others):
    """The square of the subgradient, in the box without what its walls hold back."""
    squares = 0.0
    for t in range(len(states)):
        for link in range(model.start[t], model.start[t + 1]):
            mine, other = states[t], others[link]
            if mine != other:
                squares += form != BOX or nu[link, mine] < model.penalty[link]
                squares += form != BOX or nu[link, other] > 0.0
    return squares


@jit
def move(form, model, nu, states, others, step):
    """Take a step; returns the chains ``[n]`` whose multipliers have changed."""
    changed = np.zeros(len(model.ends) - 1, np.bool_)
    for c in range(len(changed)):
        for t in range(model.ends[c], model.ends[c + 1]):
            for link in range(model.start[t], model.start[t + 1]):
                mine, other = states[t], others[link]
                if mine == other:
                    continue
                up, down = nu[link, mine] + step, nu[link, other] - step
                if form == BOX:
                    up, down = min(up, model.penalty[link]), max(down, 0.0)
                changed[c] |= nu[link, mine] != up or nu[link, other] != down
                nu[link, mine], nu[link, other] = up, down
    return changed
