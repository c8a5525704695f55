"""Pictures of the papers' experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.plots import new_figure, save

if TYPE_CHECKING:
    from benchmarks.decoders import Run
    from benchmarks.papers.race import Timed

SMALLEST = 1e-7  # relative distances below this are drawn there


def decomposition(found: Mapping[str, Sequence[Run]], folder: Path) -> Path:
    """Medians over seeds of how far bound and answer are off, by iteration."""
    figure = new_figure(9.0, 3.8)
    panels = figure.subplots(1, 2)
    for name, runs in found.items():
        for panel, column in zip(panels, ("bound_off", "value_off"), strict=True):
            iterations, middle = medians(runs, column)
            panel.loglog(iterations, np.maximum(middle, SMALLEST), label=name)
    panels[0].set(xlabel="iterations", ylabel="bound above the LP optimum")
    panels[1].set(xlabel="iterations", ylabel="answer below the optimum")
    panels[0].legend(fontsize="x-small")
    return save(figure, folder, "parsing_decomposition.png")


def medians(runs: Sequence[Run], column: str) -> tuple[np.ndarray, np.ndarray]:
    """A column's median over runs that report at different iterations, and may end early."""
    grid = np.unique(np.concatenate([run.iterations for run in runs]))
    rows = []
    for run in runs:
        place = np.searchsorted(run.iterations, grid, side="right") - 1
        rows.append(np.where(place >= 0, getattr(run, column)[np.maximum(place, 0)], np.nan))
    everyone = ~np.isnan(rows).any(axis=0)
    return grid[everyone], np.median(np.array(rows)[:, everyone], axis=0)


def certificates(found: Mapping[str, np.ndarray], limits: Sequence[int], folder: Path) -> Path:
    """Share of sentences proven, of those settled, and of heads that are right."""
    figure = new_figure(12.0, 3.8)
    panels = figure.subplots(1, 3)
    for name, shares in found.items():
        style = "--" if "all parts" in name else "-"
        for panel, share in zip(panels, shares, strict=True):
            panel.semilogx(limits, 100.0 * share, style, marker=".", label=name)
    titles = ("sentences proven (%)", "sentences settled (%)", "heads as planted (%)")
    for panel, title in zip(panels, titles, strict=True):
        panel.set(xlabel="iterations", ylabel=title)
    panels[2].legend(fontsize="x-small")
    return save(figure, folder, "parsing_certificates.png")


def activity(shares: Mapping[str, np.ndarray], folder: Path) -> Path:
    """Share of variables, factors and messages that are active, by iteration."""
    figure = new_figure(4.6 * len(shares), 3.6)
    panels = np.atleast_1d(figure.subplots(1, len(shares), sharey=True))
    for panel, (name, share) in zip(panels, shares.items(), strict=True):
        for line, label in zip(share.T, ("variables", "factors", "messages"), strict=True):
            panel.plot(1 + np.arange(len(line)), 100.0 * line, label=label)
        panel.set(xlabel="iterations", title=name)
    panels[0].set_ylabel("active (%)")
    panels[0].legend(fontsize="small")
    return save(figure, folder, "activity.png")


def oracle_calls(calls: Mapping[str, np.ndarray], folder: Path) -> Path:
    """Calls for a best vertex per structure, summed over iterations."""
    figure = new_figure(5.2, 4.0)
    panel = figure.subplots()
    longest = max(len(line) for line in calls.values())
    steps = 1 + np.arange(longest)
    panel.loglog(steps, steps, color="0.7", label="one per iteration")
    for name, line in calls.items():
        panel.loglog(1 + np.arange(len(line)), line, label=name)
    panel.set(xlabel="iterations", ylabel="calls per structure")
    panel.legend(fontsize="small")
    return save(figure, folder, "oracle_calls.png")


def race(timed: Sequence[Timed], folder: Path) -> Path:
    """One point per sentence: seconds of AD3 and of the LP solver."""
    figure = new_figure(5.2, 4.6)
    panel = figure.subplots()
    for planted, mark in ((False, "x"), (True, "o")):
        own = [point for point in timed if point.planted == planted]
        drawn = panel.scatter(
            [p.ad3 for p in own], [p.lp for p in own], c=[p.words for p in own], marker=mark,
            s=18, label="planted tree" if planted else "random scores",
        )  # fmt: skip
    ends = [min(min(p.ad3, p.lp) for p in timed), max(max(p.ad3, p.lp) for p in timed)]
    panel.plot(ends, ends, color="0.7", linewidth=0.8)
    panel.set(xscale="log", yscale="log", xlabel="AD3 (s)", ylabel="HiGHS, dual simplex (s)")
    panel.legend(fontsize="small")
    figure.colorbar(drawn, label="words")
    return save(figure, folder, "race.png")


def rates(found: Mapping[str, Mapping[str, Any]], accuracies: np.ndarray, folder: Path) -> Path:
    """Iterations until the bound is within ε, log-log."""
    figure = new_figure(4.4 * len(found), 3.8)
    panels = np.atleast_1d(figure.subplots(1, len(found), sharey=True))
    for panel, (family, by_solver) in zip(panels, found.items(), strict=True):
        for name, rate in by_solver.items():
            label = f"{name}: {rate.slope:.2f}" if np.isfinite(rate.slope) else name
            panel.loglog(1.0 / accuracies, rate.iterations, marker=".", label=label)
        panel.set(title=family, xlabel="1 / ε")
        panel.legend(fontsize="x-small", title="slope")
    panels[0].set_ylabel("iterations")
    return save(figure, folder, "rates.png")
