"""Pictures of segmentations: photograph, gold and the system's labels side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.apps.segmentation.data.pictures import (
    partner,
    picture_files,
    read_mask,
    read_picture,
    same_size,
)
from assent.apps.segmentation.extras import needed
from assent.io.text import PathLike
from assent.kernels.problem import Int64

# Okabe and Ito's colours, which most colour-blind people tell apart; after them they come again.
COLOURS = np.array(
    [[0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0],
     [240, 228, 66], [0, 0, 0]], np.uint8
)  # fmt: skip
TINT = 0.45  # how much of the label's colour lies over the picture
PANEL = 320  # width of a panel in pixels
GAP = 8  # between panels
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
