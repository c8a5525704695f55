"""The tour's pictures; each function returns the files it saved, none without matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.trace import Trace

INK, RED, BLUE, PALE = "#1d3557", "#c1440e", "#2a6f97", "#e8eef2"
SMALLEST_GAP = 1e-6  # a logarithmic axis has no zero; what is below is rounding


def _figure(width: float, height: float) -> Any:
    """An empty figure that belongs to no window, or None where matplotlib is missing."""
    if find_spec("matplotlib") is None:
        return None
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_gallery(shown: Mapping[str, NDArray[np.bool_]], path: Path) -> list[Path]:
    """Black-and-white pictures side by side under their titles."""
    figure = _figure(4.0 * len(shown), 3.9)
    if figure is None:
        return []
    from matplotlib.colors import ListedColormap

    for axes, (title, picture) in zip(figure.subplots(1, len(shown)), shown.items(), strict=True):
        axes.imshow(picture, cmap=ListedColormap(["#fbfaf6", INK]), interpolation="nearest")
        axes.set_title(title, fontsize=13)
        axes.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=130)
    return [path]


def save_timetable(
    week: Sequence[Sequence[str]], days: Sequence[str], hours: Sequence[str], path: Path
) -> list[Path]:
    """The week as a coloured grid, one column per day."""
    figure = _figure(7.0, 3.4)
    if figure is None:
        return []
    axes = figure.subplots()
    filled = np.array([[bool(text) for text in row] for row in week], float)
    axes.imshow(filled, cmap="Blues", vmin=0.0, vmax=6.0, aspect="auto")
    for r, row in enumerate(week):
        for c, text in enumerate(row):
            axes.text(c, r, text or "–", ha="center", va="center", color=INK, fontsize=10)
    axes.set_xticks(range(len(days)), days, fontweight="bold")
    axes.set_yticks(range(len(hours)), [f"{hour}:00" for hour in hours])
    axes.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    axes.set_xticks(np.arange(1, len(days)) - 0.5, minor=True)
    axes.set_yticks(np.arange(1, len(hours)) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=3)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
    figure.savefig(path, dpi=150)
    return [path]


def save_convergence(trace: Trace, path: Path) -> list[Path]:
    """Bound and value against iterations, and their distance on a logarithmic scale."""
    figure = _figure(9.0, 3.8)
    if figure is None:
        return []
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    both, distance = figure.subplots(1, 2, sharex=True)
    found = np.isfinite(trace.value)
    iteration, value, bound = trace.iteration[found], trace.value[found], trace.best_bound[found]
    both.step(
        trace.iteration, trace.best_bound, where="post", color=RED, label="bound: nothing is better"
    )
    both.step(iteration, value, where="post", color=BLUE, label="value: best answer so far")
    both.fill_between(iteration, value, bound, step="post", color=PALE, label="gap")
    both.set(xlabel="iteration", ylabel="score", title="Bound and answer")
    distance.semilogy(iteration, np.maximum(bound - value, SMALLEST_GAP), color=INK)
    distance.set(xlabel="iteration", title="Gap between them")
    for axes in (both, distance):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#dddddd", linewidth=0.5)
    both.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=150)
    return [path]
