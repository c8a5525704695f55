"""The turbo parser on treebanks: accuracy, words per second, proofs, and AD3 beside other solvers.

Tags are predicted, those of the training sentences by taggers that have not seen them.  Everything
counts for the speed: tags, pruning, features, AD3, labels.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import assent as at
from assent.apps.parsing import PRESETS, Parser, ParserSettings, train_parser
from assent.apps.parsing.metrics import parse_scores
from assent.apps.tagging import Tagger, jackknife, train_tagger
from assent.io import Sentence
from benchmarks import tables
from benchmarks.tagging import parts

ALL = tuple(PRESETS)
REPEATS = 3  # the fastest counts: others share the machine
# Lengths of sentences, and how many of each are decoded by every solver.
LENGTHS, OF_EACH = ((5, 10), (10, 20), (20, 30), (30, 45)), 8
LIMIT = 10.0  # seconds for a sentence

SOLVERS: dict[str, Callable[[], Any]] = {
    "AD3": lambda: at.AD3(max_iterations=1000),
    "subgradient": lambda: at.Subgradient(max_iterations=5000),
    "HiGHS": at.IntegerProgram,
}


def run(console: Console, folders: list[Path], presets: tuple[str, ...] = ALL) -> None:
    """A table with a line per treebank and preset, and one of solvers for the last parser."""
    rows = []
    for folder in folders:
        own = parts(folder)
        has_xpos = any(tag != "_" for sentence in own["train"] for tag in sentence.xpos)
        columns = ("upos", "xpos") if has_xpos else ("upos",)
        tagger = train_tagger(own["train"], columns=columns)
        tagged = jackknife(own["train"], columns=columns)
        for preset in presets:
            with console.status(f"{folder.name}, {preset}"):
                begun = time.process_time()
                parser = train_parser(tagged, ParserSettings(preset))
                seconds = time.process_time() - begun
            rows.append(_row(folder.name, preset, parser, tagger, own, seconds))
        race(console, parser, list(tagger.tag(own["test"])), folder.name)
    columns = (
        "treebank", "preset", "training", "dev UAS", "test UAS", "LAS", "UPOS", "proven", "words/s",
    )  # fmt: skip
    tables.show(
        console, "Parsing: scores in percent", columns, rows, caption=tables.circumstances()
    )


def _row(
    name: str, preset: str, parser: Parser, tagger: Tagger, own: dict[str, list[Sentence]],
    seconds: float,
) -> list[str]:  # fmt: skip
    dev = [parser.parse(sentence).sentence for sentence in tagger.tag(own["dev"])]
    parses = [parser.parse(sentence) for sentence in tagger.tag(own["test"])]
    test = parse_scores(own["test"], [parse.sentence for parse in parses])
    return [
        name, preset, f"{seconds:.0f} s", f"{parse_scores(own['dev'], dev).uas:.2f}",
        f"{test.uas:.2f}", f"{test.las:.2f}", f"{test.upos:.2f}",
        f"{100.0 * np.mean([parse.proven for parse in parses]):.1f}",
        f"{words_per_second(parser, tagger, own['test']):,.0f}",
    ]  # fmt: skip


def words_per_second(parser: Parser, tagger: Tagger, sentences: list[Sentence]) -> float:
    """Tagging and parsing, the best of several runs, in processor time."""
    seconds = []
    for _ in range(REPEATS):
        begun = time.process_time()
        for sentence in tagger.tag(sentences):
            parser.parse(sentence)
        seconds.append(time.process_time() - begun)
    return sum(map(len, sentences)) / min(seconds)


def race(console: Console, parser: Parser, sentences: list[Sentence], name: str) -> None:
    """Time to a proven tree by length of the sentence (Martins et al. 2015, Figure 1.5 left)."""
    rows = []
    for low, high in LENGTHS:
        chosen = [s for s in sentences if low <= len(s) < high][:OF_EACH]
        if not chosen:
            continue
        row = [f"{low}–{high - 1}", str(len(chosen))]
        for solver in SOLVERS.values():
            row += _timed(parser, chosen, solver())
        rows.append(row)
    columns = ["words", "sentences"]
    for solver_name in SOLVERS:
        columns += [solver_name, "proven"]
    title = f"{name}: seconds per sentence to a proof, the graph already written"
    tables.show(console, title, columns, rows, caption=tables.circumstances())


def _timed(parser: Parser, sentences: list[Sentence], solver: Any) -> list[str]:
    """Mean processor time, and how many sentences were proven within it."""
    spent, proven = 0.0, 0
    for sentence in sentences:
        graph, _ = parser.graph(sentence)
        graph.compile()
        begun = time.process_time()
        result = at.decode(graph, solver, time_limit=LIMIT)
        spent += time.process_time() - begun
        proven += result.status is at.Status.OPTIMAL
    return [tables.duration(spent / len(sentences)), str(proven)]
