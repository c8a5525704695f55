"""Training a tagger: the averaged perceptron with a margin, or any trainer of ``assent.learn``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assent.apps.tagging.data import LabelSet, frequent_words
from assent.apps.tagging.features import TEMPLATES, feature_rows
from assent.apps.tagging.metrics import tag_scores
from assent.apps.tagging.model import Tagger
from assent.errors import ModelError
from assent.io.conllu import Sentence
from assent.io.text import starts
from assent.progress import live_display

if TYPE_CHECKING:
    from assent.kernels.linear.chain_perceptron import ChainWeights
    from assent.learn.trainer import Trainer


@dataclass(frozen=True)
class PerceptronSettings:
    """How the perceptron is trained; numbers chosen on the development part of UD_English-EWT.

    Attributes:
        epochs: passes through the training sentences.
        margin: by how much a right label must win, in updates.
        dropout: share of the features of each word that are left out in an epoch, so that no
            feature rests on another.
        table_bits: binary logarithm of the number of rows for hashed features.
        seed: of the order of sentences.
        runs: with seeds that follow each other; their weights are averaged, which takes as much
            time to use as one, and brings some 0.1 points.
    """

    epochs: int = 10
    margin: float = 5.0
    dropout: float = 0.3
    table_bits: int = 19
    seed: int = 0
    runs: int = 1

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.runs < 1 or self.margin < 0:
            raise ModelError("epochs and runs must be at least 1 and margin at least 0")
        if not 0 <= self.dropout < 1:
            raise ModelError(f"dropout must be at least 0 and below 1, got {self.dropout}")
        if not 1 <= self.table_bits <= 24:
            raise ModelError(f"table_bits must be from 1 to 24, got {self.table_bits}")


def train_tagger(
    sentences: Iterable[Sentence],
    *,
    columns: Sequence[str] = ("upos", "xpos"),
    dev: Iterable[Sentence] | None = None,
    clusters: Mapping[str, str] | None = None,
    settings: PerceptronSettings | None = None,
    trainer: Trainer | None = None,
    progress: bool = False,
) -> Tagger:
    """Learn a tagger from sentences with tags.

    Args:
        sentences: as `assent.io.read_conllu` gives them.
        columns: which columns it predicts; joint labels of several columns help each other.
        dev: more sentences with tags; the weights after the best epoch on them are kept.
        clusters: paths to the clusters of words, such as Brown clusters of a large text; see
            `assent.apps.tagging.data.read_clusters`.
        settings: of the perceptron.
        trainer: of `assent.learn` instead, such as ``LogLikelihood()`` for a conditional random
            field; for thousands of sentences rather than tens of thousands.
        progress: show a line per epoch.
    """
    settings = settings or PerceptronSettings()
    own = list(sentences)
    corpus = Corpus.of(own, columns, settings.table_bits, clusters)
    if trainer is not None:
        tagger = _train_by(trainer, corpus, progress)
    else:
        held_out = None if dev is None else list(dev)
        tagger = _average_of_runs(corpus, settings, range(corpus.size), held_out, progress)
    return replace(tagger, frequent=frequent_words(sentence.words for sentence in own))


def jackknife(
    sentences: Iterable[Sentence],
    folds: int = 10,
    *,
    columns: Sequence[str] = ("upos", "xpos"),
    settings: PerceptronSettings | None = None,
    progress: bool = False,
) -> list[Sentence]:
    """Sentences with predicted tags, each fold tagged by a tagger that has not seen it.

    What is trained on these tags, such as a parser, meets the errors it will meet later.  Folds
    are consecutive, so that a document's own words are as new as another text's.
    """
    own = list(sentences)
    folds = min(folds, len(own))
    if folds < 2:
        raise ModelError(f"jack-knifing needs at least 2 sentences and folds, got {len(own)}")
    settings = settings or PerceptronSettings(epochs=5)  # half as many tag nearly as well
    corpus = Corpus.of(own, columns, settings.table_bits)
    tagged: list[Sentence] = []
    for held_out in np.array_split(np.arange(corpus.size), folds):
        rest = np.setdiff1d(np.arange(corpus.size), held_out)
        tagger = _average_of_runs(corpus, settings, rest.tolist(), None, progress)
        tagged += tagger.tag(own[held_out[0] : held_out[-1] + 1])
    return tagged


@dataclass(frozen=True)
class Corpus:
    """Training sentences as arrays."""

    labels: LabelSet  # all labels that occur
    gold: NDArray[np.int32]  # numbers of the labels [words]
    rows: NDArray[np.int32]  # [words, F] which rows of weights belong to each word
    ends: NDArray[np.int64]  # [n + 1] where sentences begin and end
    table_bits: int  # binary logarithm of the number of rows
    clusters: Mapping[str, str]  # paths to the clusters of words

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sentence],
        columns: Sequence[str],
        table_bits: int,
        clusters: Mapping[str, str] | None = None,
    ) -> Corpus:
        """Encode sentences.

        Raises:
            ModelError: if there are none, or a column is empty.
        """
        if not sentences:
            raise ModelError("there are no sentences to train on")
        labels = LabelSet.of(sentences, columns)
        ends = starts(list(map(len, sentences)))
        words = [word for sentence in sentences for word in sentence.words]
        rows = feature_rows(words, ends, table_bits, clusters)
        return cls(labels, labels.numbers(sentences), rows, ends, table_bits, clusters or {})

    @property
    def size(self) -> int:
        """Number of sentences."""
        return len(self.ends) - 1


def _average_of_runs(
    corpus: Corpus,
    settings: PerceptronSettings,
    chosen: Sequence[int],
    dev: list[Sentence] | None,
    progress: bool,
) -> Tagger:
    """A tagger from the chosen sentences: the mean of the weights of all runs."""
    taggers = [
        _Perceptron(corpus, replace(settings, seed=settings.seed + i)).run(chosen, dev, progress)
        for i in range(settings.runs)
    ]
    if len(taggers) == 1:
        return taggers[0]
    table = taggers[0].table()
    for tagger in taggers[1:]:
        table += tagger.table()
    transitions = np.mean([tagger.transitions for tagger in taggers], axis=0)
    return Tagger.of(corpus.labels, table / np.float32(len(taggers)), transitions, corpus.clusters)


class _Perceptron:
    """A run of the averaged perceptron."""

    def __init__(self, corpus: Corpus, settings: PerceptronSettings) -> None:
        self.corpus, self.settings = corpus, settings
        self._random = np.random.default_rng(settings.seed)
        self._weights, self._sums = _zeros(corpus), _zeros(corpus)
        self._steps = 0

    def run(self, chosen: Sequence[int], dev: list[Sentence] | None, progress: bool) -> Tagger:
        """The tagger after all epochs, or after the best one."""
        best, best_accuracy = None, -1.0
        epochs = self.settings.epochs
        with live_display(str) as display:
            for number in range(1, epochs + 1):
                wrong = self._epoch(np.array(chosen))
                if dev is None and number < epochs and not progress:
                    continue
                tagger = self._average()
                accuracy = None if dev is None else _accuracy(tagger, dev)
                if progress:
                    shown = "" if accuracy is None else f"  development {accuracy:.2f} %"
                    epoch = f"epoch {number} of {epochs}"
                    display.show(f"{epoch}  training errors {wrong:.2f} %{shown}")
                if accuracy is None or accuracy > best_accuracy:
                    best, best_accuracy = tagger, accuracy or -1.0
        assert best is not None  # the last epoch is always measured
        return best

    def _epoch(self, chosen: NDArray[np.int64]) -> float:
        """One pass over the chosen sentences in random order; returns wrong labels in percent."""
        from assent.kernels.linear.chain_perceptron import perceptron_epoch

        corpus, settings = self.corpus, self.settings
        rows = corpus.rows
        if settings.dropout:
            left_out = self._random.random(rows.shape, np.float32) < settings.dropout
            rows = np.where(left_out, np.int32(-1), rows)
        wrong, self._steps = perceptron_epoch(
            corpus.ends, self._random.permutation(chosen), rows, corpus.gold,
            settings.margin, self._weights, self._sums, self._steps,
        )  # fmt: skip
        words = np.diff(corpus.ends)[chosen].sum()
        return 100.0 * wrong / int(words)

    def _average(self) -> Tagger:
        """The tagger with the average of the weights after every sentence so far."""
        weights = self._weights.rows - self._sums.rows / np.float32(self._steps)
        transitions = self._weights.transitions - self._sums.transitions / self._steps
        return Tagger.of(self.corpus.labels, weights, transitions, self.corpus.clusters)


def _zeros(corpus: Corpus) -> ChainWeights:
    from assent.kernels.linear.chain_perceptron import ChainWeights

    states = len(corpus.labels)
    rows = np.zeros((1 << corpus.table_bits, states), np.float32)
    return ChainWeights(rows, np.zeros((states, states)))


def _accuracy(tagger: Tagger, gold: list[Sentence]) -> float:
    """Accuracy in the first column, in percent."""
    scores = tag_scores(gold, tagger.tag(gold))
    return scores.accuracy[tagger.labels.columns[0]]


def _train_by(trainer: Trainer, corpus: Corpus, progress: bool) -> Tagger:
    """Learn with a trainer of ``assent.learn``, on the features that occur."""
    from scipy import sparse

    from assent.learn import Examples, train
    from assent.models import ChainModel

    used, columns = np.unique(corpus.rows, return_inverse=True)
    columns = columns.reshape(corpus.rows.shape)
    words, templates = corpus.rows.shape
    features = sparse.csr_array(
        (np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, templates)),
        (words, len(used)),
    )
    features.sum_duplicates()  # two templates in one row
    spans = list(zip(corpus.ends[:-1].tolist(), corpus.ends[1:].tolist(), strict=True))
    model = ChainModel(labels=tuple(range(len(corpus.labels))), features=len(used))
    examples = Examples(
        model, [features[a:b] for a, b in spans], [corpus.gold[a:b] for a, b in spans]
    )
    named = model.layout.named(train(examples, trainer, progress=progress).weights)
    weights = np.zeros((1 << corpus.table_bits, len(corpus.labels)))
    weights[used] = named["nodes"]
    # Nothing stands before a first word and after a last one: these features tell the ends.
    first, last = TEMPLATES.index(((-1, "lower"),)), TEMPLATES.index(((1, "lower"),))
    weights[corpus.rows[0, first]] += named["start"]
    weights[corpus.rows[corpus.ends[1] - 1, last]] += named["stop"]
    transitions = np.ascontiguousarray(named["edges"])
    return Tagger.of(corpus.labels, weights, transitions, corpus.clusters)
