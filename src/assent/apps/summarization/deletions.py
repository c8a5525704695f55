"""What may be left out of a sentence: a score for every arc of its dependency tree.

An arc's score is earned when its word is deleted and the word's head is kept; ``-inf`` forbids
that.  A word whose head is deleted is deleted too, so what goes are whole phrases.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assent.apps.summarization.concepts import is_word
from assent.io.conllu import Sentence

Deletions = Callable[[Sentence], NDArray[np.float64]]

# Universal relations of phrases that a clause can do without; subtypes as their relations.
OPTIONAL = frozenset(
    ("acl", "advcl", "advmod", "amod", "appos", "conj", "discourse", "dislocated", "nmod", "obl",
     "parataxis", "vocative")
)  # fmt: skip
# Subtypes that are not optional: "my room" is no room, and "by" has its agent.
REQUIRED_SUBTYPES = frozenset(("nmod:poss", "obl:agent"))
# Without these a sentence says the contrary, or something else.
_MEANING = frozenset(
    ("not", "n't", "no", "never", "neither", "nor", "hardly", "barely", "rarely", "seldom", "only",
     "nothing", "without", "less", "least", "few", "little", "almost", "nearly", "former",
     "alleged")
)  # fmt: skip
# "For part of their losses" must not become "for part".
_PARTS = frozenset(
    ("all", "any", "both", "couple", "each", "few", "group", "half", "kind", "lack", "lot", "lots",
     "majority", "many", "most", "much", "none", "number", "one", "pair", "part", "piece", "plenty",
     "rest", "series", "set", "some", "sort", "type")
)  # fmt: skip

_VERBS = frozenset(("VERB", "AUX"))
_OF_CLAUSES = frozenset(("cop", "nsubj", "csubj", "nsubj:pass", "csubj:pass", "expl"))

# Of a phrase: little beside any concept, and enough that nothing is deleted for nothing.
PHRASE_SCORE = -0.1


def phrase_deletions(sentence: Sentence) -> NDArray[np.float64]:
    """Scores ``[n]`` by rules on the labels of Universal Dependencies.

    Modifiers, adjuncts, appositions, further conjuncts and asides may go; subjects, objects,
    negations and function words go only with their heads.

    Example:
        >>> short = Sentence.from_words(["Very", "quiet", "rooms"])
        >>> tree = short.with_columns(heads=[2, 3, 0], deprels=["advmod", "amod", "root"])
        >>> phrase_deletions(tree).tolist()
        [-0.1, -0.1, -inf]
    """
    scores, heads = np.full(len(sentence), -np.inf), sentence.heads
    for i, (label, word) in enumerate(zip(sentence.deprels, sentence.words, strict=True)):
        optional = label.partition(":")[0] in OPTIONAL and label not in REQUIRED_SUBTYPES
        head = heads[i]
        whole = label == "nmod" and head > 0 and sentence.words[head - 1].lower() in _PARTS
        if optional and not whole and word.lower() not in _MEANING:
            scores[i] = PHRASE_SCORE
    scores[_predicates(sentence)] = -np.inf
    # "But he left" may begin with "He".
    opening = next((i for i, word in enumerate(sentence.words) if is_word(word)), None)
    if opening is not None and sentence.deprels[opening] == "cc":
        scores[opening] = PHRASE_SCORE
    return scores


def _predicates(sentence: Sentence) -> list[int]:
    """Verbs below a root that makes no clause by itself: "owners fear" must not become "owners"."""
    heads, labels, tags = sentence.heads, sentence.deprels, sentence.upos
    found = []
    for root in np.flatnonzero(heads == 0):
        below = np.flatnonzero(heads == root + 1).tolist()
        if tags[root] not in _VERBS and not {labels[i] for i in below} & _OF_CLAUSES:
            found += [i for i in below if tags[i] in _VERBS]
    return found
