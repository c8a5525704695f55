"""`plot_path`: the course of a training, in the four panels of Taskar et al. 2006, Figure 7."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.trace import new_figure


def plot_path(fitted: Any, path: Any = None) -> Any:
    """Draw hinge loss, norm, validation and test error along a training.

    Args:
        fitted: a fitted predictor or a `Training`; or a dict of several, by name.
        path: where to save the picture, if anywhere.

    Returns the figure.  Needs matplotlib (``pip install "assent[plot]"``).
    """
    several = fitted if isinstance(fitted, dict) else {"": fitted}
    figure = new_figure(10, 7)
    panels = figure.subplots(2, 2).ravel()
    titles = ("Hinge loss", "Norm of the weights", "Validation error", "Test error")
    for axes, title in zip(panels, titles, strict=True):
        axes.set(title=title, xlabel="norm of the weights")
    panels[1].set(xlabel="pass")
    for name, one in several.items():
        trace = getattr(one, "training_", one).trace
        curves = (
            (trace.norm, trace.hinge),
            (trace.iteration, trace.norm),
            (trace.norm, 1.0 - trace.validation),
            (trace.norm, 1.0 - trace.test),
        )
        for axes, (x, y) in zip(panels, curves, strict=True):
            if np.isfinite(y).any():
                axes.plot(x, y, marker=".", label=name or None)
    for axes in panels:
        if axes.lines and len(several) > 1:
            axes.legend(fontsize="small")
        if not axes.lines:
            axes.text(0.5, 0.5, "not measured", ha="center", transform=axes.transAxes)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
