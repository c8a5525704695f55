"""What all trees over the words of a sentence have in common: arcs as places, heads as states.

A tree gives each of the words ``1 … n`` a head among ``0 … n``, where 0 is the root.  A slot stands
for a word and its states for the heads it may have, in ascending order; ``data`` holds ``n``,
whether the root has a single word, and the head of every place.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit_inline_llvm, jit_internal_no_allocation

SINGLE_ROOT = 1
HEADS = 2  # where the heads of the places begin


@jit_inline_llvm
def read_arcs(start, data, scores, arcs):
    """Write the score of every arc to ``arcs[n, n + 1]`` (word, head), -inf where there is none."""
    for word in range(data[0]):
        row = arcs[word]
        own = scores[start[word] : start[word + 1]]
        if len(own) == len(row):  # all heads, in their order
            for head in range(len(row)):
                row[head] = own[head]
        else:
            heads = data[HEADS + start[word] : HEADS + start[word + 1]]
            for head in range(len(row)):
                row[head] = -np.inf
            for place in range(len(own)):
                row[heads[place]] = own[place]
        row[word + 1] = -np.inf  # no word is its own head


@jit_inline_llvm
def write_states(start, data, scores, heads, states):
    """Turn the heads of the words, ``heads[n]``, into states; returns their score."""
    total = 0.0
    for word in range(data[0]):
        begin = start[word]
        state = min(heads[word], start[word + 1] - begin - 1)
        while data[HEADS + begin + state] != heads[word]:
            state -= 1
        states[word] = state
        total += scores[begin + state]
    return total


@jit_inline_llvm
def read_heads(start, data, states, heads):
    """Turn states into the heads of the words, ``heads[n]``."""
    for word in range(data[0]):
        heads[word] = data[HEADS + start[word] + states[word]]


@jit_inline_llvm
def write_places(start, data, arcs, out):
    """Write what belongs to every arc, ``arcs[n, n + 1]``, to its place in ``out``."""
    for word in range(data[0]):
        for place in range(start[word], start[word + 1]):
            out[place] = arcs[word, data[HEADS + place]]


@jit_internal_no_allocation
def is_tree(heads, single_root, reached):
    """Whether all words hang on the root, a single one directly; ``reached[n]`` is scratch."""
    roots = 0
    for word in range(len(heads)):
        reached[word] = -1
        roots += heads[word] == 0
    if single_root and roots != 1:
        return False
    for word in range(len(heads)):
        # Up to the root, or to a word of an earlier walk, which has arrived there.
        at = word + 1
        while at > 0 and reached[at - 1] < 0:
            reached[at - 1] = word
            at = heads[at - 1]
        if at > 0 and reached[at - 1] == word:
            return False
    return True
