"""Sweeps over stars: what the solvers that differ in the factors' shares alone have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assent.kernels.core.residual_scores import residuals
from assent.kernels.messages import star_sweep as kernel
from assent.kernels.messages.star_sweep import StarBuffers, Stars, StarScores
from assent.kernels.problem import Float, Problem, Scores
from assent.solvers.base.dual_bound import read_only
from assent.solvers.base.protocol import Info, WarmStart
from assent.solvers.messages import block_descent
from assent.solvers.messages.block_descent import BlockDescent, Messages
from assent.solvers.messages.star_layout import stars_of


@dataclass(kw_only=True)
class StarMessages(Messages):
    """State of a running solve, and scratch for the largest star."""

    stars: Stars
    shares: Float  # [2, edges] forward and backward
    left: Float  # [n] what link scores leave of the coordinates' own
    buffers: StarBuffers


def start(
    name: str, problem: Problem, scores: Scores, warm_start: WarmStart | None
) -> StarMessages:
    """Fresh state, or link scores from an earlier run; shares are still to be set."""
    plain = block_descent.start(name, problem, scores, warm_start)
    stars = stars_of(problem)
    if not np.isfinite(plain.inner).all():  # states that a table rules out are handled elsewhere
        tables = stars.alone == kernel.TABLES_ONLY
        alone = np.where(tables, -1, stars.alone).astype(np.int32)
        stars = stars._replace(alone=read_only(alone))
    sizes = np.diff(stars.first)[stars.unit]
    reports = int((sizes * np.diff(stars.start)).max(initial=1)) + 1
    widest = int(sizes.max(initial=1))
    buffers = StarBuffers(
        np.zeros(widest, np.int64), np.zeros(widest), np.zeros(reports), np.zeros(reports),
        np.zeros((reports, 3), np.int64),
    )  # fmt: skip
    return StarMessages(
        plain.flat, plain.inner, plain.work, plain.s, plain.belief, stars=stars,
        shares=np.zeros((2, 0)), left=plain.belief.copy(), buffers=buffers,
    )  # fmt: skip


def sweep(workspace: StarMessages, scores: Scores, passes: int, damping: float = 0.0) -> None:
    """All stars in turn, ``passes`` times, forward and backward alternating."""
    w = workspace
    # Computed anew: sums of changes would gather errors.
    residuals(w.flat.lits, w.s, scores.theta, w.left)
    kernel.sweep(
        w.stars, w.flat, w.inner, w.shares, damping, (w.iterations, w.iterations + passes),
        StarScores(w.s, w.left, w.belief), w.buffers, w.work,
    )  # fmt: skip


class StarDescent(BlockDescent):
    """A solver over stars; what differs between such solvers are the shares alone."""

    def advance(
        self, problem: Problem, scores: Scores, workspace: StarMessages, iterations: int
    ) -> Info:
        """Do ``iterations`` sweeps, forward and backward alternating."""
        sweep(workspace, scores, iterations)
        asked = len(workspace.stars.edges)
        return block_descent.finish(
            workspace, problem, scores, iterations, asked, self.residual_tolerance
        )
