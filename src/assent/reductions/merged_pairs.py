"""Pairs over the same two variables are one, and pairs without a score are none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.factors.pair import Pair
from assent.kernels.problem import Float, Int32, Int64
from assent.model.variables import coordinates_of
from assent.reductions.rewritten_graph import GraphRewrite


class _Terms(NamedTuple):
    """Pairs as ``constant + x * low + y * high + product * x * y`` per unit of score.

    ``low`` and ``high`` are the coordinates ``x`` and ``y``, the smaller one first.
    """

    low: Int64
    high: Int64
    constant: Float
    at_low: Float
    at_high: Float
    product: Float


def merge_pairs(draft: GraphRewrite) -> None:
    """The first pair over two variables takes all; what negations leave goes to the variables."""
    numbers = [i for i, block in enumerate(draft.blocks) if isinstance(block.factor, Pair)]
    if not numbers:
        return
    score = np.concatenate([draft.scores[i] for i in numbers])
    terms = _terms(np.concatenate([draft.blocks[i].factor.codes for i in numbers]))
    plain = np.flatnonzero(np.isfinite(score) & (terms.low != terms.high))
    key = terms.low[plain] * len(draft.theta) + terms.high[plain]
    _, first, member = np.unique(key, return_index=True, return_inverse=True)
    several = np.flatnonzero(np.bincount(member)[member] > 1)
    score = _moved(draft, terms, score, plain[several], plain[first[member[several]]])
    ends = np.cumsum([len(draft.scores[i]) for i in numbers])
    for i, own in zip(numbers, np.split(score, ends[:-1]), strict=True):
        draft.scores[i], draft.stays[i] = own, own != 0.0


def _terms(codes: Int32) -> _Terms:
    coordinate, negated = coordinates_of(codes).astype(np.int64), codes < 0
    swapped = coordinate[:, 0] > coordinate[:, 1]
    coordinate = np.where(swapped[:, None], coordinate[:, ::-1], coordinate)
    negated = np.where(swapped[:, None], negated[:, ::-1], negated)
    x, y = negated.T
    sign_x, sign_y = np.where(x, -1.0, 1.0), np.where(y, -1.0, 1.0)
    return _Terms(
        coordinate[:, 0], coordinate[:, 1], (x & y).astype(float),
        np.where(y, sign_x, 0.0), np.where(x, sign_y, 0.0), sign_x * sign_y,
    )  # fmt: skip


def _moved(draft: GraphRewrite, terms: _Terms, score: Float, rows: Int64, kept: Int64) -> Float:
    """Scores after every row's was added to that of the row kept in its place (or itself)."""
    score = score.copy()
    given = np.bincount(kept, terms.product[rows] * score[rows], minlength=len(score))
    before, rest = score[rows], np.unique(kept)
    _give(draft, terms, rows, before)
    score[rows] = 0.0
    score[rest] = terms.product[rest] * given[rest]
    _give(draft, terms, rest, -score[rest])
    return score


def _give(draft: GraphRewrite, terms: _Terms, rows: Int64, amount: Float) -> None:
    """Add the terms of pairs other than the product to the scores of variables."""
    np.add.at(draft.theta, terms.low[rows], amount * terms.at_low[rows])
    np.add.at(draft.theta, terms.high[rows], amount * terms.at_high[rows])
    draft.constant += float((amount * terms.constant[rows]).sum())
