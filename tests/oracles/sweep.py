"""How many random instances a sweep test runs."""

from __future__ import annotations

import os

import pytest

FULL = 1000  # what `make sweep` runs per kind and question
TENTH = FULL // 10  # a seeded tenth of it, for the everyday suite
BATCHES = 5


def sweep_size() -> int:
    """Number of random instances: ``FULL`` when ASSENT_SWEEP is "full", else a tenth."""
    return FULL if os.environ.get("ASSENT_SWEEP") == "full" else TENTH


def sweep_seeds(share: float = 1.0):
    """Parametrize a test over ``seeds``, in a few batches so that a failure names its batch.

    ``share`` scales the number of instances down for slow oracles.
    """
    per_batch = max(1, round(sweep_size() * share / BATCHES))
    batches = [range(b * per_batch, (b + 1) * per_batch) for b in range(BATCHES)]
    return pytest.mark.parametrize("seeds", batches, ids=[f"batch{b}" for b in range(BATCHES)])
