"""Scores of the number of true literals as rows.

Where they are concave in the number (penalties per literal too many or too few, a clause that is
paid for), so is the best score that fractional literals of a sum can have: it lies below a line
per slope.  With ``F`` the best of all and a column ``t >= 0`` for what is missing,

    F - t <= slope . (l_1 + … + l_n) + rest      for every slope but 0

are the hull.  Other scores take a column per number, for integer programs only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Float, Int64, Model
from assent.solvers.programs.row_builder import LinkStates, RowBuilder

# Slopes are differences of rounded products: they differ from here on, relative to the largest.
ROUNDED = 1e-12


def add_cardinality(
    builder: RowBuilder, model: Model, links: Int64, inner: Float, integer: bool
) -> NDArray[np.bool_]:
    """Rows of counts ``[m]``; returns for which of them there are any."""
    free = links.shape[1]
    already = _already(model)
    scores = inner[:, already : already + free + 1]
    concave = is_concave(scores)
    _add_concave(builder, links[concave], scores[concave])
    if not integer:
        return concave
    rows = add_counts(builder, scores[~concave])
    builder.put(rows[:, None], LinkStates(links[~concave]), 1.0)
    return np.ones(len(links), bool)


def _already(model: Model) -> int:
    """How many literals are true already."""
    true = np.arange(1, len(model.base), 2)
    return int((~np.isin(true, model.place) & np.isinf(model.base[true - 1])).sum())


def add_counts(builder: RowBuilder, scores: Float) -> Int64:
    """One integral column per number; returns the rows ``[m]`` that what is counted goes into."""
    m, numbers = scores.shape
    allowed = np.isfinite(scores)
    columns = builder.columns(np.where(allowed, -scores, 0.0), integral=True)
    builder.put_column(builder.rows(np.ones(m), lower=1.0)[:, None], columns, 1.0)
    builder.put_column(builder.rows(np.zeros(int((~allowed).sum()))), columns[~allowed], 1.0)
    rows = builder.rows(np.zeros(m), lower=0.0)
    builder.put_column(rows[:, None], columns, -np.arange(numbers, dtype=float))
    return rows


def is_concave(scores: Float) -> NDArray[np.bool_]:
    """``[m]`` whether scores ``[m, numbers]`` never rise by more than they rose before."""
    _, bend, within = _slopes(scores)
    allowed = np.isfinite(scores)
    runs = (np.diff(allowed.astype(np.int8), axis=1) == 1).sum(axis=1) + allowed[:, 0]
    return (~np.isfinite(bend) | (bend <= within)).all(axis=1) & (runs == 1)


def _slopes(scores: Float) -> tuple[Float, Float, Float]:
    """What one more is worth, by how much that changes, and ``[m, 1]`` what is a change of 0."""
    finite = np.where(np.isfinite(scores), scores, 0.0)
    with np.errstate(invalid="ignore"):  # no numbers next to what is forbidden
        slope = np.diff(scores, axis=1)
        bend = np.diff(slope, axis=1)
    return slope, bend, ROUNDED * np.abs(finite).max(axis=1, keepdims=True)


def _add_concave(builder: RowBuilder, links: Int64, scores: Float) -> None:
    literals, allowed = LinkStates(links), np.isfinite(scores)
    # 1. Numbers that are forbidden are too small or too large.
    least, most = allowed.argmax(axis=1), scores.shape[1] - 1 - allowed[:, ::-1].argmax(axis=1)
    for bound, sign, binds in ((most, 1.0, ~allowed[:, -1]), (-least, -1.0, ~allowed[:, 0])):
        rows = builder.rows(bound[binds].astype(float))
        builder.put(rows[:, None], literals[binds], sign)
    # 2. A line for every slope, in units of the steepest; the first of equal ones stands for all.
    slope, bend, within = _slopes(scores)
    news = np.isfinite(slope) & (np.abs(slope) > within)
    news[:, 1:] &= ~(np.abs(bend) <= within)
    best = scores.max(axis=1)
    builder.add_constant(float(best.sum()))
    factor, number = np.nonzero(news)
    steepest = np.zeros(len(links))
    np.maximum.at(steepest, factor, np.abs(slope[factor, number]))
    steep = steepest > 0.0
    missing = np.full(len(links), -1)
    missing[steep] = builder.columns(steepest[steep])
    unit, own = steepest[factor], slope[factor, number]
    upper = (scores[factor, number] - own * number - best[factor]) / unit
    rows = builder.rows(upper, limit=unit)
    builder.put(rows[:, None], literals[factor], (-own / unit)[:, None])
    builder.put_column(rows, missing[factor], -1.0)
