"""Suite ``chunking``: phrases of CoNLL-2000 by chains, beside sklearn-crfsuite.

Both are given words with their tags, and one function that makes a dict of each; training
time includes reading these.  Settings were chosen on the last tenth of the training sentences.
"""

from __future__ import annotations

import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from assent.learn import (
    AdaGradLikelihood,
    AveragedPerceptron,
    StructuredPredictor,
    span_f1,
)
from assent.models import ChainModel
from benchmarks import tables

SENTENCES = {True: 1000, False: None}  # to learn from
ROUNDS = {True: 1, False: 2}  # in turns; the quickest counts


class Chunks(NamedTuple):
    """Sentences as lists of (word, tag), and the labels of their words."""

    inputs: list[Any]
    outputs: list[Any]


class Row(NamedTuple):
    """What came of one system: chunk F1 on the test sentences, CPU seconds."""

    system: str
    f1: float
    training: float
    predicting: float


def read_chunks(archive: Path, name: str) -> Chunks:
    """A part (``train.txt``, ``test.txt``) of the corpus as NLTK packs it."""
    with zipfile.ZipFile(archive) as file:
        text = file.read(f"conll2000/{name}").decode()
    sentences = [
        [line.split() for line in block.splitlines()] for block in text.strip().split("\n\n")
    ]
    return Chunks(
        [[(word, tag) for word, tag, _ in s] for s in sentences],
        [[label for _, _, label in s] for s in sentences],
    )


def looks(words: Any, i: int) -> dict[str, str]:
    """Words and tags up to two away, and some neighbours of them together."""
    around = [words[j] if 0 <= j < len(words) else ("", "") for j in range(i - 2, i + 3)]
    word, tag = zip(*around, strict=True)
    found = {"bias": ""}
    for d in range(5):
        found[f"word {d}"], found[f"tag {d}"] = word[d], tag[d]
    for d in range(4):
        found[f"tags {d}"] = f"{tag[d]} {tag[d + 1]}"
    for d in range(3):
        found[f"three tags {d}"] = f"{tag[d]} {tag[d + 1]} {tag[d + 2]}"
    found["words 1"], found["words 2"] = f"{word[1]} {word[2]}", f"{word[2]} {word[3]}"
    return found


class CRFsuite:
    """sklearn-crfsuite with the manners of our predictor: features are made by `looks`."""

    def __init__(self, **settings: Any) -> None:
        import sklearn_crfsuite

        self.crf = sklearn_crfsuite.CRF(**settings)

    def fit(self, X: list[Any], y: list[Any]) -> CRFsuite:
        self.crf.fit(self._dicts(X), y)
        return self

    def predict(self, X: list[Any]) -> Any:
        return self.crf.predict(self._dicts(X))

    @staticmethod
    def _dicts(X: list[Any]) -> list[Any]:
        return [[looks(x, i) for i in range(len(x))] for x in X]


def _ours(trainer: Any) -> Callable[[], Any]:
    # Measured at the end alone: a look at the objective is another pass.
    passes = trainer.max_iterations
    return lambda: StructuredPredictor(ChainModel(), trainer, features=looks, measure_every=passes)


def systems() -> dict[str, Callable[[], Any]]:
    """Ours, and crfsuite's where it is installed."""
    found = {
        "AdaGradLikelihood": _ours(AdaGradLikelihood(C=1.0, rate=0.3, max_iterations=10)),
        "AveragedPerceptron": _ours(AveragedPerceptron(max_iterations=10)),
    }
    try:
        import sklearn_crfsuite  # noqa: F401
    except ImportError:
        return found
    return found | {
        "crfsuite, L-BFGS": lambda: CRFsuite(algorithm="lbfgs", c2=0.1, max_iterations=100),
        "crfsuite, averaged perceptron": lambda: CRFsuite(algorithm="ap", max_iterations=10),
    }


def measure(name: str, make: Callable[[], Any], train: Chunks, test: Chunks) -> Row:
    """Train and predict once."""
    begun = time.process_time()
    predictor = make().fit(*train)
    trained = time.process_time()
    predicted = predictor.predict(test.inputs)
    done = time.process_time()
    f1 = 100.0 * span_f1(test.outputs, predicted)
    return Row(name, f1, trained - begun, done - trained)


def run(console: Console, data: Path | None, quick: bool) -> list[Row]:
    """All systems in turns; print chunk F1 and time."""
    archive = None if data is None else data / "nltk" / "conll2000.zip"
    if archive is None or not archive.is_file():
        console.print("chunking: no data (ASSENT_DATA has no file 'nltk/conll2000.zip')")
        return []
    train, test = read_chunks(archive, "train.txt"), read_chunks(archive, "test.txt")
    train = Chunks(*(part[: SENTENCES[quick]] for part in train))
    chosen = systems()
    few = Chunks(*(part[:20] for part in train))
    for name, make in chosen.items():  # for the compiler
        measure(name, make, few, few)
    rounds = [
        [measure(name, make, train, test) for name, make in chosen.items()]
        for _ in range(ROUNDS[quick])
    ]
    best = [min(rows, key=lambda row: row.training) for rows in zip(*rounds, strict=True)]
    tables.show(
        console,
        f"Chunking: {len(train.inputs):,} sentences to learn from, {len(test.inputs):,} to test",
        ("system", "chunk F1", "CPU time to train", "to predict"),
        [
            (r.system, f"{r.f1:.2f}", tables.duration(r.training), tables.duration(r.predicting))
            for r in best
        ],
        caption=f"features included; {tables.circumstances()}",
    )
    return best
