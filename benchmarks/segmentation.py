"""Suite ``segmentation``: nodes on their own, their averages, and trained networks.

Photographs in five folds, laser scans leaving one out; the error is the mean over photographs or
scans of the share of nodes that have another label.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console

from assent.apps.segmentation import LabelSet, Scene, photograph_scene, read_photographs
from assent.apps.segmentation.model.node_classifier import fold_of
from benchmarks import segmentation_scans
from benchmarks.segmentation_figure import draw
from benchmarks.segmentation_methods import Row, compare, report, two_labels

FIGURE = LabelSet.of_numbers([0, 255], unknown=128)
PASSES = 100


def run(console: Console, data: Path | None, quick: bool, plots: Path) -> dict[str, list[Row]]:
    """Tables and panels of Figure 7, of photographs and, if there is time, scans."""
    if data is None or not (data / "images" / "grabcut50").is_dir():
        console.print("segmentation: no data (ASSENT_DATA has no folder 'images/grabcut50')")
        return {}
    scenes = photographs(data)
    fold = fold_of(len(scenes), 5, seed=0)
    results = {"photographs": compare_photographs(console, scenes, fold, quick)}
    if not quick:
        path = plots / "segmentation_figure_7.png"
        test, valid, trained = (
            [scene for scene, own in zip(scenes, np.minimum(fold, 2), strict=True) if own == part]
            for part in range(3)
        )
        draw(trained, valid, test, path)
        console.print(f"{path}: the panels of Figure 7")
        results |= segmentation_scans.run(console, data, plots)
    return results


def photographs(data: Path) -> list[Scene]:
    """The 50 photographs, with scribbles as features."""
    folder = data / "images" / "grabcut50"
    read = read_photographs(folder / "images", folder / "ground-truth", folder / "scribbles-set-1")
    return [photograph_scene(photograph, FIGURE) for photograph in read]


def compare_photographs(
    console: Console, scenes: list[Scene], fold: np.ndarray, quick: bool
) -> list[Row]:
    """50 photographs in five folds."""
    methods = two_labels(FIGURE, 5, PASSES, quick)
    rows = compare(console, scenes, fold, methods)
    nodes = np.mean([len(scene.nodes) for scene in scenes])
    report(console, f"photographs: {len(scenes)}, {nodes:.0f} superpixels each", rows, 2)
    return rows
