"""Presolving a compiled graph: finders take turns until none takes off enough."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.proof.proof_tree import Reduced
from assent.reductions.dominance import find_exchanges
from assent.reductions.leaves import find_leaves, find_units
from assent.reductions.persistent_values import Persistent
from assent.reductions.reduction import Reduction, ReductionStep
from assent.result import Result
from assent.solvers.base.outcome import Outcome

# Another round is made as long as the last one took off this share of what is left.  Grids of
# labels lose a few percent in every round, which take longer than what they save.
WORTH = 0.05
# Taking persistent values loses nothing but what is rounded, relative to the scores.
ROUNDED = 1e-9

Finder = Callable[[Reduction], tuple[ReductionStep, Reduction] | None]


def find_persistent(before: Reduction) -> tuple[ReductionStep, Reduction] | None:
    """Values that `RoofDuality` decides, and what they leave; None if there are none."""
    from assent.solvers.direct.posiform import what_is_larger
    from assent.solvers.direct.roof_duality import solve_roof

    problem = before.compiled.problem
    if what_is_larger(problem):
        return None
    solution = solve_roof(problem, before.flat)
    sure = np.flatnonzero(solution.x != 0.5)
    if not len(sure):
        return None
    literals = before.coordinates(np.where(solution.x[sure] == 1.0, sure, ~sure))
    step = Persistent(literals, solution.dual)
    after = step.apply(before)
    size = before.scores.scale + abs(solution.relaxed_value)
    if after is None or after.loss - before.loss > ROUNDED * size:
        return None
    return step, after


# What is tried, in turns; for persistent values once is enough.
FINDERS: tuple[Finder, ...] = (find_persistent, find_leaves, find_exchanges)


@dataclass(frozen=True, eq=False)
class SmallerProblem:
    """A graph made smaller step by step, and the way back.

    Attributes:
        reductions: the graph before every step, and after the last one.
        steps: what was done, one less.
    """

    reductions: tuple[Reduction, ...]
    steps: tuple[ReductionStep, ...]

    @property
    def compiled(self) -> Compiled:
        """The smaller problem."""
        return self.reductions[-1].compiled

    @property
    def scores(self) -> GraphScores:
        """Its scores."""
        return self.reductions[-1].scores

    @property
    def refuted(self) -> bool:
        """Whether nothing is possible."""
        return self.reductions[-1].refuted

    def follow(self, assignment: NDArray[np.int8]) -> NDArray[np.int8]:
        """The other way: an assignment ``[N]`` of the smaller problem from one as written."""
        self._check(assignment)
        for step, before in zip(self.steps, self.reductions, strict=False):
            assignment = step.follow(before, assignment)
        return assignment

    def undo(self, assignment: NDArray[np.int8]) -> NDArray[np.int8]:
        """An assignment ``[N]`` of the graph as written, from one of the smaller problem."""
        self._check(assignment)
        for step, before in zip(self.steps[::-1], self.reductions[-2::-1], strict=True):
            assignment = step.undo(before, assignment)
        return assignment

    def _check(self, assignment: NDArray[np.int8]) -> None:
        """Both problems have the coordinates of the graph as written."""
        expected, shape = self.compiled.fixed.shape, np.shape(assignment)
        if shape != expected:
            raise ValueError(f"an assignment has shape {expected}, 0 or 1 each, got {shape}")

    def proof(self, proof: Any) -> Any:
        """A proof about the graph as written, from one about the smaller problem."""
        return Reduced(self.steps, proof) if self.steps else proof

    def lift(self, result: Result) -> Result:
        """A result for the graph as written, from one of the smaller problem.

        Its marginals are the answer itself.  Which constraints contradict each other is not told:
        values that were pruned may be among the reasons.
        """
        claim, first = result.certificate, self.reductions[0]
        shown = claim.shown_by
        own = Outcome(
            compiled=first.compiled,
            scores=first.scores,
            assignment=self.undo(claim.assignment),
            bound=claim.bound + self.reductions[-1].loss,
            proof=None if shown is None else self.proof(shown),
        )
        answer = own.certificate.assignment.astype(float)
        return replace(
            result,
            certificate=own.certificate,
            violated=own.violated,
            consensus=answer if own.certificate.feasible else result.consensus,
            inner=None,
            plan=f"{self!r}. Then {result.plan}",
        )

    def summary(self) -> str:
        """What was done, in words."""
        if self.refuted:
            return "nothing is possible"
        counts: Counter[tuple[str, str]] = Counter()
        for step in self.steps:
            counts[step.what] += step.count
        parts = [f"{n} {noun}{'s' * (n != 1)} {done}" for (noun, done), n in counts.items()]
        first, last = self.reductions[0].compiled.problem, self.compiled.problem
        left = f"{find_units(last).count} of {find_units(first).count} variables left"
        return f"{left}: {', '.join(parts) or 'nothing found'}"

    def __repr__(self) -> str:
        return f"Presolved: {self.summary()}"


def presolve_compiled(
    compiled: Compiled,
    scores: GraphScores,
    finders: Sequence[Finder] = FINDERS,
    deadline: float = np.inf,
) -> SmallerProblem:
    """The same for a compiled graph with its scores; no step is begun after the deadline."""
    made = _Making(Reduction.of(compiled, scores), deadline)
    made.rounds(finders)
    return SmallerProblem(tuple(made.reductions), tuple(made.steps))


class _Making:
    """A graph being made smaller until the deadline."""

    def __init__(self, start: Reduction, deadline: float) -> None:
        self.reductions, self.steps, self.deadline = [start], list[ReductionStep](), deadline

    @property
    def left(self) -> int:
        """How many coordinates are left to be looked at."""
        now = self.reductions[-1]
        is_over = now.refuted or time.perf_counter() >= self.deadline
        return 0 if is_over else now.compiled.problem.n

    def take(self, find: Finder) -> None:
        """One more step, if there is something to be found."""
        found = find(self.reductions[-1]) if self.left else None
        if found is not None:
            self.steps.append(found[0])
            self.reductions.append(found[1])

    def rounds(self, finders: Sequence[Finder]) -> None:
        """All finders in turn, as long as that takes off more than a share ``WORTH``."""
        size = np.inf
        while (left := self.left) and left <= (1.0 - WORTH) * size:
            for find in finders:
                if find is not find_persistent or size == np.inf:
                    self.take(find)
            size = left
