"""``assent segment``, and ``segmenter``, ``segmentations``, ``segmentation`` of the groups."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

import assent.cli.options as shared
from assent.cli.applications.groups import evaluate, show, train
from assent.cli.model_arguments import (
    EXISTING_FILE,
    InputFolder,
    WritableFile,
    bad_files_reported,
)

if TYPE_CHECKING:
    from assent.apps.segmentation.data import LabelSet


def _is_picture(path: Path) -> bool:
    """Whether a file of a folder is read, by its name."""
    from assent.apps.segmentation.data.pictures import SUFFIXES

    return path.suffix.lower() in SUFFIXES


EXISTING = click.Path(exists=True, path_type=Path)

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
    type=InputFolder(_is_picture),
    help="Folder of marks: figure (255, 255, 207), background (219, 0, 0), or grey 255 and 0.",
)


def _counted(items: Any, what: str, quiet: bool) -> Iterator[Any]:
    """The items of a sequence, with a live line at a terminal."""
    return shared.counted(items, lambda number: f"{what} {number} of {len(items)}", quiet)


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


images_option = click.option(
    "--images", type=InputFolder(_is_picture), help="Folder of photographs."
)
points_option = click.option(
    "--points",
    type=EXISTING_FILE,
    multiple=True,
    help="In place of photographs, a file of points, x y z [label] per line; may come again.",
)


def _photographs_or_points(images: Path | None, points: tuple[Path, ...]) -> None:
    if (images is None) == (not points):
        raise click.UsageError("give either --images FOLDER or --points FILE (any number of them)")


@train.command("segmenter")
@images_option
@click.option("--masks", type=InputFolder(_is_picture), help="Folder of their masks.")
@points_option
@scribbles_option
@classes_option
@unknown_option
@click.option("--output", type=WritableFile(), required=True, help="The model.")
@click.option(
    "--superpixels",
    type=shared.WholeNumber(least=0),
    default=1400,
    show_default=True,
    help="About how many per photograph; 0 for single pixels.",
)
@click.option(
    "--voxel",
    type=shared.AMOUNT,
    default=0.0,
    help="Label cubic cells of this side in place of single points.",
)
@shared.training_seed_option
@shared.quiet_option
def train_segmenter(**arguments: Any) -> None:
    """Learn to segment, from photographs and masks of the same names or from labelled points.

    A mask has a number per pixel: 0 background, 255 figure, 128 unknown; or any other numbers.
    """
    options = SimpleNamespace(**arguments)
    _photographs_or_points(options.images, options.points)
    if options.images is not None and options.masks is None:
        raise click.UsageError("--images needs --masks, the folder of their masks")
    with bad_files_reported():
        from assent.apps.segmentation import SegmenterSettings
        from assent.apps.segmentation import train_segmenter as learn

        read = _training_points if options.points else _training_photographs
        scenes, labels, made = read(options)
        settings = SegmenterSettings(seed=options.seed, progress=not options.quiet)
        learn(scenes, labels, settings, features=made).save(options.output)
    if not options.quiet:
        nodes = sum(len(scene.nodes) for scene in scenes)
        click.echo(
            f"{options.output}: {len(labels)} labels learnt from {len(scenes)} "
            f"{'clouds of ' if options.points else ''}{made['of']}, {nodes} nodes"
        )


def _training_photographs(options: SimpleNamespace) -> tuple[Any, LabelSet, dict[str, Any]]:
    """Scenes, labels, and how the scenes were made."""
    from assent.apps.segmentation import photograph_scene, read_photographs

    photographs = read_photographs(options.images, options.masks, options.scribbles)
    read = (photograph.mask for photograph in _counted(photographs, "mask", options.quiet))
    labels = _labels(read, options.classes, options.unknown)
    scenes = [
        photograph_scene(photograph, labels, count=options.superpixels)
        for photograph in _counted(photographs, "photograph", options.quiet)
    ]
    scribbles = options.scribbles is not None
    made = {"of": "photographs", "superpixels": options.superpixels, "scribbles": scribbles}
    return scenes, labels, made


def _training_points(options: SimpleNamespace) -> tuple[Any, LabelSet, dict[str, Any]]:
    """Scenes, labels, and how the scenes were made."""
    from assent.apps.segmentation import point_scene, read_points
    from assent.apps.segmentation.features.point_scene import NEIGHBOURS

    clouds = [read_points(path, labelled=True) for path in options.points]
    labels = _labels((cloud.numbers for cloud in clouds), options.classes, options.unknown)
    scenes = [
        point_scene(cloud, labels, voxel=options.voxel)
        for cloud in _counted(clouds, "cloud", options.quiet)
    ]
    return scenes, labels, {"of": "points", "neighbours": NEIGHBOURS, "voxel": options.voxel}


@click.command()
@click.option("--model", type=EXISTING_FILE, required=True, help="From `train segmenter`.")
@images_option
@points_option
@scribbles_option
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for the answers; made where there is none.",
)
@shared.quiet_option
def segment(
    model: Path, images: Path | None, points: tuple[Path, ...], scribbles: Path | None,
    output: Path, quiet: bool,
) -> None:  # fmt: skip
    """Segment photographs into masks (.png), or points into points with labels (.xyz)."""
    _photographs_or_points(images, points)
    _refuse_lost_files(images, points, output)
    with bad_files_reported():
        from assent.apps.segmentation import Segmenter, read_photographs, read_points
        from assent.apps.segmentation.data import write_mask, write_points

        segmenter = Segmenter.load(model)
        written = segmenter.labels.written
        photographs = read_photographs(images, scribbles=scribbles) if images is not None else []
        output.mkdir(parents=True, exist_ok=True)
        for photograph in _counted(photographs, "photograph", quiet):
            mask = segmenter.segment_photograph(photograph)
            write_mask(output / f"{photograph.name}.png", written(mask))
        for path in _counted(points, "cloud", quiet):
            cloud = read_points(path)
            own = written(segmenter.segment_points(cloud))
            write_points(output / f"{cloud.name}.xyz", cloud.points, own)
    if not quiet:
        count = len(photographs) + len(points)
        click.echo(f"{output}: {count} file{'s' * (count != 1)}")


def _refuse_lost_files(images: Path | None, points: tuple[Path, ...], output: Path) -> None:
    """Raise where an answer would be written over what was read, or over another answer."""
    from assent.apps.segmentation.data import cloud_name

    if images is not None and output.exists() and output.samefile(images):
        raise click.UsageError(
            f"masks in {output} would be written over the photographs; name another --output"
        )
    answers: dict[Path, Path] = {}
    for path in points:
        answer = output / f"{cloud_name(path)}.xyz"
        if answer.exists() and answer.samefile(path):
            raise click.UsageError(
                f"the answer to {path} would be written over it; name another --output"
            )
        other = answers.setdefault(answer, path)
        if other is not path:
            raise click.UsageError(
                f"the answers to {other} and {path} would both be {answer}; segment them into "
                "different folders"
            )


@evaluate.command("segmentations")
@click.argument("gold", type=EXISTING)
@click.argument("system", type=EXISTING)
@classes_option
@unknown_option
@shared.json_option
@shared.quiet_option
def evaluate_segmentations(
    gold: Path, system: Path, classes: Path | None, unknown: int, as_json: bool, quiet: bool
) -> None:
    """Compare the masks of folder SYSTEM with those of GOLD: error, intersection over union.

    Both may be single masks, or files of points with labels. What is unknown in GOLD does not
    count.
    """
    with bad_files_reported():
        from assent.apps.segmentation.data import LabelPairs
        from assent.apps.segmentation.metrics import compare_labels

        pairs = LabelPairs(gold, system)
        labels = _labels((pair.gold for pair in _counted(pairs, "mask", quiet)), classes, unknown)
        report = compare_labels(pairs, labels)
    if as_json:
        click.echo(json.dumps(report.as_json(), allow_nan=False))
    elif not quiet:
        click.echo(report.text())


@show.command("segmentation")
@click.argument("images", type=EXISTING)
@click.argument("masks", type=EXISTING)
@click.option("--gold", type=EXISTING, help="Gold masks or labelled points, drawn beside.")
@click.option("--output", type=WritableFile(), required=True, help="A picture, such as .png.")
@shared.quiet_option
def show_segmentation(
    images: Path, masks: Path, gold: Path | None, output: Path, quiet: bool
) -> None:
    """Draw photographs beside their masks, a row for each; files or folders.

    IMAGES and MASKS may also be a file of points and the same points with labels.
    """
    with bad_files_reported():
        from assent.apps.segmentation.data import is_cloud
        from assent.apps.segmentation.view import draw_points, draw_segmentations

        cloud = is_cloud(images)
        count = (draw_points if cloud else draw_segmentations)(images, masks, gold, output)
    if not quiet:
        click.echo(f"{output}: {count} {'point' if cloud else 'photograph'}{'s' * (count != 1)}")
