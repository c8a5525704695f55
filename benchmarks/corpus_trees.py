"""Suite ``corpus``, its trees: a text parsed as a whole, by a parser of another kind of text.

The parsing of Belanger et al. (2014), after Rush et al. (2012), who train on newspapers and parse
questions, and the reverse.  Here web texts (UD_English-EWT) stand for the former and questions
about flights (UD_English-Atis) for the latter.  Parsers are first-order, with and without crossing
arcs; tags are given.  Words in the same context, their own tag and their neighbours', should have
heads of the same tag.  Width of contexts and penalty are chosen on the
development part, for trees without crossing arcs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from assent.apps.corpus import (
    Threads,
    TreeCorpusModel,
    compare_solvers,
    consensus_sets,
    context_keys,
    decode_corpus,
    tree_corpus_model,
)
from assent.apps.corpus.comparison import QUANTILES, Goal
from assent.apps.parsing import Parser, ParserSettings, ParserTraining, train_parser
from assent.io import Sentence
from benchmarks import tables
from benchmarks.corpus_calls import chosen_steps, with_chosen
from benchmarks.tagging import parts

EWT, ATIS = "UD_English-EWT", "UD_English-Atis"
# Trained on, tested on, unlabelled attachment isolated and corpus-wide (supplement, table 5).
DIRECTIONS = ((EWT, ATIS, ("83.43", "83.78")), (ATIS, EWT, ("70.14", "69.93")))
PASSES = 3  # of training: first-order parsers learn little from more
MOST_SENTENCES = {True: 200, False: 2000}  # of the text that is tested
TRAINED = {True: 300, False: 4000}  # sentences of training: about as many as UD_English-Atis has
# Neighbours on either side, and penalties in units of MIRA, whose margin is 1 for a wrong head.
RADII, PENALTIES = (1, 2), (0.03, 0.1, 0.3, 1.0)
SHAPES = ("projective", "any")
# Where calls are counted.
CALLS_SENTENCES, ITERATIONS = {True: 100, False: 500}, 30


@dataclass(frozen=True)
class Text:
    """Sentences with their gold heads."""

    sentences: list[Sentence] = field(repr=False)

    @property
    def heads(self) -> NDArray[np.int32]:
        """``[words]``, 0 for the root."""
        return np.array([h for own in self.sentences for h in own.heads], np.int32)

    def model(self, parser: Parser, radius: int, penalty: float) -> TreeCorpusModel:
        """All as one problem."""
        sets = consensus_sets(context_keys(self.sentences, radius), penalty)
        return tree_corpus_model(parser, self.sentences, sets)

    def gain(
        self, before: NDArray[np.int32], after: NDArray[np.int32]
    ) -> tuple[float, float, float]:
        """Right heads in percent before, what is gained, and two standard errors of that.

        Errors are those of a sum over sentences, whose words are not independent.
        """
        right, now = before == self.heads, after == self.heads
        sentence = np.repeat(np.arange(len(self.sentences)), [len(s) for s in self.sentences])
        gained = np.bincount(sentence, now.astype(float) - right)
        error = np.sqrt(len(gained)) * gained.std(ddof=1)
        return 100.0 * right.mean(), *(100.0 / len(right) * np.array([gained.sum(), 2.0 * error]))


def chosen(parser: Parser, text: Text) -> tuple[int, float]:
    """Radius and penalty that gain most on a text."""

    def gain(setting: tuple[int, float]) -> float:
        result = decode_corpus(text.model(parser, *setting))
        return text.gain(result.isolated, result.states)[1]

    return max(product(RADII, PENALTIES), key=gain)


def run(console: Console, data: Path | None, quick: bool) -> None:
    """Gains in unlabelled attachment, and calls to sentences that solvers take."""
    folder = Path(data or "") / "ud"
    if data is None or not all((folder / name).is_dir() for name in (EWT, ATIS)):
        console.print(f"corpus: no trees (ASSENT_DATA has no folders 'ud/{EWT}' and 'ud/{ATIS}')")
        return
    rows = []
    for source, target, published in DIRECTIONS:
        training = parts(folder / source)["train"][: TRAINED[quick]]
        parsers = {shape: trained_on(training, shape == "projective") for shape in SHAPES}
        own = parts(folder / target)
        test = Text((own["test"] + own["train"])[: MOST_SENTENCES[quick]])
        dev = Text(own["dev"][: MOST_SENTENCES[quick]])
        setting = chosen(parsers["projective"], dev)
        for shape, parser in parsers.items():
            rows.append([f"{source} → {target}", shape, *_row(parser, test, setting), *published])
        few, other = (Text(part.sentences[: CALLS_SENTENCES[quick]]) for part in (test, dev))
        models = (text.model(parsers["projective"], *setting) for text in (few, other))
        show_calls(console, f"{source} → {target}", few, *models)
    columns = (
        "parser → text", "trees", "isolated", "corpus-wide", "gain", "radius", "penalty", "gap",
        "isolated, paper", "corpus-wide, paper",
    )  # fmt: skip
    caption = "± two standard errors over sentences; the paper has other treebanks"
    title = "Corpus-wide parsing: unlabelled attachment in percent, punctuation included"
    tables.show(console, title, columns, rows, caption=caption)


def trained_on(sentences: Sequence[Sentence], projective: bool) -> Parser:
    """A first-order parser."""
    settings = ParserSettings("basic", projective=projective)
    return train_parser(sentences, settings, ParserTraining(passes=PASSES))


def _row(parser: Parser, test: Text, setting: tuple[int, float]) -> list[str]:
    result = decode_corpus(test.model(parser, *setting))
    before, gain, error = test.gain(result.isolated, result.states)
    return [
        f"{before:.2f}", f"{before + gain:.2f}", f"{gain:+.2f} ± {error:.2f}",
        *map(str, setting), f"{100 * result.relative_gap:.3f} %",
    ]  # fmt: skip


def show_calls(
    console: Console, title: str, text: Text, model: TreeCorpusModel, other: TreeCorpusModel
) -> None:
    """Calls to parts of the gains (table 2); steps may be chosen on an ``other`` text."""
    found = compare_solvers(model, text.heads, iterations=ITERATIONS, executor=Threads(1))
    found = with_chosen(found, chosen_steps([other]))
    for goal in get_args(Goal):
        columns = ("solver", *(f"{part:.0%} of the gain" for part in QUANTILES))
        tables.show(
            console, f"Calls per sentence, {goal}: {title}; {len(model.sets.sets):,} links",
            columns, found.rows(goal),
            caption="max-marginals count twice; steps are the best in hindsight for each figure if "
            "not said otherwise",
        )  # fmt: skip
