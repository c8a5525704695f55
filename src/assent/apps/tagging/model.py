"""The tagger: labels, and weights of hashed features and of transitions between labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assent.apps.model_file import damage_reported, read_model, write_model
from assent.apps.tagging.data import LabelSet
from assent.apps.tagging.decode import decode_sentences
from assent.apps.tagging.features import feature_rows
from assent.errors import ModelError
from assent.io.conllu import Sentence
from assent.io.text import starts

if TYPE_CHECKING:
    import assent
    from assent.kernels.linear.chain_perceptron import SparseRows

KIND = "tagger"
# Of the features: weights say nothing to a reader with other templates.
VERSION = 1

# Words that are tagged in one go: enough to forget what a call costs, little enough to stream.
_BATCH_WORDS = 1 << 14


@dataclass(frozen=True)
class Tagger:
    """A chain over the words of a sentence; made by `train_tagger`, or read with `load`.

    Attributes:
        labels: the labels, one state each, and the columns they fill.
        weights: of hashed features, R rows (a power of two) by K labels; most are zero.
        transitions: ``[K, K]`` scores of a label and the next.
        clusters: paths to the clusters of words, if it was trained with some.
        frequent: words of whose tags training has seen enough (`frequent_words`); None if they
            were not counted.
    """

    labels: LabelSet
    weights: SparseRows = field(repr=False)
    transitions: NDArray[np.float64] = field(repr=False)
    clusters: Mapping[str, str] = field(default_factory=dict, repr=False)
    frequent: frozenset[str] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        labels: LabelSet,
        weights: NDArray[Any],
        transitions: NDArray[np.float64],
        clusters: Mapping[str, str] | None = None,
    ) -> Tagger:
        """A tagger with weights ``[R, K]`` that come as a table."""
        from assent.kernels.linear.chain_perceptron import SparseRows

        row, state = np.nonzero(weights)
        start = np.searchsorted(row, np.arange(len(weights) + 1)).astype(np.int32)
        kept = SparseRows(start, state.astype(np.int16), weights[row, state].astype(np.float32))
        return cls(labels, kept, transitions, clusters or {})

    @property
    def table_bits(self) -> int:
        """The binary logarithm of the number of rows."""
        return (len(self.weights.start) - 1).bit_length() - 1

    def table(self) -> NDArray[np.float32]:
        """The weights ``[R, K]`` with all zeros."""
        start, state, weight = self.weights
        table = np.zeros((len(start) - 1, len(self.labels)), np.float32)
        table[np.repeat(np.arange(len(table)), np.diff(start)), state] = weight
        return table

    def tag(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences with predicted columns, as they come; everything else stays."""
        for batch in batches(sentences):
            states = self.states([sentence.words for sentence in batch])
            for sentence, own in zip(batch, states, strict=True):
                yield sentence.with_columns(**self.labels.values(own))

    def tag_words(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Tags of the first column (mostly ``upos``) for words in lists, a list per sentence."""
        name = self.labels.columns[0]
        return [self.labels.values(own)[name] for own in self.states(sentences)]

    def states(self, sentences: Sequence[Sequence[str]]) -> list[NDArray[np.int32]]:
        """Numbers of the best labels for words in lists, an array per sentence."""
        filled = [words for words in sentences if len(words)]  # a chain has a state at least
        rows, ends = self._rows(filled)
        states = decode_sentences(self.weights, self.transitions, rows, ends)
        by_sentence = iter(np.split(states, ends[1:-1]))
        return [next(by_sentence) if len(words) else np.empty(0, np.int32) for words in sentences]

    def scores(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Scores ``[n, K]`` of labels for the words of a sentence, without transitions."""
        scores = np.empty((len(words), len(self.labels)))
        self.score_into([words], scores)
        return scores

    def score_into(self, sentences: Sequence[Sequence[str]], scores: NDArray[Any]) -> None:
        """The same for the words of several sentences, into ``scores[words, K]``."""
        from assent.kernels.linear.chain_perceptron import add_sparse_rows

        add_sparse_rows(self.weights, self._rows(sentences)[0], scores)

    def graph(self, sentences: Sequence[Sequence[str]]) -> assent.FactorGraph:
        """Words in lists as a factor graph: a variable ``tag`` over all words, a chain per list.

        It is decoded by `assent.decode`, and takes further factors beside the chains.
        """
        import assent

        filled = [words for words in sentences if len(words)]
        graph = assent.FactorGraph()
        tag = graph.categorical(
            states=["|".join(label) for label in self.labels.labels],
            scores=np.concatenate([self.scores(words) for words in filled]),
            name="tag",
        )
        for begin, end in pairwise(starts(list(map(len, filled))).tolist()):
            graph.add(assent.Chain(tag[begin:end], transitions=self.transitions))
        return graph

    def save(self, path: str | Path, *, eight_bits: bool = True) -> None:
        """Write a model file; with 8 bits per weight, which cost hardly any accuracy."""
        settings = {
            "columns": self.labels.columns, "labels": self.labels.labels,
            "clusters": self.clusters,
            "frequent": None if self.frequent is None else sorted(self.frequent),
        }  # fmt: skip
        arrays: dict[str, NDArray] = {
            # Lengths of rows are small numbers, which pack better than where they begin.
            "lengths": np.diff(self.weights.start).astype(np.int16),
            "state": self.weights.state,
            "weight": self.weights.weight,
            "transitions": self.transitions,
        }
        rounded = ["weight"] if eight_bits else []
        write_model(path, KIND, settings, arrays, version=VERSION, eight_bits=rounded)

    @classmethod
    def load(cls, path: str | Path) -> Tagger:
        """Read a model file.

        Raises:
            ModelError: if the file is damaged, no tagger, or of another version.
        """
        with damage_reported(path, KIND):
            return cls._from_file(path)

    @classmethod
    def _from_file(cls, path: str | Path) -> Tagger:
        from assent.kernels.linear.chain_perceptron import SparseRows

        settings, arrays = read_model(path, KIND, version=VERSION)
        labels = LabelSet(tuple(settings["columns"]), tuple(map(tuple, settings["labels"])))
        transitions = arrays["transitions"].astype(np.float64)
        start = np.concatenate([[0], np.cumsum(arrays["lengths"], dtype=np.int32)])
        state, weight = arrays["state"].astype(np.int16), arrays["weight"].astype(np.float32)
        rows, entries = len(start) - 1, (len(state), len(weight))
        if (
            (rows & (rows - 1)) or entries != (start[-1], start[-1]) or np.diff(start).min() < 0
            or transitions.shape != (len(labels), len(labels))
            or not 0 <= state.min(initial=0) <= state.max(initial=0) < len(labels)
        ):  # fmt: skip
            raise ModelError(f"{path} is damaged: its weights do not fit its labels")
        sparse = SparseRows(start.astype(np.int32), state, weight)
        words = settings["frequent"]
        frequent = None if words is None else frozenset(words)
        return cls(labels, sparse, transitions, settings["clusters"], frequent)

    def _rows(self, sentences: Sequence[Sequence[str]]) -> tuple[NDArray, NDArray[np.int64]]:
        ends = starts(list(map(len, sentences)))
        words = [word for words in sentences for word in words]
        return feature_rows(words, ends, self.table_bits, self.clusters), ends


def batches(sentences: Iterable[Sentence]) -> Iterator[list[Sentence]]:
    """Sentences in lists of some thousand words."""
    batch: list[Sentence] = []
    words = 0
    for sentence in sentences:
        batch.append(sentence)
        words += len(sentence)
        if words >= _BATCH_WORDS:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch
