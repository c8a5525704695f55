"""Chains with the same table of transitions throughout: Viterbi and forward–backward.

``nodes[n, S]`` scores the states of each position, ``table[S, S]`` (from, to) the transitions;
``-inf`` forbids.  Forward–backward multiplies probabilities that are rescaled at every position
(Rabiner 1989), which needs one exponential per state where logarithms need one per transition.
Where something allowed is so unlikely that a product might round to zero, logarithms are taken.

Of a corpus ``ends[n + 1]`` says where the positions of each chain begin and end.
"""

from __future__ import annotations

from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation
from assent.kernels.kinds.sequences.tree_recursion import (
    add_rows,
    pass_maximum,
    pass_message,
    soft_maximum,
)

# Factors below are left to logarithms: the product of three that are not is no less than 1e-300.
SMALLEST = 1e-100
LOWEST = log(SMALLEST)


class ChainScratch(NamedTuple):
    """Room for the recursions, of the longest chain."""

    nodes: Any  # [n, S] scores, for callers
    alpha: Any  # [n, S]
    beta: Any  # [n, S]
    factors: Any  # [n, S] exponentials of scores
    scales: Any  # [n]
    message: Any  # [S]
    states: Any  # [n]


@jit_internal_no_allocation
def longest_of(ends):
    """Positions of the longest of chains end to end; ``np.diff`` takes two seconds to compile."""
    most = 0
    for c in range(len(ends) - 1):
        most = max(most, ends[c + 1] - ends[c])
    return most


@jit_internal
def new_scratch(longest, width):
    """Room for chains of up to ``longest`` positions."""
    return ChainScratch(
        np.empty((longest, width)), np.empty((longest, width)), np.empty((longest, width)),
        np.empty((longest, width)), np.empty(longest), np.empty(width),
        np.empty(longest, np.int32),
    )  # fmt: skip


@jit_internal_no_allocation
def best_states(nodes, table, scratch, states):
    """The best states, into ``states[n]``; returns their score, -inf (and zeros) without any.

    ``table[S * S]`` is flat.  Of equally good states the first is taken.
    """
    n, width = nodes.shape
    one = np.int64(1)
    belief = scratch.alpha
    for k in range(width):
        belief[0, k] = nodes[0, k]
    for t in range(1, n):
        pass_maximum(belief[t - 1], table, np.int64(width), one, 1.0, scratch.message)
        add_rows(nodes[t], scratch.message, belief[t])
    best, state = -np.inf, 0
    for k in range(width):
        if belief[n - 1, k] > best:
            best, state = belief[n - 1, k], k
    states[n - 1] = state
    for t in range(n - 2, -1, -1):
        highest, above = -np.inf, state
        state = 0
        for k in range(width):
            value = belief[t, k] + table[k * width + above]
            if value > highest:
                highest, state = value, k
        states[t] = state
    return best


@jit_internal_no_allocation
def exponentials(table, out, transposed):
    """``exp(table - highest)``, and transposed; returns the highest, or NaN if one is too small."""
    width = len(out)
    highest = -np.inf
    for value in table:
        highest = max(highest, value)
    if highest == -np.inf:
        return np.nan
    for k in range(width):
        for j in range(width):
            below = table[k * width + j] - highest
            if -np.inf < below < LOWEST:
                return np.nan
            out[k, j] = transposed[j, k] = exp(below)
    return highest


@jit_internal_no_allocation
def forward(nodes, factors, scratch):
    """``alpha``, rescaled; returns the log-partition without transitions, or NaN for underflow."""
    n, width = nodes.shape
    alpha, own = scratch.alpha, scratch.factors
    total = 0.0
    for t in range(n):
        highest = -np.inf
        for k in range(width):
            highest = max(highest, nodes[t, k])
        if highest == -np.inf:
            return np.nan
        for k in range(width):
            below = nodes[t, k] - highest
            if -np.inf < below < LOWEST:
                return np.nan
            own[t, k] = exp(below)
        here = alpha[t]
        for j in range(width):
            here[j] = 0.0 if t else 1.0
        if t:
            for k in range(width):
                before = alpha[t - 1, k]
                for j in range(width):
                    here[j] += before * factors[k, j]
        scale = 0.0
        for j in range(width):
            here[j] *= own[t, j]
            scale += here[j]
        if scale <= 0.0:
            return np.nan
        for j in range(width):
            here[j] /= scale
            if 0.0 < here[j] < SMALLEST:
                return np.nan
        scratch.scales[t] = scale
        total += log(scale) + highest
    return total


@jit_internal_no_allocation
def backward(n, transposed, scratch):
    """``beta``, and in ``factors`` the weight of each position's states and all behind it.

    False if a factor is too small.
    """
    width = len(transposed)
    beta, own = scratch.beta, scratch.factors
    for k in range(width):
        beta[n - 1, k] = 1.0
    for t in range(n - 1, 0, -1):
        for j in range(width):
            own[t, j] *= beta[t, j] / scratch.scales[t]
            if 0.0 < own[t, j] < SMALLEST:
                return False
        here = beta[t - 1]
        for k in range(width):
            here[k] = 0.0
        for j in range(width):
            behind = own[t, j]
            for k in range(width):
                here[k] += behind * transposed[j, k]
    return True


@jit_internal_no_allocation
def log_marginals(nodes, table, count, scratch, out, out_edges):
    """`chain_marginals` with logarithms throughout."""
    n, width = nodes.shape
    one, wide = np.int64(1), np.int64(width)
    alpha, beta, behind = scratch.alpha, scratch.beta, scratch.factors
    for k in range(width):
        alpha[0, k], beta[n - 1, k] = nodes[0, k], 0.0
    for t in range(1, n):
        pass_message(alpha[t - 1], table, wide, one, 1.0, 1.0, scratch.message)
        add_rows(nodes[t], scratch.message, alpha[t])
    for t in range(n - 1, 0, -1):
        add_rows(nodes[t], beta[t], behind[t])
        pass_message(behind[t], table, one, wide, 1.0, 1.0, beta[t - 1])
    total = soft_maximum(alpha[n - 1], beta[n - 1], one, 1.0)
    if total == -np.inf:
        for t in range(n):
            for k in range(width):
                out[t, k] = 0.0
        return total
    for t in range(n):
        for k in range(width):
            out[t, k] = count * exp(alpha[t, k] + beta[t, k] - total)
            if t + 1 < n:
                for j in range(width):
                    value = alpha[t, k] + table[k * width + j] + behind[t + 1, j]
                    out_edges[k, j] += count * exp(value - total)
    return total


@jit_internal_no_allocation
def chain_marginals(nodes, table, weights, count, scratch, out, out_edges):
    """``count`` times the probabilities of states, into ``out[n, S]``; returns the log-partition.

    ``weights`` are the table's `exponentials`: the highest score, ``[S, S]`` factors, and these
    transposed.  ``count`` times the expected numbers of transitions are added to
    ``out_edges[S, S]``.
    """
    highest, factors, transposed = weights
    n, width = nodes.shape
    total = np.nan
    if highest == highest:  # not NaN
        total = forward(nodes, factors, scratch)
    if total != total or not backward(n, transposed, scratch):
        return log_marginals(nodes, table, count, scratch, out, out_edges)
    alpha, beta, behind = scratch.alpha, scratch.beta, scratch.factors
    for t in range(n):
        for k in range(width):
            out[t, k] = count * alpha[t, k] * beta[t, k]
    for t in range(n - 1):
        for k in range(width):
            before = count * alpha[t, k]
            for j in range(width):
                out_edges[k, j] += before * factors[k, j] * behind[t + 1, j]
    return total + (n - 1) * highest


@jit
def maximize_chains(ends, nodes, table, states):
    """The best states of every chain, into ``states[positions]``."""
    scratch = new_scratch(longest_of(ends), nodes.shape[1])
    for c in range(len(ends) - 1):
        first, last = ends[c], ends[c + 1]
        best_states(nodes[first:last], table, scratch, states[first:last])


@jit
def marginals_chains(ends, counts, nodes, table, out, out_edges):
    """Probabilities of states, into ``out[positions, S]``; those of transitions are added up.

    ``out_edges[S, S]`` gets the expected number of each transition in all chains.  Returns the
    sum of the log-partitions.  Every chain counts ``counts[n]`` times.
    """
    width = nodes.shape[1]
    scratch = new_scratch(longest_of(ends), width)
    factors, transposed = np.empty((width, width)), np.empty((width, width))
    weights = exponentials(table, factors, transposed), factors, transposed
    out_edges[:] = 0.0
    total = 0.0
    for c in range(len(ends) - 1):
        own = slice(ends[c], ends[c + 1])
        total += counts[c] * chain_marginals(
            nodes[own], table, weights, counts[c], scratch, out[own], out_edges
        )
    return total
