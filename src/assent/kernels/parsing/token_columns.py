"""What is known of the words of a sentence: rows of 64-bit keys that features are mixed from.

``tokens[n + 3, COLUMNS]`` of a sentence with ``n`` words: row 0 stands before the sentence, row 1
is the root, word i is row ``i + 1``, and the last row stands behind the sentence; so every word and
the root have neighbours.  Words are numbered as in a treebank: 0 is the root.
"""

from __future__ import annotations

from assent.kernels.jit import jit_inline_llvm

FORM, STEM, TAG, FINE_TAG, MORPHOLOGY, GROUP = range(6)
COLUMNS = 6

# Groups of tags that are counted between the ends of an arc.
OTHER_GROUP, VERB_GROUP, PUNCTUATION_GROUP, COORDINATION_GROUP = range(4)


@jit_inline_llvm
def distance_bin(first, second):
    """Bins of the distance between two words: one to four words count singly."""
    distance = abs(first - second)
    if distance <= 4:
        return distance
    if distance <= 6:
        return 5
    if distance <= 10:
        return 6
    if distance <= 20:
        return 7
    return 8 if distance <= 40 else 9
