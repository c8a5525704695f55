"""Reduced costs of every single decision; see :mod:`assent.kernels.search.reduced_cost_pass`."""

from __future__ import annotations

import numpy as np

from assent.kernels.core.factor_list import flat_of, inner_scores
from assent.kernels.core.factor_oracles import make_oracle_work
from assent.kernels.core.residual_scores import residuals
from assent.kernels.core.structure_addresses import raise_pending
from assent.kernels.problem import DualPoint, Float, Problem, Scores


def losses_of(problem: Problem, scores: Scores, dual: DualPoint) -> Float | None:
    """What the bound at ``dual`` falls by if a coordinate is 0 or 1, ``[n, 2]``.

    None where a structure cannot answer ``max_marginals``.
    """
    if any("max_marginals" not in model.structure.abilities for model in problem.models):
        return None
    from assent.kernels.search import reduced_cost_pass as kernel

    flat = flat_of(problem, "max_marginals")
    s, rest = dual.joined(), np.empty(problem.n)
    residuals(flat.lits, s, scores.theta, rest)
    losses = np.stack([np.maximum(rest, 0.0), np.maximum(-rest, 0.0)], axis=1)
    work, seen = make_oracle_work(flat), np.full(problem.n, -1, np.int64)
    kernel.add_losses(flat, inner_scores(scores), s, seen, work, losses)
    raise_pending()
    return losses
