"""What happened while solving: one row per report, as columns, a table or a picture."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from assent.problem import Float


@dataclass(frozen=True)
class Progress:
    """A report of the driver: where the solver stands.

    Attributes:
        iteration: iterations done.
        seconds: time since the decode began.
        bound: bound just evaluated; ``best_bound`` is the smallest so far.
        value: best feasible value so far, ``-inf`` if none.
        primal_residual: root mean square disagreement of factors and consensus.
        dual_residual: root mean square movement of the consensus.
        penalty: the solver's penalty, NaN if it has none.
    """

    iteration: int
    seconds: float
    bound: float
    best_bound: float
    value: float
    primal_residual: float
    dual_residual: float
    penalty: float

    @property
    def gap(self) -> float:
        """``best_bound − value``."""
        return self.best_bound - self.value


@dataclass
class Trace:
    """All reports of a run; every field of `Progress` is a column: ``trace.bound``.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(2, scores=[1.0, -1.0])
        >>> result = at.decode(g)
        >>> bool(result.trace.best_bound[-1] >= result.value)
        True
    """

    reports: list[Progress] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.reports)

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

    def plot(self, path: Any = None, *, title: str = "") -> Any:
        """Draw bound and value against time; returns the figure, saves it if ``path`` is given.

        Needs matplotlib (``pip install "assent[plot]"``).
        """
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise ImportError('plotting needs matplotlib: pip install "assent[plot]"') from error
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axes, residuals = figure.subplots(1, 2)
        axes.plot(self.seconds, self.best_bound, label="bound (nothing is better)", color="C3")
        found = np.isfinite(self.value)
        axes.plot(self.seconds[found], self.value[found], label="best answer", color="C0")
        axes.set(xlabel="seconds", ylabel="score", title=title or "Bound and answer")
        axes.legend(fontsize="small")
        positive = self.iteration > 0
        for name, color in (("primal_residual", "C0"), ("dual_residual", "C1")):
            column = getattr(self, name)
            if np.isfinite(column).any():
                label = name.replace("_", " ")
                residuals.semilogy(self.iteration[positive], column[positive], label=label, c=color)
        residuals.set(xlabel="iteration", title="Residuals")
        residuals.legend(fontsize="small")
        if path is not None:
            figure.savefig(path, dpi=150)
        return figure


def _line(r: Progress) -> str:
    return (
        f"{r.iteration:9d}  {r.seconds:8.3f}  {r.best_bound:12.6g}  {r.value:12.6g}  "
        f"{r.primal_residual:.1e}/{r.dual_residual:.1e}"
    )
