"""Accelerated: smoothed dual decomposition with momentum (Jojic, Gould and Koller, 2010)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assent.kernels.ad3.initial_multipliers import OF_SCORES
from assent.kernels.core.factor_list import (
    CODE,
    COUNT,
    FACTOR,
    ITEM,
    SIZE,
    TABLE,
    Flat,
    ScoredFactors,
    links_of_group,
    scored_factors,
)
from assent.kernels.core.factor_oracles import OracleWork, make_oracle_work, number_of_factors
from assent.kernels.core.structure_addresses import raise_pending
from assent.kernels.messages import accelerated_step as kernel
from assent.kernels.problem import CAP, SUM, Float, Problem, Scores, split_links
from assent.solvers.base.abilities import require
from assent.solvers.base.dual_bound import bound_at
from assent.solvers.base.protocol import Info, WarmStart
from assent.solvers.base.settings import check_positive
from assent.solvers.base.starting_point import initial_penalty, share_out
from assent.solvers.messages.block_descent import KeepsBest
from assent.solvers.messages.star_layout import slots_of_group

# Annealing: from this fraction of the scores' size the temperature halves whenever the marginals
# differ by less than SETTLED times the temperature relative to that size, which is then all that
# smoothing leaves to gain, or after STAGE iterations.
FIRST_TEMPERATURE = 0.5
SETTLED = 0.3
STAGE = 200
# Below this fraction of the scores' size exponentials see no more than the best vertices do.
LAST_TEMPERATURE = 1e-7


@dataclass
class AcceleratedState:
    """State of a running solve; see :mod:`assent.kernels.messages.accelerated_step`."""

    factors: ScoredFactors
    point: kernel.AcceleratedPoint
    work: OracleWork
    size: float  # of the scores
    best_s: Float
    stage: int = 0  # iterations at this temperature
    bound: float = np.inf


@dataclass(frozen=True)
class Accelerated(KeepsBest):
    """Smoothed dual decomposition with Nesterov's momentum and a falling temperature.

    Factors answer with marginals at a temperature in place of best vertices: the bound becomes
    smooth and steps need no search.  The temperature halves whenever there is little left to gain
    from the present one.

    Attributes:
        temperature: a fixed temperature in units of score; ``None`` starts from the size of the
            scores and anneals.
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (scale + |bound|)``.
        max_iterations: stop after this many iterations.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[1.0, 2.0, 3.0])
        >>> rules = g.add(at.AtMostOne(x[:2])), g.add(at.AtMostOne(x[1:]))
        >>> at.decode(g, at.Accelerated())[x].tolist()
        [1, 0, 1]
    """

    temperature: float | None = None
    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 10_000
    in_score_units = ("temperature",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.temperature is not None:
            check_positive("temperature", self.temperature)

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> AcceleratedState:
        """Scores shared out evenly, or what an earlier run left of them."""
        require("Accelerated", "marginals", problem)
        factors = scored_factors(problem, scores, "marginals")
        s, n = share_out(problem, scores, warm_start), problem.n
        size = initial_penalty(problem, scores) / OF_SCORES
        state = np.zeros(kernel.STATES)
        state[kernel.TEMPERATURE] = self.temperature or FIRST_TEMPERATURE * size
        state[kernel.MOMENTUM] = 1.0
        point = kernel.AcceleratedPoint(
            *_weights(problem, factors.flat), s, s.copy(), np.full(len(s), 0.5), np.zeros(n),
            np.zeros(n), state,
        )  # fmt: skip
        return AcceleratedState(factors, point, make_oracle_work(factors.flat), size, s.copy())

    def advance(
        self, problem: Problem, scores: Scores, workspace: AcceleratedState, iterations: int
    ) -> Info:
        """Do ``iterations`` more, and cool down if it is time."""
        w, state = workspace, workspace.point.state
        kernel.advance(w.factors, w.point, w.work, iterations)
        raise_pending()
        w.stage += iterations
        spread = float(np.sqrt(state[kernel.SPREAD]))
        if self.temperature is None:
            self._anneal(w, spread)
        bound = bound_at(problem, scores, split_links(problem, w.point.s))
        if bound < w.bound:
            w.bound = bound
            w.best_s[:] = w.point.s
        return Info(int(state[kernel.DONE]), spread, spread, calls=int(state[kernel.CALLS]))

    def _anneal(self, workspace: AcceleratedState, spread: float) -> None:
        w, state = workspace, workspace.point.state
        settled = spread * w.size <= SETTLED * state[kernel.TEMPERATURE] or w.stage >= STAGE
        lowest = LAST_TEMPERATURE * w.size
        if settled and state[kernel.TEMPERATURE] > lowest:
            state[kernel.TEMPERATURE] = max(0.5 * state[kernel.TEMPERATURE], lowest)
            state[kernel.MOMENTUM] = 1.0
            w.point.y[:] = w.point.s
            w.stage = 0

    def marginals(self, workspace: AcceleratedState) -> Float:
        """The mean of the factors' marginals."""
        return workspace.point.p


def _weights(problem: Problem, flat: Flat) -> tuple[Float, Float]:
    """``1 / L`` of every factor, ``L`` a quarter of its squared diameter; its sum by coordinate."""
    weight = np.empty(number_of_factors(flat))
    of_link = np.empty(problem.n_links)
    for row in flat.groups:
        count, size = int(row[COUNT]), int(row[SIZE])
        if row[CODE] in (CAP, SUM):
            k = flat.k[row[ITEM] : row[ITEM] + count]
            fewest = np.minimum(k, size - k) if row[CODE] == SUM else k
            squared = np.clip(2.0 * fewest, 1.0, size)
        elif row[CODE] < TABLE:
            squared = np.full(count, float(size))
        else:
            widths = [width for _, width, _ in slots_of_group(flat, row)]
            squared = np.full(count, float(np.minimum(widths, 2).sum()))
        weight[row[FACTOR] : row[FACTOR] + count] = 4.0 / squared
        links = links_of_group(row)
        of_link[links] = weight[row[FACTOR] : row[FACTOR] + count]
    lits = flat.lits
    own = np.where(lits < 0, ~lits, lits)
    mass = np.bincount(own, of_link, minlength=problem.n)
    return weight, mass.astype(np.float64, copy=False)
