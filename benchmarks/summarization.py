"""Summaries: ROUGE on Opinosis, and AD3 with a search beside HiGHS on broadcast news.

Sentences are parsed by the English model or by one that is given.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import assent as at
from assent.apps.parsing.pipeline import Pipeline
from assent.apps.summarization import bigram_concepts, phrase_deletions, summarize
from assent.apps.summarization.concepts import is_word
from assent.apps.summarization.data.broadcast import read_compressions
from assent.apps.summarization.data.opinosis import read_opinosis
from assent.apps.summarization.metrics import rouge_scores
from assent.apps.summarization.model import make_units, summary_graph
from assent.apps.text.raw_text import read_text_lines
from assent.io import Sentence
from benchmarks.tables import circumstances, show

BUDGETS = {True: (20,), False: (15, 20, 30)}
TOPICS = {True: 5, False: None}  # of 51
WORDS = 100
DOCUMENTS = {True: (10,), False: (10, 30)}  # the size of TAC's problems, and three times that
HIGHS_SECONDS = 60.0
RESAMPLES = 2000
WORD_SCORE = -0.3  # of a deleted word at word level, in sentences that share a concept


def any_word(sentence: Sentence) -> NDArray[np.float64]:
    """The word-level model of the paper: every arc but a mark's may be cut."""
    return np.array([WORD_SCORE if is_word(word) else -np.inf for word in sentence.words])


MODELS = {"whole sentences": None, "phrases": phrase_deletions, "words": any_word}


def run(console: Console, data: Path | None, quick: bool, model: Path) -> None:
    """Both tables, of the data that there is."""
    folder = None if data is None else data / "summarization"
    if folder is None or not folder.is_dir():
        console.print("summarization: no data; set ASSENT_DATA")
        return
    pipeline = Pipeline.load(model)
    opinosis(console, folder, quick, pipeline)
    solvers(console, folder, quick, pipeline)


def opinosis(console: Console, folder: Path, quick: bool, pipeline: Pipeline) -> None:
    """ROUGE-2 recall by budget, and what compression gains."""
    (file,) = folder.glob("opinosis/*.zip")
    topics = read_opinosis(file)[: TOPICS[quick]]
    parsed = [list(pipeline.parse(read_text_lines(t.lines, by_line=True))) for t in topics]
    rows = []
    for budget in BUDGETS[quick]:
        recall, gaps = {}, {}
        for extractive in (True, False):
            found = [summarize(own, budget, extractive=extractive, starts=()) for own in parsed]
            recall[extractive] = np.array([
                rouge_scores(summary.text, topic.references)["rouge2"].recall
                for summary, topic in zip(found, topics, strict=True)
            ])  # fmt: skip
            gaps[extractive] = np.mean([summary.gap for summary in found])
        gain = recall[False] - recall[True]
        low, high = interval(gain)
        rows.append([
            str(budget), f"{recall[True].mean():.3f}", f"{recall[False].mean():.3f}",
            f"{gain.mean():+.4f} ({low:+.4f} to {high:+.4f})", f"{gaps[True]:.3f}",
            f"{gaps[False]:.3f}",
        ])  # fmt: skip
    columns = "words", "extractive", "compressive", "gain (95 %)", "gap extr.", "gap compr."
    show(console, f"Opinosis, {len(topics)} topics: ROUGE-2 recall", columns, rows)


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """95 % bootstrap interval of a mean."""
    picks = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.percentile(values[picks].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def solvers(console: Console, folder: Path, quick: bool, pipeline: Pipeline) -> None:
    """Time and value of ours and of HiGHS on the same graphs; processor time, models included."""
    documents = [
        list(pipeline.parse(Sentence.from_words(sentence.words) for sentence in document))
        for document in read_compressions(folder / "compression" / "broadcast.jsonl.gz")
    ]
    rows = []
    for count in DOCUMENTS[quick]:
        for name, deletions in MODELS.items():
            groups = range(0, len(documents) - count + 1, count)
            figures = [_one(documents[i : i + count], deletions) for i in groups]
            ours, theirs, off, gap, units = np.mean(figures, axis=0)
            rows.append([
                f"{count} documents, {name}", f"{len(figures)}", f"{units:,.0f}", f"{ours:.2f} s",
                f"{theirs:.2f} s", f"{theirs / ours:.1f}", f"{100 * off:.2f} %",
                f"{100 * gap:.2f} %",
            ])  # fmt: skip
    columns = "model", "problems", "units", "ours", "HiGHS", "ratio", "below HiGHS", "gap"
    show(console, f"Broadcast news, {WORDS} words", columns, rows, caption=circumstances())


def _one(documents: Sequence[list[Sentence]], deletions) -> tuple[float, ...]:
    sentences = [sentence for document in documents for sentence in document]
    starts = np.cumsum([0, *map(len, documents[:-1])]).tolist()
    options = {"extractive": True} if deletions is None else {"deletions": deletions}
    concepts = bigram_concepts(sentences, budget=WORDS, starts=starts)
    summarize(sentences, WORDS, concepts=concepts, **options)  # compiles
    begun = time.process_time()
    summary = summarize(sentences, WORDS, concepts=concepts, **options)
    ours = time.process_time() - begun
    begun = time.process_time()
    units = make_units(sentences, deletions)
    graph = summary_graph(units, concepts, WORDS)
    result = at.decode(graph, at.IntegerProgram(time_limit=HIGHS_SECONDS))
    theirs = time.process_time() - begun
    return ours, theirs, 1.0 - summary.value / result.value, summary.gap, len(units.cost)
