"""`compare`: several solvers on one problem, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.arguments import shown
from assent.decode import decode
from assent.errors import ModelError
from assent.model.graph import FactorGraph
from assent.notebook import comparison_html
from assent.result import Result
from assent.text_table import format_table
from assent.trace import new_figure

if TYPE_CHECKING:
    from assent.solvers.base.protocol import Solver

# Compared by default: one solver of each family.
USUAL = ("AD3", "Subgradient", "MPLP", "StarDiffusion", "TRWS", "Accelerated", "LinearProgram")
COLUMNS = ("solver", "status", "value", "bound", "gap", "iterations", "calls", "seconds")


@dataclass(frozen=True)
class Comparison:
    """Results by the name of their solver, and reasons of those that could not take the problem.

    ``calls`` counts how often factors were asked anything, the same unit for all solvers that
    work factor by factor; linear programs ask none and show 0.
    """

    results: Mapping[str, Result]
    refused: Mapping[str, str]

    def __getitem__(self, name: str) -> Result:
        return self.results[name]

    @property
    def bound(self) -> float:
        """The best bound that any solver proved."""
        return min((r.bound for r in self.results.values()), default=np.inf)

    @property
    def value(self) -> float:
        """The best value that any solver found."""
        return max((r.value for r in self.results.values()), default=-np.inf)

    def rows(self) -> list[tuple[str, ...]]:
        """One row of text per solver, in the order of :data:`COLUMNS`."""
        return [
            (
                name, result.status.name, f"{result.value:.8g}", f"{result.bound:.8g}",
                f"{result.gap:.2g}", str(result.iterations), f"{_calls(result):.3g}",
                f"{result.seconds:.3g}",
            )
            for name, result in self.results.items()
        ]  # fmt: skip

    def table(self, markdown: bool = False) -> str:
        """Everything as text; ``markdown`` for a page."""
        lines = [format_table(COLUMNS, self.rows(), markdown)]
        lines += [f"{name}: {reason}" for name, reason in self.refused.items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return comparison_html(self, COLUMNS)

    def plot(self, path: Any = None, *, title: str = "") -> Any:
        """Draw bounds and values against time and calls, on two axes, which are returned.

        The picture is saved if ``path`` is given.

        Needs matplotlib (``pip install "assent[plot]"``).
        """
        figure = new_figure(11, 4.5)
        panels = figure.subplots(1, 2, sharey=True)
        for axes, column in zip(panels, ("seconds", "calls"), strict=True):
            self._draw(axes, column)
            axes.set(xlabel="seconds" if column == "seconds" else "calls to factors")
            axes.set_xscale("log")
        panels[0].set(ylabel="score: bound (line), best answer (dashes)", title=title)
        panels[0].legend(fontsize="small")
        if path is not None:
            figure.savefig(path, dpi=150)
        return panels

    def _draw(self, axes: Any, column: str) -> None:
        for number, (name, result) in enumerate(self.results.items()):
            trace = result.trace
            at = getattr(trace, column) if len(trace) else np.zeros(0)
            for scores, style in ((trace.best_bound, "-"), (trace.value, "--")):
                shown = np.isfinite(scores) & (at > 0) if len(at) else np.zeros(0, bool)
                label = name if style == "-" else None
                marker = "o" if shown.sum() == 1 else ""
                axes.plot(
                    at[shown], scores[shown], style, label=label, color=f"C{number}", marker=marker
                )


def compare(
    graph: FactorGraph,
    solvers: Sequence[Solver] | Mapping[str, Solver] | None = None,
    *,
    time_limit: float | None = 10.0,
    seed: int = 0,
) -> Comparison:
    """Run several solvers on one graph, each with the same limit, from the same start.

    Kernels are compiled before the clocks run.  A solver that cannot take the graph is listed
    with the reason.  After a Ctrl-C those that had their turn are compared.

    Args:
        graph: what to decode.
        solvers: settings objects, in a dict if you want to name them; ``None`` for the usual.
        time_limit: seconds for each solver.
        seed: for roundings, the same for all.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[1.0, 2.0, 3.0])
        >>> rules = g.add(at.AtMostOne(x[:2])), g.add(at.AtMostOne(x[1:]))
        >>> found = at.compare(g, [at.AD3(), at.MPLP()])
        >>> found["MPLP"].value, found.bound <= 4.0 + 1e-6
        (4.0, True)
    """
    from assent.solvers.base.stop_reasons import INTERRUPTED  # checks of claims import no solver

    results: dict[str, Result] = {}
    refused: dict[str, str] = {}
    for name, solver in _named(solvers).items():
        try:
            run = decode(graph, solver, time_limit=time_limit, seed=seed, callback=_at_once)
            if run.message != INTERRUPTED:
                run = results[name] = decode(graph, solver, time_limit=time_limit, seed=seed)
        except ModelError as error:
            refused[name] = str(error)
            continue
        if run.message == INTERRUPTED:
            if not results:  # there is nothing to compare
                raise KeyboardInterrupt
            break
    return Comparison(results, refused)


def _at_once(step: Any) -> bool:
    """Stop after the first report: all kernels are compiled by then."""
    return True


def _named(solvers: Any) -> dict[str, Solver]:
    if solvers is None:
        import assent

        return {name: getattr(assent, name)() for name in USUAL}
    if isinstance(solvers, Mapping):
        return dict(solvers)
    if not isinstance(solvers, Sequence) or isinstance(solvers, (str, bytes)):
        raise TypeError(f"solvers is a list of settings such as [AD3()], got {shown(solvers)}")
    named: dict[str, Solver] = {}
    for solver in solvers:
        name = type(solver).__name__
        if name in named:  # the same kind with other settings: shown with them
            name = repr(solver)
        named[name] = solver
    return named


def _calls(result: Result) -> int:
    return int(result.trace.calls[-1]) if len(result.trace) else 0
