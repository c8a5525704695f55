"""Random small problems with mixed groups, negations, ties and awkward scales."""

from __future__ import annotations

import numpy as np

from assent.problem import ANYOF, CAP, SUM, Problem, Scores, make_problem

SCALES = (1e-6, 1.0, 1e8)  # scores far below, at and far above one


def random_literals(rng, n: int, size: int, complements: bool = False) -> np.ndarray:
    """Distinct literals; ``x`` together with ``~x`` only when complements are asked for."""
    if complements:
        return rng.choice(np.arange(-n, n), size, replace=False).astype(np.int32)
    coordinates = rng.choice(n, size, replace=False)
    return np.where(rng.random(size) < 0.4, ~coordinates, coordinates).astype(np.int32)


def random_problem(
    rng,
    n: int = 7,
    pairs: int = 6,
    factors: int = 4,
    max_size: int = 5,
    complements: bool = False,
    any_k: bool = False,
) -> Problem:
    """A problem with up to ``factors`` random logic factors; it may well be infeasible.

    ``any_k`` allows the k = 0 and k = size that compilation would remove.
    """
    pair_var = np.array([rng.choice(n, 2, replace=False) for _ in range(pairs)], np.int32).reshape(
        -1, 2
    )
    by_shape: dict[tuple[int, int], list[tuple[np.ndarray, int]]] = {}
    for _ in range(rng.integers(factors + 1)):
        kind = int(rng.choice([CAP, SUM, ANYOF]))
        size = int(rng.integers(2, min(max_size, n) + 1))
        low, high = (0, size + 1) if any_k else (1, size)
        k = 1 if kind == ANYOF else int(rng.integers(low, high))
        by_shape.setdefault((kind, size), []).append(
            (random_literals(rng, n, size, complements), k)
        )
    groups = [
        (kind, np.array([lits for lits, _ in members]), np.array([k for _, k in members], np.int32))
        for (kind, _), members in by_shape.items()
    ]
    return make_problem(n, pair_var, groups)


def random_scores(rng, problem: Problem, scale: float | None = None) -> Scores:
    """Finite scores: normal, or small integers (ties), with some exact zeros."""
    if scale is None:
        scale = float(rng.choice(SCALES))
    if rng.random() < 0.5:
        theta, pair = rng.normal(size=problem.n), rng.normal(size=problem.n_pairs)
    else:
        theta = rng.integers(-2, 3, problem.n).astype(float)
        pair = rng.integers(-2, 3, problem.n_pairs).astype(float)
    theta[rng.random(problem.n) < 0.1] = 0.0
    pair[rng.random(problem.n_pairs) < 0.1] = 0.0
    return Scores(theta * scale, pair * scale, float(rng.normal() * scale))
