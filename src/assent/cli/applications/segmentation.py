"""``assent segment``, and ``segmenter``, ``segmentations``, ``segmentation`` of the groups."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import assent.cli.options as shared
from assent.cli.applications.groups import evaluate, show, train
from assent.cli.model_arguments import (
    EXISTING_FILE,
    EXISTING_FOLDER,
    WritableFile,
    bad_files_reported,
)

if TYPE_CHECKING:
    from assent.apps.segmentation.data import LabelSet

EXISTING = click.Path(exists=True, path_type=Path)

quiet_option = click.option("--quiet", is_flag=True, help="No progress, no summary.")
classes_option = click.option(
    "--classes",
    type=EXISTING_FILE,
    help="What numbers of labels mean: a number and a name per line; others are unknown.",
)
unknown_option = click.option(
    "--unknown",
    type=int,
    default=128,
    show_default=True,
    help="The number of pixels that do not count (without --classes).",
)
scribbles_option = click.option(
    "--scribbles",
    type=EXISTING_FOLDER,
    help="Folder of marks: figure (255, 255, 207), background (219, 0, 0), or grey 255 and 0.",
)


def _counted(items: Any, what: str, quiet: bool) -> Iterator[Any]:
    """The items of a sequence, with a live line at a terminal."""
    from assent.progress import live_display

    if quiet:
        yield from items
        return
    with live_display(str) as line:
        for number, item in enumerate(items, start=1):
            line.show(f"{what} {number} of {len(items)}")
            yield item


def _labels(numbers: Iterable[Any], classes: Path | None, unknown: int) -> LabelSet:
    """The labels of a file, or those that occur."""
    import numpy as np

    from assent.apps.segmentation.data import LabelSet

    if classes is not None:
        return LabelSet.read(classes)
    found: set[int] = set()
    for array in numbers:
        found |= set(np.unique(array).tolist())
    return LabelSet.of_numbers(found, unknown)


@train.command("segmenter")
@click.option("--images", type=EXISTING_FOLDER, required=True, help="Folder of photographs.")
@click.option("--masks", type=EXISTING_FOLDER, required=True, help="Folder of their masks.")
@scribbles_option
@classes_option
@unknown_option
@click.option("--output", type=WritableFile(), required=True, help="The model.")
@click.option(
    "--superpixels",
    type=click.IntRange(min=0),
    default=1400,
    show_default=True,
    help="About so many per photograph; 0 for single pixels.",
)
@shared.seed_option
@quiet_option
def train_segmenter(
    images: Path, masks: Path, scribbles: Path | None, classes: Path | None, unknown: int,
    output: Path, superpixels: int, seed: int, quiet: bool,
) -> None:  # fmt: skip
    """Learn to segment from photographs and masks of the same names.

    A mask has a number per pixel: 0 background, 255 figure, 128 unknown; or any other numbers.
    """
    with bad_files_reported():
        from assent.apps.segmentation import SegmenterSettings, photograph_scene, read_photographs
        from assent.apps.segmentation import train_segmenter as learn

        photographs = read_photographs(images, masks, scribbles)
        read = (photograph.mask for photograph in _counted(photographs, "mask", quiet))
        labels = _labels(read, classes, unknown)
        scenes = [
            photograph_scene(photograph, labels, count=superpixels)
            for photograph in _counted(photographs, "photograph", quiet)
        ]
        made = {"superpixels": superpixels, "scribbles": scribbles is not None}
        settings = SegmenterSettings(seed=seed, progress=not quiet)
        learn(scenes, labels, settings, features=made).save(output)
    if not quiet:
        nodes = sum(len(scene.nodes) for scene in scenes)
        click.echo(
            f"{output}: {len(labels)} labels learnt from {len(scenes)} photographs, {nodes} nodes"
        )


@click.command()
@click.option("--model", type=EXISTING_FILE, required=True, help="From `train segmenter`.")
@click.option("--images", type=EXISTING_FOLDER, required=True, help="Folder of photographs.")
@scribbles_option
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for the masks; made where there is none.",
)
@quiet_option
def segment(model: Path, images: Path, scribbles: Path | None, output: Path, quiet: bool) -> None:
    """Segment photographs: a mask (.png) for each, with numbers as in training."""
    with bad_files_reported():
        from assent.apps.segmentation import Segmenter, read_photographs
        from assent.apps.segmentation.data import write_mask

        segmenter = Segmenter.load(model)
        photographs = read_photographs(images, scribbles=scribbles)
        output.mkdir(parents=True, exist_ok=True)
        for photograph in _counted(photographs, "photograph", quiet):
            mask = segmenter.segment_photograph(photograph)
            write_mask(output / f"{photograph.name}.png", segmenter.labels.written(mask))
    if not quiet:
        click.echo(f"{output}: {len(photographs)} masks")


@evaluate.command("segmentations")
@click.argument("gold", type=EXISTING)
@click.argument("system", type=EXISTING)
@classes_option
@unknown_option
@shared.json_option
@quiet_option
def evaluate_segmentations(
    gold: Path, system: Path, classes: Path | None, unknown: int, as_json: bool, quiet: bool
) -> None:
    """Compare the masks of folder SYSTEM with those of GOLD: error, intersection over union.

    Both may be files as well. Pixels of unknown label in GOLD do not count.
    """
    with bad_files_reported():
        from assent.apps.segmentation.data import MaskPairs
        from assent.apps.segmentation.metrics import compare_numbers

        pairs = MaskPairs(gold, system)
        labels = _labels((pair.gold for pair in _counted(pairs, "mask", quiet)), classes, unknown)
        report = compare_numbers(pairs, labels)
    if as_json:
        click.echo(json.dumps(report.as_json(), allow_nan=False))
    elif not quiet:
        click.echo(report.text())


@show.command("segmentation")
@click.argument("images", type=EXISTING)
@click.argument("masks", type=EXISTING)
@click.option("--gold", type=EXISTING, help="Gold masks, drawn beside.")
@click.option("--output", type=WritableFile(), required=True, help="A picture, such as .png.")
@quiet_option
def show_segmentation(
    images: Path, masks: Path, gold: Path | None, output: Path, quiet: bool
) -> None:
    """Draw photographs beside their masks, a row for each; files or folders."""
    with bad_files_reported():
        from assent.apps.segmentation.view import draw_segmentations

        count = draw_segmentations(images, masks, gold, output)
    if not quiet:
        click.echo(f"{output}: {count} photographs")
