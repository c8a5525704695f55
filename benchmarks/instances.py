"""Decoding instances stored as NumPy archives, as factor graphs.

Five layouts are understood: generic graphs (``ftype``, ``fptr``, ``fvar``, …), toroidal Ising
models with a score on "both up" only (``pair_unary``, ``pair_edge``, ``offset``), grids that
score equal neighbours (``theta[N, K]``, ``edges``, ``w``), the same with a score per label
(``unary[N, K]``, ``diag[E, K]``), and sentences with scores of arcs and of consecutive siblings
(``arcs``, ``sib``, …).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import assent as at
from benchmarks.synthetic import parsing_graph

# Factor codes of the generic layout that are hard constraints without an output.
PLAIN = {0: at.ExactlyOne, 2: at.AtMostOne, 3: at.AtLeastOne}
# ... whose last literal is an output.
WITH_OUTPUT = {1: at.AtMostOne, 4: at.AtLeastOne, 5: at.All}
IMPLIES = 6
PAIR = 7


def load_graph(path: str | Path) -> at.FactorGraph:
    """The instance in the archive ``path`` as a graph over one variable array."""
    with np.load(path) as archive:
        data = dict(archive)
    if "ftype" in data:
        return generic_graph(data)
    if "pair_edge" in data:
        return both_up_graph(data)
    if "sib" in data:
        return parsing_graph(
            int(data["n"]), data["arcs"], data["arc_score"], data["sib"], data["sib_score"]
        )
    if "w" in data and data["theta"].shape[1] == 2:
        return equal_neighbours_graph(data)
    if "w" in data:
        return labels_graph(data["theta"], data["edges"], data["w"][:, None])
    if "diag" in data:
        return labels_graph(data["unary"], data["edges"], data["diag"])
    raise ValueError(f"{Path(path).name}: an unknown layout, {sorted(data)}")


def both_up_graph(data: Mapping[str, Any]) -> at.FactorGraph:
    """Scores on single variables and on pairs that are both up, plus an offset."""
    g = at.FactorGraph()
    x = g.binary(scores=data["pair_unary"], name="x")
    i, j = data["edges"].T
    g.add(at.Pair(x[i], x[j], scores=data["pair_edge"]))
    g.add_constant(float(data["offset"]))
    return g


def equal_neighbours_graph(data: Mapping[str, Any]) -> at.FactorGraph:
    """``w·[x_i = x_j] = w·(1 − x_i − x_j) + 2w·x_i·x_j`` on every edge."""
    theta, w, (i, j) = data["theta"], data["w"], data["edges"].T
    n = len(theta)
    touching = np.bincount(i, w, minlength=n) + np.bincount(j, w, minlength=n)
    g = at.FactorGraph()
    x = g.binary(scores=theta[:, 1] - theta[:, 0] - touching, name="x")
    g.add(at.Pair(x[i], x[j], scores=2.0 * w))
    g.add_constant(float(theta[:, 0].sum() + w.sum()))
    return g


def labels_graph(unary: Any, edges: Any, equal: Any) -> at.FactorGraph:
    """Labels with scores ``unary[N, K]`` and, on every edge, scores ``equal[E, K or 1]``."""
    g = at.FactorGraph()
    x = g.categorical(states=unary.shape[1], scores=unary, name="x")
    i, j = edges.T
    g.add(at.Potts(x[i], x[j], scores=equal))
    return g


def generic_graph(data: Mapping[str, Any]) -> at.FactorGraph:
    """Logic factors and pairs on literals; factors of one kind and size are added together."""
    g = at.FactorGraph()
    x = g.binary(scores=data["var_logpot"], name="x")
    literals = x[data["fvar"]].negate(where=data["fneg"].astype(bool))
    start, size = data["fptr"][:-1], np.diff(data["fptr"])
    for kind, length in np.unique(np.column_stack([data["ftype"], size]), axis=0):
        rows = np.flatnonzero((data["ftype"] == kind) & (size == length))
        chosen = literals[start[rows, None] + np.arange(length)]
        g.add(make_factors(int(kind), chosen, data["fpot"][rows]))
    return g


def make_factors(kind: int, literals: Any, scores: Any) -> Any:
    """Factors of one code of the generic layout over ``literals[m, size]``."""
    if kind == PAIR:
        return at.Pair(literals[:, 0], literals[:, 1], scores=scores)
    if kind in PLAIN:
        return PLAIN[kind](literals, axis=1)
    inputs, last = literals[:, :-1], literals[:, -1]
    if kind in WITH_OUTPUT:
        return WITH_OUTPUT[kind](inputs, axis=1, output=last)
    if kind != IMPLIES:
        raise ValueError(f"unknown factor code {kind}")
    premises = inputs[:, 0]
    for column in range(1, inputs.shape[1]):
        premises = premises & inputs[:, column]
    return at.Implies(premises, last)


@dataclass(frozen=True)
class Reference:
    """Known figures of an instance, each with half a unit of its last printed digit.

    ``lp`` and ``optimum`` (integer) are in the convention of `load_graph`; None if unknown.
    ``reached`` is the best score known to be reached, where nobody has proven it optimal.
    """

    lp: float | None
    optimum: float | None
    slack: float
    reached: float | None = None


def load_references(folder: str | Path) -> dict[str, Reference]:
    """Figures of ``reference.tsv`` by file name."""
    folder = Path(folder)
    with open(folder / "reference.tsv", newline="") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    return {row["file"]: _reference(folder, row) for row in rows}


def _reference(folder: Path, row: Mapping[str, str]) -> Reference:
    printed, note = row["lp_optimum"], row["note"]
    slack = 0.5 * 10.0 ** -len(printed.partition(".")[2])
    value = float(printed) + _offset(folder / row["file"])
    if note.startswith("integer optimum"):
        return Reference(None, value, slack)
    found = re.search(r"integer optimum ([-\d.]+)", note)
    return Reference(value, float(found[1]) if found else None, slack)


def _offset(path: Path) -> float:
    """What the reference of an Ising model leaves out."""
    with np.load(path) as archive:
        return float(archive["offset"]) if "offset" in archive else 0.0
