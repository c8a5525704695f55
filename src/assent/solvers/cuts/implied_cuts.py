"""Rows of what products imply: two coordinates that are both true may make a literal so.

Both are taken for true and propagated through all constraints.  A literal ``l`` that follows from
the two together, and from neither alone, is true at least as much as their product: ``u v <= l``.
Several constraints in a row say so; the proof names the literals that are never all true (``u``,
``v`` and the negation of ``l``), and propagation shows it again.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core import propagate
from assent.kernels.problem import Float, Int64, Problem
from assent.kernels.search import probing
from assent.solvers.cuts.cut_rows import Cuts
from assent.solvers.cuts.pair_disagreement import Differences

# A row is worth adding if it is violated by this.
LEAST_VIOLATION = 1e-3
# Literals that are found in one round, and rows that are added, the most violated ones.
MOST_FOUND, MOST_ROWS = 1 << 15, 100


class ImpliedCuts:
    """Finds literals that products imply and a relaxed answer denies, each once.

    Example:
        >>> from assent.kernels.problem import CAP, Scores, make_problem
        >>> from assent.solvers.cuts.pair_disagreement import differences
        >>> from assent.solvers.programs.compact_lp import build_lp
        >>> first = CAP, np.array([[0, ~2]], np.int32), np.array([1], np.int32)
        >>> second = CAP, np.array([[1, 2, 3]], np.int32), np.array([2], np.int32)
        >>> problem = make_problem(4, np.array([[0, 1]], np.int32), [first, second])
        >>> given = differences(problem, build_lp(problem, Scores(np.zeros(4), np.ones(1))))
        >>> cuts = ImpliedCuts(problem, given).find(np.array([1.0, 1.0, 1.0, 0.5, 0.0]))
        >>> cuts.never.tolist()  # a row, and coordinates that are never all true
        [[0, 0, 1, 3]]
    """

    def __init__(self, problem: Problem, given: Differences) -> None:
        self.problem, self.given = problem, given
        self.ends, self.difference = given.products()
        self.is_probed = np.zeros(len(self.ends), bool)
        self.logic = propagate.build_links(problem)
        self.room = problem.n + MOST_FOUND
        self.product: Int64 = np.zeros(0, np.int64)  # [I] which product implies
        self.literal: Int64 = np.zeros(0, np.int64)  # [I] what; n for a product that cannot be
        self.is_new = np.zeros(0, bool)

    def find(self, columns: Float) -> Cuts:
        """Rows that a point of the program violates, new ones only."""
        d = self.given.at(columns)
        worth = 0.5 * (d[self.ends].sum(axis=1) - d[self.difference])
        self._probe(worth)
        x = np.append(d[: self.problem.n], 0.0)
        value = np.where(self.literal < 0, 1.0 - x[~self.literal], x[self.literal])
        over = np.where(self.is_new, worth[self.product] - value, 0.0)
        found = np.argsort(-over, kind="stable")[:MOST_ROWS]
        found = found[over[found] > LEAST_VIOLATION]
        self.is_new[found] = False
        product, literal = self.product[found], self.literal[found]
        told = [self._is_told(*one) for one in zip(product, literal.tolist(), strict=True)]
        kept = ~np.array(told, bool)
        return self._as_cuts(product[kept], literal[kept])

    def _is_told(self, product: int, literal: int) -> bool:
        """Whether one constraint is over all three; cycles and joins see those better."""
        if literal == self.problem.n:
            return False
        start, uses = self.logic.start, self.logic.uses
        three = (*self.ends[product].tolist(), max(literal, ~literal))
        first, *others = (set((uses[start[v] : start[v + 1]] >> 4).tolist()) for v in three)
        return bool(first.intersection(*others))

    # ------------------------------------------------------------ propagation

    def _probe(self, worth: Float) -> None:
        """Propagate products that are worth something, the largest first."""
        if not self.problem.n_logic:
            return
        near = np.flatnonzero(~self.is_probed & (worth > LEAST_VIOLATION))
        near = near[np.argsort(-worth[near], kind="stable")]
        start, literals = np.zeros(len(near) + 1, np.int64), np.zeros(self.room, np.int64)
        done = probing.implied(self.logic, self.ends[near], start, literals)
        self.is_probed[near[:done]] = True
        count = np.diff(start[: done + 1])
        self.product = np.concatenate([self.product, np.repeat(near[:done], count)])
        self.literal = np.concatenate([self.literal, literals[: start[done]]])
        self.is_new = np.append(self.is_new, np.ones(int(start[done]), bool))

    # ------------------------------------------------------------ rows

    def _as_cuts(self, product: Int64, literal: Int64) -> Cuts:
        """Rows ``(u + v - d) / 2 <= l``, and the literals that are never all true."""
        from scipy import sparse

        count, n = len(product), self.problem.n
        u, v = self.ends[product].T
        row, half = np.arange(count), np.full(count, 0.5)
        told = literal < n
        own = np.where(literal < 0, ~literal, literal)[told]
        signs = sparse.csr_matrix(
            (
                np.concatenate([half, half, -half, np.where(literal[told] < 0, 1.0, -1.0)]),
                (
                    np.concatenate([row, row, row, row[told]]),
                    np.concatenate([u, v, self.difference[product], own]),
                ),
            ),
            (count, len(self.given.ends)),
        )
        never = np.stack([row, u, v, np.where(told, ~literal, v)], axis=1)
        return Cuts(signs, np.where(literal < 0, 1.0, 0.0), np.full(count, -1), never=never)
