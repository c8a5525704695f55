"""ROUGE of summaries against those that people wrote."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assent.errors import ModelError
from assent.io.text import read_text
from assent.io.whole_file import visible_files

KINDS = ("rouge1", "rouge2", "rougeL")


class Rouge(NamedTuple):
    """Recall, precision and F1, each from 0 to 1."""

    recall: float
    precision: float
    f1: float


def rouge_scores(summary: str, references: Sequence[str]) -> dict[str, Rouge]:
    """ROUGE-1, ROUGE-2 and ROUGE-L with stemming, means over the references.

    Example:
        >>> scores = rouge_scores("clean rooms", ["very clean rooms", "quiet rooms"])
        >>> round(scores["rouge1"].recall, 3), round(scores["rouge2"].recall, 3)
        (0.583, 0.25)
    """
    if not references:
        raise ModelError("ROUGE needs a reference at least")
    each = [_scorer().score(reference, summary) for reference in references]
    return {kind: _mean([_rouge(scores[kind]) for scores in each]) for kind in KINDS}


def _rouge(score: Any) -> Rouge:
    return Rouge(score.recall, score.precision, score.fmeasure)


def _mean(scores: Sequence[Rouge]) -> Rouge:
    return Rouge(*np.mean(scores, axis=0).tolist())


@cache
def _scorer() -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        raise ModelError(
            'ROUGE needs the package rouge-score: pip install "assent[summaries]"'
        ) from None
    return RougeScorer(list(KINDS), use_stemmer=True)


def evaluate_summaries(gold: str | Path, system: str | Path) -> tuple[int, dict[str, Rouge]]:
    """Number of summaries, and their mean scores.

    Args:
        gold: a text file, or a folder in which the references of ``NAME`` are files with names
            that are or begin with ``NAME.``, or all files in a folder of that name.
        system: a text file, or a folder with a file per summary, named up to its first dot.

    Raises:
        ModelError: naming a summary that has no reference, or a reference without words.
        FormatError: naming the line of a file that is no UTF-8.
    """
    gold, system = Path(gold), Path(system)
    if system.is_file() and gold.is_file():
        pairs = [(system, [gold])]
    else:
        if not (system.is_dir() and gold.is_dir()):
            raise ModelError(f"{gold} and {system} must be two files or two folders")
        pairs = [(path, _references(gold, path)) for path in visible_files(system)]
    if not pairs:
        raise ModelError(f"{system} holds no summary")
    each = [
        rouge_scores(read_text(own), list(map(_reference, references))) for own, references in pairs
    ]
    return len(pairs), {kind: _mean([scores[kind] for scores in each]) for kind in KINDS}


def _references(gold: Path, summary: Path) -> list[Path]:
    name = summary.name.partition(".")[0]
    inside = gold / name
    own = visible_files(inside if inside.is_dir() else gold)
    if not inside.is_dir():
        own = [path for path in own if path.name.partition(".")[0] == name]
    if not own:
        raise ModelError(f"{summary} has no reference: {gold} has no file or folder named {name}")
    return own


def _reference(path: Path) -> str:
    text = read_text(path)
    if not text.split():
        raise ModelError(f"{path} has no words to compare with")
    return text
