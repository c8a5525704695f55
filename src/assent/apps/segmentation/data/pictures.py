"""Photographs with their masks and scribbles, found in folders by their names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.apps.segmentation.data.label_set import UNKNOWN
from assent.apps.segmentation.extras import needed
from assent.io.text import FormatError, PathLike
from assent.io.whole_file import visible_files
from assent.kernels.problem import Int64

SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".ppm", ".pgm", ".webp"})

# Scribbles in colour, as the data set of Andrade and Carrera (2015) draws them.
SCRIBBLES = {(219, 0, 0): 0, (255, 255, 207): 1}
# Scribbles without colour: 0 background, 255 figure, anything between is unmarked.
GREY_SCRIBBLES = {0: 0, 255: 1}
# What may follow the name of a photograph in the name of its scribbles.
ENDINGS = ("", "-anno", "_anno", "-scribbles", "_scribbles", "_mask", "-mask")


class Photograph(NamedTuple):
    """A picture and what is known about it.

    Attributes:
        name: the file's, without suffix.
        picture: ``[height, width, 3]`` red, green and blue, 0 to 255.
        mask: ``[height, width]`` numbers of labels, or None.
        scribbles: ``[height, width]`` 0 on background, 1 on figure, -1 elsewhere; or None.
    """

    name: str
    picture: NDArray[np.uint8]
    mask: Int64 | None = None
    scribbles: Int64 | None = None


def _open(path: PathLike) -> Any:
    """A picture as Pillow reads it."""
    image = needed("PIL.Image")
    try:
        with image.open(path) as file:
            file.load()
            return file
    except FileNotFoundError:
        raise
    except Exception as error:  # Pillow's readers of formats raise whatever they meet
        why = error if Path(path).stat().st_size else "the file is empty"
        raise FormatError(path, f"not a picture that can be read ({why})") from None


def read_picture(path: PathLike) -> NDArray[np.uint8]:
    """Red, green and blue ``[height, width, 3]``."""
    return np.asarray(_open(path).convert("RGB"))


def read_mask(path: PathLike) -> Int64:
    """Numbers ``[height, width]`` of a picture of one channel, or of three that are equal."""
    values = np.asarray(_open(path))
    if values.ndim == 3:
        colours = values[..., :3] if values.shape[2] >= 3 else values[..., :1]
        if (colours != colours[..., :1]).any():
            raise FormatError(path, "a mask has numbers of labels, and this picture has colours")
        values = colours[..., 0]
    if values.dtype == bool:
        values = np.where(values, 255, 0)
    return values.astype(np.int64)


def read_scribbles(path: PathLike) -> Int64:
    """Marks ``[height, width]``: 0 background, 1 figure, -1 unmarked.

    In colour, background is (219, 0, 0) and figure (255, 255, 207); in grey 0 and 255.
    """
    opened = _open(path)
    grey = opened.mode in ("1", "L", "I;16", "I")
    values = np.asarray(opened if grey else opened.convert("RGB"))
    if values.dtype == bool:
        raise FormatError(path, "scribbles have three values: figure, background and unmarked")
    marks = np.full(values.shape[:2], UNKNOWN, np.int64)
    for value, label in (GREY_SCRIBBLES if grey else SCRIBBLES).items():
        marks[values == value if grey else (values == value).all(axis=2)] = label
    if not (marks >= 0).any():
        raise FormatError(
            path, "nothing is marked: figure is (255, 255, 207) and background (219, 0, 0) in "
            "colour, 255 and 0 in grey"
        )  # fmt: skip
    return marks


def write_mask(path: PathLike, numbers: Any) -> None:
    """Write numbers ``[height, width]`` of labels as a picture of one channel."""
    array = np.asarray(numbers)
    kind = np.uint8 if array.max(initial=0) < 256 else np.uint16
    needed("PIL.Image").fromarray(array.astype(kind)).save(path)


def picture_files(folder: PathLike) -> dict[str, Path]:
    """The pictures of a folder by their names without suffix, in order; or a single file."""
    if Path(folder).is_file():
        return {Path(folder).stem: Path(folder)}
    found: dict[str, Path] = {}
    for path in visible_files(folder):
        if path.suffix.lower() in SUFFIXES:
            if path.stem in found:
                raise FormatError(path, f"there is also {found[path.stem].name}: which is meant?")
            found[path.stem] = path
    if not found:
        raise FormatError(folder, f"no pictures ({', '.join(sorted(SUFFIXES))}) in this folder")
    return found


def partner(files: dict[str, Path], folder: PathLike, name: str, path: Path) -> Path:
    """The file of a folder that belongs to a photograph; a single file belongs to any."""
    if Path(folder).is_file():
        return Path(folder)
    for ending in ENDINGS:
        if name + ending in files:
            return files[name + ending]
    raise FormatError(path, f"{folder} has no file named {name} or {name}-anno for it")


class Photographs(Sequence[Photograph]):
    """Photographs of a folder, each read when it is asked for."""

    def __init__(
        self, images: PathLike, masks: PathLike | None = None, scribbles: PathLike | None = None
    ) -> None:
        self._files = list(picture_files(images).items())
        self._masks = self._partners(masks)
        self._scribbles = self._partners(scribbles)

    def _partners(self, folder: PathLike | None) -> list[Path] | None:
        if folder is None:
            return None
        files = picture_files(folder)
        return [partner(files, folder, name, path) for name, path in self._files]

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        name, path = self._files[i]
        picture = read_picture(path)
        mask = scribbles = None
        if self._masks is not None:
            mask = same_size(self._masks[i], read_mask(self._masks[i]), path, picture)
        if self._scribbles is not None:
            file = self._scribbles[i]
            scribbles = same_size(file, read_scribbles(file), path, picture)
        return Photograph(name, picture, mask, scribbles)


def same_size(path: Path, values: Int64, other: Path, picture: NDArray[np.integer]) -> Int64:
    """The values of a file, if they are as many as the pixels of another."""
    if values.shape != picture.shape[:2]:
        (h, w), (height, width) = values.shape, picture.shape[:2]
        raise FormatError(path, f"{w} x {h} pixels, but {other} has {width} x {height}")
    return values


def read_photographs(
    images: PathLike, masks: PathLike | None = None, scribbles: PathLike | None = None
) -> Photographs:
    """Photographs of a folder; files of the same name in ``masks`` and ``scribbles`` belong to it.

    Raises:
        FormatError: naming the file that is missing, cannot be read or has another size.
    """
    return Photographs(images, masks, scribbles)
