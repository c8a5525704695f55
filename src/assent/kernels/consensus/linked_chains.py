"""Chains whose linked positions are charged multipliers: their best states, one call each.

A corpus is one problem: chains with common transitions, and *consensus sets* of positions.  A link
of a position with its set costs a penalty where the two have different states.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.batch.chain_recursion import best_states, longest_of, new_scratch
from assent.kernels.core.copies import copy_values
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation
from assent.kernels.kinds.sequences.tree_recursion import pass_maximum


class LinkedChains(NamedTuple):
    """A corpus.

    Attributes:
        ends: ``[n + 1]`` where the positions of each chain begin and end.
        scores: ``[positions, K]`` of states.
        table: ``[K * K]`` scores of a state and the next.
        start: ``[positions + 1]`` where the links of each position begin.
        sets: ``[L]`` the set of each link.
        penalty: ``[L]`` what disagreement costs.
    """

    ends: Any
    scores: Any
    table: Any
    start: Any
    sets: Any
    penalty: Any


@jit_internal_no_allocation
def charged_scores(model, nu, c, out):
    """What multipliers ``nu[L, K]`` leave of the scores of a chain, into ``out[n, K]``."""
    first = model.ends[c]
    for t in range(first, model.ends[c + 1]):
        for k in range(out.shape[1]):
            out[t - first, k] = model.scores[t, k]
        for link in range(model.start[t], model.start[t + 1]):
            for k in range(out.shape[1]):
                out[t - first, k] -= nu[link, k]


@jit_internal
def chain_scratch(model):
    """Scratch for the longest chain."""
    return new_scratch(longest_of(model.ends), model.scores.shape[1])


@jit
def decode_charged(model, nu, asked, states, values):
    """Best states and values of the chains that are ``asked[n]``; their number.

    The states go into ``states[positions]``, their charged scores into ``values[n]``.
    """
    scratch = chain_scratch(model)
    calls = 0
    for c in range(len(asked)):
        begin, end = model.ends[c], model.ends[c + 1]
        if asked[c] and end > begin:
            nodes = scratch.nodes[: end - begin]
            charged_scores(model, nu, c, nodes)
            values[c] = best_states(nodes, model.table, scratch, states[begin:end])
            calls += 1
    return calls


@jit_internal_no_allocation
def send(nodes, message, table, forward, out):
    """What a position and those behind it tell the next: ``out[K]``; ``message`` is spent."""
    wide, one = np.int64(len(out)), np.int64(1)
    for k in range(len(out)):
        message[k] += nodes[k]
    if forward:
        pass_maximum(message, table, wide, one, 1.0, out)
    else:
        pass_maximum(message, table, one, wide, 1.0, out)


@jit_internal_no_allocation
def send_all(nodes, table, forward, messages, spare):
    """Messages from one end of a chain, into ``messages[n, K]``."""
    n = len(nodes)
    messages[0 if forward else n - 1] = 0.0
    for step in range(n - 1):
        t = step if forward else n - 1 - step
        copy_values(messages[t], spare)
        send(nodes[t], spare, table, forward, messages[t + 1 if forward else t - 1])


@jit
def charged_max_marginals(model, nu, asked, out):
    """Best scores of the chains ``asked[m]`` with each state of each position fixed.

    They go into ``out[positions, K]``, at the positions of these chains.
    """
    nodes = chain_scratch(model).nodes
    ahead = np.empty(nodes.shape)
    spare = np.empty(nodes.shape[1])
    for c in asked:
        n = model.ends[c + 1] - model.ends[c]
        messages = out[model.ends[c] : model.ends[c + 1]]
        charged_scores(model, nu, c, nodes)
        send_all(nodes[:n], model.table, True, messages, spare)
        send_all(nodes[:n], model.table, False, ahead[:n], spare)
        for t in range(n):
            for k in range(len(spare)):
                messages[t, k] += nodes[t, k] + ahead[t, k]


@jit
def answer_value(model, states, consensus):
    """The score of an answer, less the penalties of links that disagree with ``consensus[S]``."""
    width = model.scores.shape[1]
    total = 0.0
    for c in range(len(model.ends) - 1):
        for t in range(model.ends[c], model.ends[c + 1]):
            total += model.scores[t, states[t]]
            if t > model.ends[c]:
                total += model.table[states[t - 1] * width + states[t]]
            for link in range(model.start[t], model.start[t + 1]):
                if consensus[model.sets[link]] != states[t]:
                    total -= model.penalty[link]
    return total


@jit
def vote(model, states, votes):
    """Penalties that each state of each set would spare, into ``votes[S, K]``."""
    votes[:] = 0.0
    for t in range(len(states)):
        for link in range(model.start[t], model.start[t + 1]):
            votes[model.sets[link], states[t]] += model.penalty[link]
