"""How well a segmentation agrees with another: error, and intersection over union."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.apps.segmentation.data.label_pairs import LabelPair
from assent.apps.segmentation.data.label_set import UNKNOWN, LabelSet
from assent.errors import ModelError
from assent.kernels.problem import Float, Int64


@dataclass(frozen=True, eq=False)
class SegmentationScore:
    """Counts of pixels or points, ``[K, K]``: gold label, label of the system.

    Example:
        >>> score = segmentation_score([(np.array([0, 0, 1, -1]), np.array([0, 1, 1, 1]))], 2)
        >>> score.error, score.intersection_over_union.tolist()
        (0.333..., [0.5, 0.5])
    """

    confusion: Int64

    @property
    def error(self) -> float:
        """The share that has another label."""
        return 1.0 - float(self.confusion.trace() / max(1, self.confusion.sum()))

    @property
    def intersection_over_union(self) -> Float:
        """Of each label ``[K]``: what both say over what either says; NaN where neither does."""
        both = self.confusion.diagonal()
        either = self.confusion.sum(axis=0) + self.confusion.sum(axis=1) - both
        return np.where(either > 0, both / np.maximum(either, 1), np.nan)

    @property
    def mean_intersection_over_union(self) -> float:
        """The mean over labels that occur."""
        own = self.intersection_over_union
        return float(own[~np.isnan(own)].mean()) if (~np.isnan(own)).any() else float("nan")

    def __add__(self, other: SegmentationScore) -> SegmentationScore:
        return SegmentationScore(self.confusion + other.confusion)


def segmentation_score(pairs: Iterable[tuple[Int64, Int64]], labels: int) -> SegmentationScore:
    """Compare pairs of arrays of indices: gold (-1 where unknown, which does not count), system."""
    confusion = np.zeros((labels, labels), np.int64)
    for gold, system in pairs:
        if gold.shape != system.shape:
            raise ModelError(f"gold has shape {gold.shape}, the system's {system.shape}")
        known = gold != UNKNOWN
        if (system[known] == UNKNOWN).any():
            raise ModelError("the system has no label where gold has one")
        np.add.at(confusion, (gold[known], system[known]), 1)
    return SegmentationScore(confusion)


@dataclass(frozen=True, eq=False)
class ComparedFiles:
    """Scores of all files together, and of each."""

    labels: LabelSet
    score: SegmentationScore
    files: dict[str, SegmentationScore]

    def as_json(self) -> dict[str, Any]:
        """Numbers as fractions, by name."""
        files = [{"name": name, **_numbers(score)} for name, score in self.files.items()]
        own = self.score.intersection_over_union
        by_label = {
            name: None if np.isnan(value) else float(value)
            for name, value in zip(self.labels.names, own, strict=True)
        }
        return {**_numbers(self.score), "iou": by_label, "files": files}

    def text(self) -> str:
        """A few lines."""
        own, count = self.score.intersection_over_union, len(self.files)
        lines = [
            f"{count} file{'s' * (count != 1)}, {self.score.confusion.sum()} labels compared",
            f"error {self.score.error:.4f}  mean IoU {self.score.mean_intersection_over_union:.4f}",
        ]
        named = zip(self.labels.names, own, strict=True)
        return "\n".join([*lines, *(f"IoU of {name}: {value:.4f}" for name, value in named)])


def _numbers(score: SegmentationScore) -> dict[str, Any]:
    mean = score.mean_intersection_over_union
    return {"error": score.error, "mean_iou": None if np.isnan(mean) else mean}


def compare_labels(pairs: Iterable[LabelPair], labels: LabelSet) -> ComparedFiles:
    """Compare pairs of files that hold numbers of labels."""
    files = {}
    for pair in pairs:
        gold, system = labels.indices(pair.gold), labels.indices(pair.system)
        wrong = (gold != UNKNOWN) & (system == UNKNOWN)
        if wrong.any():
            raise ModelError(
                f"{pair.name}: the system has {pair.system[wrong][0]}, which is no label of gold"
            )
        files[pair.name] = segmentation_score([(gold, system)], len(labels))
    total = sum((score.confusion for score in files.values()), np.zeros((len(labels),) * 2, int))
    return ComparedFiles(labels, SegmentationScore(total), files)
