"""Answers found on the way: rounded from relaxed ones, the best and some others kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.kernels.core import evaluate, schedule
from assent.kernels.problem import Float, Problem, Scores
from assent.kernels.rounding import round_marginals

# An answer is sought by rounding once in so many relaxed ones.
ROUND_EVERY = 3
# Answers that are kept, the best ones.
MOST_KEPT = 64


@dataclass
class Answers:
    """The best assignment found, by rounding relaxed answers, and those next to it.

    Attributes:
        value: what the best is worth, ``x[n]``.
        kept: different answers with their values, the best first.

    Example:
        >>> from assent.kernels.problem import make_problem
        >>> problem = make_problem(2, np.array([[0, 1]], np.int32), [])
        >>> answers = Answers(problem, Scores(np.array([1.0, 1.0]), np.array([-3.0])))
        >>> answers.take(np.array([0, 0], np.int8))
        >>> answers.take(np.array([1, 0], np.int8))
        >>> answers.value, len(answers.kept)
        (1.0, 2)
    """

    problem: Problem
    scores: Scores
    value: float = -np.inf
    x: NDArray[np.int8] | None = None
    kept: list[tuple[float, NDArray[np.int8]]] = field(default_factory=list)
    asked: int = 0
    tables: Any = field(default=None, repr=False)
    tied: Any = field(default=None, repr=False)

    def offer(self, marginals: Float) -> float:
        """Look near a relaxed answer, thoroughly the first time; the best value so far."""
        whole = np.abs(marginals - np.round(marginals)).max(initial=0.0) < schedule.UNDECIDED
        if whole:
            self.take(np.round(marginals).astype(np.int8))
        elif self.asked % ROUND_EVERY == 0:
            if self.tables is None:
                self.tables = round_marginals.build_tables(self.problem)
                self.tied = round_marginals.tied_scores(self.scores)
            x, _, _ = round_marginals.round_marginals(
                self.problem, self.tied, marginals, self.tables, thorough=self.asked == 0
            )
            self.take(x)
        self.asked += 1
        return self.value

    def take(self, x: NDArray[np.int8]) -> None:
        """Keep an assignment ``x[n]`` that is feasible, if it is among the best."""
        if evaluate.count_violated(self.problem, self.scores, x):
            return
        value = evaluate.value(self.problem, self.scores, x)
        if value > self.value:
            self.value, self.x = value, x
        if not any((x == other).all() for _, other in self.kept):
            self.kept.append((value, x))
            self.kept.sort(key=lambda answer: -answer[0])
            del self.kept[MOST_KEPT:]
