"""What a tagger sees: attributes of words, and templates that combine them around a position."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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

# Beginnings of the path to a word's cluster in a hierarchy, in bits as Brown clusters are written;
# of the lengths that Koo et al. (2008) take, and the whole path.
_PATHS = {"cluster 4": 4, "cluster 6": 6, "cluster": None}
CLUSTER_ATTRIBUTES = tuple(_PATHS)
CLUSTER_TEMPLATES: tuple[tuple[tuple[int, str], ...], ...] = (
    *(((offset, name),) for name in CLUSTER_ATTRIBUTES for offset in (-1, 0, 1)),
    ((-1, "cluster 6"), (0, "cluster 6")),
    ((0, "cluster 6"), (1, "cluster 6")),
    ((-1, "cluster"), (1, "cluster")),
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
    """Keys ``[n, A]`` of the attributes of words."""
    raw = b"".join(map(_attributes, words))
    return np.frombuffer(raw, np.uint64).reshape(len(words), len(ATTRIBUTES))


def cluster_attributes(words: Sequence[str], clusters: Mapping[str, str]) -> NDArray[np.uint64]:
    """Keys ``[n, 3]`` of beginnings of the paths to clusters; words without one share a key."""
    paths = [clusters.get(word) or clusters.get(word.lower(), "") for word in words]
    return np.stack([string_keys([path[:k] for path in paths]) for k in _PATHS.values()], axis=1)


def _template_array(
    templates: Sequence[tuple[tuple[int, str], ...]], attributes: Sequence[str]
) -> NDArray[np.int64]:
    """Offsets and numbers of attributes ``[F, most parts, 2]``; -1 is no attribute."""
    array = np.full((len(templates), max(map(len, templates)), 2), -1)
    for f, template in enumerate(templates):
        for i, (offset, name) in enumerate(template):
            array[f, i] = offset, attributes.index(name)
    return array


def feature_rows(
    words: Sequence[str],
    ends: NDArray[np.int64],
    table_bits: int,
    clusters: Mapping[str, str] | None = None,
) -> NDArray[np.int32]:
    """Rows ``[words, F]`` of a table of ``2**table_bits`` that belong to each word.

    ``ends[n + 1]`` say where sentences begin and end; ``clusters`` has paths to those of words.
    """
    from assent.kernels.linear import sequence_features

    names, templates, keys = ATTRIBUTES, TEMPLATES, word_attributes(words)
    if clusters:
        names, templates = names + CLUSTER_ATTRIBUTES, templates + CLUSTER_TEMPLATES
        keys = np.concatenate([keys, cluster_attributes(words, clusters)], axis=1)
    rows = np.empty((len(words), len(templates)), np.int32)
    mask = np.uint64((1 << table_bits) - 1)
    sequence_features.feature_rows(keys, ends, _template_array(templates, names), mask, rows)
    return rows
