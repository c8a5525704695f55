"""The instances a suite runs on: the data folder's if there is one, made-up ones otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import assent as at
from benchmarks import synthetic
from benchmarks.instances import Reference, load_graph, load_references
from benchmarks.uai import stored_models

# Families the library can express so far, in the order of the tables.
FAMILIES = (
    "ising_n30_*", "ising_n100_*", "ising_n300_*",
    "grid_ising_0", "grid_ferro_0", "grid_isingN200",
    "parse_planted_*", "parse_flow_*", "parse_tree_*", "repo_*",
    "grid_potts*", "potts_*",
)  # fmt: skip

# Left out of a quick pass: the baselines take from ten seconds to minutes on these.
SLOW = (
    "ising_n300_*", "grid_isingN200", "*_n30_s*", "*_n40_*", "repo_mln_large",
    "ising_n30_*_s[12]", "parse_*_s1", "grid_potts10_0", "potts_*_s[12]",
)  # fmt: skip

# Names of stored models with other scores begin like this.
SHAKEN = "shaken/"

# How many times faster than the faster linear-programming method a family is meant to be.
BARS = (("ising_n100_*", 20.0), ("ising_n300_*", 30.0))
PARSING_BARS = {"parse_planted": 10.0, "parse_flow": 3.0}
PARSING_BAR_FROM = 20  # words


@dataclass(frozen=True)
class Instance:
    """A named problem, with what is known about it from elsewhere, if anything."""

    name: str
    build: Callable[[], at.FactorGraph]
    reference: Reference | None = None

    @property
    def bar(self) -> float | None:
        """The speed-up asked for, None where nothing is asked."""
        parsing = re.match(r"(parse_\w+)_n(\d+)_", self.name)
        if parsing and int(parsing[2]) >= PARSING_BAR_FROM:
            return PARSING_BARS.get(parsing[1])
        return next((bar for pattern, bar in BARS if fnmatch(self.name, pattern)), None)


def instances(data: Path | None, *, quick: bool = False, only: str = "*") -> list[Instance]:
    """All instances whose name matches ``only``; without ``data`` they are made up."""
    found = _stored(data / "instances") if data and has_instances(data) else _made_up()
    left_out = SLOW if quick else ()
    return [
        instance
        for instance in found
        if fnmatch(instance.name, only)
        and not any(fnmatch(instance.name, pattern) for pattern in left_out)
    ]


def uai_instances(data: Path | None, *, only: str = "*") -> list[Instance]:
    """The stored UAI models whose name matches ``only``; none without ``data``."""
    if data is None or not (data / "uai" / "instances.tsv").is_file():
        return []
    return [
        Instance(name, build, known)
        for name, build, known in stored_models(data / "uai")
        if fnmatch(name, only)
    ]


def shaken_instances(data: Path | None, seed: int) -> list[Instance]:
    """The stored UAI models with other scores, by seed; none without ``data``."""
    return [
        Instance(f"{SHAKEN}{one.name}_s{seed}", partial(one.build, seed=seed))
        for one in uai_instances(data)
    ]


def has_instances(data: Path | None) -> bool:
    """Whether the data folder holds instances."""
    return data is not None and any((data / "instances").glob("*.npz"))


def _stored(folder: Path) -> Iterator[Instance]:
    references = load_references(folder) if (folder / "reference.tsv").is_file() else {}
    for family in FAMILIES:
        for path in sorted(folder.glob(f"{family}.npz"), key=_natural):
            yield Instance(path.stem, partial(load_graph, path), references.get(path.name))


def _natural(path: Path) -> list[object]:
    """Sort key that puts n100 after n30."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.stem)]


def _made_up() -> Iterator[Instance]:
    yield Instance("made_up_torus_6", partial(synthetic.torus, 6))
    yield Instance("made_up_assignment_6", partial(synthetic.assignment, 6, 4))
    for side in (30, 100, 300):
        yield Instance(f"ising_n{side}_rho1.0_made_up", partial(synthetic.torus, side))
    yield Instance("made_up_assignment_40", partial(synthetic.assignment, 40, 25))
