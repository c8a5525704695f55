"""Suite ``lp-optima``: optima of linear relaxations that nobody states, found by HiGHS and kept.

They are few and take HiGHS minutes each, so their figures stand in ``lp_optima.tsv`` beside this
file, for the suites that compare bounds with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from benchmarks import tables
from benchmarks.collection import Instance
from benchmarks.methods import highs, recorded

KEPT = Path(__file__).with_name("lp_optima.tsv")


def kept_optima() -> dict[str, float]:
    """Optima by the name of the instance."""
    if not KEPT.is_file():
        return {}
    lines = KEPT.read_text("utf-8").splitlines()[1:]
    return {name: float(value) for name, value in (line.split("\t") for line in lines)}


def run(console: Console, instances: Sequence[Instance], *, time_limit: float) -> None:
    """Solve what is stated nowhere and not kept yet; add what is solved to the file."""
    known = kept_optima()
    rows, notes = [], []
    for instance in instances:
        if instance.name in known or (instance.reference and instance.reference.lp is not None):
            continue
        with console.status(instance.name):
            found = recorded(lambda own=instance: highs(own.build(), "ipm", time_limit))  # type: ignore[misc]
        if np.isfinite(found.value):
            known[instance.name] = found.value
            lines = [f"{name}\t{value!r}" for name, value in sorted(known.items())]
            KEPT.write_text("\n".join(["name\tlp", *lines]) + "\n", "utf-8")
        rows.append((instance.name, tables.number(found.value, 10), tables.duration(found.cpu)))
        notes.append((instance.name, found.note))
    tables.show(console, "Optima of relaxations", ("instance", "LP", "HiGHS"), rows, notes=notes)
