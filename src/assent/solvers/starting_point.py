"""Where AD3 starts: penalty, over-relaxation, weights of the factors, first consensus."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assent.problem import DENSE, SUM, DualPoint, Float, Problem, Scores

# Penalties relative to the typical size of the scores.  Tables have more entries to choose from
# than a pair, and their largest ones count for less.
OF_SCORES = 0.2
OF_TABLES = 0.15

# Weight of exactly-one factors over variables that tables cover: the tables imply them, so they
# only slow the others down.
COVERED = 0.2


def initial_penalty(problem: Problem, scores: Scores) -> float:
    """A fraction of the typical size of the scores that matter; 1 if all scores are zero.

    The typical size is the mean of ``|score|`` weighted by ``|score|``: many zero or small
    scores beside a few large ones do not lower it, as they would a plain mean.
    """
    linked = np.abs(scores.theta[problem.degree > 0])
    scale = max(
        OF_SCORES * _self_weighted_mean(linked),
        OF_SCORES * _self_weighted_mean(np.abs(scores.pair)),
        OF_TABLES * _self_weighted_mean(_table_sizes(problem, scores)),
    )
    return scale if scale > 0.0 else 1.0


def default_relaxation(problem: Problem) -> float:
    """Over-relaxation that needed the fewest iterations: pairs overshoot earlier than the rest."""
    pairs_dominate = 2 * problem.n_pairs > len(problem.lits) + len(problem.tables.lits)
    return 1.5 if pairs_dominate else 1.85


def group_weights(problem: Problem) -> Float:
    """Penalty of each group ``[G]`` relative to the pairs': more for long exactly-k factors.

    With equal penalties such a factor is one voice among many at each of its coordinates; the
    root of its size took a tenth to a third off the iterations of parsing problems.  Heavier
    CAP or ANYOF factors did not help, nor did lighter ones.  Factors of two literals keep the
    weight 1, which their kernel takes for granted.
    """
    root = np.sqrt(0.5 * problem.group_size)
    weight = np.where(problem.group_kind == SUM, root, 1.0)
    covered = np.zeros(problem.n, bool)
    for lits, _ in _categorical_slots(problem):
        covered[np.where(lits < 0, ~lits, lits)] = True
    longer_sums = np.flatnonzero((problem.group_kind == SUM) & (problem.group_size > 2))
    for g in longer_sums if covered.any() else ():
        first = problem.group_link[g]
        lits = problem.lits[first : first + problem.group_size[g] * problem.group_count[g]]
        if np.mean((lits >= 0) & covered[lits]) > 0.5:
            weight[g] = COVERED
    return weight


def first_consensus(problem: Problem, scores: Scores) -> Float:
    """Every value of a variable alike ``[n]``; a coordinate without links at its best value."""
    p = np.where(problem.degree > 0, 0.5, (scores.theta > 0.0).astype(np.float64))
    for lits, states in _categorical_slots(problem):
        negated = lits < 0
        p[np.where(negated, ~lits, lits)] = np.where(negated, 1.0 - 1.0 / states, 1.0 / states)
    return p


def _categorical_slots(problem: Problem) -> Iterator[tuple[NDArray[np.int32], int]]:
    """Literals ``[m, states]`` of every slot of which exactly one is true."""
    tables = problem.written
    for t, count in enumerate(np.diff(tables.factor)):
        rows = tables.lits[tables.link[t] : tables.link[t + 1]].reshape(count, -1)
        begin = 0
        for slot in range(tables.slot[t], tables.slot[t + 1]):
            end = begin + int(tables.states[slot] - tables.first[slot])
            if tables.first[slot] == 0:
                yield rows[:, begin:end], int(tables.states[slot])
            begin = end
    written = len(tables.kind)
    tables = problem.tables
    for t, model in enumerate(problem.models, start=written):
        rows = tables.lits[tables.link[t] : tables.link[t + 1]].reshape(-1, len(model.place))
        ends = np.searchsorted(model.place, model.structure.start)
        for own in np.flatnonzero(np.array(model.structure.first) == 0):
            begin, end = ends[own : own + 2]
            if end > begin:
                yield rows[:, begin:end], int(end - begin)


def _table_sizes(problem: Problem, scores: Scores) -> Float:
    """How far the finite entries of tables are from their table's mean, from 0 for Potts."""
    tables = problem.tables
    sizes = [np.zeros(0)]
    for t, count in enumerate(np.diff(tables.factor)):
        own = scores.table[tables.entry[t] : tables.entry[t + 1]]
        rows = own.reshape(count, len(own) // count)
        finite = np.isfinite(rows)
        centre = 0.0
        if tables.kind[t] == DENSE:
            number = np.maximum(finite.sum(axis=1, keepdims=True), 1)
            centre = np.where(finite, rows, 0.0).sum(axis=1, keepdims=True) / number
        sizes.append(np.abs(rows - centre)[finite])
    return np.concatenate(sizes)


def _self_weighted_mean(sizes: Float) -> float:
    """``sum x^2 / sum x``, safe for any finite sizes; 0 for none."""
    largest = float(sizes.max(initial=0.0))
    if largest == 0.0:
        return 0.0
    relative = sizes / largest
    return largest * float(relative @ relative) / float(relative.sum())


def share_out(problem: Problem, scores: Scores, dual: DualPoint | None = None) -> Float:
    """Link scores (as ``Problem.all_lits``) that share out all of every coordinate's score.

    What ``dual`` leaves of it, all without one, goes to the coordinate's links in equal parts.
    """
    lits = problem.all_lits
    own = np.where(lits < 0, ~lits, lits)
    links = np.zeros(len(lits)) if dual is None else dual.joined()
    given = np.bincount(own, np.where(lits < 0, -links, links), minlength=problem.n)
    share = ((scores.theta - given) / np.maximum(problem.degree, 1))[own]
    return links + np.where(lits < 0, -share, share)
