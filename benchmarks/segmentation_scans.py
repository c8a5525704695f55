"""Laser scans in suite ``segmentation``, each left out once: two labels, and five classes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from assent.apps.segmentation import (
    LabelSet,
    Scene,
    SegmenterSettings,
    label_nodes,
    point_scene,
    read_points,
)
from assent.apps.segmentation.model.node_classifier import fit_classifier
from assent.learn.trainers.saddle import SaddleSettings
from benchmarks import tables
from benchmarks.segmentation_figure import draw
from benchmarks.segmentation_methods import (
    Method,
    Regressions,
    Row,
    compare,
    network,
    report,
    two_labels,
)
from benchmarks.segmentation_trainers import jointly

# Ids of Oakland's classes: 13xx is vegetation; 1000 and 1001 are undetermined, as is 9999.
REST = (*range(1002, 1300), *range(1400, 1700))
VEGETATION = LabelSet(("rest", "vegetation"), (REST, tuple(range(1300, 1400))))
CLASSES = LabelSet(
    ("ground", "vegetation", "facade", "object", "vehicle"),
    (tuple(range(1200, 1300)), tuple(range(1300, 1400)), tuple(range(1400, 1500)),
     tuple(range(1002, 1200)), tuple(range(1500, 1600))),
)  # fmt: skip
PASSES = 100
# Over all points: each scan has as many as eighty photographs, and online trainers have learnt the
# networks long before the last.
FEW_PASSES = 10
# All trainers are compared after a hundred passes on every sixth stretch of so many points, which
# are neighbours in the order of the laser's sweeps: saddle-point methods take minutes on that.
STRETCH, SIXTH = 2000, 6
# The best strength of a logistic regression in hindsight, of 0.0001 to 0.1: scans differ so much
# that the one chosen on other scans is worse.
BEST_STRENGTH = 0.01


def run(console: Console, data: Path, plots: Path) -> dict[str, list[Row]]:
    """Tables of two labels and of five, the time of a cut, panels of Figure 7."""
    if not (data / "pointcloud" / "oakland").is_dir():
        console.print("segmentation: no scans (ASSENT_DATA has no folder 'pointcloud/oakland')")
        return {}
    two, five = scans(data)
    time_cut(console, two)
    results = {"scans": compare_scans(console, two), "classes": compare_classes(console, five)}
    path = plots / "segmentation_figure_7_scans.png"
    test, valid, *others = two
    draw([thinned(scene) for scene in others], [valid], [test], path)
    console.print(f"{path}: the panels of Figure 7, of scans")
    return results


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


def all_points(folds: int) -> dict[str, Method]:
    """Methods that learn from all points: three of nodes alone, two of averages, networks."""
    methods = two_labels(VEGETATION, folds, FEW_PASSES)
    best = Regressions(len(VEGETATION), folds, BEST_STRENGTH)
    alone, averages = list(methods)[:2], list(methods)[2]
    first = {name: methods.pop(name) for name in alone}
    first["independent, best strength in hindsight"] = best.alone
    first[averages] = methods.pop(averages)
    return first | {"averaged log-odds, best strength in hindsight": best.averages} | methods


def compare_scans(console: Console, scenes: list[Scene]) -> list[Row]:
    """Vegetation or not, each scan left out once."""
    methods = all_points(len(scenes) - 1)
    for name, settings in jointly(PASSES).items():
        if isinstance(settings.trainer, SaddleSettings):
            del methods[f"{name}, jointly"]
        methods[f"{name}, jointly, on a sixth"] = on_thinned(network(VEGETATION, settings))
    rows = compare(console, scenes, np.arange(len(scenes)), methods)
    report(console, "scans: vegetation or not", rows, 3)
    return rows


def compare_classes(console: Console, scenes: list[Scene]) -> list[Row]:
    """Five classes, each scan left out once."""
    folds = len(scenes) - 1
    regressions = Regressions(len(CLASSES), folds)
    methods = {
        "independent, logistic regression": regressions.alone,
        "averaged log-odds": regressions.averages,
        "Subgradient, prices on log-odds": network(CLASSES, SegmenterSettings(folds=folds)),
    }
    rows = compare(console, scenes, np.arange(len(scenes)), methods)
    report(console, "scans: five classes, by expansion moves", rows, 1)
    return rows


def run_points(console: Console, data: Path | None) -> list[Row]:
    """Dual extragradient with every point of the scans a node, beside what it is to beat."""
    if data is None or not (data / "pointcloud" / "oakland").is_dir():
        console.print("segmentation: no scans (ASSENT_DATA has no folder 'pointcloud/oakland')")
        return []
    return compare_points(console, scans(data)[0])


def compare_points(console: Console, scenes: list[Scene]) -> list[Row]:
    """A hundred passes of dual extragradient over all points, each scan left out once."""
    methods = all_points(len(scenes) - 1)
    chosen = {name: methods[name] for name in list(methods)[:5]}
    chosen["AveragedPerceptron, jointly"] = methods["AveragedPerceptron, jointly"]
    settings = jointly(PASSES)["DualExtragradient"]
    chosen["DualExtragradient, jointly"] = network(VEGETATION, settings)
    rows = compare(console, scenes, np.arange(len(scenes)), chosen)
    report(console, "scans: vegetation or not, every point a node", rows, 3)
    # Every scan was trained with in all trainings but one.
    passed = tables.duration(rows[-1].cpu / (len(scenes) - 1))
    console.print(f"{PASSES} passes of dual extragradient over all scans: {passed}")
    return rows


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
