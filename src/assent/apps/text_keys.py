"""Strings as stable 64-bit keys, from which features are hashed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Words whose keys are remembered: most of a text's words come again, and memory stays flat.
_REMEMBERED = 1 << 18


@lru_cache(maxsize=_REMEMBERED)
def _key(string: str) -> int:
    # Lone surrogates come from broken text: they are a word like any other.
    digest = hashlib.blake2b(string.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def string_keys(strings: Collection[str]) -> NDArray[np.uint64]:
    """Keys ``[n]`` of strings: the same in every process, on every machine, in every version."""
    return np.fromiter(map(_key, strings), np.uint64, len(strings))
