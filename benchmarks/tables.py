"""How figures are written: rich tables, short numbers, and a mark where a bar is set."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

DASH = "–"
FAILED = "[red]failed[/]"
WIDTH = 150  # columns where no terminal says how many it has


def circumstances() -> str:
    """How busy the machine is: timings are trusted when this is near zero."""
    return f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def new_console() -> Console:
    """A console wide enough for the tables when the output goes to a file or a pipe."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)


def show(
    console: Console,
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
    notes: Iterable[tuple[str, str]] = (),
) -> None:
    """Print a table (text first, then figures) and below it ``(name, what went wrong)``."""
    table = Table(title=title, caption=caption or None, title_justify="left")
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*row)
    console.print(table)
    for name, note in notes:
        if note:
            console.print(f"[red]{escape(name)}: {escape(note)}[/]")


def duration(seconds: float) -> str:
    """``0.0123`` as ``12.3 ms``."""
    if not np.isfinite(seconds):
        return DASH
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1.0:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s"


def number(value: float, digits: int = 3) -> str:
    """Significant digits, a dash for what is missing."""
    return f"{value:.{digits}g}" if np.isfinite(value) else DASH


def verdict(met: bool) -> str:
    """Whether a bar was cleared."""
    return "[green]pass[/]" if met else "[red]miss[/]"


def against(value: float, bar: float | None, *, at_least: bool) -> str:
    """The verdict on ``value``; empty where no bar is set."""
    if bar is None:
        return ""
    if not np.isfinite(value):
        return verdict(False)
    met = value >= bar if at_least else value <= bar
    sign = "≥" if at_least else "≤"
    return f"{verdict(bool(met))} {sign} {bar:g}"
