"""Chapter: a grid, and the convergence of bound and answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console

import assent as at
from assent.demo import pictures

SIDE = 24
# Unary scores and attractions of similar strength: the proof then takes some iterations.
FIELD, ATTRACTION = 1.5, 2.0


def attracting_grid(seed: int = 1) -> at.FactorGraph:
    """Random scores, and neighbours that attract each other with random strength."""
    rng = np.random.default_rng(seed)
    graph = at.FactorGraph()
    # Four neighbours attract with 1 on average; half of their sum is the balance of 0 and 1.
    own = FIELD * rng.normal(size=(SIDE, SIDE)) - ATTRACTION
    x = graph.binary(scores=own, name="x")
    for a, b in ((x[:, :-1], x[:, 1:]), (x[:-1], x[1:])):
        graph.add(at.Pair(a, b, scores=rng.uniform(0.0, ATTRACTION, size=a.shape)))
    return graph


def tell(console: Console, number: int, folder: Path) -> list[Path]:
    """Show the chapter; returns the pictures saved."""
    console.rule(f"[bold]{number}. A proof closing[/]", align="left")
    graph = attracting_grid()
    result = at.decode(graph, at.AD3())  # Auto would solve it by one maximum flow, without a trace
    console.print(
        f"{graph.n_factors:,} pairs of neighbours attract each other. The answer rises, the bound "
        "falls; what lies between is all that can still be gained."
    )
    trace = result.trace
    first = int(np.isfinite(trace.value).argmax())
    for row in (first, (first + len(trace)) // 3, len(trace) - 1):
        console.print(
            f"  iteration {int(trace.iteration[row]):5d}   value [blue]{trace.value[row]:9.3f}[/]"
            f"   bound [red]{trace.best_bound[row]:9.3f}[/]"
        )
    console.print(f"[bold]{result.status.name}[/], {result.certificate!r}", soft_wrap=True)
    return pictures.save_trace(trace, folder / "convergence.png")
