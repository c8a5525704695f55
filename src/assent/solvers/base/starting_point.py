"""Where AD3 starts: penalty, over-relaxation, weights of the factors, first consensus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.table_groups import structure_groups, table_groups
from assent.kernels.ad3 import initial_multipliers as kernel
from assent.kernels.problem import SUM, DualPoint, Float, Problem, Scores
from assent.solvers.base.protocol import WarmStart

# Weight of exactly-one factors over variables that tables cover: the tables imply them, so they
# only slow the others down.
COVERED = 0.2

# Multipliers this many times as large as the largest score were found for other scores.
OUT_OF_PROPORTION = 2.0**10


def initial_penalty(problem: Problem, scores: Scores) -> float:
    """A fraction of the typical size of the scores that matter; 1 if all scores are zero."""
    tables = problem.tables
    scale = kernel.size_of_scores(scores.theta, problem.degree, scores.pair)
    if len(scores.table):
        own = kernel.size_of_tables(tables.kind, tables.entry, tables.factor, scores.table)
        scale = max(scale, own)
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
    if not len(problem.tables.kind):
        return weight
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


class LinkWeights(NamedTuple):
    """Weights of a problem's links in its consensus."""

    group: Float  # [G]
    link: Float  # [L]
    mass: Float  # [n] of a coordinate's links, 1 where there are none
    total: float


def link_weights(problem: Problem) -> LinkWeights:
    """Weights of groups, links and coordinates."""
    group = group_weights(problem)
    link, mass = np.empty(len(problem.lits)), problem.degree.astype(np.float64)
    kernel.weigh_links(group, problem.group_size, problem.group_count, problem.lits, link, mass)
    return LinkWeights(group, link, np.where(mass > 0.0, mass, 1.0), float(mass.sum()))


def first_consensus(problem: Problem, scores: Scores) -> Float:
    """Every value of a variable alike ``[n]``; a coordinate without links at its best value."""
    p = np.where(problem.degree > 0, 0.5, (scores.theta > 0.0).astype(np.float64))
    if not len(problem.tables.kind):
        return p
    for lits, states in _categorical_slots(problem):
        negated = lits < 0
        p[np.where(negated, ~lits, lits)] = np.where(negated, 1.0 - 1.0 / states, 1.0 / states)
    return p


def _categorical_slots(problem: Problem) -> Iterator[tuple[NDArray[np.int32], int]]:
    """Literals ``[m, states]`` of every slot of which exactly one is true."""
    for group in table_groups(problem):
        for columns, states, first in zip(group.columns, group.states, group.first, strict=True):
            if first == 0:
                yield group.lits[:, columns], states
    for model, group in zip(problem.models, structure_groups(problem), strict=True):
        ends = np.searchsorted(model.place, model.structure.start)
        for own in np.flatnonzero(np.array(model.structure.first) == 0):
            begin, end = ends[own : own + 2]
            if end > begin:
                yield group.lits[:, begin:end], int(end - begin)


def in_proportion(warm_start: WarmStart, scores: Scores) -> WarmStart:
    """The same, its multipliers made smaller where they are out of all proportion to the scores.

    Such ones were found for scores of another size: to take them back would need thousands of
    iterations, and their digits are coarser than what they are to tell apart.  Where all scores are
    zero, one is their size, as it is that of gaps.

    Example:
        >>> from assent.kernels.problem import DualPoint
        >>> far = WarmStart(np.ones(1), DualPoint(np.array([[-6e6, 1e6]]), np.zeros(0)), 1e6)
        >>> near = in_proportion(far, Scores(np.array([3.0]), np.array([-1.0])))
        >>> near.dual.pair.tolist(), near.penalty
        ([[-2.86102294921875, 0.476837158203125]], 0.476837158203125)
    """
    size = max(_largest(part) for part in (scores.theta, scores.pair, scores.table)) or 1.0
    dual = warm_start.dual
    most = max(_largest(part) for part in (dual.pair, dual.logic, dual.table))
    if not size < most / OUT_OF_PROPORTION:
        return warm_start
    factor = 2.0 ** np.floor(np.log2(size) - np.log2(most))  # rounds nothing
    own = DualPoint(dual.pair * factor, dual.logic * factor, dual.table * factor)
    return WarmStart(warm_start.marginals, own, warm_start.penalty * float(factor))


def _largest(values: Float) -> float:
    """The largest size that is not infinite."""
    sizes = np.abs(values)
    return float(sizes.max(initial=0.0, where=np.isfinite(sizes)))


def share_out(problem: Problem, scores: Scores, warm_start: WarmStart | None = None) -> Float:
    """Link scores (as ``Problem.all_lits``) that share out all of every coordinate's score.

    What an earlier run's dual point leaves of it, all without one, goes to the coordinate's links
    in equal parts.
    """
    lits = problem.all_lits
    own = np.where(lits < 0, ~lits, lits)
    links = np.zeros(len(lits)) if warm_start is None else warm_start.dual.joined()
    given = np.bincount(own, np.where(lits < 0, -links, links), minlength=problem.n)
    share = ((scores.theta - given) / np.maximum(problem.degree, 1))[own]
    return links + np.where(lits < 0, -share, share)
