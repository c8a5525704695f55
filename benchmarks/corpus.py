"""Suite ``corpus``: a text tagged as a whole, beside every sentence for itself.

Gains in accuracy, calls to sentences, growth with the text, and the same for trees; the task is
told in `benchmarks.corpus_samples`.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from string import ascii_lowercase

import numpy as np
from rich.console import Console

from assent.apps.corpus import CorpusModel, Threads, decode_corpus, text_model
from assent.io import Sentence, read_conllu
from benchmarks import corpus_calls, corpus_trees, tables
from benchmarks.corpus_samples import PENALTY, Sample, sample, sentences_of, trained_on
from benchmarks.treebank import archive

# Training sentences.
SIZES = {True: (50,), False: (50, 100, 200, 500)}
SAMPLES = {True: 2, False: 5}
SCALE_TRAINED = 200  # training sentences of the tagger where texts grow
SENTENCES = {True: (1000, 2000), False: (12500, 25000, 50000)}  # how time and memory grow
# Belanger et al., supplement, table 4: isolated, corpus-wide.
PUBLISHED = {50: (79.0, 80.1), 100: (84.8, 86.4), 200: (88.4, 89.5), 500: (91.8, 92.1)}


def run(console: Console, data: Path | None, quick: bool) -> None:
    """Gains in accuracy, and calls to sentences that solvers take."""
    if data is None or not archive(data).is_file():
        console.print("corpus: no data (ASSENT_DATA has no file 'nltk/treebank.zip')")
        return
    run_gains(console, archive(data), SIZES[quick], SAMPLES[quick])
    for trained in SIZES[quick]:
        corpus_calls.run(console, archive(data), trained, SAMPLES[quick])
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
    decode_corpus(own.model, iterations=1, executor=Threads(1))  # kernels are loaded now
    begun = time.process_time()
    result = decode_corpus(own.model, executor=Threads(1))
    joint = time.process_time() - begun
    yield own.accuracy(result.isolated)
    yield own.accuracy(result.states)
    yield result.relative_gap
    yield joint / isolated_seconds(own.model)


def isolated_seconds(model: CorpusModel) -> float:
    """Processor time of decoding every sentence once; the best of three."""
    from assent.kernels.batch.chain_recursion import maximize_chains

    states = np.empty(int(model.ends[-1]), np.int32)
    table = model.transitions.ravel()
    seconds = []
    for _ in range(3):
        begun = time.process_time()
        maximize_chains(model.ends, model.scores, table, states)
        seconds.append(time.process_time() - begun)
    return min(seconds)


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
