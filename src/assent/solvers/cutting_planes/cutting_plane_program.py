"""A linear relaxation that grows by rows, solved by HiGHS from where it was before.

With a multiplier ``y >= 0`` of an added row ``a . d <= b`` the term ``y (b - a . d)`` is never
negative, so adding it leaves an upper bound: it reparametrises scores of coordinates, pairs and
joint states.  The bound is the ordinary one of link scores at those scores, plus ``y b``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import DualPoint, Float, Int64, Problem, Scores, split_links
from assent.solvers.base.dual_bound import bound_at
from assent.solvers.base.infeasibility import zeroed
from assent.solvers.cutting_planes.cut_rows import NO_RULES, Cuts
from assent.solvers.cutting_planes.cycle_cuts import CycleCuts
from assent.solvers.cutting_planes.local_cuts import LocalCuts
from assent.solvers.cutting_planes.pair_disagreement import differences
from assent.solvers.cutting_planes.product_cuts import ProductCuts
from assent.solvers.programs.compact_lp import CompactLP, row_scores
from assent.solvers.programs.highs import highs_status, import_highspy, load_highs, run_until

if TYPE_CHECKING:
    from scipy import sparse

# A proof that nothing is possible must be clear of rounding, as it is rechecked with less room.
CLEAR = 1e-8


@dataclass(frozen=True)
class CutProof:
    """What multipliers stand for.

    Attributes:
        amounts: ``[R, places]`` what every row with a multiplier adds to scores.
        rules: ``[Q, 3]`` constraints that they rest on, as `Regions` has them.
        links: one score per link of the problem, for the reparametrised scores.
        bound: what they prove.
    """

    amounts: sparse.csr_matrix
    rules: Int64
    links: Float
    bound: float


class GrowingProgram:
    """The relaxation of a problem and the rows added to it."""

    def __init__(self, problem: Problem, scores: Scores, lp: CompactLP) -> None:
        from scipy import sparse

        self.problem, self.scores, self.lp = problem, scores, lp
        self.highs: Any = load_highs(lp, {"presolve": "off"})  # a paused solve goes on
        self.given = differences(problem, lp)
        self.cycle_cuts = CycleCuts(self.given)
        self.product_cuts = ProductCuts(problem, self.given)
        self.signs = sparse.csr_matrix((0, len(self.given.ends)))
        self.upper = np.zeros(0)
        self.product = np.zeros(0, np.int64)
        self.rules = NO_RULES
        self.local_cuts = LocalCuts(problem, self.given)
        self.columns: Float | None = None
        self.work = 0.0  # of all solves, as `run_until` has it

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
        assert self.columns is not None, "a relaxed answer exists after a solve"
        found = sum(
            self._add(source.find(self.columns)) for source in (self.product_cuts, self.cycle_cuts)
        )
        return found or self._add(self.local_cuts.find(self.columns))

    def _add(self, cuts: Cuts) -> int:
        from scipy import sparse

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
        before = len(self.product)
        self.rules = np.concatenate([self.rules, cuts.rules + np.array([before, 0, 0])])
        self.product = np.append(self.product, cuts.product)
        return len(cuts)

    def solve(self, deadline: float = np.inf, work: float = np.inf) -> str:
        """Solve from where the last solve ended, with so much work; "optimal" or why not."""
        if time.perf_counter() >= deadline:  # HiGHS would first see to its matrices
            return "time limit"
        self.work += run_until(self.highs, deadline, work)
        solution = self.highs.getSolution()
        if solution.value_valid:
            self.columns = np.array(solution.col_value)
        return highs_status(self.highs)

    def fix(self, coordinates: Int64, values: NDArray[np.int8]) -> None:
        """Fix coordinates to 0 or 1, or free them (-1)."""
        lower, upper = np.where(values == 1, 1.0, 0.0), np.where(values == 0, 0.0, 1.0)
        columns = coordinates.astype(np.int32)
        self.highs.changeColsBounds(len(columns), columns, lower, upper)

    def stop_below(self, value: float) -> None:
        """Let a solve end, "low enough", once it is clear that its value is below this one."""
        self.highs.setOptionValue("objective_bound", (self.lp.offset - value) / self.lp.scale)

    def basis(self) -> tuple[Any, int]:
        """Where the last solve ended, for that many rows."""
        return self.highs.getBasis(), self.highs.getNumRow()

    def begin_at(self, basis: tuple[Any, int]) -> None:
        """Let the next solve begin where an earlier one ended; rows added since are not tight."""
        begin, count = basis
        more = self.highs.getNumRow() - count
        if more:
            basic = import_highspy().HighsBasisStatus.kBasic
            begin.row_status = [*begin.row_status, *[basic] * more]
        self.highs.setBasis(begin)

    def proven(self, fixed: NDArray[np.int8] | None = None) -> CutProof | None:
        """What the multipliers of the last solve prove, if it has any.

        ``fixed[n]`` are coordinates that were fixed, -1 for free.
        """
        solution = self.highs.getSolution()
        if not solution.dual_valid:
            return None
        return self._prove(-self.lp.scale * np.array(solution.row_dual), fixed)

    def refutation(self, fixed: NDArray[np.int8] | None = None) -> CutProof | None:
        """A Farkas ray that shows that the program has no answer, if one was found."""
        _, found, ray = self.highs.getDualRay()
        if not found:
            return None
        # HiGHS does not promise the ray's sign.
        tries = [self._prove(sign * np.array(ray), fixed, ray=True) for sign in (1.0, -1.0)]
        best = min(tries, key=lambda proven: proven.bound)
        size = float(np.abs(best.links).sum() + np.abs(best.amounts.data).sum())
        return best if best.bound < -CLEAR * size else None

    def _prove(self, dual: Float, fixed: NDArray[np.int8] | None, ray: bool = False) -> CutProof:
        """What multipliers prove of the scores, or (a ``ray``) of the all-zero objective."""
        free = np.isneginf(self.lp.row_lower)
        own, cut_dual = np.split(dual, [len(free)])
        own = np.where(free, np.maximum(own, 0.0), own)
        taken = np.flatnonzero(cut_dual > 0.0)
        cycles, alone = taken[self.product[taken] < 0], taken[self.product[taken] >= 0]
        amounts, within = self._amounts(cut_dual, cycles), self._amounts(cut_dual, alone)
        total, own_total = (np.asarray(a.sum(axis=0)).ravel() for a in (amounts, within))
        links = self._links(own, total + own_total, ray)
        self._keep_within(within.tocoo(), self.product[alone], links)
        scores = zeroed(self.problem, self.scores.table) if ray else self.scores
        scores = self._reparametrised(total, scores)
        owed = float(cut_dual[cycles] @ self.upper[cycles])
        bound = bound_at(self.problem, scores, split_links(self.problem, links)) + owed
        if fixed is not None:
            bound += self._fixed_change(scores.theta, links, fixed)
        return CutProof(amounts, self._of_rows(self.rules, cycles), links, bound)

    def _of_rows(self, rests_on: Int64, rows: Int64) -> Int64:
        """What some rows rest on; they are regions then in the order given."""
        region = np.full(len(self.product), -1)
        region[rows] = np.arange(len(rows))
        own = rests_on[region[rests_on[:, 0]] >= 0].copy()
        own[:, 0] = region[own[:, 0]]
        return own

    def _amounts(self, dual: Float, rows: Int64) -> sparse.csr_matrix:
        """What multipliers of rows add to scores, ``[rows, places]``."""
        from scipy import sparse

        amounts = (sparse.diags(-dual[rows]) @ self.signs[rows] @ self.given.places).tocsr()
        amounts.eliminate_zeros()
        return amounts

    def _keep_within(self, amounts: sparse.coo_matrix, product: Int64, links: Float) -> None:
        """Within one factor nothing changes: what its literals would get, their links give it.

        The factor has the same score as if reparametrised, and no region is needed to say so.
        """
        to_literal = amounts.col < self.problem.n
        coordinate, amount = amounts.col[to_literal], amounts.data[to_literal]
        which = product[amounts.row[to_literal]]
        second = coordinate != self.given.ends[which, 0]
        link = self.given.links[which, second.astype(np.int64)]
        negated = self.problem.all_lits[link] < 0
        np.subtract.at(links, link, np.where(negated, -amount, amount))

    def _fixed_change(self, theta: Float, links: Float, fixed: NDArray[np.int8]) -> float:
        """What fixed coordinates take off the bound: they no longer choose for themselves."""
        lits = self.problem.all_lits
        coordinate, charge = np.where(lits < 0, ~lits, lits), np.where(lits < 0, -links, links)
        left = theta - np.bincount(coordinate, charge, minlength=len(theta))
        known = fixed >= 0
        return float(left[fixed == 1].sum() - np.maximum(left[known], 0.0).sum())

    def _reparametrised(self, total: Float, own: Scores) -> Scores:
        """Reparametrised scores."""
        ends = np.cumsum([self.problem.n, self.problem.n_pairs])
        theta, pair, table = np.split(total, ends)
        return replace(own, theta=own.theta + theta, pair=own.pair + pair, table=own.table + table)

    def _links(self, own: Float, total: Float, ray: bool) -> Float:
        """Link scores of the program's own rows.

        A product that gains earns its score by one of its literals, whose link gives it back.
        """
        rows = self.lp.rows
        links = row_scores(self.problem, rows, own)
        if not ray:
            np.subtract.at(links, rows.earned_link, rows.earned)
        gains = np.flatnonzero(rows.products.gains)
        added = total[self.problem.n + rows.products.place[gains]]
        given_back = np.where(rows.products.opposite[gains, 0], -added, added)
        np.subtract.at(links, rows.products.links[gains, 0], given_back)
        return links


def plain_bound(problem: Problem, scores: Scores, dual: DualPoint) -> CutProof:
    """Link scores alone, without any cut."""
    from scipy import sparse

    none = sparse.csr_matrix((0, problem.n + problem.n_pairs + len(scores.table)))
    return CutProof(none, NO_RULES, dual.joined(), bound_at(problem, scores, dual))
