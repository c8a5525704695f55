"""How many random instances a sweep test runs."""

from __future__ import annotations

import os

import pytest

FULL = 1000  # what `make sweep` runs per kind and question, in five batches
SHORT = FULL // 16  # a seeded sixteenth of it for the everyday suite, in three


def is_full() -> bool:
    """Whether all random instances are asked for."""
    return os.environ.get("ASSENT_SWEEP") == "full"


def sweep_size() -> int:
    """Number of random instances: ``FULL`` when ASSENT_SWEEP is "full", else ``SHORT``."""
    return FULL if is_full() else SHORT


def sweep_seeds(share: float = 1.0):
    """Parametrize a test over ``seeds``, in a few batches so that a failure names its batch.

    ``share`` scales the number of instances down for slow oracles.
    """
    count = 5 if is_full() else 3
    per_batch = max(1, round(sweep_size() * share / count))
    batches = [range(b * per_batch, (b + 1) * per_batch) for b in range(count)]
    return pytest.mark.parametrize("seeds", batches, ids=[f"batch{b}" for b in range(count)])
