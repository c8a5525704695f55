"""Factors over two variables, of whatever kind, as tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assent.kernels.problem import ANYOF, CAP, PARITY, SUM, Float, Int32, Int64, Problem, Scores
from assent.reductions.dense_tables import DenseTables, Slot, dense_tables
from assent.reductions.exclusive_literals import logic_groups

# Which truths of two literals rules allow.
_DIFFER = np.array([[-np.inf, 0.0], [0.0, -np.inf]])
_AGREE = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
_NOT_BOTH = np.array([[0.0, 0.0], [0.0, -np.inf]])
RULES: dict[int, Float] = {CAP: _NOT_BOTH, SUM: _DIFFER, PARITY: _AGREE, ANYOF: _AGREE}


def over_two(problem: Problem, scores: Scores) -> Iterator[tuple[DenseTables, Int64]]:
    """All factors over two variables, and their links ``[m, links]`` as in ``Problem.all_lits``."""
    pairs = np.zeros((problem.n_pairs, 2, 2))
    pairs[:, 1, 1] = scores.pair
    yield _of_literals(problem.pair_var, pairs), np.arange(pairs.size // 2).reshape(-1, 2)
    begin = 2 * problem.n_pairs
    for group in logic_groups(problem):
        size, m = group.lits.shape
        if _is_small_rule(group.kind, size):
            links = begin + np.arange(2 * m).reshape(2, m).T
            allowed = np.broadcast_to(RULES[group.kind], (m, 2, 2))
            yield _of_literals(group.lits.T, allowed), links
        begin += size * m
    for tables in dense_tables(problem, scores):
        width = sum(slot.lits.shape[1] for slot in tables.slots)
        count = len(tables.scores) * width
        if len(tables.slots) == 2:
            yield tables, begin + np.arange(count).reshape(-1, width)
        begin += count


def over_more(problem: Problem) -> Int32:
    """Literals of all other factors, end to end."""
    groups, t = logic_groups(problem), problem.written
    parts = [g.lits.ravel() for g in groups if not _is_small_rule(g.kind, len(g.lits))]
    for group, slots in enumerate(np.diff(t.slot)):
        if slots != 2:
            parts.append(t.lits[t.link[group] : t.link[group + 1]])
    return np.concatenate([*parts, problem.tables.lits[len(t.lits) :]])


def _is_small_rule(kind: int, size: int) -> bool:
    return size == 2 and kind in RULES


def _of_literals(lits: Int32, scores: Float) -> DenseTables:
    """Tables over two literals each, ``[m, 2]``."""
    return DenseTables((Slot(lits[:, :1], True), Slot(lits[:, 1:], True)), scores)
