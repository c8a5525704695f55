"""The course of a training: one row per measurement."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np

from assent.kernels.problem import Float


@dataclass(frozen=True)
class Step:
    """One measurement of a training.

    Attributes:
        iteration: passes done.
        seconds: since training began.
        hinge: the hinge loss over all examples.
        objective: what the trainer minimises.
        gap: the objective is at most this far from the optimum; NaN where nothing is known.
        norm: of the weights.
        calls: oracle calls of the training (not of measurements).
        validation: score of the weights on the validation data, NaN without any.
        test: score of the weights on the test data, NaN without any.
    """

    iteration: int
    seconds: float
    hinge: float
    objective: float
    gap: float
    norm: float
    calls: int
    validation: float = float("nan")
    test: float = float("nan")


@dataclass
class LearningTrace:
    """All measurements of a training; every field of a `Step` is a column: ``trace.hinge``."""

    steps: list[Step] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.steps)

    def __getattr__(self, name: str) -> Float:
        if name not in {f.name for f in fields(Step)}:
            raise AttributeError(f"a trace has no column {name!r}")
        return np.array([getattr(step, name) for step in self.steps])

    def __repr__(self) -> str:
        shown = self.steps if len(self) <= 8 else [*self.steps[:3], None, *self.steps[-4:]]
        lines = ["pass   seconds         hinge     objective        gap       norm  validation"]
        return "\n".join(lines + ["…" if s is None else _line(s) for s in shown])


@dataclass
class Record:
    """The measurements of a training and its best weights; part of checkpoints."""

    trace: LearningTrace = field(default_factory=LearningTrace)  # all measurements
    best: Float | None = None  # the weights with the best validation score, None without validation
    score: float = float("-inf")  # that score
    waited: int = 0  # measurements since then

    def judge(self, weights: Float, score: float) -> None:
        """Update the best weights by a validation score."""
        self.waited += 1
        if score > self.score:
            self.score, self.waited, self.best = score, 0, weights.copy()

    @property
    def seconds(self) -> float:
        """The time of the last measurement."""
        return self.trace.steps[-1].seconds if len(self.trace) else 0.0


def _line(s: Step) -> str:
    return (
        f"{s.iteration:4d}  {s.seconds:8.2f}  {s.hinge:12.6g}  {s.objective:12.6g}  "
        f"{s.gap:9.2e}  {s.norm:9.4g}  {s.validation:10.4g}"
    )
