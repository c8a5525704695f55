"""The best answer of a search so far, and where better ones are looked for."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.core import schedule
from assent.kernels.problem import Float
from assent.proof import certify
from assent.solvers.search.search_node import Case

# At most this share of the time goes into roundings.
SHARE = 0.25


class Incumbent:
    """The best feasible assignment ``[N]``, or the one that breaks the fewest constraints."""

    def __init__(self, compiled: Compiled, scores: GraphScores, seed: int) -> None:
        self.compiled, self.scores = compiled, scores
        self.value = -np.inf
        self.assignment: NDArray[np.int8] | None = None
        self.closest: NDArray[np.int8] | None = None
        self._fewest = np.iinfo(np.int64).max
        self._chance = schedule.first_chance(seed)
        self._began = time.perf_counter()
        self._spent = 0.0

    def offer(self, case: Case, x: NDArray[np.int8]) -> None:
        """Consider an assignment ``[n]`` of a case."""
        from assent.kernels.core import evaluate

        broken = evaluate.count_violated(case.problem, case.scores, x)
        if broken == 0:
            value = evaluate.value(case.problem, case.scores, x)
            if self.assignment is None or schedule.is_better(value, self.value):
                self.offer_whole(case.compiled.full(x))
        elif self.assignment is None and broken < self._fewest:
            self._fewest, self.closest = broken, case.compiled.full(x)

    def offer_whole(self, assignment: NDArray[np.int8]) -> None:
        """Consider an assignment ``[N]`` of the graph."""
        check = certify.check_assignment(self.compiled, self.scores, assignment)
        if check.feasible and check.value > self.value:
            self.value, self.assignment = check.value, assignment
        elif check.n_violated < self._fewest:
            self._fewest, self.closest = check.n_violated, assignment

    def offer_marginals(self, case: Case) -> None:
        """Consider marginals as they are."""
        assert case.marginals is not None
        self.offer(case, (case.marginals > 0.5 + schedule.UNDECIDED).astype(np.int8))

    def round(self, case: Case, thorough: bool) -> None:
        """Round marginals, shaken ones as well if ``thorough``; not all the time."""
        began = time.perf_counter()
        if not thorough and self._spent > SHARE * (began - self._began):
            return
        if not case.problem.n_links or case.marginals is None:
            return
        from assent.kernels.rounding import round_marginals

        adjacency = round_marginals.build_tables(case.problem)
        tied = round_marginals.tied_scores(case.scores)

        def offer(marginals: Float, final: bool) -> None:
            found = round_marginals.round_marginals(
                case.problem, tied, marginals, adjacency, thorough=final
            )
            self.offer(case, found.x)

        offer(case.marginals, thorough)
        for _ in range(schedule.PERTURBED_TRIES if thorough else 1):
            shaken, self._chance = round_marginals.shake(case.marginals, self._chance)
            offer(shaken, False)
        self._spent += time.perf_counter() - began
