"""Proofs that nothing is feasible: small ones, and the factors they involve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled
from assent.compile.logic_placement import origin
from assent.compile.table_groups import all_groups
from assent.kernels.problem import DualPoint, Float, Problem, Scores
from assent.proof.certify import FARKAS_MARGIN
from assent.solvers.base.dual_bound import bound_at

# A proof is thinned factor by factor once it involves no more than this many.
THINNED = 64
# Link scores that are this small beside the largest are rounding.
NEGLIGIBLE = 1e-6


def zeroed(problem: Problem, table: Float) -> Scores:
    """All scores zero, but entries of ``table`` that are ``-inf`` stay forbidden."""
    entries = np.where(np.isneginf(table), -np.inf, 0.0)
    return Scores(np.zeros(problem.n), np.zeros(problem.n_pairs), 0.0, entries)


def drift(before: DualPoint, now: DualPoint) -> DualPoint:
    """Where multipliers run to, which is a ray where they run away."""
    pair, logic, table = now.pair - before.pair, now.logic - before.logic, now.table - before.table
    return DualPoint(pair, logic, table)


def proves(problem: Problem, ray: DualPoint, table: Float) -> bool:
    """Whether it is a Farkas ray: the zero objective is bounded clearly below zero.

    ``table`` are the scores of tables, of which only what is ``-inf`` matters.
    """
    size = sum(float(np.abs(links).sum()) for links in (ray.pair, ray.logic, ray.table))
    return bound_at(problem, zeroed(problem, table), ray) < -FARKAS_MARGIN * size


def thin(problem: Problem, ray: DualPoint, table: Float) -> DualPoint:
    """A proof that involves few factors: those of the largest link scores, as few as suffice."""
    weight = factor_weights(problem, ray)
    order = np.argsort(-weight, kind="stable")
    low, high = 0, len(order)
    while low + 1 < high:  # the fewest of the largest that still prove it
        middle = (low + high) // 2
        if proves(problem, _only(problem, ray, order[:middle]), table):
            high = middle
        else:
            low = middle
    kept = list(order[:high])
    if high <= THINNED:
        for factor in order[:high][::-1]:
            fewer = [f for f in kept if f != factor]
            if proves(problem, _only(problem, ray, np.array(fewer, np.int64)), table):
                kept = fewer
    thinned = _only(problem, ray, np.array(kept, np.int64))
    return thinned if proves(problem, thinned, table) else ray


def factor_weights(problem: Problem, ray: DualPoint) -> Float:
    """``[F]`` the largest link score of each logic factor."""
    return np.concatenate(
        [np.zeros(0), *(np.abs(part).max(axis=0) for part in _by_group(problem, ray.logic))]
    )


def factors_of_ray(compiled: Compiled, ray: DualPoint) -> list[tuple[int, int]]:
    """Batch and row of the factors that have a part in a proof."""
    weight = factor_weights(compiled.problem, ray)
    chosen = np.flatnonzero(weight > NEGLIGIBLE * weight.max(initial=0.0))
    places = [origin(compiled.problem, compiled.placed, int(factor)) for factor in chosen]
    largest, joined = np.abs(ray.table).max(initial=0.0), ray.joined()
    groups = all_groups(compiled.problem)
    for part in compiled.placed_tables:
        links = groups[part.group].links[part.first : part.first + part.members]
        own = np.abs(joined[links]).max(axis=1)
        for row in np.flatnonzero(own > NEGLIGIBLE * largest).tolist():
            places.append((part.block, row if part.rows is None else int(part.rows[row])))
    return places


def _only(problem: Problem, ray: DualPoint, factors: NDArray[np.int64]) -> DualPoint:
    """The ray with the link scores of all other logic factors set to zero."""
    keep = np.zeros(problem.n_logic, bool)
    keep[factors] = True
    logic = np.zeros_like(ray.logic)
    for source, target, first in zip(
        _by_group(problem, ray.logic),
        _by_group(problem, logic),
        problem.group_factor,
        strict=True,
    ):
        chosen = keep[first : first + source.shape[1]]
        target[:, chosen] = source[:, chosen]
    return DualPoint(ray.pair, logic, ray.table)


def _by_group(problem: Problem, links: Float) -> list[Float]:
    """Views ``[size, count]`` of the links of each group."""
    return [
        links[start : start + size * count].reshape(size, count)
        for start, size, count in zip(
            problem.group_link.tolist(),
            problem.group_size.tolist(),
            problem.group_count.tolist(),
            strict=True,
        )
    ]
