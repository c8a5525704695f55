"""Ways to damage a file of arrays and JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np


def broken_bytes(rng: np.random.Generator, path: Path, count: int) -> Iterator[bytes]:
    """Cut off, overwritten and flipped bytes, and what was never such a file."""
    whole = path.read_bytes()
    yield from (b"", b"PK", b"no archive at all", b"\x93NUMPY" + bytes(200))
    with io.BytesIO() as buffer:
        np.save(buffer, np.zeros(3))
        yield buffer.getvalue()
    for _ in range(count):
        place = int(rng.integers(len(whole)))
        yield whole[:place]
        length = int(rng.integers(1, 20))
        yield whole[:place] + rng.bytes(length) + whole[place + length :]
        yield (
            whole[:place] + bytes([whole[place] ^ (1 << int(rng.integers(8)))]) + whole[place + 1 :]
        )


def other_content(path: Path) -> Iterator[bytes]:
    """Sound archives in which something is missing, of another type or of another shape."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    about = json.loads(str(arrays["about"]))
    for name, array in arrays.items():
        yield _packed({key: value for key, value in arrays.items() if key != name})
        yield _packed(arrays | {name: np.array("words")})
        if name != "about":
            yield _packed(arrays | {name: array.astype(str)})
            yield _packed(arrays | {name: array[None, None]})
    for text in ("", "{", "[1, 2]", "null", "7", "{}"):
        yield _packed(arrays | {"about": np.array(text)})
    for key in about:
        fewer = {name: value for name, value in about.items() if name != key}
        if key != "trainer" or "state" in about:  # a predictor's is there to be read by people
            yield _packed(arrays | {"about": np.array(json.dumps(fewer))})
    for key in ("version", "model", "state"):
        if key in about:
            for other in ([], "words", 10**400, {"a": 1}):
                yield _packed(arrays | {"about": np.array(json.dumps(about | {key: other}))})


def _packed(arrays: dict[str, np.ndarray]) -> bytes:
    with io.BytesIO() as buffer:
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        return buffer.getvalue()
