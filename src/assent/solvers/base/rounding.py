"""Rounding: assignments near a relaxed answer, and when a search looks for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.kernels.compile_clock import solving_seconds
from assent.kernels.core import schedule
from assent.kernels.problem import Float, Problem, Scores
from assent.solvers.base.incumbent import Answer

# A search rounds at each of its first nodes, then at every tenth: most answers come early.
ROUNDED_NODES, ROUND_EVERY = 50, 10


def due_at_node(node: int) -> bool:
    """Whether the relaxed answer of a search's ``node`` (counted from 1) is rounded."""
    return node <= ROUNDED_NODES or node % ROUND_EVERY == 0


def as_they_are(marginals: Float) -> NDArray[np.int8]:
    """The assignment ``[n]`` of what is more likely than not."""
    return (marginals > 0.5 + schedule.UNDECIDED).view(np.int8)


class Rounder:
    """Rounds relaxed answers of one problem; what that takes is built when it is needed.

    ``tied`` scores lie on a grid, so that rounding errors decide nothing; answers are worth what
    they are by the problem's own scores.
    """

    def __init__(
        self, problem: Problem, scores: Scores, random_state: int, tied: bool = True
    ) -> None:
        self.problem, self.scores, self.random_state = problem, scores, random_state
        self.is_tied = tied
        self.seconds = self.thorough_seconds = 0.0  # the longest that a rounding has taken

    @cached_property
    def _prepared(self) -> tuple[Any, Any]:
        """Adjacency, and the scores that answers are chosen by."""
        from assent.kernels.rounding import round_marginals as kernel

        tied = kernel.tied_scores(self.scores) if self.is_tied else self.scores
        return kernel.build_tables(self.problem), tied

    def round(self, marginals: Float, thorough: bool = False) -> Answer:
        """An assignment ``[n]`` near marginals, what it is worth and how many factors it breaks."""
        from assent.kernels.core import evaluate
        from assent.kernels.rounding import round_marginals as kernel

        adjacency, tied = self._prepared
        begun = time.perf_counter()
        x, _, violated = kernel.round_marginals(
            self.problem, tied, marginals, adjacency, thorough=thorough
        )
        seconds = solving_seconds(begun)
        if thorough:
            self.thorough_seconds = max(self.thorough_seconds, seconds)
        else:
            self.seconds = max(self.seconds, seconds)
        return x, evaluate.value(self.problem, self.scores, x), violated

    def perturbed(self, marginals: Float) -> Float:
        """Marginals with random numbers added."""
        from assent.kernels.rounding import round_marginals as kernel

        out, self.random_state = kernel.perturb(marginals, self.random_state)
        return out

    def tasks(self, marginals: Float, thorough: bool) -> Iterator[Callable[[], Answer]]:
        """Roundings to be done: of the marginals, to be ``thorough`` of perturbed ones as well."""
        assert self._prepared  # once, before threads share it
        yield partial(self.round, marginals, thorough)
        for _ in range(schedule.PERTURBED_TRIES if thorough else 0):
            yield partial(self.round, self.perturbed(marginals))
