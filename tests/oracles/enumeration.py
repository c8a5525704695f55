"""Everything by enumeration: assignments, vertices, constraint checks, the exact optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

from assent.problem import ANYOF, CAP, SUM, Problem, Scores


def binary_points(size: int) -> np.ndarray:
    """All ``2**size`` 0/1 vectors as rows."""
    return np.array(list(product((0, 1), repeat=size)), np.int8).reshape(-1, size)


def holds(kind: int, k: int, truths: np.ndarray) -> bool:
    """Whether literal truths satisfy one logic factor."""
    if kind == CAP:
        return int(truths.sum()) <= k
    if kind == SUM:
        return int(truths.sum()) == k
    assert kind == ANYOF
    return bool(truths[-1]) == bool(truths[:-1].any())


def vertices(kind: int, size: int, k: int) -> np.ndarray:
    """Literal truths a logic factor allows, one per row."""
    points = binary_points(size)
    allowed = [holds(kind, k, point) for point in points]
    return points[np.array(allowed, bool)]


def factors(problem: Problem) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Each logic factor as ``(kind, k, literals, links)``, in the order of ``problem.k``."""
    for g, kind in enumerate(problem.group_kind):
        m = int(problem.group_count[g])
        for f in range(m):
            links = problem.group_link[g] + m * np.arange(problem.group_size[g]) + f
            yield int(kind), int(problem.k[problem.group_factor[g] + f]), problem.lits[links], links


def literal_truths(literals: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.array([x[lit] if lit >= 0 else 1 - x[~lit] for lit in literals], np.int8)


def violated_factors(problem: Problem, x: np.ndarray) -> list[int]:
    """Indices of the logic factors that an assignment breaks."""
    return [
        index
        for index, (kind, k, literals, _) in enumerate(factors(problem))
        if not holds(kind, k, literal_truths(literals, x))
    ]


def naive_value(problem: Problem, scores: Scores, x: np.ndarray) -> float:
    total = scores.constant
    for v in range(problem.n):
        total += scores.theta[v] * x[v]
    for e, (i, j) in enumerate(problem.pair_var):
        total += scores.pair[e] * x[i] * x[j]
    return float(total)


def enumerate_assignments(problem: Problem | int, allowed: Callable | None = None) -> np.ndarray:
    """Feasible assignments as rows: of a problem, or of ``n`` coordinates under a predicate."""
    if isinstance(problem, int):
        points = binary_points(problem)
        keep = [allowed is None or allowed(x) for x in points]
    else:
        points = binary_points(problem.n)
        keep = [not violated_factors(problem, x) for x in points]
    return points[np.array(keep, bool)]


def brute_force_map(problem: Problem, scores: Scores) -> tuple[float, np.ndarray | None]:
    """The best value and an assignment that has it; ``(-inf, None)`` if nothing is feasible."""
    best, winner = -np.inf, None
    for x in enumerate_assignments(problem):
        value = naive_value(problem, scores, x)
        if value > best:
            best, winner = value, x
    return best, winner


def lp_bound(problem: Problem, scores: Scores, dual) -> float:
    """Upper bound of a dual point: every factor maximised by looking at all its vertices."""
    total = scores.constant
    residual = np.array(scores.theta, float)
    for e, (i, j) in enumerate(problem.pair_var):
        a, b = dual.pair[e]
        total += max(0.0, a, b, a + b + scores.pair[e])
        residual[i] -= a
        residual[j] -= b
    for kind, k, literals, links in factors(problem):
        link_scores = dual.logic[links]
        total += max(corner @ link_scores for corner in vertices(kind, len(links), k))
        for literal, score in zip(literals, link_scores, strict=True):
            if literal >= 0:
                residual[literal] -= score
            else:
                residual[~literal] += score
                total -= score
    return float(total + np.maximum(residual, 0.0).sum())
