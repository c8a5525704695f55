"""Model files of the applications: settings as JSON, weights as arrays, in one ``.npz``.

Nothing in them is run when they are read: no pickle.  Large tables may be kept in 8 bits.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.io.array_files import open_arrays
from assent.io.whole_file import whole_file

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
    with _new_file(path) as file:
        for name, array in held.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def join_models(path: str | Path, parts: Mapping[str, str | Path]) -> None:
    """Put models of different kinds into one file; `read_model` finds each by its kind."""
    with _new_file(path) as file:
        for kind, part in parts.items():
            with zipfile.ZipFile(part) as own:
                for name in own.namelist():
                    with file.open(f"{kind}/{name}", "w", force_zip64=True) as entry:
                        entry.write(own.read(name))


@contextmanager
def _new_file(path: str | Path) -> Iterator[zipfile.ZipFile]:
    """An archive that is there when all is written; its entries are dated 1980."""
    with whole_file(path) as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as file:
        yield file


def _named(kind: str) -> str:
    """A kind with its article."""
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


@contextmanager
def damage_reported(path: str | Path, kind: str) -> Iterator[None]:
    """A block that makes a model of what a file holds, which may lack something or not fit."""
    try:
        yield
    except ModelError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(
            f"{path} is damaged or no file of {_named(kind)} ({type(error).__name__}: {error})"
        ) from error


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
        prefix = f"{kind}/" if f"{kind}/about" in file else ""
        about = json.loads(str(file[f"{prefix}about"])) if f"{prefix}about" in file else {}
        if about.get("format") != FORMAT:
            others = [n.removesuffix("/about") for n in file.files if n.endswith("/about")]
            held = f"holds {' and '.join(map(_named, others))}" if others else "is no model"
            raise ModelError(f"{path} {held}, and {_named(kind)} is needed")
        if about["kind"] != kind:
            raise ModelError(f"{path} holds {_named(about['kind'])}, and {_named(kind)} is needed")
        if about["version"] != version:
            raise ModelError(
                f"{path} holds {_named(kind)} of version {about['version']}, this library reads "
                f"version {version}: train it again, or use the release that wrote it"
            )
        names = [name.removeprefix(prefix) for name in file.files if name.startswith(prefix)]
        arrays = {name: file[prefix + name] for name in names if name != "about"}
        for name, scale in about["scales"].items():
            arrays[name] = arrays[name].astype(np.float32) * np.float32(scale / _LARGEST_CODE)
        return ModelFile(about["settings"], arrays)
