"""Concepts: what a summary should cover.  By default, pairs of neighbouring words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assent.io.conllu import Sentence

# Gillick and Favre (2009): a pair of words in fewer sentences (there: documents) is chance.
LEAST_SENTENCES = 3

# Function words of English: a pair of two of them says nothing.
_FUNCTION_WORDS = """
a about after all also an and any are as at be because been before but by can could did do does
for from had has have he her here him his how i if in into is it its just me more most my no not
now of on one only or other our out over s she so some such t than that the their them then there
these they this those to too up very was we were what when where which while who will with would
you your 's 're 've 'm 'd 'll n't
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


@dataclass(frozen=True)
class Concepts:
    """Concept types with weights, and where their tokens stand.

    Words are numbered through the whole collection.

    Attributes:
        weights: ``[types]`` what a summary earns by each, once.
        types: ``[tokens]`` type of each token.
        words: ``[tokens, 2]`` its first and last word, which are all it is made of.
    """

    weights: NDArray[np.float64]
    types: NDArray[np.int64]
    words: NDArray[np.int64]


def bigram_concepts(
    sentences: Sequence[Sentence],
    *,
    least: int = LEAST_SENTENCES,
    starts: Sequence[int] = (),
    budget: int = 0,
) -> Concepts:
    """Pairs of neighbouring words that many sentences share.

    A pair weighs as much as sentences have it, and twice as much if it occurs where a document
    begins.  Pairs of two function words do not count.

    Args:
        sentences: of the collection, in order.
        least: sentences in which a pair must occur.
        starts: numbers of the sentences with which documents begin.
        budget: words of the summary: if there are fewer concepts, which then could not tell
            sentences apart, pairs in fewer sentences count as well.

    Example:
        >>> three = [Sentence.from_words(["Good", "room", "!"])] * 3
        >>> found = bigram_concepts(three)
        >>> found.weights.tolist(), found.words.tolist()
        ([3.0], [[0, 1], [3, 4], [6, 7]])
    """
    places: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    offset = 0
    for number, sentence in enumerate(sentences):
        words = [(i, w.lower()) for i, w in enumerate(sentence.words) if is_word(w)]
        for (i, one), (j, other) in pairwise(words):
            if one not in FUNCTION_WORDS or other not in FUNCTION_WORDS:
                places.setdefault((one, other), []).append((number, offset + i, offset + j))
        offset += len(sentence)
    counts = {pair: len({place[0] for place in own}) for pair, own in places.items()}
    while least > 1 and sum(count >= least for count in counts.values()) < budget:
        least -= 1
    chosen = [pair for pair, count in counts.items() if count >= least]
    opening = frozenset(starts)
    weights = [
        counts[pair] * (2.0 if any(n in opening for n, _, _ in places[pair]) else 1.0)
        for pair in chosen
    ]
    types = [kind for kind, pair in enumerate(chosen) for _ in places[pair]]
    ends = [(i, j) for pair in chosen for _, i, j in places[pair]]
    return Concepts(
        np.array(weights, float),
        np.array(types, np.int64),
        np.array(ends, np.int64).reshape(-1, 2),
    )


def is_word(token: str) -> bool:
    """Whether a token counts as a word: it has a letter or a digit.

    Example:
        >>> [is_word(token) for token in ("it", "'s", "--", "1987")]
        [True, True, False, True]
    """
    return any(map(str.isalnum, token))
