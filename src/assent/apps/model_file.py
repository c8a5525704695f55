"""Model files of the applications: settings as JSON, weights as arrays, in one ``.npz``.

Nothing in them is run when they are read: no pickle.  Large tables may be kept in 8 bits.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.learn.array_files import open_arrays

FORMAT = "assent application"

# Codes of 8 bits: -127 to 127, so that zero stays zero and signs are alike.
_LARGEST_CODE = 127


class ModelFile(NamedTuple):
    """What a file holds: settings as plain data, and arrays by name."""

    settings: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write_model(
    path: str | Path,
    kind: str,
    settings: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    version: int = 1,
    eight_bits: Collection[str] = (),
) -> None:
    """Write a model; equal models give equal files.

    Args:
        path: the file.
        kind: what it is, such as ``"tagger"``; only `read_model` for the same kind takes it.
        settings: plain data, as JSON knows it.
        arrays: weights and tables by name.
        version: of the kind's meaning; raised when old files would be misread.
        eight_bits: names of arrays of real numbers that are rounded to 255 steps.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     write_model(file.name, "toy", {"labels": ["a"]}, {"weights": np.ones(2)})
        ...     read_model(file.name, "toy").arrays["weights"].tolist()
        [1.0, 1.0]
    """
    scales = {name: float(np.abs(arrays[name]).max(initial=0.0)) for name in eight_bits}
    about = {"format": FORMAT, "kind": kind, "version": version, "settings": dict(settings),
             "scales": scales}  # fmt: skip
    held: dict[str, NDArray[Any]] = {"about": np.array(json.dumps(about, allow_nan=False))}
    for name, array in arrays.items():
        held[name] = _codes(array, scales[name]) if name in scales else np.asarray(array)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, array in held.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # dated 1980, whenever it is written
            entry.compress_type = zipfile.ZIP_DEFLATED
            raw = io.BytesIO()
            np.lib.format.write_array(raw, array, allow_pickle=False)
            file.writestr(entry, raw.getvalue())


def _named(kind: str) -> str:
    """A kind with its article."""
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _codes(array: NDArray[Any], scale: float) -> NDArray[np.int8]:
    """The nearest of 255 steps from ``-scale`` to ``scale``."""
    if scale == 0.0:
        return np.zeros(array.shape, np.int8)
    return np.rint(array * (_LARGEST_CODE / scale)).astype(np.int8)


def read_model(path: str | Path, kind: str, *, version: int = 1) -> ModelFile:
    """Read a model that `write_model` wrote; arrays of 8 bits come back as ``float32``.

    Raises:
        ModelError: if the file is damaged, of another kind or of another version.
        OSError: if there is no such file, or it may not be read.
    """
    with open_arrays(path, _named(kind)) as file:
        about = json.loads(str(file["about"])) if "about" in file else {}
        if about.get("format") != FORMAT:
            raise ModelError(f"{path} is no model of an application")
        if about["kind"] != kind:
            raise ModelError(f"{path} holds {_named(about['kind'])}, and {_named(kind)} is needed")
        if about["version"] != version:
            raise ModelError(
                f"{path} holds {_named(kind)} of version {about['version']}, this library reads "
                f"version {version}: train it again, or use the release that wrote it"
            )
        arrays = {name: file[name] for name in file.files if name != "about"}
        for name, scale in about["scales"].items():
            arrays[name] = arrays[name].astype(np.float32) * np.float32(scale / _LARGEST_CODE)
        return ModelFile(about["settings"], arrays)
