"""Subgradient: projected subgradient dual decomposition (Komodakis et al., 2007; PSDD)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from assent.kernels.ad3.initial_multipliers import OF_SCORES
from assent.kernels.core.factor_list import ScoredFactors, scored_factors
from assent.kernels.core.factor_oracles import OracleWork, make_oracle_work, number_of_factors
from assent.kernels.core.structure_addresses import raise_pending
from assent.kernels.messages import subgradient_step as kernel
from assent.kernels.problem import Float, Problem, Scores
from assent.solvers.base.abilities import require
from assent.solvers.base.protocol import Info, WarmStart
from assent.solvers.base.settings import check_choice, check_positive
from assent.solvers.base.starting_point import initial_penalty, share_out
from assent.solvers.messages.block_descent import KeepsBest

Rule = Literal["harmonic", "root", "geometric", "polyak"]
RULES = {
    "harmonic": kernel.HARMONIC,
    "root": kernel.ROOT,
    "geometric": kernel.GEOMETRIC,
    "polyak": kernel.POLYAK,
}

# The first step is searched by TRIED_ITERATIONS with each of some fractions of the
# scores' size (Martins et al. 2011), until halving has made things worse twice.
TRIED_ITERATIONS = 10
LARGEST_STEP = 4.0
MOST_HALVINGS = 14

# Rounds of Polyak's steps: the first one's length, and how much longer those after a poor one are.
# With rounds as short as `BoxSubgradient`'s, bounds of fractional flows end twice as far away.
FIRST_ROUND = 20
LONGER = 1.4

AGREED = "All factors agree: the relaxation is solved."


@dataclass
class SubgradientState:
    """State of a running solve; see :mod:`assent.kernels.messages.subgradient_step`."""

    factors: ScoredFactors
    point: kernel.SubgradientPoint
    work: OracleWork

    @property
    def best_s(self) -> Float:
        """The best link scores so far."""
        return self.point.best_s

    @property
    def state(self) -> Float:
        """Counts and values."""
        return self.point.state

    def copy(self) -> SubgradientState:
        """The same state, to be advanced on its own."""
        return replace(self, point=kernel.SubgradientPoint(*(part.copy() for part in self.point)))


@dataclass(frozen=True)
class Subgradient(KeepsBest):
    """Projected subgradient dual decomposition: needs nothing but best vertices, slow to the end.

    Every factor is asked for its best vertex, and pays or is paid for where it differs from the
    others' mean.  Where all agree, the answer is proven.

    Attributes:
        step: how steps shrink: "harmonic" (``first_step / t``), "root" (``/ sqrt(t)``),
            "geometric" (``* 0.9^t``) or "polyak", which estimates the optimum instead.
        count: what ``t`` counts: "iterations", or "increases" of the dual value.
        first_step: the first step; ``None`` tries some and takes the best after ten iterations.
        lazy: whether factors whose link scores did not change keep their vertex unasked.
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (scale + |bound|)``.
        max_iterations: stop after this many iterations.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[1.0, 2.0, 3.0])
        >>> rules = g.add(at.AtMostOne(x[:2])), g.add(at.AtMostOne(x[1:]))
        >>> at.decode(g, at.Subgradient())[x].tolist()
        [1, 0, 1]
    """

    step: Rule = "polyak"
    count: Literal["iterations", "increases"] = "increases"
    first_step: float | None = None
    lazy: bool = True
    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 20_000
    in_score_units = ("first_step",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("step", self.step, RULES)
        check_choice("count", self.count, ("iterations", "increases"))
        if self.first_step is not None:
            check_positive("first_step", self.first_step)

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> SubgradientState:
        """Scores shared out evenly, or what an earlier run left of them."""
        require("Subgradient", "maximize", problem)
        factors = scored_factors(problem, scores, "maximize")
        s, n = share_out(problem, scores, warm_start), problem.n
        point = kernel.SubgradientPoint(
            s, np.zeros(len(s)), np.zeros(n), np.zeros(number_of_factors(factors.flat)),
            np.zeros(n), np.zeros(n), s.copy(), np.zeros(kernel.STATES),
        )  # fmt: skip
        point.state[kernel.BEST] = np.inf
        workspace = SubgradientState(factors, point, make_oracle_work(factors.flat))
        self._first_step(problem, scores, workspace)
        return workspace

    def _first_step(self, problem: Problem, scores: Scores, workspace: SubgradientState) -> None:
        size = initial_penalty(problem, scores) / OF_SCORES
        first = self.first_step
        if self.step == "polyak":
            first = 1.0
        elif first is None:
            first = self._search_step(workspace, LARGEST_STEP * size)
        workspace.state[kernel.FIRST_STEP] = first

    def _search_step(self, workspace: SubgradientState, largest: float) -> float:
        best, found, worse, calls = np.inf, largest, 0, 0.0
        for halving in range(MOST_HALVINGS):
            trial = workspace.copy()
            trial.state[kernel.FIRST_STEP] = largest * 0.5**halving
            self._run(trial, TRIED_ITERATIONS)
            calls += trial.state[kernel.CALLS]
            if trial.state[kernel.BEST] < best:
                best, found, worse = trial.state[kernel.BEST], largest * 0.5**halving, 0
            else:
                worse += 1
            if worse == 2:
                break
        workspace.state[kernel.CALLS] = calls
        return found

    def _run(self, workspace: SubgradientState, iterations: int) -> None:
        w, rule = workspace, kernel.StepRule(RULES[self.step], self.count == "increases")
        kernel.advance(w.factors, rule, self.lazy, w.point, w.work, iterations)
        raise_pending()

    def advance(
        self, problem: Problem, scores: Scores, workspace: SubgradientState, iterations: int
    ) -> Info:
        """Do ``iterations`` more, fewer where all factors agree."""
        state = workspace.state
        if self.step == "polyak" and state[kernel.DONE] == 0.0:
            self._run(workspace, 1)
            # What the copies differ by is worth that much.
            size = abs(state[kernel.BEST] - scores.constant)
            margin = max(size, initial_penalty(problem, scores))
            aim_below(state, margin, FIRST_ROUND, LONGER)
        self._run(workspace, iterations)
        spread = float(np.sqrt(state[kernel.SPREAD]))
        agreed = spread == 0.0
        return Info(
            int(state[kernel.DONE]), spread, spread, finished=agreed,
            reason=AGREED if agreed else "", calls=int(state[kernel.CALLS]),
        )  # fmt: skip

    def marginals(self, workspace: SubgradientState) -> Float:
        """Where all agree, the answer; before that the average of all iterations."""
        agreed = workspace.state[kernel.DONE] > 0.0 and workspace.state[kernel.SPREAD] == 0.0
        return workspace.point.p if agreed else workspace.point.mean_p

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: SubgradientState) -> float:
        """Score of the average answer; it tends to the relaxation's optimum."""
        state = workspace.state
        if state[kernel.SPREAD] == 0.0:
            return float(state[kernel.LAST])
        inner = state[kernel.MEAN_INNER]
        return float(scores.constant + scores.theta @ workspace.point.mean_p + inner)


def aim_below(state: Float, margin: float, first_round: int, longer: float) -> None:
    """Polyak's first target: ``margin`` below the dual value, for ``first_round`` iterations."""
    state[kernel.MOVE], state[kernel.TARGET] = margin, state[kernel.BEST]
    state[kernel.ROUND] = state[kernel.LOOK] = first_round
    state[kernel.LONGER] = longer
