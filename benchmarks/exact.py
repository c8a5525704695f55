"""Exact answers side by side: ours, HiGHS, CP-SAT and toulbar2, one process and one thread each."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from benchmarks.constrained import SIZES, constrained
from benchmarks.exact_peers import PEERS
from benchmarks.exact_worker import OURS
from benchmarks.tables import DASH, circumstances, show

SOLVERS = (OURS, *PEERS)
# Seconds a process may take beyond its limit: loading or compiling code, building, ending.
GRACE = 300.0
# Claims are compared up to this, relative to 1 + |value|: peers round scores.
AGREE = 1e-4
# Stored models of more variables are left out unless asked for by name.
SMALL = 500
# Stored instances that the table is about.
STORED = (
    "grid_ising_0", "grid_potts1_0", "grid_potts10_0", "ising_n30_rho1.0_s0", "ising_n30_rho2.0_s0",
    "parse_flow_n10_s0", "parse_flow_n20_s0", "parse_planted_n20_s0", "potts_n20_K8_c10.0_s0",
)  # fmt: skip


class Outcome(NamedTuple):
    """What a solver claims of a model; ``note`` says why there is nothing."""

    value: float = -np.inf
    bound: float = np.inf
    proven: bool = False
    seconds: float = np.nan
    trusted: tuple[str, ...] = ()
    note: str = ""

    @property
    def gap(self) -> float:
        return (self.bound - self.value) / (1.0 + abs(self.value))


def model_names(data: Path | None, kind: str, sizes: Sequence[int]) -> list[str]:
    """Names of the models of a kind: ``uai-small``, ``stored``, ``constrained`` or ``all``."""
    names: list[str] = []
    if data is not None and kind in ("uai-small", "all"):
        with open(data / "uai" / "instances.tsv", newline="") as table:
            for row in csv.DictReader(table, delimiter="\t"):
                if row["map_status"].startswith("optimal") and int(row["nvars"]) <= SMALL:
                    names.append(f"uai/{row['file']}")
    if data is not None and kind in ("stored", "all"):
        names += [f"instances/{name}" for name in STORED]
    if kind in ("constrained", "all"):
        names += [name for name, _ in constrained(tuple(sizes))]
    return names


def measure(name: str, solver: str, limit: float, data: Path | None) -> Outcome:
    """Run a solver in a process of its own."""
    call = [sys.executable, "-m", "benchmarks.exact_worker", name, solver, str(limit), str(data)]
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=limit + GRACE)
    except subprocess.TimeoutExpired:
        return Outcome(note="did not end")
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        return Outcome(note=last[0][:60])
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if "refused" in answer:
        return Outcome(note=f"refused: {answer['refused']}")
    return Outcome(
        -np.inf if answer["value"] is None else answer["value"],
        np.inf if answer["bound"] is None else answer["bound"],
        answer["proven"],
        answer["seconds"],
        tuple(answer["trusted"]),
    )


def disagreements(outcomes: dict[str, Outcome]) -> Iterable[str]:
    """Claims that cannot all be true: a value above a bound, or two different proven values."""
    for one, a in outcomes.items():
        for other, b in outcomes.items():
            slack = AGREE * (1.0 + abs(b.value)) if np.isfinite(b.value) else 0.0
            if b.value > a.bound + slack:
                yield f"{other} found {b.value:.6g}, above the bound {a.bound:.6g} of {one}"


def told(outcome: Outcome) -> str:
    """Seconds to a proof (* where another solver's word is part of it), or the gap."""
    if outcome.note:
        return outcome.note
    if outcome.proven:
        return f"{outcome.seconds:.2f} s{'*' if outcome.trusted else ''}"
    return f"gap {outcome.gap:.1e}" if np.isfinite(outcome.gap) else DASH


def run(
    console: Console,
    data: Path | None,
    kind: str = "all",
    only: str = "*",
    limit: float = 20.0,
    solvers: Sequence[str] = SOLVERS,
    sizes: Sequence[int] = SIZES,
) -> dict[str, dict[str, Outcome]]:
    """Measure and print; returns the outcomes by model and solver."""
    found: dict[str, dict[str, Outcome]] = {}
    for name in model_names(data, kind, sizes):
        if not fnmatch(name, only):
            continue
        found[name] = {solver: measure(name, solver, limit, data) for solver in solvers}
        console.print(f"[dim]{name}: {', '.join(map(told, found[name].values()))}[/]")
    rows = [(name, *(told(outcomes[s]) for s in solvers)) for name, outcomes in found.items()]
    notes = [(name, line) for name, o in found.items() for line in disagreements(o)]
    caption = (
        f"CPU seconds to a proof (gap 1e-6; * with HiGHS on what was left), or the relative gap "
        f"after {limit:g} s; {circumstances()}"
    )
    show(console, "Exact answers", ("model", *solvers), rows, caption, notes)
    show(console, "Proven", ("family", "models", *solvers), list(_summary(found, solvers)))
    return found


def family_of(name: str) -> str:
    """What a model counts under."""
    return name.split("/")[0] if "/" in name else name.split("_")[0]


def _summary(
    found: dict[str, dict[str, Outcome]], solvers: Sequence[str]
) -> Iterable[tuple[str, ...]]:
    for family in dict.fromkeys(map(family_of, found)):
        own = [outcomes for name, outcomes in found.items() if family_of(name) == family]
        counts = [str(sum(outcomes[s].proven for outcomes in own)) for s in solvers]
        yield family, str(len(own)), *counts
