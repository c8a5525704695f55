"""`train`: the one loop of all trainers, with clock, reports, validation and checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from assent.arguments import shown
from assent.interrupts import Finishing
from assent.kernels.problem import Float
from assent.learn.checkpoint import read_checkpoint, write_checkpoint
from assent.learn.examples import Examples
from assent.learn.trainer import Measure, Trainer
from assent.learn.training_trace import LearningTrace, Record, Step
from assent.solvers.base.settings import check_count, check_flag, check_time_limit


@dataclass(frozen=True, eq=False)
class Training:
    """The result of a training.

    Attributes:
        weights: the weights learnt; with validation data, the best on these.
        reason: why it ended, a sentence.
        record: all measurements; `trace` is their table, one row each.
        state: the trainer's state, to resume from (``train(..., resume=training)``).
        outside: gold outputs that the model cannot produce.
    """

    weights: Float
    reason: str
    record: Record
    state: Any
    outside: int = 0

    @property
    def trace(self) -> LearningTrace:
        """One row per measurement, those before a resumption included."""
        return self.record.trace

    def __repr__(self) -> str:
        last = self.trace.steps[-1] if len(self.trace) else None
        what = f", hinge {last.hinge:.6g}, gap {last.gap:.3g}" if last else ""
        passes = f"{self.state.iteration} pass{'es' * (self.state.iteration != 1)}"
        missed = f", {self.outside} gold outputs outside" if self.outside else ""
        return f"Training: {passes}{what}{missed}; {self.reason}"


class RunOptions(TypedDict, total=False):
    """Options of `train` and of ``StructuredPredictor.fit``.

    Attributes:
        time_limit: seconds after which the weights so far are returned.
        progress: show a live line (only on a terminal).
        callback: called with every `Step`; returning ``True`` ends the training.
        checkpoint: a file (``.npz``) written at every measurement.
        resume: a checkpoint or an earlier training to resume; the same trainer and data then
            give the same weights, bit for bit, as without the interruption.  The trace, the best
            weights on validation data and the count for ``patience`` are resumed as well.  A
            training that had come to its end stays as it is, unless the trainer now has more
            ``max_iterations`` or a smaller tolerance.
    """

    time_limit: float | None
    progress: bool
    callback: Callable[[Step], Any] | None
    checkpoint: str | Path | None
    resume: str | Path | Training | None


def train(
    examples: Examples,
    trainer: Trainer,
    *,
    validation: Callable[[Float], float] | None = None,
    test: Callable[[Float], float] | None = None,
    patience: int | None = None,
    measure_every: int = 1,
    **options: Unpack[RunOptions],
) -> Training:
    """Learn weights.

    Args:
        examples: the training set.
        trainer: settings such as ``FrankWolfe(C=0.1)``.
        validation: a score of weights, larger is better; the best weights are kept.
        test: a score that is only reported, for `plot_path`.
        patience: measurements without a better validation score after which to end.
        measure_every: passes between measurements, each of which decodes all examples once.
        options: time_limit, progress, callback, checkpoint, resume: see `RunOptions`.

    Example:
        >>> import numpy as np
        >>> from assent.learn import Examples, FrankWolfe, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> train(data, FrankWolfe(C=1.0), measure_every=2).trace.iteration[0]
        np.int64(2)
    """
    _check(examples, trainer, patience, measure_every, options)
    for name, score in (("validation", validation), ("test", test)):
        if score is not None and not callable(score):
            raise TypeError(f"{name} is a function that scores weights, got {shown(score)}")
    run = _TrainingRun(examples, trainer, validation, test, patience, measure_every, **options)
    state, record = run.start()
    reason = run.loop(state, record)
    weights = trainer.weights(state) if record.best is None else record.best
    return Training(weights.copy(), reason, record, state, examples.outside)


def _check(
    examples: Any, trainer: Any, patience: Any, measure_every: Any, options: RunOptions
) -> None:
    """Raise on arguments that cannot be meant."""
    if not isinstance(examples, Examples):
        raise TypeError(f"train takes Examples, got {shown(examples)}")
    if isinstance(trainer, type) or not hasattr(trainer, "advance") or not hasattr(trainer, "stop"):
        raise TypeError(f"a trainer is settings such as FrankWolfe(C=0.1), got {shown(trainer)}")
    check_time_limit(options.get("time_limit"))
    check_count("measure_every", measure_every)
    if patience is not None:
        check_count("patience", patience)
    callback = options.get("callback")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is a function of a Step, got {shown(callback)}")
    check_flag("progress", options.get("progress", False))
    resume, checkpoint = options.get("resume"), options.get("checkpoint")
    for name, path in (("resume", resume), ("checkpoint", checkpoint)):
        is_path = path is None or isinstance(path, (str, Path))
        if not is_path and not (name == "resume" and isinstance(path, Training)):
            raise TypeError(f"{name} is the path of a file, got {shown(path)}")


@dataclass(frozen=True)
class _TrainingRun:
    """The arguments of `train`, and its loop."""

    examples: Examples
    trainer: Trainer
    validation: Callable[[Float], float] | None
    test: Callable[[Float], float] | None
    patience: int | None
    measure_every: int
    time_limit: float | None = None
    progress: bool = False
    callback: Callable[[Step], Any] | None = None
    checkpoint: str | Path | None = None
    resume: str | Path | Training | None = None

    def start(self) -> tuple[Any, Record]:
        """The first state and record; those of an earlier training are copied."""
        if isinstance(self.resume, Training):
            return deepcopy(self.resume.state), deepcopy(self.resume.record)
        state = self.trainer.init(self.examples)
        if self.resume is None:
            return state, Record()
        return read_checkpoint(self.resume, self.trainer, state)

    def loop(self, state: Any, record: Record) -> str:
        """Passes over the examples until there is a reason to end, which is returned."""
        from assent.progress import live_display

        display = live_display(learning_line) if self.progress else None
        most, before = self.trainer.max_iterations, record.seconds
        if len(record.trace) and (reason := self.finished(record)):
            return reason  # what is resumed had come to its end
        started = time.perf_counter()
        # A Ctrl-C ends the training after the current pass, a second one at once: a pass cut in
        # half could not be resumed.
        with display or nullcontext(), Finishing() as ending:
            while state.iteration < most:
                self.trainer.advance(self.examples, state)
                seconds = time.perf_counter() - started
                late = self.time_limit is not None and seconds >= self.time_limit
                due = state.iteration % self.measure_every == 0 or state.iteration >= most
                if not (due or late or ending.interrupted):
                    continue
                step, reason = self.measure(state, record, before + seconds)
                if display is not None:
                    display.show(step)
                if self.checkpoint is not None:
                    write_checkpoint(self.checkpoint, self.trainer, state, record)
                if self.callback is not None and self.callback(step) is True:
                    reason = reason or "the callback ended it"
                if ending.interrupted or late:
                    reason = reason or (
                        f"{'an interrupt' if ending.interrupted else 'the time limit'} ended it"
                    )
                if reason:
                    return reason
        return f"all {most} passes are done"

    def measure(self, state: Any, record: Record, seconds: float) -> tuple[Step, str]:
        """A new row of the trace, and the reason to end, if any."""
        weights = self.trainer.weights(state)
        measured = self.trainer.measure(self.examples, state)
        validation, test = (
            float("nan") if score is None else float(score(weights))
            for score in (self.validation, self.test)
        )
        step = Step(
            state.iteration, seconds, measured.hinge, measured.objective, measured.gap,
            self.examples.squared(weights) ** 0.5, state.calls, validation, test,
        )  # fmt: skip
        record.trace.steps.append(step)
        if self.validation is not None:
            record.judge(weights, validation)
        return step, self.finished(record)

    def finished(self, record: Record) -> str:
        """Why the training is at its end by the last measurement; empty if it is not."""
        last = record.trace.steps[-1]
        reason = self.trainer.stop(Measure(last.hinge, last.objective, last.gap))
        patience = np.inf if self.patience is None or self.validation is None else self.patience
        if reason is None and record.waited >= patience:
            reason = f"no better validation score for {patience} measurements"
        return reason or ""


def learning_line(step: Step) -> str:
    """A report in one line."""
    seen = "" if np.isnan(step.validation) else f"  validation {step.validation:.4g}"
    return (
        f"pass {step.iteration}  hinge {step.hinge:.6g}  gap {step.gap:.2g}  "
        f"norm {step.norm:.4g}{seen}  {step.seconds:.1f} s"
    )
