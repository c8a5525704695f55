"""A linear relaxation that grows by rows, solved by HiGHS from where it was before.

A multiplier ``y`` of an added row ``a . d <= b`` is a *loan*: ``y (b - a . d)`` is never negative,
so adding it to the scores leaves an upper bound, and what it changes are scores of coordinates,
pairs and joint states.  The bound is therefore the ordinary bound of link scores at the scores
with all loans, plus ``y b``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.problem import DualPoint, Float, Problem, Scores, split_links
from assent.solvers.cycle_cuts import Separator
from assent.solvers.differences import differences
from assent.solvers.dual_bound import bound_at
from assent.solvers.linear_program import (
    CompactLP,
    highs_status,
    load_highs,
    row_scores,
    run_highs,
)

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True)
class Loans:
    """What multipliers stand for.

    Attributes:
        amounts: ``[R, places]`` what every row with a multiplier lends.
        links: one score per link of the problem, for the scores with all loans.
        bound: what they prove.
    """

    amounts: sparse.csr_matrix
    links: Float
    bound: float


class GrowingProgram:
    """The relaxation of a problem and the rows added to it.

    Example:
        >>> from assent.problem import make_problem
        >>> from assent.solvers.linear_program import build_lp
        >>> triangle = make_problem(3, np.array([[0, 1], [1, 2], [0, 2]], np.int32), [])
        >>> scores = Scores(np.ones(3), np.full(3, -2.0))
        >>> program = GrowingProgram(triangle, scores, build_lp(triangle, scores))
        >>> program.solve(), program.value
        ('optimal', 1.5)
        >>> program.tighten(), program.solve(), program.value
        (1, 'optimal', 1.0)
    """

    def __init__(self, problem: Problem, scores: Scores, lp: CompactLP) -> None:
        from scipy import sparse

        self.problem, self.scores, self.lp = problem, scores, lp
        self.highs: Any = load_highs(lp, {})
        self.given = differences(problem, lp)
        self.separator = Separator(self.given)
        self.signs = sparse.csr_matrix((0, len(self.given.ends)))
        self.upper = np.zeros(0)
        self.columns: Float | None = None

    @property
    def x(self) -> Float:
        """The relaxed answer ``[n]``; one half everywhere before there is one."""
        if self.columns is None:
            return np.full(self.problem.n, 0.5)
        return np.clip(self.columns[: self.problem.n], 0.0, 1.0)

    @property
    def value(self) -> float:
        """The objective at the relaxed answer."""
        if self.columns is None:
            return np.nan
        return float(self.lp.offset - self.lp.scale * (self.lp.cost @ self.columns))

    def tighten(self) -> int:
        """Add rows that the relaxed answer violates; how many."""
        from scipy import sparse

        assert self.columns is not None, "a relaxed answer exists after a solve"
        cuts = self.separator.find(self.columns)
        if not len(cuts):
            return 0
        rows = (cuts.signs @ self.given.columns).tocsr()
        upper = cuts.upper - cuts.signs @ self.given.offset
        self.highs.addRows(
            len(cuts), np.full(len(cuts), -np.inf), upper, rows.nnz,
            rows.indptr[:-1].astype(np.int32), rows.indices.astype(np.int32), rows.data,
        )  # fmt: skip
        self.signs = sparse.vstack([self.signs, cuts.signs]).tocsr()
        self.upper = np.append(self.upper, cuts.upper - cuts.signs @ self.given.constant)
        return len(cuts)

    def solve(self, deadline: float = np.inf) -> str:
        """Solve from where the last solve ended; "optimal" or why not."""
        if np.isfinite(deadline):
            # HiGHS counts the time of all its runs together.
            left = max(deadline - time.perf_counter(), 1e-3)
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + left)
        run_highs(self.highs)
        solution = self.highs.getSolution()
        if solution.value_valid:
            self.columns = np.array(solution.col_value)
        return highs_status(self.highs)

    def loans(self) -> Loans | None:
        """What the multipliers of the last solve prove, if it has any."""
        from scipy import sparse

        solution = self.highs.getSolution()
        if not solution.dual_valid:
            return None
        dual = -self.lp.scale * np.array(solution.row_dual)
        free = np.isneginf(self.lp.row_lower)
        own, lent = np.split(dual, [len(free)])
        own = np.where(free, np.maximum(own, 0.0), own)
        taken = np.flatnonzero(lent > 0.0)
        owed = float(lent[taken] @ self.upper[taken])
        amounts = (sparse.diags(-lent[taken]) @ self.signs[taken] @ self.given.places).tocsr()
        amounts.eliminate_zeros()
        total = np.asarray(amounts.sum(axis=0)).ravel()
        links = self._links(own, total)
        scores, dual_point = self._lent(total), split_links(self.problem, links)
        return Loans(amounts, links, bound_at(self.problem, scores, dual_point) + owed)

    def _lent(self, total: Float) -> Scores:
        """The scores with all loans."""
        ends = np.cumsum([self.problem.n, self.problem.n_pairs])
        theta, pair, table = np.split(total, ends)
        own = self.scores
        return replace(own, theta=own.theta + theta, pair=own.pair + pair, table=own.table + table)

    def _links(self, own: Float, total: Float) -> Float:
        """Link scores of the program's own rows.

        A product that gains earns its score by one of its literals, whose link gives it back.
        """
        rows = self.lp.rows
        links = row_scores(self.problem, rows, own)
        np.subtract.at(links, rows.earned_link, rows.earned)
        gains = np.flatnonzero(rows.products.gains)
        lent = total[self.problem.n + rows.products.place[gains]]
        given_back = np.where(rows.products.opposite[gains, 0], -lent, lent)
        np.subtract.at(links, rows.products.links[gains, 0], given_back)
        return links


def plain_bound(problem: Problem, scores: Scores, dual: DualPoint) -> Loans:
    """Link scores alone, without any loan."""
    from scipy import sparse

    none = sparse.csr_matrix((0, problem.n + problem.n_pairs + len(scores.table)))
    return Loans(none, dual.joined(), bound_at(problem, scores, dual))
