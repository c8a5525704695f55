"""Sentences as arrays: where they end, and the labels of their words as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.io.conllu import Sentence
from assent.io.line_streams import read_lines
from assent.io.text import FormatError, PathLike

# Columns of CoNLL-U that a tagger can fill.
COLUMNS = ("upos", "xpos", "feats")


def frequent_words(sentences: Iterable[Sequence[str]], times: int = 5) -> frozenset[str]:
    """Words that occur at least ``times``, of whose tags training has seen enough.

    The others gain when a text is tagged as a whole (`assent.apps.corpus`); five is where that
    brings most on the Penn Treebank, with 50 training sentences as with 500.

    Example:
        >>> sorted(frequent_words([["a", "a", "b"], ["a"]], times=3))
        ['a']
    """
    often = Counter(word for words in sentences for word in words)
    return frozenset(word for word, count in often.items() if count >= times)


@dataclass(frozen=True)
class LabelSet:
    """Joint labels: what a word has in several columns, as one state of a chain.

    Attributes:
        columns: names of the columns, such as ``("upos", "xpos")``.
        labels: a value for each column, in alphabetic order.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, sentences: Sequence[Sentence], columns: Sequence[str]) -> LabelSet:
        """All labels that occur.

        Raises:
            ModelError: for a column that is unknown, or empty throughout.
        """
        for name in columns:
            if name not in COLUMNS:
                raise ModelError(f"a tagger fills {', '.join(COLUMNS)}, not {name!r}")
        found = {label for sentence in sentences for label in _labels(sentence, columns)}
        for place, name in enumerate(columns):
            if {label[place] for label in found} <= {"_"}:
                raise ModelError(f"the training sentences have nothing in the column {name}")
        return cls(tuple(columns), tuple(sorted(found)))

    def __len__(self) -> int:
        return len(self.labels)

    def numbers(self, sentences: Sequence[Sentence]) -> NDArray[np.int32]:
        """Labels of all words as numbers; those that are not in the set are -1."""
        number = {label: i for i, label in enumerate(self.labels)}
        found = [number.get(label, -1) for s in sentences for label in _labels(s, self.columns)]
        return np.array(found, np.int32)

    def values(self, numbers: NDArray[np.int32]) -> dict[str, list[str]]:
        """The values of each column for labels given as numbers."""
        found = [self.labels[number] for number in numbers.tolist()]
        return {name: [label[i] for label in found] for i, name in enumerate(self.columns)}


def _labels(sentence: Sentence, columns: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(getattr(sentence, name) for name in columns), strict=True))


def read_clusters(source: PathLike) -> dict[str, str]:
    """Paths to the clusters of words, from lines of path, word and count with tabs between.

    This is what Liang's ``brown-cluster`` writes.

    Raises:
        FormatError: naming the line that is none.
    """
    clusters: dict[str, str] = {}
    for number, line in enumerate(read_lines(source), start=1):
        parts = line.rstrip("\r\n").split("\t")
        if len(parts) < 2 or not parts[0] or not set(parts[0]) <= {"0", "1"}:
            raise FormatError.found(
                source, number, line.strip(), "a path of 0 and 1, a tab and a word"
            )
        clusters[parts[1]] = parts[0]
    return clusters
