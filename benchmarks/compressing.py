"""A learnt compressor on broadcast news: documents 1 to 30 teach, 10 choose, 10 test."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from assent.apps.summarization import Compressor, compression_scores, train_compressor
from assent.apps.summarization.data.broadcast import CompressedSentence
from assent.apps.summarization.metrics import rouge_scores
from assent.io import Sentence
from benchmarks.tables import DASH, show

DEV, TEST = 30, 40  # the documents with which they begin
Kept = NDArray[np.bool_]
Pair = tuple[CompressedSentence, Sentence]


def run(console: Console, documents: Sequence[Sequence[Pair]]) -> Compressor:
    """Train, and tell the scores of the test documents beside those of people."""
    train, dev, test = (
        _columns([pair for document in part for pair in document])
        for part in (documents[:DEV], documents[DEV:TEST], documents[TEST:])
    )
    learnt = train_compressor(*train, dev=dev)
    sentences, people = test
    systems = {
        "everything": [np.ones(len(sentence), bool) for sentence in sentences],
        "learnt, probability of one half": [learnt.compress(s, 0.5) for s in sentences],
        "learnt, at people's rate": [learnt.compress(s) for s in sentences],
    }
    rows = [_row(name, sentences, people, own) for name, own in systems.items()]
    each = [
        compression_scores([own[[j]] for own in people], [own[i] for own in people])
        for i, j in permutations(range(len(people[0])), 2)
    ]
    if each:
        rows.append(["people, one against another", *_figures(np.mean(each, axis=0)), *[DASH] * 3])
    columns = ("kept", "rate", "F1 kept", "F1 deleted", "accuracy", "ROUGE-1", "ROUGE-2",
               "ROUGE-L")  # fmt: skip
    show(console, f"Compression, {len(sentences)} test sentences", columns, rows)
    return learnt


def _columns(pairs: Sequence[Pair]) -> tuple[list[Sentence], list[Kept]]:
    return [parsed for _, parsed in pairs], [own.kept for own, _ in pairs]


def _figures(scores: Sequence[float]) -> list[str]:
    return [f"{score:.3f}" for score in scores]


def _row(
    name: str, sentences: Sequence[Sentence], people: Sequence[Kept], own: Sequence[Kept]
) -> list[str]:
    """Scores, and the mean F1 of ROUGE over sentences."""
    rouge = [
        rouge_scores(_text(sentence, kept), [_text(sentence, person) for person in persons])
        for sentence, persons, kept in zip(sentences, people, own, strict=True)
    ]
    means = [np.mean([scores[kind].f1 for scores in rouge]) for kind in rouge[0]]
    return [name, *_figures(compression_scores(people, own)), *_figures(means)]


def _text(sentence: Sentence, kept: Kept) -> str:
    return " ".join(word for word, k in zip(sentence.words, kept, strict=True) if k)
