"""What the solvers that lower the bound block by block have in common.

They hold link scores and nothing else; there is no relaxed answer, only what the coordinates are
left with, whose sign is a vote.  A sweep never raises the bound.  It may come to rest above the
relaxation's optimum, which is noticed and said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.core.factor_list import Flat, flat_of, inner_scores
from assent.kernels.core.factor_oracles import OracleWork, make_oracle_work
from assent.kernels.core.residual_scores import residuals
from assent.kernels.core.structure_addresses import raise_pending
from assent.kernels.problem import DualPoint, Float, Problem, Scores, split_links
from assent.solvers.base.abilities import require
from assent.solvers.base.dual_bound import bound_at
from assent.solvers.base.protocol import Info, IterativeSolver, WarmStart

AT_REST = (
    "The sweeps no longer lower the bound: they have come to rest at the relaxation's optimum or "
    "above it. AD3() goes on from here (warm_start=result) wherever more can be had."
)


@dataclass
class Messages:
    """State of a running solve: ``s`` per link, ``belief[n]``, what coordinates are left with."""

    flat: Flat
    inner: Float
    work: OracleWork
    s: Float
    belief: Float
    iterations: int = 0
    calls: int = 0
    bound: float = np.inf


def start(name: str, problem: Problem, scores: Scores, warm_start: WarmStart | None) -> Messages:
    """All scores with the coordinates, or link scores from an earlier run."""
    require(name, "max_marginals", problem)
    flat = flat_of(problem, "max_marginals")
    s = np.zeros(problem.n_links) if warm_start is None else warm_start.dual.joined()
    messages = Messages(flat, inner_scores(scores), make_oracle_work(flat), s, scores.theta.copy())
    settle(messages, scores)
    return messages


def settle(messages: Messages, scores: Scores) -> None:
    """What coordinates are left with, computed anew: sums of changes would gather errors."""
    residuals(messages.flat.lits, messages.s, scores.theta, messages.belief)


def finish(
    messages: Messages, problem: Problem, scores: Scores, iterations: int, asked: int, rest: float
) -> Info:
    """Count the sweeps and say how they did; ``asked`` factors in each."""
    raise_pending()
    before = messages.bound
    messages.iterations += iterations
    messages.calls += iterations * asked
    messages.bound = bound_at(problem, scores, split_links(problem, messages.s))
    fall = np.inf
    if np.isfinite(before):
        fall = (before - messages.bound) / (scores.scale + abs(messages.bound))
    still = fall <= rest or messages.bound == -np.inf
    return Info(
        messages.iterations, np.inf, fall, finished=still, reason=AT_REST if still else "",
        calls=messages.calls,
    )  # fmt: skip


def votes(belief: Float) -> Float:
    """What coordinates are left with as numbers between 0 and 1, for rounding."""
    size = float(np.abs(belief).mean()) if len(belief) else 0.0
    if size == 0.0 or not np.isfinite(size):
        size = 1.0
    return 0.5 + 0.5 * np.tanh(0.5 * belief / size)


class BlockDescent(IterativeSolver):
    """The half of a solver that is the same for all of them."""

    def bound(self, problem: Problem, scores: Scores, workspace: Messages) -> float:
        """Upper bound from the current link scores."""
        if np.isposinf(workspace.bound):
            return bound_at(problem, scores, split_links(problem, workspace.s))
        return workspace.bound

    def dual_point(self, problem: Problem, scores: Scores, workspace: Messages) -> DualPoint:
        """The current link scores."""
        return split_links(problem, workspace.s.copy())

    def marginals(self, workspace: Messages) -> Float:
        """Votes of the coordinates; no point of the relaxation."""
        return votes(workspace.belief)


class KeepsBest(IterativeSolver):
    """The half of a solver whose workspace keeps the best link scores so far, ``best_s``."""

    def dual_point(self, problem: Problem, scores: Scores, workspace: Any) -> DualPoint:
        """The best link scores so far."""
        return split_links(problem, workspace.best_s.copy())
