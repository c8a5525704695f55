"""Rows that are added to a linear program, and what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assent.kernels.problem import Float, Int64

if TYPE_CHECKING:
    from scipy import sparse

# Rows that rest on no constraints.
NO_RULES = np.zeros((0, 3), np.int64)


class Cuts(NamedTuple):
    """Rows ``signs . d <= upper`` over differences.

    Attributes:
        signs: ``[R, E]``; of cycles +1 for those in F and -1 for the others.
        upper: ``[R]`` right-hand sides; of cycles ``|F| - 1``.
        product: ``[R]`` the difference of two literals for rows that their factor obeys by
            itself, -1 for others.
        rules: ``[Q, 3]`` constraints that a row rests on: the row, the logic factor's number, and
            one of its coordinates that the row speaks of.
    """

    signs: sparse.csr_matrix
    upper: Float
    product: Int64
    rules: Int64 = NO_RULES

    def __len__(self) -> int:
        return len(self.upper)
