"""Everything by enumeration: assignments, vertices, constraint checks, the exact optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from assent.kernels.problem import ANYOF, CAP, KNAPSACK, PARITY, POTTS, SUM, Problem, Scores


def binary_points(size: int) -> np.ndarray:
    """All ``2**size`` 0/1 vectors as rows."""
    return np.array(list(product((0, 1), repeat=size)), np.int8).reshape(-1, size)


def holds(
    kind: int, k: int, truths: np.ndarray, weights: np.ndarray | None = None, capacity: float = 0.0
) -> bool:
    """Whether literal truths satisfy one logic factor."""
    if kind == CAP:
        return int(truths.sum()) <= k
    if kind == SUM:
        return int(truths.sum()) == k
    if kind == PARITY:
        return int(truths.sum()) % 2 == 0
    if kind == KNAPSACK:
        assert weights is not None
        return float(weights @ truths) <= capacity + 1e-9 * abs(capacity)
    assert kind == ANYOF
    return bool(truths[-1]) == bool(truths[:-1].any())


def vertices(
    kind: int, size: int, k: int, weights: np.ndarray | None = None, capacity: float = 0.0
) -> np.ndarray:
    """Literal truths a logic factor allows, one per row."""
    points = binary_points(size)
    allowed = [holds(kind, k, point, weights, capacity) for point in points]
    return points[np.array(allowed, bool)]


def factors(problem: Problem) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Each logic factor as ``(kind, k, literals, links)``, in the order of ``problem.k``."""
    for g, kind in enumerate(problem.group_kind):
        m = int(problem.group_count[g])
        for f in range(m):
            links = problem.group_link[g] + m * np.arange(problem.group_size[g]) + f
            yield int(kind), int(problem.k[problem.group_factor[g] + f]), problem.lits[links], links


def load_limits(problem: Problem) -> dict[int, tuple[np.ndarray, float]]:
    """Weights and capacity of the KNAPSACK factors, by their place in ``problem.k``."""
    first_link = len(problem.lits) - len(problem.weights)
    first = len(problem.k) - len(problem.capacity)
    return {
        index: (problem.weights[links - first_link], float(problem.capacity[index - first]))
        for index, (kind, _, _, links) in enumerate(factors(problem))
        if kind == KNAPSACK
    }


class NaiveTable(NamedTuple):
    """One table: all joint states ``[m, slots]``, their scores, and truths of linked literals."""

    states: np.ndarray
    scores: np.ndarray
    truths: np.ndarray  # [m, links]
    literals: np.ndarray  # [links]
    links: np.ndarray  # [links] places in ``tables.lits``


def naive_tables(problem: Problem, scores: Scores) -> list[NaiveTable]:
    """Every table spelled out, POTTS ones as the dense tables they stand for."""
    tables, found = problem.tables, []
    for t, kind in enumerate(tables.kind):
        slots = slice(tables.slot[t], tables.slot[t + 1])
        states, first = tables.states[slots], tables.first[slots]
        joint = np.array(list(product(*(range(k) for k in states))))
        linked = [
            (s, state) for s in range(len(states)) for state in range(first[s], int(states[s]))
        ]
        truths = np.array([joint[:, s] == state for s, state in linked], np.int8).T
        members = int(tables.factor[t + 1] - tables.factor[t])
        entries = scores.table[tables.entry[t] : tables.entry[t + 1]].reshape(members, -1)
        for f in range(members):
            links = tables.link[t] + f * len(linked) + np.arange(len(linked))
            row = entries[f]
            if kind == POTTS:
                row = np.where(joint[:, 0] == joint[:, 1], row[joint[:, 0]], 0.0)
            found.append(NaiveTable(joint, row, truths, tables.lits[links], links))
    return found


def table_entry(table: NaiveTable, x: np.ndarray) -> float:
    """The entry at an assignment with whole variables; nan if a variable is not whole."""
    match = (table.truths == literal_truths(table.literals, x)).all(axis=1)
    return float(table.scores[match][0]) if match.any() else np.nan


def literal_truths(literals: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.array([x[lit] if lit >= 0 else 1 - x[~lit] for lit in literals], np.int8)


def violated_factors(problem: Problem, x: np.ndarray) -> list[int]:
    """Indices of the logic factors that an assignment breaks."""
    loads = load_limits(problem)
    return [
        index
        for index, (kind, k, literals, _) in enumerate(factors(problem))
        if not holds(kind, k, literal_truths(literals, x), *loads.get(index, ()))
    ]


def naive_value(problem: Problem, scores: Scores, x: np.ndarray) -> float:
    """Score of an assignment whose variables are whole where tables read them."""
    total = scores.constant
    for v in range(problem.n):
        total += scores.theta[v] * x[v]
    for e, (i, j) in enumerate(problem.pair_var):
        total += scores.pair[e] * x[i] * x[j]
    for table in naive_tables(problem, scores):
        total += table_entry(table, x)
    return float(total)


def enumerate_assignments(problem: Problem | int, allowed: Callable | None = None) -> np.ndarray:
    """Assignments as rows: those that satisfy a problem's logic factors, or a predicate."""
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


def fractional_knapsack(scores: np.ndarray, weights: np.ndarray, capacity: float) -> float:
    """Largest ``scores . z`` over ``0 <= z <= 1``, ``weights . z <= capacity``, greedily."""
    total, left = 0.0, capacity
    rate = np.where(weights > 0, scores / np.where(weights > 0, weights, 1.0), np.inf)
    for item in np.argsort(-rate):
        if scores[item] > 0.0:
            part = 1.0 if weights[item] <= left else max(0.0, left) / weights[item]
            total += part * scores[item]
            left -= part * weights[item]
    return total


def lp_bound(problem: Problem, scores: Scores, dual) -> float:
    """Upper bound of a dual point: every factor maximised by looking at all its vertices."""
    total = scores.constant
    residual = np.array(scores.theta, float)

    def charge(literals, link_scores):
        """Take link scores from their variables; what negated ones owe the constant."""
        np.subtract.at(residual, literals[literals >= 0], link_scores[literals >= 0])
        np.add.at(residual, ~literals[literals < 0], link_scores[literals < 0])
        return link_scores[literals < 0].sum()

    for e, (i, j) in enumerate(problem.pair_var):
        a, b = dual.pair[e]
        total += max(0.0, a, b, a + b + scores.pair[e])
        residual[i] -= a
        residual[j] -= b
    loads = load_limits(problem)
    for index, (kind, k, literals, links) in enumerate(factors(problem)):
        link_scores = dual.logic[links]
        if kind == KNAPSACK:
            total += fractional_knapsack(link_scores, *loads[index])
        else:
            total += max(corner @ link_scores for corner in vertices(kind, len(links), k))
        total -= charge(literals, link_scores)
    for table in naive_tables(problem, scores):
        link_scores = dual.table[table.links]
        total += (table.scores + table.truths @ link_scores).max()
        total -= charge(table.literals, link_scores)
    return float(total + np.maximum(residual, 0.0).sum())
