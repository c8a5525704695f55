"""Trees of words whose heads should be of one class: their best heads, one call each.

The twin of :mod:`assent.kernels.consensus.linked_chains`: sentences are trees by their arcs alone,
and the state of a word is the class of its head, such as its tag.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation
from assent.kernels.kinds.sentences.arcs import HEADS, SINGLE_ROOT
from assent.kernels.kinds.sentences.projective_chart import max_marginals_projective
from assent.kernels.kinds.sentences.spanning_trees import max_marginals_arborescence
from assent.kernels.parsing.sentence_parts import Arcs, best_tree


class LinkedTrees(NamedTuple):
    """A corpus of candidate arcs.

    Attributes:
        ends: ``[n + 1]`` where the words of each sentence begin and end.
        arc_ends: ``[n + 1]`` where its arcs do.
        head, modifier: ``[A]`` of arcs, within the sentence; 0 is the root.
        first: ``[words + 2 n]`` where the arcs into each word begin, as in `Arcs`.
        scores: ``[A]`` of arcs.
        group: ``[A]`` the class of the arc's head.
        start, sets, penalty: links, as of `LinkedChains`.
    """

    ends: Any
    arc_ends: Any
    head: Any
    modifier: Any
    first: Any
    scores: Any
    group: Any
    start: Any
    sets: Any
    penalty: Any


@jit_internal
def arcs_of(model, c):
    """The arcs of one sentence."""
    begin, end = model.arc_ends[c], model.arc_ends[c + 1]
    first = model.first[model.ends[c] + 2 * c : model.ends[c + 1] + 2 * (c + 1)]
    return Arcs(model.head[begin:end], model.modifier[begin:end], first)


@jit_internal_no_allocation
def read_heads(model, c, arcs, scores, heads, states, words):
    """Heads into the corpus' ``words``, their classes into ``states``; returns what they score."""
    total = 0.0
    begin = model.arc_ends[c]
    for m in range(1, len(heads) + 1):
        for a in range(arcs.first[m], arcs.first[m + 1]):
            if arcs.head[a] == heads[m - 1]:
                states[model.ends[c] + m - 1] = model.group[begin + a]
                words[model.ends[c] + m - 1] = arcs.head[a]
                total += scores[a]
    return total


@jit_internal
def charged_arcs(model, nu, c, arcs):
    """What multipliers ``nu[L, classes]`` leave of the scores of a sentence's arcs."""
    begin = model.arc_ends[c]
    scores = model.scores[begin : model.arc_ends[c + 1]].copy()
    for a in range(len(scores)):
        t = model.ends[c] + arcs.modifier[a] - 1
        for link in range(model.start[t], model.start[t + 1]):
            scores[a] -= nu[link, model.group[begin + a]]
    return scores


@jit
def charged_max_marginals(model, shape, nu, asked, out):
    """As `linked_chains.charged_max_marginals`: best scores with each class of each head fixed."""
    for c in asked:
        arcs = arcs_of(model, c)
        scores = charged_arcs(model, nu, c, arcs)
        words = len(arcs.first) - 2
        data = np.empty(HEADS + len(scores), np.int64)
        data[0], data[SINGLE_ROOT] = words, shape.single_root
        data[HEADS:] = arcs.head
        through = np.empty(len(scores))
        start = arcs.first[1:].astype(np.int64)
        if shape.projective:
            max_marginals_projective(start, data, scores, scores[:0], through)
        else:
            max_marginals_arborescence(start, data, scores, scores[:0], through)
        first = model.ends[c]
        out[first : first + words] = -np.inf
        for a in range(len(scores)):
            t, k = first + arcs.modifier[a] - 1, model.group[model.arc_ends[c] + a]
            out[t, k] = max(out[t, k], through[a])


@jit
def decode_charged(model, shape, nu, asked, states, values, words):
    """As `linked_chains.decode_charged`; multipliers are ``nu[L, classes]``."""
    calls = 0
    for c in range(len(asked)):
        if not asked[c] or model.ends[c] == model.ends[c + 1]:
            continue
        arcs = arcs_of(model, c)
        scores = charged_arcs(model, nu, c, arcs)
        heads = best_tree(arcs, scores, shape)
        values[c] = read_heads(model, c, arcs, scores, heads, states, words)
        calls += 1
    return calls
