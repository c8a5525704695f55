"""Coordinate descent over a corpus, chain by chain: MPLP and Box-MPLP (Belanger et al., 2014).

Max-marginals of a position are its scores and messages from both ends of its chain.  On the way
along a chain the messages from behind are sent anew, and those from ahead still hold, since nothing
there has moved: every linked position gets its exact step for the price of one pass, where asking
would take two passes for each (see :mod:`assent.kernels.boxes.chain_passes`, which does this for
any model; here a corpus of a million words fits in memory).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.consensus.consensus_sets import (
    first_best,
    is_settled,
    new_buffers,
    state_beside,
    step_link,
)
from assent.kernels.consensus.linked_chains import chain_scratch, charged_scores, send, send_all
from assent.kernels.core.copies import copy_values
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation


class ChainDescent(NamedTuple):
    """Multipliers, and what is known from earlier passes.

    Attributes:
        nu: ``[L, K]`` multipliers.
        total: ``[S, K]`` what states of sets are worth.
        messages: ``[positions, K]`` from the end where the last pass along the chain began.
        rested: ``[n]`` sweeps a chain has rested in a row.
        back: ``[n]`` whether the next pass begins at the end.
        states: ``[positions]`` best states after the last pass.
        values: ``[n]`` their charged scores.
        at_best, elsewhere: ``[L]`` where in its interval a multiplier should be (`best_block`).
    """

    nu: Any
    total: Any
    messages: Any
    rested: Any
    back: Any
    states: Any
    values: Any
    at_best: Any
    elsewhere: Any


@jit_internal_no_allocation
def may_rest(form, model, w, c):
    """Whether no link of a chain has anything to gain."""
    for t in range(model.ends[c], model.ends[c + 1]):
        for link in range(model.start[t], model.start[t + 1]):
            own, penalty = w.nu[link], model.penalty[link]
            other = state_beside(form, own, penalty, first_best(w.total[model.sets[link]]))
            if not is_settled(form, own, penalty, w.states[t], other):
                return False
    return True


@jit_internal_no_allocation
def trace(nodes, messages, table, forward, states):
    """Best states after a pass, followed back from where it ended; returns their score."""
    n, width = nodes.shape
    value, before = -np.inf, 0
    for step in range(n):
        t = n - 1 - step if forward else step
        best, state = -np.inf, 0
        for k in range(width):
            own = nodes[t, k] + messages[t, k]
            if step > 0:
                own += table[k * width + before] if forward else table[before * width + k]
            if own > best:
                best, state = own, k
        if step == 0:
            value = best
        states[t] = before = state
    return value


@jit_internal
def pass_along(form, model, w, c, nodes, behind, buffers):
    """Along one chain, to its end or back; ``behind[K]`` is scratch."""
    begin, end = model.ends[c], model.ends[c + 1]
    n = end - begin
    messages, table, forward = w.messages[begin:end], model.table, not w.back[c]
    charged_scores(model, w.nu, c, nodes)
    behind[:] = 0.0
    for step in range(n):
        t = step if forward else n - 1 - step
        for k in range(len(behind)):
            buffers.marginals[k] = behind[k] + nodes[t, k] + messages[t, k]
        for link in range(model.start[begin + t], model.start[begin + t + 1]):
            step_link(form, model, w, link, buffers)
            for k in range(len(behind)):
                nodes[t, k] += buffers.change[k]
        copy_values(behind, messages[t])
        if step < n - 1:
            copy_values(behind, buffers.mine)
            send(nodes[t], buffers.mine, table, forward, behind)
    w.values[c] = trace(nodes, messages, table, forward, w.states[begin:end])
    w.back[c] = forward
    w.rested[c] = 0


@jit
def first_messages(model, w):
    """Every chain for itself: its best states, and the messages that its first pass needs."""
    nodes = chain_scratch(model).nodes
    spare = np.empty(nodes.shape[1])
    for c in range(len(model.ends) - 1):
        begin, end = model.ends[c], model.ends[c + 1]
        if end > begin:
            own, messages = nodes[: end - begin], w.messages[begin:end]
            charged_scores(model, w.nu, c, own)
            send_all(own, model.table, False, messages, spare)
            w.values[c] = trace(own, messages, model.table, False, w.states[begin:end])


@jit
def pass_all(form, model, w, most_rests):
    """Along every chain with links once; returns the number of passes.

    A chain rests, up to ``most_rests`` times in a row, while it has nothing to gain.
    """
    width = model.scores.shape[1]
    nodes = chain_scratch(model).nodes
    buffers, behind = new_buffers(width), np.empty(width)
    passes = 0
    for c in range(len(model.ends) - 1):
        begin, end = model.ends[c], model.ends[c + 1]
        if model.start[begin] == model.start[end]:
            continue
        if w.rested[c] < most_rests and may_rest(form, model, w, c):
            w.rested[c] += 1
            continue
        pass_along(form, model, w, c, nodes[: end - begin], behind, buffers)
        passes += 1
    return passes
