"""The turbo parser on treebanks: accuracy, words per second, proofs.

Tags are predicted, those of the training sentences by taggers that have not seen them.  Everything
counts for the speed: tags, pruning, features, AD3, labels.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from assent.apps.parsing import PRESETS, ParserSettings, ParserTraining, train_parser
from assent.apps.parsing.metrics import ParseScores, parse_scores
from assent.io import Sentence
from benchmarks import tables
from benchmarks.parsing_data import Treebank, prepare

# Samples of the test sentences, with repetition, that say how far a difference is chance.
RESAMPLES = 2000

PRESET_SETTINGS = {preset: ParserSettings(preset) for preset in PRESETS}

# Parts added one by one (Martins et al. 2011, Table 3), in the order of the presets.
_STEPS = {
    "arcs": ("arcs",),
    "+ siblings": ("siblings",),
    "+ grandparents": ("grandparents",),
    "+ grand-siblings": ("grand_siblings",),
    "+ any siblings": ("any_siblings",),
    "+ head bigrams": ("head_bigrams",),
    "+ tri-siblings": ("tri_siblings",),
}
ABLATION = {
    name: ParserSettings(sum(list(_STEPS.values())[: i + 1], ()))
    for i, name in enumerate(_STEPS)
}  # fmt: skip

# All trees, and those whose arcs do not cross; by arcs alone both are found exactly.
CROSSING = {
    "arcs may cross": ParserSettings("basic", projective=False),
    "no arcs cross": ParserSettings("basic", projective=True),
}

# Parts that look at all ancestors of a word, beside those that look at the nearest.
_NEAR = ("arcs", "siblings", "grandparents")
ANCESTORS = {
    "arcs may cross": ParserSettings(_NEAR, projective=False),
    "+ non-projective arcs": ParserSettings((*_NEAR, "nonprojective_arcs"), projective=False),
    "+ paths": ParserSettings((*_NEAR, "nonprojective_arcs", "paths"), projective=False),
}

EXPERIMENTS = {
    "presets": PRESET_SETTINGS, "ablation": ABLATION, "crossing": CROSSING, "ancestors": ANCESTORS,
}  # fmt: skip

COLUMNS = (
    "treebank", "parser", "trained on", "training", "UAS", "LAS", "UAS, no punctuation", "gain",
    "UPOS", "proven", "words/s",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What a parser reaches on a treebank.

    Attributes:
        seconds: of training, in processor time.
        scores: on the part that was asked for.
        right: ``[S]`` words with the right head in every sentence of it.
        proven: share of sentences whose tree is proven best.
        speed: words per second of processor time.
    """

    seconds: float
    scores: ParseScores
    right: NDArray[np.int64]
    proven: float
    speed: float


def run(
    console: Console, paths: Sequence[Path], parsers: Mapping[str, ParserSettings],
    training: ParserTraining, most_words: int, part: str,
) -> None:  # fmt: skip
    """A table with a line per treebank and parser; each line is printed as it is found, too.

    Args:
        console: to print on.
        paths: of treebanks, see `parsing_data.treebanks`.
        parsers: by name.
        training: of all of them.
        most_words: to train on.
        part: ``"dev"`` or ``"test"``, what is scored.
    """
    rows = []
    for path in paths:
        with console.status(f"{path.name}, tags"):
            treebank = prepare(path, most_words)
        before = None
        for name, settings in parsers.items():
            with console.status(f"{treebank.name}, {name}"):
                found = outcome(treebank, settings, training, part)
            rows.append(_row(treebank, part, name, found, before))
            console.print("  ".join(rows[-1]), highlight=False)
            before = found
    caption = (
        "scores in percent; gain: of UAS over the line above, with the interval that holds 95 % of "
        f"resampled parts; {training.passes} passes; {tables.circumstances()}"
    )
    tables.show(console, f"Parsing, {part} parts", COLUMNS, rows, caption=caption)


def outcome(
    treebank: Treebank, settings: ParserSettings, training: ParserTraining, part: str = "test"
) -> Outcome:
    """Train a parser, and try it on the ``"dev"`` or ``"test"`` part."""
    begun = time.process_time()
    parser = train_parser(treebank.train, settings, training)
    seconds = time.process_time() - begun
    gold: list[Sentence] = getattr(treebank, part)
    begun = time.process_time()
    parses = [parser.parse(sentence) for sentence in treebank.tagger.tag(gold)]
    speed = sum(map(len, gold)) / (time.process_time() - begun)
    found = [parse.sentence for parse in parses]
    right = np.array([(a.heads == b.heads).sum() for a, b in zip(gold, found, strict=True)])
    proven = float(np.mean([parse.proven for parse in parses]))
    return Outcome(seconds, parse_scores(gold, found), right, proven, speed)


def gain_interval(
    one: NDArray[np.int64], other: NDArray[np.int64], words: NDArray[np.int64]
) -> tuple[float, float, float]:
    """By how many points of accuracy ``one`` is better, and a 95 % interval (paired bootstrap).

    Args:
        one, other: ``[S]`` right words in each sentence.
        words: ``[S]`` words in each sentence.
    """
    gains = one - other
    drawn = np.random.default_rng(0).integers(len(words), size=(RESAMPLES, len(words)))
    low, high = np.quantile(gains[drawn].sum(axis=1) / words[drawn].sum(axis=1), [0.025, 0.975])
    return 100.0 * gains.sum() / words.sum(), 100.0 * float(low), 100.0 * float(high)


def _row(
    treebank: Treebank, part: str, name: str, found: Outcome, before: Outcome | None
) -> list[str]:
    gain = tables.DASH
    if before is not None:
        words = np.array([len(sentence) for sentence in getattr(treebank, part)])
        middle, low, high = gain_interval(found.right, before.right, words)
        gain = f"{middle:+.2f} [{low:+.2f}, {high:+.2f}]"
    scores = found.scores
    return [
        treebank.name, name, f"{treebank.trained_words:,}", f"{found.seconds:.0f} s",
        f"{scores.uas:.2f}", f"{scores.las:.2f}" if treebank.has_labels else tables.DASH,
        f"{scores.uas_without_punctuation:.2f}", gain, f"{scores.upos:.2f}",
        f"{100.0 * found.proven:.1f}", f"{found.speed:,.0f}",
    ]  # fmt: skip
