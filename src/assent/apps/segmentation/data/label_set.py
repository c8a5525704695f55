"""Labels: what the numbers in masks and point files mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.io.line_streams import read_lines
from assent.io.text import FormatError, PathLike
from assent.kernels.problem import Int64

# The index of a node or pixel whose label nobody knows: it counts nowhere.
UNKNOWN = -1

# Masks with more values than this are photographs, or were blurred by lossy compression.
MOST_LABELS = 64


@dataclass(frozen=True)
class LabelSet:
    """Labels by index, and the numbers that files write for them.

    Attributes:
        names: one per label.
        numbers: for each label the numbers that mean it; the first is written.

    Example:
        >>> labels = LabelSet.of_numbers([0, 255, 128, 0], unknown=128)
        >>> labels.names
        ('0', '255')
        >>> labels.indices(np.array([255, 128, 0])).tolist()
        [1, -1, 0]
        >>> labels.written(np.array([0, 1])).tolist()
        [0, 255]
    """

    names: tuple[str, ...]
    numbers: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if len(self.names) < 2:
            raise ModelError(
                f"there is nothing to tell apart: the only label is {', '.join(self.names) or '-'}"
            )

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of_numbers(cls, numbers: Iterable[int], unknown: int) -> LabelSet:
        """A label for each number but ``unknown``, in their order."""
        found = sorted({int(number) for number in numbers} - {unknown})
        if len(found) > MOST_LABELS:
            raise ModelError(
                f"masks have {len(found)} different values, at most {MOST_LABELS} are labels: are "
                "they photographs, or stored with loss (JPEG)?"
            )
        return cls(tuple(map(str, found)), tuple((number,) for number in found))

    @classmethod
    def read(cls, path: PathLike) -> LabelSet:
        """Labels of a file with a number and the name of its label on each line.

        Numbers that are not listed are unknown; several may mean the same label.  ``#`` begins a
        comment.
        """
        numbers: dict[str, list[int]] = {}
        seen: set[int] = set()
        for line, text in enumerate(read_lines(path), start=1):
            words = text.partition("#")[0].split()
            if not words:
                continue
            if len(words) != 2 or not words[0].isdecimal():
                raise FormatError.found(path, line, text.strip(), "a number and a name")
            number = int(words[0])
            if number in seen:
                raise FormatError(path, f"{number} is listed before", line)
            seen.add(number)
            numbers.setdefault(words[1], []).append(number)
        return cls(tuple(numbers), tuple(map(tuple, numbers.values())))

    def indices(self, numbers: Any) -> Int64:
        """Indices of labels, `UNKNOWN` where a number means none."""
        own = [number for group in self.numbers for number in group]
        index = [i for i, group in enumerate(self.numbers) for _ in group]
        order = np.argsort(own)
        places = np.searchsorted(np.array(own)[order], numbers).clip(max=len(own) - 1)
        known = np.array(own)[order][places] == numbers
        return np.where(known, np.array(index)[order][places], UNKNOWN).astype(np.int64)

    def written(self, indices: Any) -> Int64:
        """The numbers that files have for labels."""
        return np.array([group[0] for group in self.numbers], np.int64)[indices]
