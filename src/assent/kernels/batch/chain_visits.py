"""Passes over a corpus of chains that change the weights after each one.

Weights lie as in ``models.weight_layout``: of features ``[D, K]``, of transitions ``[K, K]``, of
the first and of the last label ``[K]`` each.  A chain reads and changes only those of its own
features, which it lists.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.batch.chain_recursion import (
    best_states,
    chain_marginals,
    exponentials,
    longest_of,
    new_scratch,
)
from assent.kernels.jit import jit, jit_internal_no_allocation

# Where nothing is known of a weight its curvature is zero, and so is the sum it divides.
NO_CURVATURE = 1e-300


class ChainCorpus(NamedTuple):
    """Chains with sparse features, ``K`` labels, and the states ``S`` that stand for them.

    Attributes:
        ends: ``[n + 1]`` where the positions of each chain begin and end.
        rows: ``[positions + 1]`` where the features of each position begin and end.
        place: of each feature among those its chain has.
        value: of each feature.
        used_ends: ``[n + 1]`` where the features that each chain has begin and end.
        used: numbers of these features.
        gold: ``[positions]`` right labels.
        costs: ``[positions, K]`` of labels.
        counts: ``[n]`` how often each chain counts.
        label: ``[S]`` of the states; without rules, states are labels.
        allowed: ``[S, S]`` added to the score of a transition.
        begin, end: ``[S]`` added to the score of the first and the last state.
    """

    ends: NDArray[np.int64]
    rows: NDArray[np.int64]
    place: NDArray[np.int32]
    value: NDArray[np.float64]
    used_ends: NDArray[np.int64]
    used: NDArray[np.int32]
    gold: NDArray[np.int32]
    costs: NDArray[np.float64]
    counts: NDArray[np.float64]
    label: NDArray[np.int32]
    allowed: NDArray[np.float64]
    begin: NDArray[np.float64]
    end: NDArray[np.float64]


@jit_internal_no_allocation
def label_scores(corpus, c, weights, tail, scores):
    """Scores ``[n, K]`` of a chain's labels by ``weights[used, K]``, and ``tail`` for the ends."""
    first, last = corpus.ends[c], corpus.ends[c + 1]
    width = scores.shape[1]
    for t in range(first, last):
        row = scores[t - first]
        for k in range(width):
            row[k] = 0.0
        for i in range(corpus.rows[t], corpus.rows[t + 1]):
            own, value = weights[corpus.place[i]], corpus.value[i]
            for k in range(width):
                row[k] += value * own[k]
    area = width * width
    for k in range(width):
        scores[0, k] += tail[area + k]
        scores[last - first - 1, k] += tail[area + width + k]


@jit_internal_no_allocation
def state_scores(corpus, scores, tail, nodes, table):
    """Scores ``nodes[n, S]`` and ``table[S * S]`` of states from those of labels."""
    n, labels = scores.shape
    label = corpus.label
    width = len(label)
    for t in range(n):
        for s in range(width):
            nodes[t, s] = scores[t, label[s]]
    for s in range(width):
        nodes[0, s] += corpus.begin[s]
        nodes[n - 1, s] += corpus.end[s]
        for r in range(width):
            table[s * width + r] = tail[label[s] * labels + label[r]] + corpus.allowed[s, r]


@jit_internal_no_allocation
def feature_change(corpus, c, change, out, tail):
    """Features of ``change[n, K]`` in labels: into ``out[used, K]``, and its ends into ``tail``."""
    first, last = corpus.ends[c], corpus.ends[c + 1]
    width = change.shape[1]
    area = width * width
    for u in range(corpus.used_ends[c + 1] - corpus.used_ends[c]):
        for k in range(width):
            out[u, k] = 0.0
    for t in range(first, last):
        own = change[t - first]
        for i in range(corpus.rows[t], corpus.rows[t + 1]):
            row, value = out[corpus.place[i]], corpus.value[i]
            for k in range(width):
                row[k] += value * own[k]
    for k in range(width):
        tail[area + k] = change[0, k]
        tail[area + width + k] = change[last - first - 1, k]


@jit_internal_no_allocation
def copy_scaled(source, scale, out):
    """``out = scale * source``."""
    for k in range(len(out)):
        out[k] = scale * source[k]


@jit_internal_no_allocation
def count_transitions(labels, amount, width, tail):
    """Add ``amount`` to every transition between neighbouring labels."""
    for t in range(len(labels) - 1):
        tail[labels[t] * width + labels[t + 1]] += amount


@jit_internal_no_allocation
def best_change(corpus, c, states, amount, change, tail):
    """``amount`` times gold minus best labels and transitions, from the best states.

    Returns the cost of the best labels, which take the place of ``states``, and whether there is
    a mistake among them; if there is none, no change is written.
    """
    first = corpus.ends[c]
    width = change.shape[1]
    label, gold = corpus.label, corpus.gold[first : first + len(states)]
    cost, mistakes = 0.0, 0
    for t in range(len(states)):
        states[t] = label[states[t]]
        mistakes += states[t] != gold[t]
        cost += corpus.costs[first + t, states[t]]
    if not mistakes:
        return cost, False
    tail[:] = 0.0
    count_transitions(gold, amount, width, tail)
    count_transitions(states, -amount, width, tail)
    for t in range(len(states)):
        for k in range(width):
            change[t, k] = 0.0
        change[t, gold[t]] += amount
        change[t, states[t]] -= amount
    return cost, True


@jit_internal_no_allocation
def add_change(change, step, weights, late):
    """Add a change to weights, and times the number of its step to ``late``."""
    for k in range(len(change)):
        weights[k] += change[k]
        late[k] += step * change[k]


@jit
def subgradient_pass(corpus, order, weights, late, steps, rate, scaled, margin):
    """Visit chains in ``order``: add ``rate`` times the gold features minus the best's.

    The best labels are those for the scores times ``scaled / steps`` (as they are where that is 0),
    plus ``margin`` times the costs.  ``late`` gets every change times the number of its step.
    Returns the sum of the best labels' costs.
    """
    width = corpus.costs.shape[1]
    head = weights[: len(weights) - width * (width + 2)].reshape(-1, width)
    late_head = late[: len(head) * width].reshape(-1, width)
    tail, late_tail = weights[len(head) * width :], late[len(head) * width :]
    longest, most = longest_of(corpus.ends), longest_of(corpus.used_ends)
    scratch = new_scratch(longest, len(corpus.label))
    scores, own = np.empty((longest, width)), np.empty((most, width))
    table, ends = np.empty(len(corpus.label) ** 2), np.empty(len(tail))
    losses = 0.0
    for c in order:
        first, last = corpus.ends[c], corpus.ends[c + 1]
        n = last - first
        used = corpus.used[corpus.used_ends[c] : corpus.used_ends[c + 1]]
        scale = scaled / max(1, steps) if scaled > 0.0 else 1.0
        for u in range(len(used)):
            copy_scaled(head[used[u]], scale, own[u])
        copy_scaled(tail, scale, ends)
        here, states = scores[:n], scratch.states[:n]
        label_scores(corpus, c, own, ends, here)
        if margin > 0.0:
            here += margin * corpus.costs[first:last]
        state_scores(corpus, here, ends, scratch.nodes[:n], table)
        if best_states(scratch.nodes[:n], table, scratch, states) > -np.inf:
            amount = rate * corpus.counts[c]
            cost, mistaken = best_change(corpus, c, states, amount, here, ends)
            losses += corpus.counts[c] * cost
            if mistaken:
                feature_change(corpus, c, here, own, ends)
                for u in range(len(used)):
                    add_change(own[u], steps, head[used[u]], late_head[used[u]])
                add_change(ends, steps, tail, late_tail)
        steps += 1
    return losses


@jit_internal_no_allocation
def dual_average(total, squares, time, rate, out):
    """AdaGrad's weights by sums of gradients and of their squares, into ``out``."""
    for k in range(len(out)):
        curvature = time + sqrt(squares[k]) / rate
        out[k] = -total[k] / max(curvature, NO_CURVATURE)


@jit_internal_no_allocation
def add_gradient(gradient, total, squares):
    """Count a gradient in both sums."""
    for k in range(len(gradient)):
        total[k] += gradient[k]
        squares[k] += gradient[k] * gradient[k]


@jit_internal_no_allocation
def likelihood_change(corpus, c, amount, marginals, expected, change, tail):
    """``amount`` times expected minus gold labels and transitions, the former from states."""
    first = corpus.ends[c]
    labels = change.shape[1]
    label = corpus.label
    tail[:] = 0.0
    for t in range(len(change)):
        for k in range(labels):
            change[t, k] = 0.0
        for s in range(len(label)):
            change[t, label[s]] += marginals[t, s]
        change[t, corpus.gold[first + t]] -= amount
    for s in range(len(label)):
        for r in range(len(label)):
            tail[label[s] * labels + label[r]] += expected[s, r]
    count_transitions(corpus.gold[first : first + len(change)], -amount, labels, tail)


@jit
def adagrad_pass(corpus, order, total, squares, steps, rate, C):
    """Visit chains in ``order``: a step of AdaGrad (dual averaging) on minus the log-likelihood."""
    width, states = corpus.costs.shape[1], len(corpus.label)
    head = total[: len(total) - width * (width + 2)].reshape(-1, width)
    head_squares = squares[: len(head) * width].reshape(-1, width)
    tail, tail_squares = total[len(head) * width :], squares[len(head) * width :]
    longest, most = longest_of(corpus.ends), longest_of(corpus.used_ends)
    scratch = new_scratch(longest, states)
    scores, own, ends = np.empty((longest, width)), np.empty((most, width)), np.empty(len(tail))
    marginals, table = np.empty((longest, states)), np.empty(states * states)
    factors, transposed = np.empty((states, states)), np.empty((states, states))
    expected = np.empty((states, states))
    for c in order:
        n = corpus.ends[c + 1] - corpus.ends[c]
        used = corpus.used[corpus.used_ends[c] : corpus.used_ends[c + 1]]
        time = steps / len(order)
        for u in range(len(used)):
            dual_average(head[used[u]], head_squares[used[u]], time, rate, own[u])
        dual_average(tail, tail_squares, time, rate, ends)
        here = scores[:n]
        label_scores(corpus, c, own, ends, here)
        state_scores(corpus, here, ends, scratch.nodes[:n], table)
        weights = exponentials(table, factors, transposed), factors, transposed
        expected[:] = 0.0
        amount = C * corpus.counts[c]
        chain_marginals(scratch.nodes[:n], table, weights, amount, scratch, marginals[:n], expected)
        likelihood_change(corpus, c, amount, marginals[:n], expected, here, ends)
        feature_change(corpus, c, here, own, ends)
        for u in range(len(used)):
            add_gradient(own[u], head[used[u]], head_squares[used[u]])
        add_gradient(ends, tail, tail_squares)
        steps += 1
