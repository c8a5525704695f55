"""Vocabularies, and a bitext as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from assent.apps.alignment.data.bitext import SentencePair
from assent.kernels.problem import Int32, Int64

STEM = 5  # letters: in European languages inflection is mostly behind them


def word_form(word: str) -> str:
    """A word as it is counted: in lower case."""
    return word.lower()


def word_stem(word: str) -> str:
    """The first letters of a word, in lower case."""
    return word.lower()[:STEM]


class Vocabulary:
    """Words and their numbers, in the order of their first occurrence.

    Example:
        >>> vocabulary = Vocabulary(["the", "house"])
        >>> vocabulary.find(["house", "home"]).tolist()
        [1, -1]
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = list(words)
        self._number = {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def add(self, words: Sequence[str]) -> list[int]:
        """The numbers of words, new ones for words that are new."""
        numbers = []
        for word in words:
            number = self._number.setdefault(word, len(self.words))
            if number == len(self.words):
                self.words.append(word)
            numbers.append(number)
        return numbers

    def find(self, words: Sequence[str]) -> Int32:
        """The numbers ``[n]`` of words, -1 for unknown ones."""
        return np.array([self._number.get(word, -1) for word in words], np.int32)


class NumberedBitext(NamedTuple):
    """The words of a bitext as numbers, its sentences one after the other."""

    source: Int32  # [words]
    source_start: Int64  # [sentences + 1]
    target: Int32
    target_start: Int64

    @property
    def sentences(self) -> int:
        """The number of sentence pairs."""
        return len(self.source_start) - 1


def number_bitext(
    pairs: Iterable[SentencePair], key: Callable[[str], str]
) -> tuple[Vocabulary, Vocabulary, NumberedBitext]:
    """The vocabularies of both sides by ``key`` (forms or stems), and the text in numbers."""
    vocabularies = Vocabulary(), Vocabulary()
    # Arrays of four bytes a word: a million sentences fit into memory.
    words: tuple[Any, Any] = ([], [])
    starts: tuple[list[int], list[int]] = ([0], [0])
    forms: dict[str, str] = {}
    for pair in pairs:
        for side, sentence in enumerate((pair.source, pair.target)):
            keys = [forms.get(word) or forms.setdefault(word, key(word)) for word in sentence]
            numbers = np.array(vocabularies[side].add(keys), np.int32)
            words[side].append(numbers)
            starts[side].append(starts[side][-1] + len(numbers))
    empty = [np.zeros(0, np.int32)]
    text = NumberedBitext(
        np.concatenate(words[0] or empty), np.array(starts[0], np.int64),
        np.concatenate(words[1] or empty), np.array(starts[1], np.int64),
    )  # fmt: skip
    return *vocabularies, text
