"""Pairs of masks or point files to compare: gold and a system's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assent.apps.segmentation.data.pictures import (
    SUFFIXES,
    partner,
    picture_files,
    read_mask,
    same_size,
)
from assent.apps.segmentation.data.points import read_points
from assent.io.text import FormatError, PathLike
from assent.kernels.problem import Int64


class LabelPair(NamedTuple):
    """Numbers of labels: of gold, and of a system, in arrays of one shape."""

    name: str
    gold: Int64
    system: Int64


def is_cloud(path: PathLike) -> bool:
    """Whether a path is a file of points: any file that is no picture by its name."""
    return Path(path).is_file() and Path(path).suffix.lower() not in SUFFIXES


class LabelPairs(Sequence[LabelPair]):
    """Masks of two folders by their names, two masks, or two files of points.

    Each pair is read when it is asked for.
    """

    def __init__(self, gold: PathLike, system: PathLike) -> None:
        if is_cloud(gold) != is_cloud(system):
            raise FormatError(system, f"points are compared with points, masks with masks: {gold}")
        self._clouds = is_cloud(gold)
        if self._clouds:
            self._files = [(Path(gold).name.partition(".")[0], Path(gold), Path(system))]
            return
        others = picture_files(system)
        self._files = [
            (name, path, partner(others, system, name, path))
            for name, path in picture_files(gold).items()
        ]

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        name, path, other = self._files[i]
        if self._clouds:
            return LabelPair(name, *labelled_pair(path, other))
        gold = read_mask(path)
        return LabelPair(name, gold, same_size(other, read_mask(other), path, gold))


def labelled_pair(path: PathLike, other: PathLike) -> tuple[Int64, Int64]:
    """The numbers of labels of two files with as many points."""
    gold, system = (read_points(file, labelled=True).numbers for file in (path, other))
    assert gold is not None and system is not None
    if len(gold) != len(system):
        raise FormatError(other, f"{len(system)} points, but {path} has {len(gold)}")
    return gold, system
