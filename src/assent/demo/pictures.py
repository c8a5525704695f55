"""The tour's pictures; each function returns the files it saved, none without matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assent.trace import Trace, new_figure

INK = "#1d3557"


def can_draw() -> bool:
    """Whether matplotlib is there."""
    return find_spec("matplotlib") is not None


def save_gallery(shown: Mapping[str, NDArray[np.bool_]], path: Path) -> list[Path]:
    """Black-and-white pictures side by side under their titles."""
    if not can_draw():
        return []
    from matplotlib.colors import ListedColormap

    figure = new_figure(4.0 * len(shown), 3.9)
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
    if not can_draw():
        return []
    figure = new_figure(7.0, 3.4)
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


def save_trace(trace: Trace, path: Path) -> list[Path]:
    """Bound, value and residuals of a run."""
    if not can_draw():
        return []
    trace.plot(path)
    return [path]
