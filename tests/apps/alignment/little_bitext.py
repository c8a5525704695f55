"""A little bitext of two made-up languages, whose links are known."""

from __future__ import annotations

import numpy as np

from assent.apps.alignment import Links, SentencePair

NOUNS = ("dog", "cat", "tree", "house", "river", "song", "letter", "bread")
VERBS = ("sees", "takes", "loves", "finds", "makes")


def draw_pair(rng, number):
    """Subject, verb, object; in the other language the verb comes last and nouns have a case.

    The verb ``makes`` is two words there: a word with two links.
    """
    words, links, other = [], set(), []
    for place in range(2):
        noun = str(rng.choice(NOUNS))
        words += ["the", noun]
        other += [f"{noun[::-1]}{'ao'[place]}"]
    verb = str(rng.choice(VERBS))
    words.insert(2, verb)  # the noun the-subject verb the-object noun
    other += ["ke", "zo"] if verb == "makes" else [f"{verb[::-1]}ti"]
    links |= {(1, 0), (4, 1)} | {(2, j) for j in range(2, len(other))}
    return SentencePair(tuple(words), tuple(other), number), Links(
        frozenset(links), frozenset({(0, 0), (3, 1)})
    )


def draw_bitext(count, seed=0):
    """Sentence pairs and their links: articles belong to their nouns, possibly."""
    rng = np.random.default_rng(seed)
    drawn = [draw_pair(rng, number) for number in range(1, count + 1)]
    return [pair for pair, _ in drawn], [links for _, links in drawn]
