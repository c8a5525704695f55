"""Summaries: a learnt compressor, ROUGE on Opinosis, and solvers side by side on broadcast news.

Sentences are parsed by the English model or by one that is given.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from assent.apps.parsing.pipeline import Pipeline
from assent.apps.summarization import Compressor, summarize
from assent.apps.summarization.data.broadcast import CompressedSentence, read_compressions
from assent.apps.summarization.data.opinosis import Topic, read_opinosis
from assent.apps.summarization.metrics import rouge_scores
from assent.apps.text.raw_text import read_text_lines
from assent.io import Sentence
from benchmarks import compressing, summary_learning, summary_solvers
from benchmarks.bootstrap import interval
from benchmarks.tables import DASH, show

BUDGETS = {True: (20,), False: (15, 20, 30)}
TOPICS = {True: 5, False: None}  # of 51
# Seconds for a proof; what is not proven then is mostly within some thousandths.
PROOF_SECONDS = 2.0


def run(console: Console, data: Path | None, quick: bool, model: Path) -> None:
    """All tables, of the data that there is."""
    folder = None if data is None else data / "summarization"
    if folder is None or not folder.is_dir():
        console.print("summarization: no data; set ASSENT_DATA")
        return
    pipeline = Pipeline.load(model)
    documents = broadcast(folder, pipeline)
    compressor = None if quick else compressing.run(console, documents)
    topics, parsed = read_topics(folder, quick, pipeline)
    opinosis(console, topics, parsed, quick, compressor)
    if not quick:
        taught = [pair for document in documents[: compressing.DEV] for pair in document]
        compressions = [(sentence, own.kept) for own, sentence in taught]
        summary_learning.run(console, topics, parsed, compressions, BUDGETS[quick])
    summary_solvers.run(console, documents, quick)


def broadcast(folder: Path, pipeline: Pipeline) -> list[list[tuple[CompressedSentence, Sentence]]]:
    """Documents of compressed sentences, with their trees."""
    return [
        list(zip(document, pipeline.parse(Sentence.from_words(s.words) for s in document),
                 strict=True))
        for document in read_compressions(folder / "compression" / "broadcast.jsonl.gz")
    ]  # fmt: skip


def read_topics(
    folder: Path, quick: bool, pipeline: Pipeline
) -> tuple[list[Topic], list[list[Sentence]]]:
    """Topics of Opinosis, and their sentences with trees."""
    (file,) = folder.glob("opinosis/*.zip")
    topics = read_opinosis(file)[: TOPICS[quick]]
    return topics, [list(pipeline.parse(read_text_lines(t.lines, by_line=True))) for t in topics]


def opinosis(
    console: Console, topics: Sequence[Topic], parsed: Sequence[list[Sentence]], quick: bool,
    compressor: Compressor | None,
) -> None:  # fmt: skip
    """ROUGE-2 recall by budget, and what compression gains: the columns of the paper's table."""
    proof = {"exact": True, "time_limit": PROOF_SECONDS}
    systems: dict[str, dict[str, Any]] = {
        "whole sentences": {"extractive": True}, "whole, exact": {"extractive": True, **proof},
        "compressed by rules": {}, "by rules, exact": proof,
    }  # fmt: skip
    if compressor is not None:
        systems["compressed as learnt"] = {"deletions": compressor.deletions}
    rows = []
    for budget in BUDGETS[quick]:
        first = np.empty(0)
        for name, options in systems.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # proofs that take too long
                found = [summarize(own, budget, starts=(), **options) for own in parsed]
            recall = np.array([
                rouge_scores(summary.text, topic.references)["rouge2"].recall
                for summary, topic in zip(found, topics, strict=True)
            ])  # fmt: skip
            first = first if len(first) else recall
            low, high = interval(recall - first)
            gain = f"{(recall - first).mean():+.4f} ({low:+.4f} to {high:+.4f})"
            rows.append([
                f"{budget} words, {name}", f"{recall.mean():.4f}", gain if rows else DASH,
                f"{np.mean([summary.seconds for summary in found]):.3f}",
                f"{np.mean([summary.gap for summary in found]):.4f}",
            ])  # fmt: skip
    columns = "summaries", "ROUGE-2 recall", "gain (95 %)", "seconds", "gap"
    show(console, f"Opinosis, {len(topics)} topics", columns, rows)
