"""The stored UAI models, with what their table says about them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import assent as at
from assent.io import UaiModel, read_uai, uai_to_graph
from benchmarks.instances import Reference

# Models whose tables hold costs to be minimised, not potentials.
COSTS = ("opengm/libmpopt_gm_000.uai",)

# Noise on the scores of shaken models, as a share of how far they spread.
NOISE = 0.5

# Scores are printed with six decimals, some published ones with two.
SLACK = {"optimal_published": 5e-3}
DEFAULT_SLACK = 5e-7


def stored_models(folder: Path) -> Iterator[tuple[str, partial[at.FactorGraph], Reference]]:
    """Name, builder and reference of every model in the folder's table."""
    with open(folder / "instances.tsv", newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            yield row["file"], partial(load_model, folder, row["file"]), reference(row)


def load_model(folder: Path, name: str, seed: int | None = None) -> at.FactorGraph:
    """A model with its evidence as a graph; scores are natural logarithms, or negated costs.

    With a seed it is another one of the same family: see :func:`shaken`.
    """
    path = folder / name
    model = read_uai(f"{path}.gz", evidence=f"{path}.evid")
    if name in COSTS:
        model = replace(model, log_tables=-np.exp(model.log_tables))
    return uai_to_graph(model if seed is None else shaken(model, seed))


def shaken(model: UaiModel, seed: int) -> UaiModel:
    """The same tables with noise on those over one variable, or on all if there is none."""
    single = np.repeat(np.diff(model.scope_start) == 1, np.diff(model.table_start))
    chosen = np.isfinite(model.log_tables) & (single if single.any() else True)
    noise = np.random.default_rng(seed).normal(size=len(chosen))
    noise *= NOISE * model.log_tables[chosen].std()
    return replace(model, log_tables=model.log_tables + np.where(chosen, noise, 0.0))


def reference(row: Mapping[str, str]) -> Reference:
    """What is known: the LP optimum, the optimum, or merely a score that somebody reached."""
    status = row["map_status"]
    best = float(row["map_logscore"]) if row["map_logscore"] else None
    return Reference(
        lp=float(row["lp_logscore"]) if row["lp_logscore"] else None,
        optimum=best if status.startswith("optimal") else None,
        slack=SLACK.get(status, DEFAULT_SLACK),
        reached=best,
    )
