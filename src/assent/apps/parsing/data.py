"""Sentences of a treebank as arrays: keys of words and tags, heads, labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.apps.text_keys import string_keys
from assent.io.conllu import Sentence
from assent.kernels.parsing.token_columns import (
    COLUMNS,
    COORDINATION_GROUP,
    FINE_TAG,
    FORM,
    GROUP,
    MORPHOLOGY,
    PUNCTUATION_GROUP,
    STEM,
    TAG,
    VERB_GROUP,
)

Tokens = NDArray[np.uint64]

# Tags that are counted between the ends of an arc: universal ones, and those of the Penn Treebank.
_GROUPS = {
    "VERB": VERB_GROUP, "AUX": VERB_GROUP, "PUNCT": PUNCTUATION_GROUP, "CCONJ": COORDINATION_GROUP,
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"), VERB_GROUP),
    **dict.fromkeys((",", ".", ":", "``", "''", "-LRB-", "-RRB-"), PUNCTUATION_GROUP),
    "CC": COORDINATION_GROUP,
}  # fmt: skip

# First letters that stand for a word of many forms, last ones for what its form means.
_STEM_LETTERS, _END_LETTERS = 5, 3

_DIGIT = re.compile(r"\d")
_EDGES = ["<before>", "<root>", "<behind>"]


@dataclass(frozen=True)
class Example:
    """A sentence with its tree: ``tokens[n + 3, COLUMNS]``, ``heads[n]``, ``labels[n]``."""

    tokens: Tokens
    heads: NDArray[np.int64]
    labels: NDArray[np.int64]


def encode(sentence: Sentence, morphology: bool = False) -> Tokens:
    """What the features of a sentence are made of; see :mod:`kernels.parsing.token_columns`.

    Without ``morphology``, which a text has only if a tagger has found it, the last letters of a
    word take its place.
    """
    forms = [_DIGIT.sub("0", word.lower()) for word in sentence.words]
    tags, fine = sentence.upos, sentence.xpos
    tags = [own if own != "_" else other for own, other in zip(tags, fine, strict=True)]
    out = np.zeros((len(forms) + 3, COLUMNS), np.uint64)
    for column, mark, strings in (
        (FORM, "f", forms),
        (STEM, "s", [form[:_STEM_LETTERS] for form in forms]),
        (TAG, "t", tags),
        (FINE_TAG, "x", [f"{a} {b}" for a, b in zip(tags, fine, strict=True)]),
        (MORPHOLOGY, "m", sentence.feats if morphology else [f[-_END_LETTERS:] for f in forms]),
    ):
        before, root, behind = _EDGES
        out[:, column] = string_keys([mark + s for s in (before, root, *strings, behind)])
    out[2:-1, GROUP] = [_GROUPS.get(tag, 0) for tag in tags]
    return out


def label_names(sentences: Sequence[Sentence]) -> list[str]:
    """All labels of a treebank, sorted."""
    return sorted({label for sentence in sentences for label in sentence.deprels})
