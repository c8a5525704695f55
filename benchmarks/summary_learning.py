"""Learnt weights of concepts and deletions on Opinosis: every topic by those of other topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console

from assent.apps.summarization import (
    Collection,
    phrase_deletions,
    summarize,
    train_summarizer,
)
from assent.apps.summarization.data.opinosis import Topic
from assent.apps.summarization.metrics import rouge_scores
from assent.io import Sentence
from benchmarks.bootstrap import interval
from benchmarks.tables import show

FOLDS = 3
WORDS = 20  # of the summaries to learn from: people's have 17 on average


def run(
    console: Console,
    topics: Sequence[Topic],
    parsed: Sequence[list[Sentence]],
    compressions: Sequence[tuple[Sentence, Any]],
    budgets: Sequence[int],
) -> None:
    """ROUGE-2 recall by counts and by learnt weights, with an interval of the difference."""
    recall = np.zeros((len(budgets), 3, len(topics)))
    for fold in range(FOLDS):
        others = [i for i in range(len(topics)) if i % FOLDS != fold]
        collections = [Collection(parsed[i], topics[i].references) for i in others]
        learnt = train_summarizer(collections, compressions, budget=WORDS)
        for i in range(fold, len(topics), FOLDS):
            for row, budget in enumerate(budgets):
                weighted = {"concepts": learnt.weighted(parsed[i], budget)}
                priced = {"deletions": learnt.priced(phrase_deletions)}
                for column, options in enumerate(({}, weighted, weighted | priced)):
                    text = summarize(parsed[i], budget, starts=(), **options).text
                    scores = rouge_scores(text, topics[i].references)
                    recall[row, column, i] = scores["rouge2"].recall
    rows = []
    names = "counts and rules", "learnt concepts", "learnt concepts and prices"
    for row, budget in enumerate(budgets):
        for column, name in enumerate(names):
            gain = recall[row, column] - recall[row, 0]
            low, high = interval(gain)
            rows.append([
                f"{budget} words, {name}", f"{recall[row, column].mean():.4f}",
                f"{gain.mean():+.4f} ({low:+.4f} to {high:+.4f})",
            ])  # fmt: skip
    title = f"Opinosis, learnt from other topics' summaries and {len(compressions)} compressions"
    show(console, title, ("summaries", "ROUGE-2 recall", "gain (95 %)"), rows)
