"""What an exact solver claims of a model: described, kept in a file and summed up."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.tables import DASH, number

# Claims are compared up to this, relative to 1 + |value|: peers round scores.
AGREE = 1e-4
# Proofs that take less count as this many seconds in means: nobody waits for the difference.
LEAST = 0.01


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


Found = dict[str, dict[str, Outcome]]  # by model and solver


def describe(outcome: Outcome) -> str:
    """Seconds to a proof (* where another solver's word is part of it), or the gap."""
    if outcome.note:
        return outcome.note
    if outcome.proven:
        return f"{outcome.seconds:.2f} s{'*' if outcome.trusted else ''}"
    return f"gap {outcome.gap:.1e}" if np.isfinite(outcome.gap) else "no answer"


def disagreements(outcomes: dict[str, Outcome]) -> Iterable[str]:
    """Claims that cannot all be true: a value above a bound, or two different proven values."""
    for one, a in outcomes.items():
        for other, b in outcomes.items():
            slack = AGREE * (1.0 + abs(b.value)) if np.isfinite(b.value) else 0.0
            if b.value > a.bound + slack:
                yield f"{other} found {b.value:.6g}, above the bound {a.bound:.6g} of {one}"


def keep(path: Path, model: str, solver: str, limit: float, outcome: Outcome) -> None:
    """Append an outcome to a file of lines."""
    line = {"model": model, "solver": solver, "limit": limit, **outcome._asdict()}
    with open(path, "a") as file:
        file.write(json.dumps(line) + "\n")


def kept(path: Path, limit: float) -> Found:
    """Outcomes of earlier runs with the same limit; the last one counts."""
    found: Found = {}
    for line in path.read_text().splitlines() if path.is_file() else ():
        row = json.loads(line)
        model, solver, own = (row.pop(key) for key in ("model", "solver", "limit"))
        row["trusted"] = tuple(row["trusted"])
        if own == limit:
            found.setdefault(model, {})[solver] = Outcome(**row)
    return found


def family_of(name: str) -> str:
    """What a model counts under."""
    return name.rsplit("/", 1)[0] if "/" in name else name.split("_")[0]


def by_family(found: Found, solvers: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Rows of the summary: every family, then all models."""
    for family in dict.fromkeys(map(family_of, found)):
        own = [outcomes for name, outcomes in found.items() if family_of(name) == family]
        yield family, str(len(own)), *(_summed(own, solver, solvers) for solver in solvers)
    every = list(found.values())
    yield "all", str(len(every)), *(_summed(every, solver, solvers) for solver in solvers)


def _summed(rows: Sequence[dict[str, Outcome]], solver: str, solvers: Sequence[str]) -> str:
    """Proven; mean time of what all prove; mean gap of what some solver leaves open."""
    proven = sum(row[solver].proven for row in rows)
    common = [row[solver].seconds for row in rows if all(row[s].proven for s in solvers)]
    left = [row[solver] for row in rows if not all(row[s].proven for s in solvers)]
    gaps = [0.0 if o.proven else o.gap for o in left if np.isfinite(o.gap)]
    mean = f"{number(float(np.mean(gaps)), 2)}" if gaps else DASH
    lost = f" ({len(left) - len(gaps)} without)" if len(left) > len(gaps) else ""
    return f"{proven} · {number(geometric(common), 2)} s · {mean}{lost}"


def geometric(seconds: Sequence[float]) -> float:
    """Geometric mean, of nothing nan."""
    if not len(seconds):
        return np.nan
    return float(np.exp(np.log(np.maximum(seconds, LEAST)).mean()))


def against_ours(found: Found, ours: str, solvers: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Rows: our time as a multiple of each peer's, on the models that both prove, by family."""
    peers = [solver for solver in solvers if solver != ours]
    families = list(dict.fromkeys(map(family_of, found)))
    for family in (*families, "all"):
        rows = [row for name, row in found.items() if family in (family_of(name), "all")]
        cells = []
        for peer in peers:
            both = [row for row in rows if row[ours].proven and row[peer].proven]
            times = [geometric([row[solver].seconds for row in both]) for solver in (ours, peer)]
            cells.append(f"{number(times[0] / times[1], 2)} ({len(both)})" if both else DASH)
        yield family, *cells
