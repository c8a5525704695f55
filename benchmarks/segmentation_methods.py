"""What suite ``segmentation`` compares, and how: nodes alone, their averages, trained networks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console

from assent.apps.segmentation import LabelSet, Scene, SegmenterSettings, train_segmenter
from assent.apps.segmentation.model.node_classifier import (
    NodeClassifier,
    choose_strength,
    fit_classifier,
    known,
)
from benchmarks import tables
from benchmarks.segmentation_trainers import jointly

# Published: puppets in range scans, two classes (Taskar et al. 2006, 6.1), test error in percent.
PAPER = {"DualExtragradient": 3.4, "AveragedPerceptron": 3.5, "ProjectedGradient": 3.8}
RESAMPLES = 10_000  # of the scenes, for intervals

Predict = Callable[[Scene], np.ndarray]
Method = Callable[[Sequence[Scene]], Predict]


@dataclass(frozen=True)
class Row:
    """What came of one method: errors of the scenes, and processor time of training."""

    name: str
    errors: np.ndarray
    cpu: float


def averaged(scores: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Scores, each the mean over a node and its neighbours."""
    total, count = scores.copy(), np.ones((len(scores), 1))
    for own, other in (edges.T, edges.T[::-1]):
        np.add.at(total, own, scores[other])
        np.add.at(count, own, 1.0)
    return total / count


class Regressions:
    """Logistic regressions, of tuned strength if none is given; they learn from scenes once."""

    def __init__(self, labels: int, folds: int, strength: float | None = None) -> None:
        self.labels, self.folds, self.strength = labels, folds, strength
        self.fitted: dict[tuple[int, ...], NodeClassifier] = {}

    def of(self, scenes: Sequence[Scene]) -> NodeClassifier:
        """The classifier that has learnt from these scenes."""
        key = tuple(map(id, scenes))
        if key not in self.fitted:
            strength = self.strength
            if strength is None:
                strength = choose_strength(scenes, self.labels, self.folds, 0).strength
            self.fitted[key] = fit_classifier(scenes, self.labels, strength)
        return self.fitted[key]

    def alone(self, scenes: Sequence[Scene]) -> Predict:
        """A method: every node by itself."""
        classifier = self.of(scenes)
        return lambda scene: classifier.scores(scene.nodes).argmax(axis=1)

    def averages(self, scenes: Sequence[Scene]) -> Predict:
        """A method: scores, averaged over a node and its neighbours."""
        classifier = self.of(scenes)
        return lambda scene: averaged(classifier.scores(scene.nodes), scene.edges).argmax(axis=1)


def network(labels: LabelSet, settings: SegmenterSettings, edges: bool = True) -> Method:
    """A trained network; without edges, the same learner on nodes alone."""

    def method(scenes: Sequence[Scene]) -> Predict:
        if not edges:
            scenes = [scene._replace(features=0.0 * scene.features) for scene in scenes]
        return train_segmenter(scenes, labels, settings).segment

    return method


def compare(
    console: Console, scenes: Sequence[Scene], fold: np.ndarray, methods: dict[str, Method]
) -> list[Row]:
    """A row for each method; printed as they come, for some take minutes."""
    rows = []
    for name, method in methods.items():
        rows.append(cross_validate(name, scenes, fold, method))
        console.print(f"{name}: {100 * rows[-1].errors.mean():.2f} %", highlight=False)
    return rows


def cross_validate(name: str, scenes: Sequence[Scene], fold: np.ndarray, method: Method) -> Row:
    """Errors of scenes by a model that has seen those of the other folds."""
    errors, cpu = np.zeros(len(scenes)), 0.0
    for part in range(int(fold.max()) + 1):
        begun = time.process_time()
        predict = method([s for s, own in zip(scenes, fold, strict=True) if own != part])
        cpu += time.process_time() - begun
        for i in np.flatnonzero(fold == part):
            chosen = known(scenes[i])
            errors[i] = np.mean((predict(scenes[i]) != scenes[i].labels)[chosen])
    return Row(name, errors, cpu)


def report(console: Console, title: str, rows: list[Row], base: int) -> None:
    """Errors beside those of the better independent model, the first ``base`` rows."""
    best = min(rows[:base], key=lambda row: row.errors.mean())
    lines = []
    for row in rows:
        less = 100 * (1 - row.errors.mean() / best.errors.mean())
        low, high = interval(row.errors, best.errors)
        lines.append((
            row.name, f"{100 * row.errors.mean():.2f}",
            "" if row is best else f"{less:.0f} ({low:.0f} to {high:.0f})",
            f"{int((row.errors < best.errors).sum())} of {len(row.errors)}",
            tables.duration(row.cpu), str(PAPER.get(row.name.split(",")[0], "")),
        ))  # fmt: skip
    columns = ("method", "node error, %", "% less than the best alone", "better on", "CPU time",
               "paper, puppets")  # fmt: skip
    tables.show(console, title, columns, lines)


def interval(errors: np.ndarray, base: np.ndarray) -> tuple[float, float]:
    """A 95 % bootstrap interval, over scenes, of how many percent fewer errors there are."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(base), (RESAMPLES, len(base)))
    less = 100 * (1 - errors[drawn].mean(axis=1) / base[drawn].mean(axis=1))
    return float(np.percentile(less, 2.5)), float(np.percentile(less, 97.5))


def two_labels(labels: LabelSet, folds: int, passes: int, quick: bool = False) -> dict[str, Method]:
    """All methods of the tables of two labels, the independent ones first."""
    regressions = Regressions(len(labels), folds)
    methods = {
        "independent, logistic regression": regressions.alone,
        "independent, Subgradient": network(labels, SegmenterSettings(), edges=False),
        "averaged log-odds": regressions.averages,
        "Subgradient, jointly": network(labels, SegmenterSettings()),
        "Subgradient, prices on log-odds": network(
            labels, SegmenterSettings(jointly=False, folds=folds)
        ),
    }
    for name, settings in jointly(passes).items():
        if not quick or name == "AveragedPerceptron":
            methods[f"{name}, jointly"] = network(labels, settings)
    return methods
