"""Features of spelling: cognates, names, numbers and punctuation are written alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from assent.apps.alignment.data.bitext import SentencePair
from assent.kernels.alignment.spelling import listed_similarity, spelling_similarity
from assent.kernels.problem import Float

# Words up to this many letters are alike by chance.
SHORT = 3
# The common part of two words that makes them cognates.
ALIKE = 0.7


@lru_cache(maxsize=1 << 16)
def plain_letters(word: str) -> str:
    """A word in lower case, without accents.

    Example:
        >>> plain_letters("Étés")
        'etes'
    """
    parts = unicodedata.normalize("NFKD", word.lower())
    return "".join(letter for letter in parts if not unicodedata.combining(letter)) or word.lower()


def spelling_features(pair: SentencePair) -> dict[str, Float]:
    """Tables ``[n, m]`` by name.

    Example:
        >>> tables = spelling_features(SentencePair(("Président", "."), ("president", ".")))
        >>> tables["same word"].tolist(), tables["both punctuation"].tolist()
        ([[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]])
    """
    words = [[plain_letters(word) for word in side] for side in pair[:2]]
    (source, start), (target, other_start) = map(_letters, words)
    prefix, common = spelling_similarity(source, start, target, other_start)
    marks = [np.array([not any(map(str.isalnum, word)) for word in side]) for side in words]
    digits = [np.array([any(map(str.isdigit, word)) for word in side]) for side in words]
    short = [np.array([len(word) <= SHORT for word in side]) for side in words]
    both_marks = np.logical_and.outer(*marks)
    same = (common == 1.0) & ~both_marks
    long = ~np.logical_or.outer(*short) & ~same
    return {
        "same word": same.astype(float),
        "same long word": (same & ~np.logical_and.outer(*short)).astype(float),
        "common prefix": np.where(long, prefix, 0.0),
        "common subsequence": np.where(long, common, 0.0),
        "similar": np.where(long, common**3, 0.0),
        "both punctuation": both_marks.astype(float),
        "same punctuation": (both_marks & (common == 1.0)).astype(float),
        "one is punctuation": np.logical_xor.outer(*marks).astype(float),
        "one is a number": np.logical_xor.outer(*digits).astype(float),
    }


def cognates(source: Sequence[str], target: Sequence[str], first: Any, second: Any) -> Float:
    """How alike words ``source[first[k]]`` and ``target[second[k]]`` are: ``[k]``, 1 if the same.

    Example:
        >>> cognates(["nation"], ["nation", "dog"], np.array([0, 0]), np.array([0, 1])).tolist()
        [1.0, 0.0]
    """
    words = [[plain_letters(word) for word in side] for side in (source, target)]
    alike = listed_similarity(*_letters(words[0]), *_letters(words[1]), first, second)
    short = [np.array([len(word) <= SHORT for word in side]) for side in words]
    by_chance = short[0][first] | short[1][second]
    return np.where(by_chance, alike == 1.0, np.where(alike >= ALIKE, alike, 0.0))


def _letters(words: Sequence[str]) -> tuple[Any, Any]:
    """The letters of all words as numbers, and where each word begins."""
    codes = np.frombuffer("".join(words).encode("utf-32-le"), np.uint32).astype(np.int64)
    return codes, np.cumsum([0, *map(len, words)])
