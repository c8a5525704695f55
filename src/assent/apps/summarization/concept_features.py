"""Features of concepts: what tells that people would mention them in a summary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assent.apps.summarization.concepts import FUNCTION_WORDS, Concepts
from assent.io.conllu import Sentence
from assent.kernels.problem import Float

# What else may be true of a concept, beside the number of sentences that have it.
TRAITS = ("opening", "function word", "capital", "digit", "adjective", "noun", "verb", "adverb")
_TAGS = {"ADJ": "adjective", "NOUN": "noun", "PROPN": "noun", "VERB": "verb", "ADV": "adverb"}
# Each trait as it is, and times the share.
NAMES = ("one", "log", "share", *TRAITS, *(f"{trait}, share" for trait in TRAITS))
# The larger a feature, the less a penalty on weights holds it back: shares, which are what concepts
# weigh where nothing is learnt, come first, traits of frequent concepts second.
SHARE, SHARE_OF_TRAIT = 10.0, 5.0


def concept_features(
    sentences: Sequence[Sentence], concepts: Concepts, starts: Sequence[int] = ()
) -> Float:
    """Features ``[types, len(NAMES)]``.

    They are one, the logarithm of the number of sentences that have the concept, its share of the
    largest such number, and traits of a token of it: whether it stands in a sentence with which a
    document begins, has a function word, and so on.
    """
    lengths = [len(sentence) for sentence in sentences]
    sentence_of = np.repeat(np.arange(len(lengths)), lengths)
    words = [word for sentence in sentences for word in sentence.words]
    tags = [tag for sentence in sentences for tag in sentence.upos]
    there = np.unique(np.stack([concepts.types, sentence_of[concepts.words[:, 0]]]), axis=1)
    counts = np.bincount(there[0], minlength=len(concepts.weights))
    log = np.log(np.maximum(counts, 1))
    traits = np.zeros((len(counts), len(TRAITS)))
    opening = np.isin(there[1], list(starts))
    traits[there[0][opening], TRAITS.index("opening")] = 1.0
    kinds, first = np.unique(concepts.types, return_index=True)
    for kind, ends in zip(kinds, concepts.words[first].tolist(), strict=True):
        for place in ends:
            for trait in _traits(words[place], tags[place]):
                traits[kind, TRAITS.index(trait)] = 1.0
    share = counts / max(1, counts.max(initial=1))
    base = [np.ones(len(counts)), log, SHARE * share]
    return np.column_stack([*base, traits, SHARE_OF_TRAIT * traits * share[:, None]])


def _traits(word: str, tag: str) -> list[str]:
    found = [_TAGS[tag]] if tag in _TAGS else []
    if word.lower() in FUNCTION_WORDS:
        found.append("function word")
    if word[:1].isupper():
        found.append("capital")
    if any(map(str.isdigit, word)):
        found.append("digit")
    return found
