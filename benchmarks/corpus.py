"""Suite ``corpus``: a text tagged as a whole, beside every sentence for itself.

The tagging of Belanger et al. (2014), after Rush et al. (2012): a chain (a conditional random field
with the tagger's features) is trained on a few sentences of a Penn Treebank sample and tags others.
Occurrences of words that training has seen fewer than five times should agree.  The paper trains on
subsets of a chapter and tests on others; here training sentences are drawn from the first 1,500 of
the sample and the other 2,414 are tested.  Regularisation and penalties were chosen on sentences
of the first 1,500 that other draws had not trained on.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from string import ascii_lowercase
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from assent.apps.corpus import (
    CorpusModel,
    Threads,
    compare_solvers,
    decode_corpus,
    text_model,
)
from assent.apps.corpus.comparison import QUANTILES, Goal
from assent.apps.tagging import PerceptronSettings, Tagger, train_tagger
from assent.io import Sentence, read_conllu
from assent.learn import LogLikelihood
from benchmarks import corpus_trees, tables
from benchmarks.treebank import archive, read

TRAINED_FROM = 1500  # sentences of which training ones are drawn; the others are tested
SIZES = {True: (50,), False: (50, 100, 200, 500)}
SAMPLES = {True: 2, False: 5}
CALLS = {True: (50,), False: (50, 100, 200, 500)}  # training sentences where calls are counted
PENALTY = 2.0  # in log-probabilities
TRAINER = LogLikelihood(C=10.0, max_iterations=60)
TABLE_BITS = 18  # as many rows as 500 sentences have features

MOST_ITERATIONS = 100
SCALE_TRAINED = 200  # training sentences of the tagger where texts grow
SENTENCES = {True: (1000, 2000), False: (12500, 25000, 50000)}  # how time and memory grow
# Belanger et al., supplement, table 4: isolated, corpus-wide.
PUBLISHED = {50: (79.0, 80.1), 100: (84.8, 86.4), 200: (88.4, 89.5), 500: (91.8, 92.1)}

# Table 1 and the supplement's tables 1 to 3, for the same parts of the gains.
PUBLISHED_CALLS: dict[Goal, dict[int, dict[str, str]]] = {
    "accuracy": {
        50: {"Subgradient": "67 96 108 122", "MPLP": "40 45 47 57",
             "BoxSubgradient": "58 63 81 108", "BoxMPLP": "12 14 15 27"},
        100: {"Subgradient": "81 88 105 110", "MPLP": "29 32 37 42",
              "BoxSubgradient": "52 67 71 86", "BoxMPLP": "11 13 15 19"},
        200: {"Subgradient": "70 92 – –", "MPLP": "22 23 25 30",
              "BoxSubgradient": "20 35 40 54", "BoxMPLP": "8 9 10 10"},
        500: {"Subgradient": "14 18 23 26", "MPLP": "13 13 13 14",
              "BoxSubgradient": "9 9 12 16", "BoxMPLP": "5 5 5 6"},
    },
    "bound": {
        50: {"Subgradient": "60 100 102 130", "MPLP": "44 47 50 75",
             "BoxSubgradient": "40 56 105 112", "BoxMPLP": "12 13 14 19"},
        # Of the others only this line is legible in our copy.
        100: {"Subgradient": "67 74 76 102"},
        200: {"Subgradient": "24 34 56 –"},
        500: {"Subgradient": "12 16 25 32"},
    },
}  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """A tagger from a few sentences, and the text it tags.

    Attributes:
        model: the text, as a whole.
        gold: the right labels; -1 where training has none of them.
    """

    model: CorpusModel
    gold: NDArray[np.int32] = field(repr=False)

    def accuracy(self, states: NDArray[np.int32]) -> float:
        """Right tags in percent."""
        return 100.0 * float(np.mean(states == self.gold))


def sentences_of(path: Path) -> list[Sentence]:
    """The sample as sentences of a tagger."""
    return [
        Sentence.from_words([word for word, _ in own]).with_columns(xpos=[tag for _, tag in own])
        for own in read(path)
    ]


def trained_on(sentences: list[Sentence]) -> Tagger:
    """A conditional random field."""
    settings = PerceptronSettings(table_bits=TABLE_BITS)
    return train_tagger(sentences, columns=["xpos"], trainer=TRAINER, settings=settings)


def sample(path: Path, trained: int, seed: int) -> Sample:
    """Train on sentences drawn at random."""
    sentences = sentences_of(path)
    chosen = np.random.default_rng(seed).permutation(TRAINED_FROM)[:trained]
    tagger = trained_on([sentences[i] for i in chosen])
    text = sentences[TRAINED_FROM:]
    model = text_model(tagger, text, PENALTY)
    return Sample(model, tagger.labels.numbers(text))


def run(console: Console, data: Path | None, quick: bool) -> None:
    """Gains in accuracy, and calls to sentences that solvers take."""
    if data is None or not archive(data).is_file():
        console.print("corpus: no data (ASSENT_DATA has no file 'nltk/treebank.zip')")
        return
    run_gains(console, archive(data), SIZES[quick], SAMPLES[quick])
    for trained in CALLS[quick]:
        run_calls(console, trained, sample(archive(data), trained, seed=0))
    run_scale(console, data, SENTENCES[quick])
    corpus_trees.run(console, data, quick)


def run_gains(console: Console, path: Path, sizes: Sequence[int], samples: int) -> None:
    """Accuracy of sentences apart and of the text as a whole."""
    rows = []
    for trained in sizes:
        found = np.array([list(_gain(sample(path, trained, seed))) for seed in range(samples)])
        apart, together, gap, ratio = found.T
        gain = together - apart
        error = 2.0 * gain.std(ddof=1) / np.sqrt(samples)
        before, after = PUBLISHED[trained]
        rows.append([
            str(trained), f"{apart.mean():.2f}", f"{together.mean():.2f}",
            f"{gain.mean():+.2f} ± {error:.2f}", f"{100 * gap.max():.3f} %", f"{ratio.mean():.1f}",
            f"{before:.1f}", f"{after:.1f}", f"{after - before:+.1f}",
        ])  # fmt: skip
    columns = (
        "trained on", "isolated", "corpus-wide", "gain", "largest gap", "time ratio",
        "isolated, paper", "corpus-wide, paper", "gain, paper",
    )  # fmt: skip
    caption = (
        f"means of {samples} draws, ± two standard errors; the paper has other sentences. Time of "
        f"the whole solve, as a multiple of decoding every sentence once. {tables.circumstances()}"
    )
    show = "Corpus-wide tagging: accuracy in percent"
    tables.show(console, show, columns, rows, caption=caption)


def _gain(own: Sample) -> Iterator[float]:
    """Accuracy apart and together, relative gap, time as a multiple of isolated decoding."""
    begun = time.process_time()
    result = decode_corpus(own.model, executor=Threads(1))
    joint = time.process_time() - begun
    yield own.accuracy(result.isolated)
    yield own.accuracy(result.states)
    yield result.relative_gap
    yield joint / isolated_seconds(own.model)


def isolated_seconds(model: CorpusModel) -> float:
    """Processor time of decoding every sentence once; the best of three."""
    from assent.kernels.batch.chain_corpus import maximize_chains

    states = np.empty(int(model.ends[-1]), np.int32)
    table = model.transitions.ravel()
    seconds = []
    for _ in range(3):
        begun = time.process_time()
        maximize_chains(model.ends, model.scores, table, states)
        seconds.append(time.process_time() - begun)
    return min(seconds)


def run_calls(console: Console, trained: int, own: Sample) -> None:
    """Calls until parts of the gains in accuracy and in the dual value are had."""
    found = compare_solvers(own.model, own.gold, iterations=MOST_ITERATIONS, executor=Threads(1))
    for goal in get_args(Goal):
        columns = ("solver", *(f"{part:.0%} of the gain" for part in QUANTILES), "paper")
        title = f"Calls per sentence, {goal}; trained on {trained}; {own.model}"
        caption = (
            f"max-marginals count twice; – not in {MOST_ITERATIONS} iterations; steps are the best "
            "in hindsight for each figure"
        )
        paper = PUBLISHED_CALLS[goal][trained]
        rows = [[*row, paper.get(row[0], "")] for row in found.rows(goal)]
        tables.show(console, title, columns, rows, caption=caption)


def run_scale(console: Console, data: Path, sizes: Sequence[int]) -> None:
    """Time and memory of texts of several sizes."""
    tagger = trained_on(sentences_of(archive(data))[:SCALE_TRAINED])
    files = sorted(data.glob("ud/UD_English-*/*.conllu*"))
    words = [sentence.words for path in files for sentence in read_conllu(path)]
    if not words:
        console.print("corpus: no texts to grow (ASSENT_DATA has no folder 'ud/UD_English-EWT')")
        return
    assert tagger.frequent is not None
    order = np.random.default_rng(0).permutation(len(words))  # treebanks differ: mixed, they do not
    words = [words[i] for i in order]
    rows = []
    for size in sizes:
        begun = time.perf_counter()
        model = text_model(tagger, islice(grown(words, tagger.frequent), size), PENALTY)
        scored = time.perf_counter()
        result = decode_corpus(model)
        ended = time.perf_counter()
        rows.append([
            f"{size:,}", f"{len(model.scores):,}", f"{len(model.sets.names):,}",
            f"{len(model.sets.sets):,}", f"{scored - begun:.1f} s", f"{ended - scored:.1f} s",
            str(result.iterations),
            f"{1e6 * (ended - scored) / result.iterations / len(model.scores):.2f} µs",
            f"{100 * result.relative_gap:.3f} %", f"{peak_gigabytes():.2f} GiB",
        ])  # fmt: skip
    columns = (
        "sentences", "words", "sets", "links", "scoring", "decoding", "passes",
        "per word and pass", "gap", "peak memory",
    )  # fmt: skip
    caption = f"all cores; {tables.circumstances()}"
    tables.show(console, "Growth with the text", columns, rows, caption=caption)


def grown(sentences: Sequence[Sequence[str]], frequent: Collection[str]) -> Iterator[Sentence]:
    """Sentences over and over, each time with other rare words, as a longer text would have.

    A letter in the middle makes a new word of one that is not ``frequent``; its ends, by which
    taggers know it, stay.

    Example:
        >>> text = grown([["the", "gnu"]], frequent={"the"})
        >>> [next(text).words for _ in range(3)]
        [['the', 'gnu'], ['the', 'ganu'], ['the', 'gbnu']]
    """
    for inserted in ("", *ascii_lowercase):
        for words in sentences:
            yield Sentence.from_words([
                word if word in frequent
                else f"{word[: len(word) // 2]}{inserted}{word[len(word) // 2 :]}"
                for word in words
            ])  # fmt: skip


def peak_gigabytes() -> float:
    """The most memory this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
