"""`train`: the one loop of all trainers, with clock, reports, validation and checkpoints."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.learn.checkpoint import read_checkpoint, write_checkpoint
from assent.learn.examples import Examples
from assent.learn.trainer import Trainer
from assent.learn.training_trace import LearningTrace, Record, Step


@dataclass(frozen=True, eq=False)
class Training:
    """What came of a training.

    Attributes:
        weights: the weights learnt; with validation data, the best on these.
        reason: why it ended, a sentence.
        record: what was measured on the way; `trace` is its table, one row per measurement.
        state: where the trainer stands, to go on from (``train(..., resume=training)``).
        outside: gold outputs that the model cannot produce.
    """

    weights: Float
    reason: str
    record: Record
    state: Any
    outside: int = 0

    @property
    def trace(self) -> LearningTrace:
        """One row per measurement, those before a break included."""
        return self.record.trace

    def __repr__(self) -> str:
        last = self.trace.steps[-1] if len(self.trace) else None
        what = f", hinge {last.hinge:.6g}, gap {last.gap:.3g}" if last else ""
        passes = f"{self.state.iteration} pass{'es' * (self.state.iteration != 1)}"
        missed = f", {self.outside} gold outputs outside" if self.outside else ""
        return f"Training: {passes}{what}{missed}; {self.reason}"


def train(
    examples: Examples,
    trainer: Trainer,
    *,
    validation: Callable[[Float], float] | None = None,
    test: Callable[[Float], float] | None = None,
    patience: int | None = None,
    measure_every: int = 1,
    time_limit: float | None = None,
    progress: bool = False,
    callback: Callable[[Step], Any] | None = None,
    checkpoint: str | Path | None = None,
    resume: str | Path | Training | None = None,
) -> Training:
    """Learn weights.

    Args:
        examples: what to learn from.
        trainer: settings such as ``FrankWolfe(C=0.1)``.
        validation: a score of weights, larger is better; the best weights are kept.
        test: a score that is only reported, for `plot_path`.
        patience: measurements without a better validation score after which to end.
        measure_every: passes between measurements, each of which decodes all examples once.
        time_limit: seconds after which the weights so far are returned.
        progress: show a live line (only on a terminal).
        callback: called with every `Step`; returning ``True`` ends the training.
        checkpoint: a file (``.npz``) written at every measurement.
        resume: a checkpoint or an earlier training to go on from; the same trainer and data
            then give the same weights, bit for bit, as without the break.  The trace, the best
            weights on validation data and the patience go on as well.

    Example:
        >>> import numpy as np
        >>> from assent.learn import Examples, FrankWolfe, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> train(data, FrankWolfe(C=1.0), measure_every=2).trace.iteration[0]
        np.int64(2)
    """
    state, record = _start(examples, trainer, resume)
    run = _Run(examples, trainer, validation, test, patience, record)
    started, before = time.perf_counter(), record.seconds
    reason = ""
    with _display(progress) as display, _patient_interrupts() as asked:
        while not reason:
            if state.iteration >= trainer.max_iterations:
                reason = f"all {trainer.max_iterations} passes are done"
                break
            trainer.advance(examples, state)
            seconds = time.perf_counter() - started
            late = time_limit is not None and seconds >= time_limit
            last = state.iteration >= trainer.max_iterations
            if state.iteration % measure_every and not (late or last or asked):
                continue
            step, reason = run.measure(state, before + seconds)
            display.show(step)
            if checkpoint is not None:
                write_checkpoint(checkpoint, trainer, state, record)
            if callback is not None and callback(step) is True:
                reason = reason or "the callback ended it"
            if not reason and (asked or late):
                reason = f"{'an interrupt' if asked else 'the time limit'} ended it"
    weights = trainer.weights(state) if record.best is None else record.best
    return Training(weights.copy(), reason, record, state, examples.outside)


@contextmanager
def _patient_interrupts() -> Iterator[list[int]]:
    """Let Ctrl-C end the training after the pass it falls into; a second one ends it at once.

    Yields a list that fills up when it happens.  A pass cut in half could not be resumed.
    """
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        asked.append(number)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


class _Run:
    """Measurements of one training and what they say."""

    def __init__(
        self,
        examples: Examples,
        trainer: Trainer,
        validation: Callable[[Float], float] | None,
        test: Callable[[Float], float] | None,
        patience: int | None,
        record: Record,
    ) -> None:
        self.examples, self.trainer = examples, trainer
        self.validation, self.test, self.patience = validation, test, patience
        self.record = record

    def measure(self, state: Any, seconds: float) -> tuple[Step, str]:
        """The latest report, and why to end, if so."""
        weights = self.trainer.weights(state)
        measured = self.trainer.measure(self.examples, state)
        score, seen = (
            float("nan") if ask is None else float(ask(weights))
            for ask in (self.validation, self.test)
        )
        step = Step(
            state.iteration, seconds, measured.hinge, measured.objective, measured.gap,
            self.examples.squared(weights) ** 0.5, state.calls, score, seen,
        )  # fmt: skip
        self.record.trace.steps.append(step)
        reason = self.trainer.stop(measured) or ""
        if self.validation is not None:
            reason = reason or self._judge(weights, score)
        return step, reason

    def _judge(self, weights: Float, score: float) -> str:
        self.record.judge(weights, score)
        if self.patience is not None and self.record.waited >= self.patience:
            return f"no better validation score for {self.patience} measurements"
        return ""


def _start(examples: Examples, trainer: Trainer, resume: Any) -> tuple[Any, Record]:
    """Where to begin; an earlier training is left as it is."""
    if resume is None:
        return trainer.init(examples), Record()
    if isinstance(resume, Training):
        return deepcopy(resume.state), deepcopy(resume.record)
    return read_checkpoint(resume, trainer, trainer.init(examples))


class _Silent:
    """Stands in for the live line where there is none."""

    def __enter__(self) -> _Silent:
        return self

    def __exit__(self, *exception: Any) -> None:
        pass

    def show(self, step: Step) -> None:
        pass


def _display(progress: bool) -> Any:
    if not progress:
        return _Silent()
    from assent.progress import live_display

    return live_display(learning_line) or _Silent()


def learning_line(step: Step) -> str:
    """A report in one line."""
    seen = "" if np.isnan(step.validation) else f"  validation {step.validation:.4g}"
    return (
        f"pass {step.iteration}  hinge {step.hinge:.6g}  gap {step.gap:.2g}  "
        f"norm {step.norm:.4g}{seen}  {step.seconds:.1f} s"
    )
