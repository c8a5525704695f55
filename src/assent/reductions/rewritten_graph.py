"""A graph being rewritten: scores that change, and rows of batches that go."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.closure import Closure
from assent.compile.compiled import GraphScores
from assent.factors.pair import Pair
from assent.factors.scored import Scored
from assent.kernels.problem import Float, Int64
from assent.model.graph import Handle
from assent.reductions.reduction import Reduction

# What factors have one of per row, beside their literals.
PER_ROW = ("scores", "k", "weights", "capacity")


@dataclass
class GraphRewrite:
    """Scores ``theta[N]``, those of every batch, a constant, and which rows of batches stay.

    ``loss`` is how much less assignments may score than before.
    """

    blocks: tuple[Handle, ...]
    theta: Float
    scores: list[Float]
    stays: list[NDArray[np.bool_]]
    constant: float
    loss: float = 0.0

    @classmethod
    def of(cls, before: Reduction) -> GraphRewrite:
        """Everything as it is."""
        compiled, scores = before.compiled, before.scores
        return cls(
            compiled.blocks,
            scores.theta.copy(),
            [own.copy() for own in compiled.by_block(scores)],
            [np.ones(len(block.factor), bool) for block in compiled.blocks],
            scores.constant,
        )

    @property
    def gone(self) -> int:
        """How many factors are left out."""
        return sum(int((~rows).sum()) for rows in self.stays)

    def after(self, before: Reduction) -> Reduction:
        """The graph as rewritten, with the same values known."""
        blocks, pairs, tables = [], [], []
        for block, own, rows in zip(self.blocks, self.scores, self.stays, strict=True):
            kept = own if rows.all() or not own.size else own[rows]
            if isinstance(block.factor, Pair):
                pairs.append(kept)
            elif isinstance(block.factor, Scored):
                tables.append(kept)
            blocks.append(block if rows.all() else some_rows(block, np.flatnonzero(rows)))
        scale = before.scores.scale
        scores = GraphScores(self.theta, tuple(pairs), tuple(tables), self.constant, scale)
        base = replace(before.compiled, blocks=tuple(blocks), forbids=scores.forbids())
        now = Reduction(Closure(base), base, scores, before.loss + self.loss)
        return now.given(())


def some_rows(block: Handle, left: Int64) -> Handle:
    """Some rows of a batch, by number."""
    factor = block.factor
    copied: Any = copy.copy(factor)
    copied._attach(factor.graph, factor.codes[left], (len(left),))
    for name in PER_ROW:
        if name in vars(factor):
            setattr(copied, name, getattr(factor, name)[left])
    place = block.place
    spot = None if place is None else lambda row: place(int(left[row]))
    return Handle(copied, block.name, spot)
