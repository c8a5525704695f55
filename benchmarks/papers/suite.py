"""Suite ``papers``: the experiments by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import decoders
from benchmarks.papers.activity import activity, oracle_calls
from benchmarks.papers.parsing import certificates, decomposition
from benchmarks.papers.race import race
from benchmarks.papers.rates import rates

Experiment = Callable[[Console, int, Path], Any]

EXPERIMENTS: dict[str, Experiment] = {
    "grids": decoders.run,
    "decomposition": decomposition,
    "certificates": certificates,
    "activity": activity,
    "oracle-calls": oracle_calls,
    "race": race,
    "rates": rates,
}


def run(console: Console, seeds: int, folder: Path, only: str = "") -> dict[str, Any]:
    """Run all experiments, or one; tables are printed, pictures go to the folder."""
    chosen = [only] if only else list(EXPERIMENTS)
    return {name: EXPERIMENTS[name](console, seeds, folder) for name in chosen}
