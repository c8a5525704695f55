"""How graphs, results and traces look in a notebook: HTML without scripts, from public attributes.

Objects come in as they are and are read by name, so that whatever shows itself can import this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

SHOWN_ROWS = 12  # of a table, before it is abridged
SHOWN_VALUES = 40  # of an answer
WIDTH, HEIGHT = 320, 90  # of a drawing, in pixels

# A status is recognised by its colour: proven, solved but not closed, cut short, impossible.
COLOURS = {
    "OPTIMAL": "#2e7d32",
    "RELAXED": "#b26a00",
    "STOPPED": "#6a5acd",
    "INFEASIBLE": "#c62828",
}
_CELL = "text-align:left;padding:1px 10px 1px 0"


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table of texts, abridged beyond a dozen rows.

    Example:
        >>> "<td" in table(("name",), [("x < y",)]) and "x &lt; y" in table(("name",), [("x < y",)])
        True
    """
    listed = list(rows)
    lines = ["".join(f"<th style='{_CELL}'>{escape(name)}</th>" for name in header)]
    for row in listed[:SHOWN_ROWS]:
        lines.append("".join(f"<td style='{_CELL}'>{escape(str(cell))}</td>" for cell in row))
    if len(listed) > SHOWN_ROWS:
        more = f"… {len(listed) - SHOWN_ROWS} more"
        lines.append(f"<td colspan='{len(header)}' style='{_CELL}'>{more}</td>")
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def graph_html(graph: Any) -> str:
    """What is in a graph, by name: variables and factors."""
    variables = [
        (array.name, _shape(array.symbol.shape), _kind(array), _range(array.scores))
        for array in graph.own_variables
    ]
    factors = [
        (handle.name, handle.factor.kind, len(handle.factor), handle.factor.words(0))
        for handle in graph.batches
        if len(handle.factor)
    ]
    head = f"<b>FactorGraph</b>: {graph.size} indicators, {_count(graph.n_factors, 'factor')}"
    parts = [head, table(("variables", "shape", "kind", "scores"), variables)]
    if factors:
        parts.append(table(("factors", "kind", "how many", "the first"), factors))
    return "".join(f"<div>{part}</div>" for part in parts)


def variable_html(symbol: Any) -> str:
    """An array of variables or literals, in words."""
    states = getattr(symbol, "states", None)
    kind = "literals" if states is None else f"over {{{_list(states)}}}"
    return (
        f"<div><code>{escape(repr(symbol))}</code></div>"
        f"<div>{_shape(symbol.shape)}, {escape(kind)}</div>"
    )


def result_html(result: Any) -> str:
    """Status, value, bound and gap, and the answer by name."""
    name = result.status.name
    badge = f"<b style='color:{COLOURS[name]}'>{name}</b>"
    parts = [f"{badge} {escape(result.message)}", certificate_html(result.certificate)]
    if result.feasible:
        arrays = result.certificate.compiled.graph.own_variables
        answers = [(array.name, _answer(result, array)) for array in arrays]
        parts.append(table(("variables", "answer"), answers))
    figures = f"{_count(result.iterations, 'iteration')} in {result.seconds:.3g} s. {result.plan}"
    return "".join(f"<div>{part}</div>" for part in (*parts, escape(figures)))


def certificate_html(certificate: Any) -> str:
    """The claim, and a bar of what the gap leaves open."""
    words = escape(repr(certificate).removeprefix("Certificate: "))
    if not certificate.feasible or not np.isfinite(certificate.bound):
        return f"<div>{words}</div>"
    open_part = min(1.0, certificate.relative_gap)
    closed = round(WIDTH * (1.0 - open_part), 1)
    bar = (
        f"<svg width='{WIDTH}' height='8' role='img' aria-label='gap'>"
        f"<rect width='{WIDTH}' height='8' fill='#e0a000'/>"
        f"<rect width='{closed}' height='8' fill='#2e7d32'/></svg>"
    )
    return f"<div>{words}</div><div>{bar}</div>"


def trace_html(trace: Any) -> str:
    """Bound and value against time as lines, and the last reports."""
    rows = [
        (r.iteration, f"{r.seconds:.3g}", f"{r.best_bound:.6g}", f"{r.value:.6g}")
        for r in trace.reports[-5:]
    ]
    header = ("iteration", "seconds", "bound", "value")
    return f"<div>{_lines(trace)}</div>{table(header, rows)}"


def comparison_html(comparison: Any, columns: Sequence[str]) -> str:
    """One row per solver, then those that could not take the graph."""
    refused = [f"{name}: {reason}" for name, reason in comparison.refused.items()]
    return table(columns, comparison.rows()) + "".join(f"<div>{escape(r)}</div>" for r in refused)


def _lines(trace: Any) -> str:
    """Bound (red) and value (blue) against time."""
    seconds = np.asarray(trace.seconds)
    both = np.concatenate([trace.best_bound, trace.value]) if len(trace) else np.zeros(0)
    finite = both[np.isfinite(both)]
    if len(trace) < 2 or not len(finite):
        return ""
    low, high = float(finite.min()), float(finite.max())
    x = (seconds - seconds[0]) / max(float(seconds[-1] - seconds[0]), 1e-12) * (WIDTH - 4) + 2
    drawn = []
    for column, colour in ((trace.best_bound, "#c62828"), (trace.value, "#1565c0")):
        shown = np.isfinite(column)
        y = 2 + (high - column[shown]) / max(high - low, 1e-12) * (HEIGHT - 4)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x[shown], y, strict=True))
        drawn.append(f"<polyline points='{points}' fill='none' stroke='{colour}'/>")
    size = f"width='{WIDTH}' height='{HEIGHT}'"
    return f"<svg {size} role='img' aria-label='bound and value'>{''.join(drawn)}</svg>"


def _answer(result: Any, array: Any) -> str:
    """Values of an array of variables: labels, or which are true."""
    symbol = array.symbol
    if array.states is not None:
        return _list(result.labels[symbol].ravel().tolist(), SHOWN_VALUES)
    true = np.argwhere(np.atleast_1d(result[symbol]))
    if symbol.ndim == 0:
        return str(int(result[symbol]))
    if len(true) * 4 > symbol.size or symbol.size <= SHOWN_VALUES:
        return _list(result[symbol].ravel().tolist(), SHOWN_VALUES)
    return "true: " + _list([f"[{','.join(map(str, place))}]" for place in true], SHOWN_VALUES)


def _list(values: Sequence[Any], most: int = SHOWN_ROWS) -> str:
    shown = ", ".join(map(str, values[:most]))
    return shown + (f", … {len(values)} in all" if len(values) > most else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "single"


def _kind(array: Any) -> str:
    return "binary" if array.states is None else f"{{{_list(array.states, 6)}}}"


def _range(scores: Any) -> str:
    """The smallest and the largest score."""
    if not len(scores) or not np.any(scores):
        return "none"
    low, high = float(scores.min()), float(scores.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
