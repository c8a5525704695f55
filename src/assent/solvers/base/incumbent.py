"""The best answer so far, the same for every loop and search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.kernels.core import schedule
from assent.kernels.problem import Problem, Scores

# An assignment, what it is worth and how many factors it breaks.
Answer = tuple[NDArray[np.int8], float, int]


@dataclass
class Incumbent:
    """The best feasible assignment, and the one that breaks the fewest factors.

    Attributes:
        value: what the best ``assignment`` is worth; minus infinity while there is none.
    """

    value: float = -np.inf
    assignment: NDArray[np.int8] | None = None
    least_violating: NDArray[np.int8] | None = None
    fewest_violations: int = np.iinfo(np.int64).max

    def offer(self, assignment: NDArray[np.int8], value: float, violations: int) -> None:
        """Take an assignment that is better, or breaks less."""
        if violations == 0 and (self.assignment is None or schedule.is_better(value, self.value)):
            self.value, self.assignment = value, assignment
        if violations < self.fewest_violations:
            self.fewest_violations, self.least_violating = violations, assignment

    def consider(self, problem: Problem, scores: Scores, x: NDArray[np.int8]) -> None:
        """Evaluate an assignment ``x[n]`` of a problem, and offer it."""
        from assent.kernels.core import evaluate

        broken = evaluate.count_violated(problem, scores, x)
        value = -np.inf if broken else evaluate.value(problem, scores, x)
        self.offer(x, value, broken)

    @property
    def violations(self) -> int:
        """How many factors the best so far breaks."""
        return 0 if self.assignment is not None else self.fewest_violations

    @property
    def best(self) -> NDArray[np.int8] | None:
        """The best assignment, or the one that breaks the fewest factors."""
        return self.least_violating if self.assignment is None else self.assignment
