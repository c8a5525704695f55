"""Exact answers side by side: ours, HiGHS, CP-SAT and toulbar2, one process and one thread each.

Limits and times are processor seconds.  Every outcome is kept in a file as soon as it is there, if
one is given, so that a run can be continued, or one solver's part of it repeated.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.constrained import SIZES, constrained
from benchmarks.exact_outcome import (
    Found,
    Outcome,
    against_ours,
    by_family,
    describe,
    disagreements,
    keep,
    kept,
)
from benchmarks.exact_peers import PEERS
from benchmarks.exact_worker import OURS
from benchmarks.tables import circumstances, show

SOLVERS = (OURS, *PEERS)
# Seconds on the wall after which a process is given up: a busy machine may give it a tenth of a
# processor, and the system stops it by processor time before.
WALL_LIMIT = 1800.0
# UAI models of more variables are left out, but for a few that are quickly read.
SMALL = 500
LARGER = (
    "dbn/rus_20_40_9_3.uai", "grids/grid40x40.f10.uai", "grids/grid40x40.f15.wrap.uai",
    "grids/grid40x40.f2.uai", "grids/grid80x80.f5.uai", "opengm/GeomSurf-7-gm256.uai",
    "promedas/or_chain_117.uai",
)  # fmt: skip
# Stored instances that the table is about.
STORED = (
    "grid_ising_0", "grid_potts1_0", "grid_potts10_0", "ising_n30_rho1.0_s0", "ising_n30_rho2.0_s0",
    "parse_flow_n10_s0", "parse_flow_n20_s0", "parse_planted_n20_s0", "potts_n20_K8_c10.0_s0",
)  # fmt: skip
# Random problems of each family and size.
SEEDS = (0, 1)


def model_names(data: Path | None, kind: str, sizes: Sequence[int]) -> list[str]:
    """Names of the models of a kind: ``uai-small``, ``uai``, ``stored``, ``constrained`` or all."""
    names: list[str] = []
    if data is not None and kind in ("uai-small", "uai", "all"):
        with open(data / "uai" / "instances.tsv", newline="") as table:
            for row in csv.DictReader(table, delimiter="\t"):
                small = row["map_status"].startswith("optimal") and int(row["nvars"]) <= SMALL
                if small or (kind != "uai-small" and row["file"] in LARGER):
                    names.append(f"uai/{row['file']}")
    if data is not None and kind in ("stored", "all"):
        names += [f"instances/{name}" for name in STORED]
    if kind in ("constrained", "all"):
        names += [name for name, _ in constrained(tuple(sizes), SEEDS)]
    return names


def measure(name: str, solver: str, limit: float, data: Path | None) -> Outcome:
    """Run a solver in a process of its own."""
    call = [sys.executable, "-m", "benchmarks.exact_worker", name, solver, str(limit), str(data)]
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=WALL_LIMIT)
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


def run(
    console: Console,
    data: Path | None,
    kind: str = "all",
    only: str = "*",
    limit: float = 20.0,
    solvers: Sequence[str] = SOLVERS,
    sizes: Sequence[int] = SIZES,
    results: Path | None = None,
    resume: bool = False,
) -> Found:
    """Measure and print; returns the outcomes by model and solver.

    With ``resume`` what stands in the file ``results`` is not measured again.
    """
    known = kept(results, limit) if results is not None and resume else {}
    found: Found = {}
    for name in model_names(data, kind, sizes):
        if not fnmatch(name, only):
            continue
        found[name] = {}
        for solver in solvers:
            outcome = known.get(name, {}).get(solver)
            if outcome is None:
                outcome = measure(name, solver, limit, data)
                if results is not None:
                    keep(results, name, solver, limit, outcome)
            found[name][solver] = outcome
        console.print(f"[dim]{name}: {', '.join(map(describe, found[name].values()))}[/]")
    _show(console, found, solvers, limit)
    return found


def _show(console: Console, found: Found, solvers: Sequence[str], limit: float) -> None:
    rows = [(name, *(describe(outcomes[s]) for s in solvers)) for name, outcomes in found.items()]
    notes = [(name, line) for name, o in found.items() for line in disagreements(o)]
    caption = (
        f"CPU seconds to a proof (gap 1e-6; * with HiGHS on what was left), or the relative gap "
        f"after {limit:g} s; {circumstances()}"
    )
    show(console, "Exact answers", ("model", *solvers), rows, caption, notes)
    words = "proven · geometric mean seconds of what all prove · mean gap of what some leave open"
    show(
        console, "By family", ("family", "models", *solvers), list(by_family(found, solvers)), words
    )
    if OURS in solvers and len(solvers) > 1:
        peers = tuple(solver for solver in solvers if solver != OURS)
        words = "our time as a multiple of theirs, on models that both prove (how many)"
        rows = list(against_ours(found, OURS, solvers))
        show(console, "Time to a proof", ("family", *peers), rows, words)
