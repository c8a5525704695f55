"""Where pairs go: kept, left with one free literal, or decided; and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.logic_placement import FREE, renumber
from assent.factors.pair import Pair
from assent.kernels.problem import Float, Int32, Int64, Problem
from assent.model.variables import coordinates_of

if TYPE_CHECKING:
    from assent.model.graph import Handle


class PlacedPairs(NamedTuple):
    """Where a batch of pairs went: ``kept`` rows (None: all) and rows left with one free literal.

    ``single`` are rows whose other literal is true; ``single_code`` the literal that is free.
    ``earned`` are rows with both literals fixed to true.
    """

    block: int
    kept: Int64 | None
    first: int
    members: int
    single: Int64
    single_code: Int32
    single_column: Int64
    earned: Int64


def pair_of(block: Handle) -> Pair:
    """The factor of a batch that holds pairs."""
    assert isinstance(block.factor, Pair)
    return block.factor


def share(
    blocks: tuple[Handle, ...], placed: tuple[PlacedPairs, ...], problem: Problem
) -> Float | None:
    """Pair scores end to end, where all pairs are kept and none is negated; else None.

    The batches then read codes and scores from the flat arrays: ten million pairs are 160 MB of
    them, and once is enough.
    """
    factors = [pair_of(blocks[part.block]) for part in placed]
    if any(p.kept is not None or (f.codes < 0).any() for p, f in zip(placed, factors, strict=True)):
        return None
    if len(factors) == 1:
        return factors[0].scores
    if not factors:
        return np.zeros(0)
    flat = np.concatenate([f.scores for f in factors])
    for part, factor in zip(placed, factors, strict=True):
        rows = slice(part.first, part.first + part.members)
        factor.codes, factor.scores = problem.pair_var[rows], flat[rows]
        factor.graph._written = None  # what it remembers is shared no more
    return flat


def place_pairs(
    blocks: tuple[Handle, ...],
    fixed: NDArray[np.int8],
    column: Int32 | None,
    forbidden: tuple[Int64, ...],
) -> tuple[tuple[PlacedPairs, ...], list[Int32]]:
    """Where every batch of pairs goes, and the codes of those kept.

    ``column[N]`` numbers the free coordinates; None where all are.
    """
    placed, kept_codes = [], []
    first = 0
    pair_blocks = [i for i, block in enumerate(blocks) if isinstance(block.factor, Pair)]
    for i in pair_blocks:
        codes, never = blocks[i].factor.codes, forbidden[i]
        if column is None and not len(never):
            part = _all_kept(i, first, len(codes))
            kept_codes.append(codes)
        else:
            part = _sort_pairs(i, first, codes, fixed, never)
            kept_codes.append(renumber(codes[part.kept], column))
        placed.append(part)
        first += part.members
    return tuple(placed), kept_codes


def _all_kept(block: int, first: int, count: int) -> PlacedPairs:
    none = np.zeros(0, np.int64)
    return PlacedPairs(block, None, first, count, none, none.astype(np.int32), none, none)


def _sort_pairs(
    block: int, first: int, codes: Int32, fixed: NDArray[np.int8], never: Int64
) -> PlacedPairs:
    values = fixed[coordinates_of(codes)]
    free = values == FREE
    true = ((values ^ (codes < 0)) == 1) & ~free
    (free_a, free_b), (true_a, true_b) = free.T, true.T  # quicker than row by row
    possible = np.ones(len(codes), bool)
    possible[never] = False
    kept = np.flatnonzero(free_a & free_b & possible)
    single = np.flatnonzero((free_a & true_b | true_a & free_b) & possible)
    column = free_b[single].astype(np.int64)
    earned = np.flatnonzero(true_a & true_b & possible)
    return PlacedPairs(block, kept, first, len(kept), single, codes[single, column], column, earned)


def coordinates(pair_codes: list[Int32]) -> Int32:
    """The coordinates ``[P, 2]`` of pairs."""
    if not pair_codes:
        return np.zeros((0, 2), np.int32)
    codes = pair_codes[0] if len(pair_codes) == 1 else np.concatenate(pair_codes)
    return coordinates_of(codes) if np.count_nonzero(codes < 0) else codes


def fold_negations(codes: Int32, values: Float, column: Int64, theta: Float) -> tuple[Float, float]:
    """Scores on both variables true, with what negations add to ``theta`` and the constant.

    ``s·(1−x)·y = s·y − s·x·y``: each negation flips the sign of the product and leaves a unary
    score behind.
    """
    negated = codes < 0
    if not negated.any():
        return values, 0.0
    flips = negated[:, 0] ^ negated[:, 1]
    for side in (0, 1):
        rows = np.flatnonzero(negated[:, 1 - side])
        code = codes[rows, side]
        share = np.where(code < 0, -values[rows], values[rows])
        np.add.at(theta, column[coordinates_of(code)], share)
    return np.where(flips, -values, values), float(values[negated.all(axis=1)].sum())


def score_singles(placed: PlacedPairs, values: Float, column: Int64, theta: Float) -> float:
    """Pairs with one literal true: the other literal earns the score alone."""
    code, score = placed.single_code, values[placed.single]
    np.add.at(theta, column[coordinates_of(code)], np.where(code < 0, -score, score))
    return float(score[code < 0].sum())


def restore_pairs(
    placed: PlacedPairs, codes: Int32, values: Float, links: Float, out: Float
) -> None:
    """Write the flat link scores ``links[P, 2]`` of a batch of pairs to its ``out[m, 2]``."""
    rows = slice(None) if placed.kept is None else placed.kept
    own = links[placed.first : placed.first + placed.members]
    negated = codes[rows] < 0
    # The unary parts that folding negations moved into theta come back off the links.
    moved = np.where(negated[:, ::-1], values[rows][:, None], 0.0)
    out[rows] = np.where(negated, -own, own) - moved
    out[placed.single, placed.single_column] = -values[placed.single]


def gather_pairs(
    placed: PlacedPairs, codes: Int32, values: Float, own: NDArray[Any], links: Float
) -> None:
    """The other way: from ``own[m, 2]`` of a batch to the flat link scores ``links[P, 2]``."""
    rows = slice(None) if placed.kept is None else placed.kept
    negated = codes[rows] < 0
    moved = own[rows] + np.where(negated[:, ::-1], values[rows][:, None], 0.0)
    links[placed.first : placed.first + placed.members] = np.where(negated, -moved, moved)
