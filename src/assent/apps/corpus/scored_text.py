"""A text that is read once, sentence by sentence: scores, words and gold labels stay, no more."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.apps.corpus.executor import Executor, Threads
from assent.io.text import starts

if TYPE_CHECKING:
    from assent.apps.tagging import Tagger

# Sentences whose rows of features are kept at a time: some 10 MB.
_BATCH_SENTENCES = 1000
# Batches that an executor gets at once: enough for its cores, few enough to stream.
_BATCHES = 8


class ScoredText(NamedTuple):
    """What is kept of a text."""

    ends: NDArray[np.int64]  # [n + 1] where the words of each sentence begin and end
    scores: NDArray[np.float32]  # [words, K] of labels, in 32 bits
    forms: list[str]  # the words; those that are equal are one string


def score_text(
    tagger: Tagger, sentences: Iterable[Sequence[str]], executor: Executor | None = None
) -> ScoredText:
    """Score the words of sentences as they come."""
    executor, left = executor or Threads(), iter(sentences)
    lengths, parts = array("q"), []
    forms: list[str] = []
    known: dict[str, str] = {}
    while batches := list(islice(iter(lambda: list(islice(left, _BATCH_SENTENCES)), []), _BATCHES)):
        parts += executor.run(_score, [(tagger, batch) for batch in batches])
        for words in (words for batch in batches for words in batch):
            forms.extend(known.setdefault(word, word) for word in words)
            lengths.append(len(words))
    return ScoredText(starts(lengths), _joined(parts, len(tagger.labels)), forms)


def _score(part: tuple[Tagger, list[Sequence[str]]]) -> NDArray[np.float32]:
    """Scores ``[words, K]`` of a batch."""
    tagger, sentences = part
    scores = np.empty((sum(map(len, sentences)), len(tagger.labels)), np.float32)
    tagger.score_into(sentences, scores)
    return scores


def _joined(parts: list[NDArray[Any]], width: int) -> NDArray[np.float32]:
    """Parts one after the other, each let go of as soon as it is copied: they are large."""
    joined = np.empty((sum(map(len, parts)), width), np.float32)
    end = len(joined)
    while parts:
        part = parts.pop()
        joined[end - len(part) : end] = part
        end -= len(part)
    return joined
