"""Pairs of masks to compare: gold and a system's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from assent.apps.segmentation.data.pictures import partner, picture_files, read_mask, same_size
from assent.io.text import PathLike
from assent.kernels.problem import Int64


class NumberPair(NamedTuple):
    """Numbers of labels: of gold, and of a system, in arrays of one shape."""

    name: str
    gold: Int64
    system: Int64


class MaskPairs(Sequence[NumberPair]):
    """Masks of two folders (or two files) by their names, each read when it is asked for."""

    def __init__(self, gold: PathLike, system: PathLike) -> None:
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
        gold = read_mask(path)
        return NumberPair(name, gold, same_size(other, read_mask(other), path, gold))
