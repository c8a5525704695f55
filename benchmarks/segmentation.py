"""Suite ``segmentation``: nodes on their own, their averages, and trained networks.

Photographs in five folds, laser scans leaving one out; the error is the mean over photographs or
scans of the share of nodes that have another label.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from assent.apps.segmentation import (
    LabelSet,
    Scene,
    SegmenterSettings,
    label_nodes,
    photograph_scene,
    point_scene,
    read_photographs,
    read_points,
    train_segmenter,
)
from assent.apps.segmentation.model.node_classifier import (
    choose_strength,
    fit_classifier,
    fold_of,
    known,
)
from assent.learn.trainers.saddle import SaddleSettings
from benchmarks import tables
from benchmarks.segmentation_figure import draw
from benchmarks.segmentation_trainers import jointly

FIGURE = LabelSet.of_numbers([0, 255], unknown=128)
# Ids of Oakland's classes: 13xx is vegetation; 1000 and 1001 are undetermined, as is 9999.
REST = (*range(1002, 1300), *range(1400, 1700))
VEGETATION = LabelSet(("rest", "vegetation"), (REST, tuple(range(1300, 1400))))
CLASSES = LabelSet(
    ("ground", "vegetation", "facade", "object", "vehicle"),
    (tuple(range(1200, 1300)), tuple(range(1300, 1400)), tuple(range(1400, 1500)),
     tuple(range(1002, 1200)), tuple(range(1500, 1600))),
)  # fmt: skip
# Published: puppets in range scans, two classes (Taskar et al. 2006, 6.1), test error in percent.
PAPER = {"DualExtragradient": 3.4, "AveragedPerceptron": 3.5, "ProjectedGradient": 3.8}
RESAMPLES = 10_000  # of the scenes, for intervals
PASSES = 100  # over the photographs
# Over the scans, of which each has as many nodes as eighty photographs: networks are learnt long
# before the last.
SCAN_PASSES = 10
# All trainers are compared after a hundred passes on every sixth stretch of so many points, which
# are neighbours in the order of the laser's sweeps: saddle-point methods take minutes on that.
STRETCH, SIXTH = 2000, 6

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


def independent(labels: LabelSet, folds: int, smooth: bool = False) -> Method:
    """Logistic regression of tuned strength, with or without averages over neighbours."""

    def method(scenes: Sequence[Scene]) -> Predict:
        strength = choose_strength(scenes, len(labels), folds, 0).strength
        classifier = fit_classifier(scenes, len(labels), strength)

        def predict(scene: Scene) -> np.ndarray:
            scores = classifier.scores(scene.nodes)
            return (averaged(scores, scene.edges) if smooth else scores).argmax(axis=1)

        return predict

    return method


def network(labels: LabelSet, settings: SegmenterSettings, edges: bool = True) -> Method:
    """A trained network; without edges, the same learner on nodes alone."""

    def method(scenes: Sequence[Scene]) -> Predict:
        if not edges:
            scenes = [scene._replace(features=0.0 * scene.features) for scene in scenes]
        return train_segmenter(scenes, labels, settings).segment

    return method


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


def run(console: Console, data: Path | None, quick: bool, plots: Path) -> dict[str, list[Row]]:
    """Tables of photographs and scans, panels of Figure 7, the time of a cut."""
    if data is None or not (data / "images" / "grabcut50").is_dir():
        console.print("segmentation: no data (ASSENT_DATA has no folder 'images/grabcut50')")
        return {}
    scenes = photographs(data)
    fold = fold_of(len(scenes), 5, seed=0)
    results = {"photographs": compare_photographs(console, scenes, fold, quick)}
    if not quick:
        path = plots / "segmentation_figure_7.png"
        draw(scenes, fold, path)
        console.print(f"{path}: the panels of Figure 7")
    if not quick and (data / "pointcloud" / "oakland").is_dir():
        two, five = scans(data)
        time_cut(console, two)
        time_training(console, two)
        results["scans"] = compare_scans(console, two)
        results["classes"] = compare_classes(console, five)
    return results


def photographs(data: Path) -> list[Scene]:
    """The 50 photographs, with scribbles as features."""
    folder = data / "images" / "grabcut50"
    read = read_photographs(folder / "images", folder / "ground-truth", folder / "scribbles-set-1")
    return [photograph_scene(photograph, FIGURE) for photograph in read]


def two_labels(labels: LabelSet, folds: int, passes: int, quick: bool = False) -> dict[str, Method]:
    """All methods of the tables of two labels, the independent ones first."""
    methods = {
        "independent, logistic regression": independent(labels, folds),
        "independent, Subgradient": network(labels, SegmenterSettings(), edges=False),
        "averaged log-odds": independent(labels, folds, smooth=True),
        "Subgradient, jointly": network(labels, SegmenterSettings()),
        "Subgradient, prices on log-odds": network(
            labels, SegmenterSettings(jointly=False, folds=folds)
        ),
    }
    for name, settings in jointly(passes).items():
        if not quick or name == "AveragedPerceptron":
            methods[f"{name}, jointly"] = network(labels, settings)
    return methods


def thinned(scene: Scene) -> Scene:
    """Every sixth stretch of nodes, and the edges among these."""
    kept = np.arange(len(scene.nodes)) // STRETCH % SIXTH == 0
    inside = kept[scene.edges].all(axis=1)
    ends = (np.cumsum(kept) - 1)[scene.edges[inside]]
    assert scene.labels is not None
    return Scene(scene.nodes[kept], ends, scene.features[inside], scene.labels[kept])


def on_thinned(method: Method) -> Method:
    """The method, trained on thinned scenes."""
    return lambda scenes: method([thinned(scene) for scene in scenes])


def compare_photographs(
    console: Console, scenes: list[Scene], fold: np.ndarray, quick: bool
) -> list[Row]:
    """50 photographs in five folds."""
    methods = two_labels(FIGURE, 5, PASSES, quick)
    rows = [cross_validate(name, scenes, fold, method) for name, method in methods.items()]
    nodes = np.mean([len(scene.nodes) for scene in scenes])
    report(console, f"photographs: {len(scenes)}, {nodes:.0f} superpixels each", rows, 2)
    return rows


def scans(data: Path) -> tuple[list[Scene], list[Scene]]:
    """Oakland's scans: vegetation or not, and with five classes."""
    files = sorted((data / "pointcloud" / "oakland").glob("*.xyz_label_conf.gz"))
    clouds = [read_points(path, labelled=True) for path in files]
    five = [point_scene(cloud, CLASSES) for cloud in clouds]
    two = [
        scene._replace(labels=VEGETATION.indices(cloud.numbers))
        for scene, cloud in zip(five, clouds, strict=True)
    ]
    return two, five


def compare_scans(console: Console, scenes: list[Scene]) -> list[Row]:
    """Vegetation or not, each scan left out once."""
    methods = two_labels(VEGETATION, len(scenes) - 1, SCAN_PASSES)
    for name, settings in jointly(PASSES).items():
        method = network(VEGETATION, settings)
        if isinstance(settings.trainer, SaddleSettings):
            del methods[f"{name}, jointly"]
        methods[f"{name}, jointly, on a sixth"] = on_thinned(method)
    fold = np.arange(len(scenes))
    rows = [cross_validate(name, scenes, fold, method) for name, method in methods.items()]
    report(console, "scans: vegetation or not", rows, 2)
    return rows


def compare_classes(console: Console, scenes: list[Scene]) -> list[Row]:
    """Five classes, each scan left out once."""
    folds = len(scenes) - 1
    methods = {
        "independent, logistic regression": independent(CLASSES, folds),
        "averaged log-odds": independent(CLASSES, folds, smooth=True),
        "Subgradient, prices on log-odds": network(CLASSES, SegmenterSettings(folds=folds)),
    }
    fold = np.arange(len(scenes))
    rows = [cross_validate(name, scenes, fold, method) for name, method in methods.items()]
    report(console, "scans: five classes, by expansion moves", rows, 1)
    return rows


def time_training(console: Console, scenes: Sequence[Scene]) -> None:
    """A hundred passes of dual extragradient over all scans together."""
    begun = time.process_time()
    train_segmenter(scenes, VEGETATION, jointly(PASSES)["DualExtragradient"])
    passed = tables.duration(time.process_time() - begun)
    console.print(f"{PASSES} passes of dual extragradient over all scans: {passed}")


def time_cut(console: Console, scenes: Sequence[Scene]) -> None:
    """One cut of all scans together, with scores of a classifier; the best of three."""
    classifier = fit_classifier(scenes, 2, 0.01)
    scores = np.concatenate([classifier.scores(scene.nodes) for scene in scenes])
    starts = np.cumsum([0, *(len(scene.nodes) for scene in scenes)])
    edges = np.concatenate([s.edges + start for s, start in zip(scenes, starts, strict=False)])
    prices = np.full(len(edges), 0.5)
    times = []
    for _ in range(3):
        begun = time.process_time()
        label_nodes(scores, edges, prices)
        times.append(time.process_time() - begun)
    console.print(
        f"one cut of all scans, {len(scores)} nodes and {len(edges)} edges: {min(times):.2f} s"
    )
