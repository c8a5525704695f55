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

from assent.compiled import FREE, Compiled, GraphScores
from assent.factors.base import Factor, Logic
from assent.factors.normal_form import NormalForm, maximize_form, repeated_last
from assent.factors.pair import Pair, inner_part
from assent.problem import CAP, Float, Int32

# Factors looked at together.
SLICE = 1 << 20

# Sums of millions of rounded terms: a proof of infeasibility must be clear of rounding.
RAY_MARGIN = 1e-9


@dataclass(frozen=True)
class Check:
    """What an assignment is worth: its value, and the factors it violates, in words."""

    value: float
    violated: tuple[str, ...]
    n_violated: int

    @property
    def feasible(self) -> bool:
        return self.n_violated == 0


def check_assignment(
    compiled: Compiled, scores: GraphScores, assignment: NDArray[np.int8], shown: int = 20
) -> Check:
    """Value and violations of ``assignment[N]`` (0 or 1 per coordinate), read off the graph.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> rule = g.add(at.ExactlyOne(g.binary(2, name="x")))
        >>> from assent.compiled import graph_scores
        >>> check_assignment(g.compile(), graph_scores(g), np.array([1, 1], np.int8)).violated
        ('ExactlyOne(x[0], x[1])',)
    """
    own = np.where(assignment == 1, scores.theta, 0.0)
    value = scores.constant + float(own.sum())
    words: list[str] = []
    count = 0
    pair_scores = iter(scores.pairs)
    for block in compiled.blocks:
        factor = block.factor
        if isinstance(factor, Pair):
            value += _earned(factor, next(pair_scores), assignment)
            continue
        assert isinstance(factor, Logic)
        truth = literal_truth(factor.codes, assignment)
        bad = np.flatnonzero(~factor.holds(truth)) if len(factor) else np.zeros(0, np.int64)
        count += len(bad)
        words += [block.words(int(row)) for row in bad[: shown - len(words)]]
    wrong = broken_evidence(compiled, assignment)
    count += len(wrong)
    words += [f"evidence {compiled.graph.describe_code(c)}" for c in wrong[: shown - len(words)]]
    if np.isneginf(value):
        count, words = count + 1, [*words, "a value or pair forbidden by -inf"]
    return Check(value, tuple(words), count)


def _earned(factor: Pair, scores: Float, assignment: NDArray[np.int8]) -> float:
    """What pairs earn, added up in slices: millions at once would need much memory."""
    total = 0.0
    for start in range(0, len(factor), SLICE):
        part = slice(start, start + SLICE)
        both = literal_truth(factor.codes[part], assignment).all(axis=1)
        total += float(scores[part][both].sum())
    return total


def broken_evidence(compiled: Compiled, assignment: NDArray[np.int8]) -> list[int]:
    """Codes of evidence literals that ``assignment`` makes false."""
    codes = compiled.graph.evidence()
    return [int(c) for c in codes[~literal_truth(codes, assignment)]]


def literal_truth(codes: Int32, assignment: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Truth of literals under an assignment."""
    return (assignment[np.where(codes < 0, ~codes, codes)] == 1) ^ (codes < 0)


def upper_bound(compiled: Compiled, scores: GraphScores, dual: tuple[Float, ...]) -> float:
    """The bound that link scores ``dual`` (one ``[m, size]`` array per batch) prove."""
    total, residual = scores.constant, scores.theta.copy()
    pair_scores = iter(scores.pairs)
    for block, links in zip(compiled.blocks, dual, strict=True):
        own = next(pair_scores) if isinstance(block.factor, Pair) else None
        total += _block_bound(block.factor, own, links, compiled.fixed)
        total -= _charge(block.factor.codes, links, residual)
    free, true = compiled.fixed == FREE, compiled.fixed == 1
    return total + float(np.maximum(residual[free], 0.0).sum() + residual[true].sum())


def _block_bound(
    factor: Factor, pair_scores: Float | None, links: Float, fixed: NDArray[np.int8]
) -> float:
    """Sum over a batch of the best local value that agrees with the fixed coordinates."""
    if not len(factor):
        return 0.0
    known = fixed[np.where(factor.codes < 0, ~factor.codes, factor.codes)]
    pinned = known != FREE
    truth = (known == 1) ^ (factor.codes < 0)
    if pair_scores is not None:
        return _pair_bound(pair_scores, links, pinned, truth)
    assert isinstance(factor, Logic)
    form = factor.normal_form()
    wish = np.where(pinned, np.where(truth, np.inf, -np.inf), links)
    vertex = _best_vertex(form, factor.codes, np.where(form.flip, -wish, wish)) ^ form.flip
    return float(np.where(vertex, links, 0.0).sum())


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


def _pair_bound(
    pair_scores: Float, links: Float, pinned: NDArray[np.bool_], truth: NDArray[np.bool_]
) -> float:
    best = np.full(len(links), -np.inf)
    for first in (False, True):
        for second in (False, True):
            value = first * links[:, 0] + second * links[:, 1]
            if first and second:
                value = value + pair_scores
            wrong = pinned & (truth != np.array([first, second]))
            best = np.maximum(best, np.where(wrong.any(axis=1), -np.inf, value))
    return float(best.sum())


def _charge(codes: Int32, links: Float, residual: Float) -> float:
    """Take link scores off the variables' own; returns the constant negated literals earn."""
    negated = codes < 0
    variable = np.where(negated, ~codes, codes).ravel()
    signed = np.where(negated, -links, links).ravel()
    residual -= np.bincount(variable, signed, minlength=len(residual))
    return float(links[negated].sum())


def proves_infeasible(compiled: Compiled, ray: tuple[Float, ...]) -> bool:
    """Whether link scores bound the all-zero objective below zero: nothing is feasible then."""
    forbids = compiled.forbids
    zeros = GraphScores(
        np.where(forbids[0], -np.inf, 0.0),
        tuple(np.where(mask, -np.inf, 0.0) for mask in forbids[1:]),
        0.0,
    )
    scale = max((float(np.abs(links).sum()) for links in ray if links.size), default=0.0)
    return upper_bound(compiled, zeros, ray) < -RAY_MARGIN * scale


def relaxed_value(compiled: Compiled, scores: GraphScores, marginals: Float) -> float:
    """The relaxation's objective at ``marginals[N]``, pairs taking their best inner part."""
    with np.errstate(invalid="ignore"):
        own = np.where(marginals > 0, scores.theta * marginals, 0.0)
    value = scores.constant + float(own.sum())
    pairs = (b.factor for b in compiled.blocks if isinstance(b.factor, Pair))
    for factor, pair_scores in zip(pairs, scores.pairs, strict=True):
        w = inner_part(literal_marginals(factor.codes, marginals), pair_scores)
        value += float(np.where(w > 0, np.where(np.isneginf(pair_scores), 0.0, pair_scores), 0) @ w)
    return value


def literal_marginals(codes: Int32, marginals: Float) -> Float:
    """Marginals of literals: ``p`` or ``1 − p``."""
    p = marginals[np.where(codes < 0, ~codes, codes)]
    return np.where(codes < 0, 1.0 - p, p)


def disagreement(compiled: Compiled, marginals: Float) -> float:
    """Root mean square distance, per link, from ``marginals[N]`` to the factors' hulls."""
    total, links = 0.0, 0
    for block in compiled.blocks:
        if isinstance(block.factor, Logic) and len(block.factor):
            point = literal_marginals(block.factor.codes, marginals)
            total += float(((block.factor.project(point) - point) ** 2).sum())
        links += block.factor.codes.size
    return float(np.sqrt(total / max(links, 1)))
