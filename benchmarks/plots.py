"""Pictures of the suites; matplotlib is needed only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.decoders import Run
    from benchmarks.scaling import Point
    from benchmarks.to_bound import Race

COLUMNS = 4
MARKERS = {"simplex": "s", "ipm": "^"}


def new_figure(width: float, height: float) -> Any:
    """An empty figure of a size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, folder: Path, name: str) -> Path:
    """Write a figure into a folder, which is made if need be; returns where it is."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    figure.savefig(path, dpi=130)
    return path


def bounds_over_time(races: Sequence[Race], folder: Path) -> Path:
    """Distance of AD3's best bound from the LP over time; marks where HiGHS was done."""
    from benchmarks.methods import ACCURACY

    rows = ceil(len(races) / COLUMNS)
    figure = new_figure(3.4 * COLUMNS, 2.6 * rows)
    panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for panel in panels[len(races) :]:
        panel.set_axis_off()
    for panel, race in zip(panels, races, strict=False):
        trace = race.ad3.trace
        if trace is not None and len(trace):
            off = (trace.best_bound - race.lp) / (1.0 + abs(race.lp))
            panel.loglog(trace.seconds, np.maximum(off, ACCURACY / 100), label="AD3 bound")
        for method, outcome in race.highs.items():
            if outcome.finished:
                mark = MARKERS[method]
                panel.loglog([outcome.seconds], [ACCURACY], mark, label=f"{method} done")
        panel.axhline(ACCURACY, color="0.7", linewidth=0.8)
        panel.set_title(race.instance.name, fontsize="small")
        panel.tick_params(labelsize="x-small")
    panels[0].legend(fontsize="x-small")
    figure.supxlabel("seconds")
    figure.supylabel("relative distance of the bound from the LP optimum")
    return save(figure, folder, "bounds_over_time.png")


def scaling(points: Sequence[Point], folder: Path) -> Path:
    """Build, compile and iteration time against the number of factors, log-log."""
    figure = new_figure(9.0, 4.0)
    left, right = figure.subplots(1, 2)
    factors = np.array([p.factors for p in points], float)
    for name in ("build", "compile", "iteration"):
        left.loglog(factors, [getattr(p, name) for p in points], "o-", label=name)
    left.loglog(factors, factors * 1e-8, color="0.7", linewidth=0.8, label="10 ns per factor")
    left.set(xlabel="pair factors", ylabel="seconds")
    left.legend(fontsize="small")
    right.semilogx(factors, [p.bytes_per_factor for p in points], "o-")
    right.set_ylim(bottom=0.0)
    right.axhline(100.0, color="0.7", linewidth=0.8)
    right.set(xlabel="pair factors", ylabel="peak bytes per factor")
    return save(figure, folder, "scaling.png")


def decoders(found: Mapping[str, Mapping[str, Sequence[Run]]], folder: Path) -> Path:
    """Distance of the best bound (above) and the best answer (below) by iteration, first seed."""
    figure = new_figure(3.4 * len(found), 5.6)
    panels = figure.subplots(2, len(found), squeeze=False, sharex="col")
    for column, (family, runs) in enumerate(found.items()):
        for name, (first, *_) in runs.items():
            offs = first.bound_off, first.value_off
            for panel, off in zip(panels[:, column], offs, strict=True):
                panel.loglog(first.iterations, np.maximum(off, 1e-7), label=name)
        panels[0, column].set_title(family, fontsize="small")
        panels[1, column].set_xlabel("iterations")
    panels[0, 0].set_ylabel("bound above the LP optimum")
    panels[1, 0].set_ylabel("answer below the best")
    panels[0, 0].legend(fontsize="x-small")
    return save(figure, folder, "decoders.png")
