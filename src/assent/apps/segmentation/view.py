"""Pictures of segmentations: photograph, gold and the system's labels side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.apps.segmentation.data.label_pairs import labelled_pair
from assent.apps.segmentation.data.pictures import (
    partner,
    picture_files,
    read_mask,
    read_picture,
    same_size,
)
from assent.apps.segmentation.data.points import read_points
from assent.apps.segmentation.extras import needed
from assent.io.text import FormatError, PathLike
from assent.kernels.problem import Float, Int64

# Okabe and Ito's colours, which most colour-blind people tell apart; after them they come again.
COLOURS = np.array(
    [[0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0],
     [240, 228, 66], [0, 0, 0]], np.uint8
)  # fmt: skip
TINT = 0.45  # how much of the label's colour lies over the picture
PANEL = 320  # width of a panel in pixels
GAP = 8  # between panels
GREY = np.array([200, 200, 200], np.uint8)  # points of no label
VIEW = np.radians(40)  # how far clouds are seen from above
TINY = 1e-9  # a cloud of one point has no width
TITLE = 22  # height of the line of titles


def tinted(picture: NDArray[np.uint8], mask: Int64, numbers: NDArray[np.integer]) -> Any:
    """A picture under its labels: each but the first has a colour, boundaries are white.

    Args:
        picture: ``[height, width, 3]``.
        mask: ``[height, width]`` numbers of labels.
        numbers: of the labels, in order; the first, and what is no label, is left untinted.

    Example:
        >>> grey = np.full((1, 3, 3), 100, np.uint8)
        >>> tinted(grey, np.array([[0, 1, 1]]), np.array([0, 1]))[0, :, 0].tolist()
        [100, 255, 55]
    """
    index = np.searchsorted(numbers, mask).clip(max=len(numbers) - 1)
    index = np.where(numbers[index] == mask, index, 0)
    colour = COLOURS[(index - 1) % len(COLOURS)]
    mixed = np.rint((1.0 - TINT) * picture + TINT * colour).astype(np.uint8)
    out = np.where((index > 0)[..., None], mixed, picture)
    edge = np.zeros(mask.shape, bool)
    edge[:, 1:] |= mask[:, 1:] != mask[:, :-1]
    edge[1:] |= mask[1:] != mask[:-1]
    out[edge] = 255
    return out


def draw_segmentations(
    images: PathLike, masks: PathLike, gold: PathLike | None, output: PathLike
) -> int:
    """Draw a row of panels for every photograph of a folder (or one file); returns their number."""
    image = needed("PIL.Image")
    folders = {"segmentation": masks} if gold is None else {"gold": gold, "segmentation": masks}
    found = {title: picture_files(folder) for title, folder in folders.items()}
    seen: list[tuple[Any, list[Int64]]] = []
    for name, path in picture_files(images).items():
        picture = read_picture(path)
        files = [partner(found[title], folder, name, path) for title, folder in folders.items()]
        seen.append((picture, [same_size(f, read_mask(f), path, picture) for f in files]))
    numbers = np.unique(np.concatenate([np.unique(own[-1]) for _, own in seen]))
    rows = []
    for picture, own in seen:
        panels = [picture, *(tinted(picture, mask, numbers) for mask in own)]
        size = PANEL, max(1, round(picture.shape[0] * PANEL / picture.shape[1]))
        rows.append([image.fromarray(panel).resize(size) for panel in panels])
    _join(rows, ["photograph", *folders]).save(output)
    return len(rows)


def draw_points(
    points: PathLike, labelled: PathLike, gold: PathLike | None, output: PathLike
) -> int:
    """Draw a cloud by height, by its gold labels and by a system's; returns the number of points.

    The files ``labelled`` and ``gold`` have the same points as ``points``.
    """
    cloud = read_points(points).points
    files = {"segmentation": labelled} if gold is None else {"gold": gold, "segmentation": labelled}
    read = {title: labelled_pair(labelled, file)[1] for title, file in files.items()}
    if len(read["segmentation"]) != len(cloud):
        raise FormatError(
            labelled, f"{len(read['segmentation'])} points, but {points} has {len(cloud)}"
        )
    low, high = np.percentile(cloud[:, 2], [1, 99])
    shade = np.clip((cloud[:, 2] - low) / max(high - low, TINY), 0.0, 1.0) * 200.0
    panels = {"height": np.repeat(shade[:, None], 3, axis=1).astype(np.uint8)}
    numbers = np.unique(read["segmentation"])
    for title, own in read.items():
        index = np.searchsorted(numbers, own).clip(max=len(numbers) - 1)
        known = (numbers[index] == own)[:, None]
        panels[title] = np.where(known, COLOURS[index % len(COLOURS)], GREY).astype(np.uint8)
    image = needed("PIL.Image")
    row = [image.fromarray(oblique(cloud, colours)) for colours in panels.values()]
    _join([row], list(panels)).save(output)
    return len(cloud)


def oblique(points: Float, colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A cloud seen from above at an angle, ``[height, width, 3]``; the nearer hides the farther.

    Example:
        >>> points = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
        >>> seen = oblique(points, np.array([[9, 9, 9], [7, 7, 7]], np.uint8))
        >>> seen.shape[1] == PANEL, sorted(set(seen[..., 0].ravel().tolist()))
        (True, [7, 9, 255])
    """
    across, up = points[:, 0], np.sin(VIEW) * points[:, 1] + np.cos(VIEW) * points[:, 2]
    scale = (PANEL - 3) / max(float(np.ptp(across)), TINY)
    height = min(2 * PANEL, int(np.ptp(up) * scale) + 3)
    seen = np.full((height, PANEL, 3), 255, np.uint8)
    order = np.argsort(-points[:, 1], kind="stable")  # far ones first
    column = ((across - across.min()) * scale).astype(np.int64)[order]
    row = ((up.max() - up) * scale).astype(np.int64)[order]
    for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):  # dots of two by two pixels
        seen[np.minimum(row + down, height - 1), column + right] = colours[order]
    return seen


def _join(rows: list[list[Any]], titles: list[str]) -> Any:
    """Panels in rows on white, under their titles."""
    heights = [row[0].height for row in rows]
    width = len(titles) * (PANEL + GAP) - GAP
    sheet = needed("PIL.Image").new("RGB", (width, TITLE + sum(heights) + GAP * len(rows)), "white")
    font = needed("PIL.ImageFont").load_default(size=15)
    draw = needed("PIL.ImageDraw").Draw(sheet)
    for column, title in enumerate(titles):
        draw.text((column * (PANEL + GAP) + 4, 3), title, fill="black", font=font)
    top = TITLE
    for row, height in zip(rows, heights, strict=True):
        for column, panel in enumerate(row):
            sheet.paste(panel, (column * (PANEL + GAP), top))
        top += height + GAP
    return sheet
