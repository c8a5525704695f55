"""A live line while a decode or a training runs: at a terminal, in a notebook, or in the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from assent.trace import Progress

LOG_SECONDS = 5.0  # between two lines of the log, which stay


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


class LoggedLine:
    """The same for a place where nothing can be redrawn: a line in the log now and then."""

    def __init__(self, describe: Callable[[Any], str]) -> None:
        self._describe = describe
        self._next = 0.0

    def __enter__(self) -> LoggedLine:
        return self

    def __exit__(self, *exception: Any) -> None:
        pass

    def show(self, step: Any) -> None:
        """Log the latest report, unless another was logged a moment ago."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + LOG_SECONDS
            logging.getLogger("assent").info(self._describe(step))


def live_display(describe: Callable[[Any], str] = decoding_line) -> LiveLine | LoggedLine:
    """A live line on standard error or in a notebook; elsewhere lines of the logger ``assent``."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal or console.is_jupyter:
        return LiveLine(console, describe)
    return LoggedLine(describe)
