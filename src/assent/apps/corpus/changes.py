"""What a text as a whole has changed, word by word, and which set made it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.apps.corpus.data import ConsensusSets


@dataclass(frozen=True)
class Change:
    """A word that the text as a whole has tagged otherwise, or hung on another head.

    Attributes:
        sentence, word: where it is, both from 1.
        form: the word.
        before, after: its labels, or its heads: number, word and tag.
        key: the set that made it: its own, or that of the nearest word that changed.
        agreeing, size: how many words of that set have its label, and how many it has.
        what: "tag" or "head".
    """

    sentence: int
    word: int
    form: str
    before: str
    after: str
    key: str
    agreeing: int
    size: int
    what: str = "tag"

    def __str__(self) -> str:
        where = f"sentence {self.sentence}, word {self.word}"
        why = f"{self.agreeing} of {self.size} {self.key!r} agree"
        return f"{where}: {self.form} {self.before} -> {self.after} ({why})"


def explain_changes(
    sets: ConsensusSets,
    ends: NDArray[np.int64],
    agreement: tuple[NDArray[np.int32], NDArray[np.int32]],
    changed: NDArray[np.int64],
    describe: Callable[[int], tuple[str, str, str]],
    what: str = "tag",
) -> list[Change]:
    """Changes of words, each with the set that made it.

    Args:
        sets: words that should agree.
        ends: ``[n + 1]`` where the words of each sentence begin and end.
        agreement: states ``[words]`` of words and ``[S]`` of sets.
        changed: ``[m]`` words, in order.
        describe: form of such a word, what was before and what is after.
        what: "tag" or "head".
    """
    states, consensus = agreement
    agrees = states[sets.positions] == consensus[sets.sets]
    agreeing = np.bincount(sets.sets[agrees], minlength=len(sets.names))
    size = np.bincount(sets.sets, minlength=len(sets.names))
    sentence = np.searchsorted(ends, changed, side="right") - 1
    found = []
    for at, s in zip(changed.tolist(), sentence.tolist(), strict=True):
        beside = changed[slice(*np.searchsorted(sentence, [s, s + 1]))]
        cause = _cause(sets, agreement, at, beside)
        key, counts = "", (0, 0)
        if cause >= 0:
            name, counts = sets.names[cause], (int(agreeing[cause]), int(size[cause]))
            # A word as it is, a context as its tags.
            key = " ".join(map(str, name)).strip() if isinstance(name, tuple) else str(name)
        found.append(Change(s + 1, at - int(ends[s]) + 1, *describe(at), key, *counts, what))
    return found


def _cause(
    sets: ConsensusSets,
    agreement: tuple[NDArray[np.int32], NDArray[np.int32]],
    at: int,
    changed: NDArray[np.int64],
) -> int:
    """The set that made a word change: one with its new label, its own or the nearest; or -1."""
    states, consensus = agreement
    for word in sorted(changed.tolist(), key=lambda other: abs(other - at)):
        for link in range(sets.start[word], sets.start[word + 1]):
            if consensus[sets.sets[link]] == states[word]:
                return int(sets.sets[link])
    return -1
