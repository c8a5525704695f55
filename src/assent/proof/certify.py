"""Recheck an answer from the graph, an assignment and a dual point alone; imports no solver.

For any link scores ``s`` (one per literal of every factor)

    optimum <= sum over factors of max(factor score + link scores of its true literals)
               + sum over variables of max(0, own score − link scores it was charged)

because the right-hand side maximises the same total score with every factor and every variable
free to disagree.  With all own scores set to zero the same sum bounds 0 from above wherever a
feasible assignment exists: a negative sum therefore proves that there is none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import FREE, Compiled, GraphScores
from assent.factors.base import Factor, Logic
from assent.factors.normal_form import NormalForm, maximize_form, repeated_last
from assent.factors.pair import Pair
from assent.factors.scored import Scored
from assent.factors.soft import SoftKnapsack
from assent.kernels.problem import CAP, KNAPSACK, Float, Int32
from assent.model.variables import coordinates_of

# Factors evaluated together: some megabytes.
SLICE = 1 << 20

# Violated factors that are put into words.
SHOWN = 20

# Sums of millions of rounded terms: a proof of infeasibility must be clear of rounding.
FARKAS_MARGIN = 1e-9


@dataclass(frozen=True)
class Check:
    """The value of an assignment, and the factors it violates, in words."""

    value: float
    violated: tuple[str, ...]
    n_violated: int

    @property
    def feasible(self) -> bool:
        return self.n_violated == 0


def check_assignment(
    compiled: Compiled, scores: GraphScores, assignment: NDArray[np.int8]
) -> Check:
    """Value and violations of ``assignment[N]`` (0 or 1 per coordinate), read off the graph."""
    is_true = assignment == 1
    truth_of = np.concatenate([is_true, ~is_true[::-1]])  # by code: ``~v`` counts from the end
    value = scores.constant + float(scores.theta[is_true].sum())
    words: list[str] = []
    count = 0
    for block, own_scores in zip(compiled.blocks, compiled.by_block(scores), strict=True):
        factor = block.factor
        if isinstance(factor, Pair):
            value += _earned(factor, own_scores, truth_of)
            continue
        truth = truth_of[factor.codes]
        if isinstance(factor, Logic):
            holds = factor.holds(truth)
        else:
            assert isinstance(factor, Scored)
            earned = factor.value_at(truth, own_scores)
            total = float(earned.sum())
            if total > -np.inf:
                value += total
                continue
            holds = ~np.isneginf(earned)
            value += float(earned[holds].sum())
        if holds.all():
            continue
        bad = np.flatnonzero(~holds)
        count += len(bad)
        words += [block.words(int(row)) for row in bad[: SHOWN - len(words)]]
    wrong = compiled.evidence[~literal_truth(compiled.evidence, assignment)].tolist()
    count += len(wrong)
    words += [f"evidence {compiled.graph.describe_code(c)}" for c in wrong[: SHOWN - len(words)]]
    if np.isneginf(value):
        count, words = count + 1, [*words, "a value or pair forbidden by -inf"]
    return Check(value, tuple(words), count)


def with_violations_paid(compiled: Compiled, assignment: NDArray[np.int8]) -> NDArray[np.int8]:
    """``assignment[N]`` in which soft knapsacks are paid for where that is due, and only there."""
    soft = [block.factor for block in compiled.blocks if isinstance(block.factor, SoftKnapsack)]
    if soft:
        assignment = assignment.copy()
    for factor in soft:
        assignment[factor.paid] = factor.is_due(literal_truth(factor.codes, assignment))
    return assignment


def _earned(factor: Pair, scores: Float, truth_of: NDArray[np.bool_]) -> float:
    """What pairs earn, added up in slices: millions at once would need much memory."""
    total = 0.0
    for start in range(0, len(factor), SLICE):
        part = slice(start, start + SLICE)
        truth = truth_of[factor.codes[part]]
        total += float(scores[part][truth[:, 0] & truth[:, 1]].sum())
    return total


def literal_truth(codes: Int32, assignment: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Truth of literals under an assignment ``[N]``, or under many, ``[B, N]``."""
    return (assignment[..., coordinates_of(codes)] == 1) ^ (codes < 0)


def upper_bound(
    compiled: Compiled,
    scores: GraphScores,
    dual: tuple[Float, ...],
    known: NDArray[np.int8] | None = None,
) -> float:
    """The bound that link scores ``dual`` (one ``[m, size]`` array per batch) prove.

    ``known[N]`` are values that are given, -1 for free: by default those the graph fixes.
    """
    fixed = compiled.fixed if known is None else known
    total, residual = scores.constant, scores.theta.copy()
    own_scores = compiled.by_block(scores)
    for block, own, links in zip(compiled.blocks, own_scores, dual, strict=True):
        total += _block_bound(block.factor, own, links, fixed)
        total -= charge(block.factor.codes, links, residual)
    free, true = fixed == FREE, fixed == 1
    return total + float(np.maximum(residual[free], 0.0).sum() + residual[true].sum())


def _block_bound(factor: Factor, scores: Float, links: Float, known: NDArray[np.int8]) -> float:
    """Sum over a batch of the best local value that agrees with what is known."""
    if not len(factor):
        return 0.0
    own = known[coordinates_of(factor.codes)]
    return float(row_bounds(factor, scores, links, own, slice(None)).sum())


def row_bounds(
    factor: Factor,
    scores: Float,
    links: Float,
    known: NDArray[np.int8],
    rows: slice | NDArray[np.int64],
) -> Float:
    """The best local values of ``rows`` of a batch, ``[R]``.

    ``known[R, size]`` are the values of its coordinates that each has to agree with.
    """
    codes, own = factor.codes[rows], links[rows]
    pinned, negated = known != FREE, codes < 0
    truth = (known == 1) ^ negated
    if isinstance(factor, Scored):
        return factor.best_values(own, scores[rows], factor.allowed_states(~pinned, truth))
    if isinstance(factor, Pair):
        return _pair_bounds(scores[rows], own, pinned, truth)
    assert isinstance(factor, Logic)
    form = factor.normal_form().take(rows)
    if form.form == KNAPSACK:
        return _knapsack_bounds(form, own, pinned, truth)
    objective = np.where(pinned, np.where(truth, np.inf, -np.inf), own)
    vertex = _best_vertex(form, codes, np.where(form.flip, -objective, objective)) ^ form.flip
    return np.asarray(np.where(vertex, own, 0.0).sum(axis=1))


def _knapsack_bounds(
    form: NormalForm,
    links: Float,
    pinned: NDArray[np.bool_],
    truth: NDArray[np.bool_],
) -> Float:
    """Packed items count in full and take their weight; the rest is filled up."""
    assert form.weights is not None and form.capacity is not None
    packed = pinned & truth
    taken = np.where(packed, form.weights, 0.0).sum(axis=1)
    rest = form._replace(capacity=np.maximum(form.capacity - taken, 0.0))
    loose = np.where(pinned, 0.0, links)
    return np.asarray((loose * rest.fill(loose) + np.where(packed, links, 0.0)).sum(axis=1))


def _best_vertex(form: NormalForm, codes: Int32, scores: Float) -> NDArray[np.bool_]:
    """Best vertices of a form ``[m, size]``; a literal that stands in it twice has one value."""
    rows, column = np.nonzero(repeated_last(form.form, form.literals(codes)))
    scores[rows, column] += scores[rows, -1]
    scores[rows, -1] = -np.inf
    k = form.k.copy()
    if form.form == CAP:  # only "not all of them" can repeat a literal: one fewer to count
        k[rows] -= 1
    vertex = maximize_form(form.form, k, scores)
    vertex[rows, -1] = vertex[rows, column]
    return vertex


def _pair_bounds(
    pair_scores: Float, links: Float, pinned: NDArray[np.bool_], truth: NDArray[np.bool_]
) -> Float:
    best = np.full(len(links), -np.inf)
    for first in (False, True):
        for second in (False, True):
            value = first * links[:, 0] + second * links[:, 1]
            if first and second:
                value = value + pair_scores
            wrong = pinned[:, 0] & (truth[:, 0] != first) | pinned[:, 1] & (truth[:, 1] != second)
            best = np.maximum(best, np.where(wrong, -np.inf, value))
    return best


def charge(codes: Int32, links: Float, residual: Float) -> float:
    """Take link scores off the variables' own; returns the constant negated literals earn."""
    negated = codes < 0
    variable = np.where(negated, ~codes, codes).ravel()
    signed = np.where(negated, -links, links).ravel()
    residual -= np.bincount(variable, signed, minlength=len(residual))
    return float(links[negated].sum())


def proves_infeasible(
    compiled: Compiled,
    scores: GraphScores,
    ray: tuple[Float, ...],
    known: NDArray[np.int8] | None = None,
) -> bool:
    """Whether link scores bound the all-zero objective below zero: nothing is feasible then."""
    scale = max((float(np.abs(links).sum()) for links in ray if links.size), default=0.0)
    return upper_bound(compiled, scores.zeroed(), ray, known) < -FARKAS_MARGIN * scale


def literal_marginals(codes: Int32, marginals: Float) -> Float:
    """Marginals of literals: ``p`` or ``1 − p``."""
    p = marginals[coordinates_of(codes)]
    return np.where(codes < 0, 1.0 - p, p)
