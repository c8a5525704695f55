"""A live line in the terminal while a decode or a training runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assent.trace import Progress


class LiveLine:
    """A context manager that redraws one line; made by `live_display`."""

    def __init__(self, console: Any, describe: Callable[[Any], str]) -> None:
        from rich.live import Live

        self._describe = describe
        self._live = Live(console=console, transient=True, auto_refresh=False)

    def __enter__(self) -> LiveLine:
        self._live.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._live.__exit__(*exception)

    def show(self, step: Any) -> None:
        """Redraw the line with the latest report."""
        self._live.update(self._describe(step), refresh=True)


def decoding_line(step: Progress) -> str:
    """A report of a decode in one line."""
    value = f"{step.value:.6g}" if step.value > -float("inf") else "none yet"
    return (
        f"iteration {step.iteration}  bound {step.best_bound:.6g}  value {value}  "
        f"gap {step.gap:.2g}  residuals {step.primal_residual:.0e}/{step.dual_residual:.0e}  "
        f"{step.seconds:.1f} s"
    )


def live_display(describe: Callable[[Any], str] = decoding_line) -> LiveLine | None:
    """A live line on standard error, or None where that is no terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    return LiveLine(console, describe) if console.is_terminal else None
