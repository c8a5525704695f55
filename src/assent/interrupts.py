"""A Ctrl-C that waits: some code must not be left in the middle."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # no enumerations, which take 20 µs
import signal
import threading
from typing import Any, Self


class Uninterrupted:
    """A block after which a Ctrl-C counts that came in the meantime.

    Kernels that return arrays run Python while these are handed over, at the first line of which
    Python raises: the process may end there.

    Example:
        >>> try:
        ...     with Uninterrupted():
        ...         signal.raise_signal(signal.SIGINT)
        ...         print("done")
        ... except KeyboardInterrupt:
        ...     print("and interrupted")
        done
        and interrupted
    """

    def __enter__(self) -> Self:
        self.waiting: list[Any] = []
        self.handler: Any = None
        # Only the main thread is ever interrupted; some programs do not listen, or not in Python.
        if threading.current_thread() is threading.main_thread():
            handler = _signal.getsignal(signal.SIGINT)
            if callable(handler):
                _signal.signal(signal.SIGINT, self._wait)
                self.handler = handler
        return self

    def _wait(self, *interrupt: Any) -> None:
        self.waiting.append(interrupt)

    def __exit__(self, *error: object) -> None:
        if self.handler is not None:
            _signal.signal(signal.SIGINT, self.handler)
            if self.waiting:
                self.handler(*self.waiting[0])


class Finishing(Uninterrupted):
    """A block that is done to its end: ``interrupted`` says whether a Ctrl-C came, a second counts.

    Example:
        >>> with Finishing() as ending:
        ...     signal.raise_signal(signal.SIGINT)
        >>> ending.interrupted
        True
        >>> try:
        ...     with Finishing():
        ...         for _ in range(2):
        ...             signal.raise_signal(signal.SIGINT)
        ... except KeyboardInterrupt:
        ...     print("interrupted")
        interrupted
    """

    interrupted = False

    def _wait(self, *interrupt: Any) -> None:
        if self.interrupted:
            self.handler(*interrupt)
        self.interrupted = True
