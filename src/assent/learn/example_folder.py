"""Training data in a folder: one file per example, read when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assent.arguments import shown
from assent.errors import ModelError
from assent.io.array_files import open_arrays

_DIGITS = 8  # of file names, so that their order is the examples'


class Column(Sequence[Any]):
    """The inputs, or the outputs, of a folder's examples; made by `read_folder`."""

    def __init__(self, files: list[Path], name: str) -> None:
        self._files, self._name = files, name

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return Column(self._files[i], self._name)
        with open_arrays(self._files[i], "an example") as file:
            parts = [name for name in file.files if name.partition("_")[0] == self._name]
            if not parts:
                raise ModelError(f"{self._files[i]} has no {self._name!r}")
            if parts == [self._name]:
                return file[self._name]
            return tuple(file[f"{self._name}_{k}"] for k in range(len(parts)))


def write_folder(folder: str | Path, examples: Iterable[tuple[Any, Any]]) -> int:
    """Write pairs of inputs and outputs, one file (``.npz``) each; returns how many.

    An input or output is an array, or a tuple of arrays (such as a `TreeInput`).

    Example:
        >>> import tempfile
        >>> from assent.learn import read_folder, write_folder
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     count = write_folder(folder, [(np.ones((2, 3)), np.array([0, 1]))])
        ...     inputs, outputs = read_folder(folder)
        ...     count, inputs[0].shape, outputs[0].tolist()
        (1, (2, 3), [0, 1])
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    count = 0
    for x, y in examples:
        arrays: dict[str, Any] = {}
        for name, value in (("x", x), ("y", y)):
            if isinstance(value, tuple):
                arrays |= {f"{name}_{k}": np.asarray(part) for k, part in enumerate(value)}
            else:
                arrays[name] = np.asarray(value)
        bad = [name for name, array in arrays.items() if array.dtype.hasobject]
        if bad:
            raise ModelError(f"example {count}: {bad[0]!r} is no array of numbers or strings")
        np.savez(target / f"{count:0{_DIGITS}d}.npz", **arrays)
        count += 1
    return count


def read_folder(folder: str | Path) -> tuple[Column, Column]:
    """Inputs and outputs of a folder that `write_folder` wrote, read when they are asked for.

    ``Examples(model, *read_folder(path), keep=False)`` trains on more than memory holds.
    """
    if not isinstance(folder, (str, Path)):
        raise TypeError(f"a folder is named by its path, got {shown(folder)}")
    files = sorted(Path(folder).glob("*.npz"))
    if not files:
        raise ModelError(f"{folder} holds no examples (.npz files)")
    return Column(files, "x"), Column(files, "y")
