"""What a tagger sees: attributes of words, and templates that combine them around a position."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from assent.apps.text_keys import string_keys

_PREFIXES = (1, 2, 3, 4)
_SUFFIXES = (1, 2, 3, 4, 5)

# What is known of a word by itself.
ATTRIBUTES = (
    "form", "lower", "shape", "long shape",
    *(f"prefix {k}" for k in _PREFIXES),
    *(f"suffix {k}" for k in _SUFFIXES),
)  # fmt: skip

# A template names attributes of words at offsets from the one that is tagged.
TEMPLATES: tuple[tuple[tuple[int, str], ...], ...] = (
    *(((0, name),) for name in ATTRIBUTES),
    ((0, "lower"), (0, "shape")),
    ((0, "suffix 3"), (0, "shape")),
    # words around it
    *(((offset, "lower"),) for offset in (-2, -1, 1, 2)),
    ((-1, "lower"), (0, "lower")),
    ((0, "lower"), (1, "lower")),
    ((-1, "lower"), (1, "lower")),
    ((-2, "lower"), (-1, "lower")),
    ((1, "lower"), (2, "lower")),
    # their ends and shapes, which are known of rare words too
    ((-1, "suffix 3"),),
    ((1, "suffix 3"),),
    ((-1, "shape"),),
    ((1, "shape"),),
    ((-1, "suffix 3"), (1, "suffix 3")),
    ((-1, "suffix 2"), (0, "suffix 2")),
    ((0, "suffix 2"), (1, "suffix 2")),
    ((-1, "lower"), (0, "suffix 3")),
    ((0, "suffix 3"), (1, "lower")),
    ((-1, "shape"), (0, "shape"), (1, "shape")),
)

_DIGIT = re.compile(r"\d")
_RUN = re.compile(r"(.)\1+", re.DOTALL)

# Words whose attributes are remembered; about 200 bytes each.
_REMEMBERED = 1 << 17


def word_shape(word: str) -> str:
    """A word with letters as ``X`` or ``x``, digits as ``0``; other characters are kept.

    Example:
        >>> word_shape("McDonald's-2")
        "XxXxxxxx'x-0"
    """
    return "".join(map(_character_shape, word))


def _character_shape(character: str) -> str:
    if character.isupper():
        return "X"
    if character.isalpha():
        return "x"
    return "0" if character.isdigit() else character


@lru_cache(maxsize=_REMEMBERED)
def _attributes(word: str) -> bytes:
    """Keys of a word's attributes, in the order of ``ATTRIBUTES``."""
    lower = _DIGIT.sub("0", word.lower())
    shape = word_shape(word)
    values = [word, lower, _RUN.sub(r"\1", shape), shape]
    values += [lower[:k] if len(lower) >= k else "" for k in _PREFIXES]
    values += [lower[-k:] if len(lower) >= k else "" for k in _SUFFIXES]
    return string_keys(values).tobytes()


def word_attributes(words: Sequence[str]) -> NDArray[np.uint64]:
    """Keys ``[n, A]`` of the attributes of words.

    Example:
        >>> keys = word_attributes(["Hand", "hand"])
        >>> [name for name, same in zip(ATTRIBUTES, keys[0] == keys[1]) if not same]
        ['form', 'shape', 'long shape']
    """
    raw = b"".join(map(_attributes, words))
    return np.frombuffer(raw, np.uint64).reshape(len(words), len(ATTRIBUTES))


def _template_array() -> NDArray[np.int64]:
    """Offsets and numbers of attributes ``[F, most parts, 2]``; -1 is no attribute."""
    array = np.full((len(TEMPLATES), max(map(len, TEMPLATES)), 2), -1)
    for f, template in enumerate(TEMPLATES):
        for i, (offset, name) in enumerate(template):
            array[f, i] = offset, ATTRIBUTES.index(name)
    return array


def feature_rows(
    words: Sequence[str], ends: NDArray[np.int64], table_bits: int
) -> NDArray[np.int32]:
    """Rows ``[words, F]`` of a table of ``2**table_bits`` that belong to each word.

    Args:
        words: those of all sentences.
        ends: ``[n + 1]`` where sentences begin and end.
        table_bits: how many bits of a key are taken.
    """
    from assent.kernels.linear import sequence_features

    rows = np.empty((len(words), len(TEMPLATES)), np.int32)
    mask = np.uint64((1 << table_bits) - 1)
    sequence_features.feature_rows(word_attributes(words), ends, _template_array(), mask, rows)
    return rows
