"""What happened while solving: one row per report, as columns, a table or a picture."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.notebook import trace_html


@dataclass(frozen=True)
class Progress:
    """A report of the driver: where the solver stands.

    Attributes:
        iteration: iterations done.
        seconds: time since the decode began, without that spent compiling kernels.
        bound: bound just evaluated; ``best_bound`` is the smallest so far.
        value: best feasible value so far, ``-inf`` if none.
        primal_residual: root mean square disagreement of factors and consensus, NaN in a search.
        dual_residual: root mean square movement of the consensus.
        penalty: the solver's penalty, NaN if it has none.
        calls: how often factors were asked anything, 0 from solvers that do not count.
    """

    iteration: int
    seconds: float
    bound: float
    best_bound: float
    value: float
    primal_residual: float = float("nan")
    dual_residual: float = float("nan")
    penalty: float = float("nan")
    calls: int = 0

    @property
    def gap(self) -> float:
        """``best_bound − value``."""
        return self.best_bound - self.value


@dataclass
class Trace:
    """All reports of a run; every field of `Progress` is a column: ``trace.bound``.

    Attributes:
        reports: one per report of the driver.
        compile_seconds: time that the run spent compiling kernels, at first use; no other time
            includes it.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(2, scores=[1.0, -1.0])
        >>> result = at.decode(g)
        >>> bool(result.trace.best_bound[-1] >= result.value)
        True
    """

    reports: list[Progress] = field(default_factory=list)
    compile_seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.reports)

    def add(self, report: Progress) -> Progress:
        """Write down a report, which is returned."""
        self.reports.append(report)
        return report

    def __getattr__(self, name: str) -> Float:
        if name not in {f.name for f in fields(Progress)} | {"gap"}:
            raise AttributeError(f"a trace has no column {name!r}")
        return np.array([getattr(report, name) for report in self.reports])

    def __repr__(self) -> str:
        shown = self.reports if len(self) <= 8 else [*self.reports[:3], None, *self.reports[-4:]]
        lines = ["iteration   seconds         bound         value    residuals"]
        for r in shown:
            lines.append("…" if r is None else _line(r))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return trace_html(self)

    def plot(self, path: Any = None, *, ax: Any = None, title: str = "") -> Any:
        """Draw bound and value against time, and residuals.

        A solve of one step shows its value and its bound.  Needs matplotlib
        (``pip install "assent[plot]"``).

        Args:
            path: where to save the picture, if anywhere.
            ax: matplotlib axes to draw bound and value on, without residuals.
            title: above the picture.

        Returns:
            The axes: those given, or an array of those drawn.
        """
        title = title or "Bound and answer"
        if ax is not None:
            self._plot_scores(ax, title)
            drawn, figure = ax, ax.figure
        else:
            panels = 1 if len(self) < 2 else 2
            figure = new_figure(4.5 * panels, 4)
            drawn = figure.subplots(1, panels, squeeze=False)[0]
            self._plot_scores(drawn[0], title)
            if panels > 1:
                self._plot_residuals(drawn[1])
        if path is not None:
            figure.savefig(path, dpi=150)
        return drawn

    def _plot_scores(self, axes: Any, title: str) -> None:
        if len(self) == 1:
            self._plot_last(axes, title)
            return
        axes.set(xlabel="seconds", ylabel="score", title=title)
        known, found = np.isfinite(self.best_bound), np.isfinite(self.value)
        for name, column, rows, color in (
            ("bound (nothing is better)", self.best_bound, known, "C3"),
            ("best answer", self.value, found, "C0"),
        ):
            if rows.any():
                axes.plot(self.seconds[rows], column[rows], label=name, color=color)
        if known.any() or found.any():
            axes.legend(fontsize="small")

    def _plot_last(self, axes: Any, title: str) -> None:
        """Value and bound of a single report as bars, each with its number."""
        last = self.reports[-1]
        shown = [(name, score, color) for name, score, color in (
            ("bound (nothing is better)", last.best_bound, "C3"),
            ("answer", last.value, "C0"),
        ) if np.isfinite(score)]  # fmt: skip
        axes.set(xlabel="score", title=f"{title} ({last.seconds:.2g} s)")
        for name, score, color in shown:
            bars = axes.barh([name], [score], color=color)
            axes.bar_label(bars, fmt="%.6g", padding=3)
        axes.margins(x=0.25)

    def _plot_residuals(self, axes: Any) -> None:
        axes.set(xlabel="iteration", title="Residuals")
        for name, color in (("primal_residual", "C0"), ("dual_residual", "C1")):
            column = getattr(self, name)
            rows = np.isfinite(column) & (column > 0)
            if rows.any():
                axes.semilogy(
                    self.iteration[rows], column[rows], label=name.replace("_", " "), color=color
                )
        if axes.lines:
            axes.legend(fontsize="small")


def new_figure(width: float, height: float) -> Any:
    """An empty matplotlib figure of a size in inches; in a notebook, one that is shown there."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('plotting needs matplotlib: pip install "assent[plot]"') from error
    if in_notebook():
        from matplotlib import pyplot

        return pyplot.figure(figsize=(width, height), layout="constrained")
    return Figure(figsize=(width, height), layout="constrained")


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this: elsewhere figures belong to whoever asked for them."""
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")


def _line(r: Progress) -> str:
    return (
        f"{r.iteration:9d}  {r.seconds:8.3f}  {r.best_bound:12.6g}  {r.value:12.6g}  "
        f"{r.primal_residual:.1e}/{r.dual_residual:.1e}"
    )
