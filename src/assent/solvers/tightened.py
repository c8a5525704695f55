"""Tightened: the linear relaxation, with rows added where it contradicts itself.

Round after round (1) HiGHS solves the relaxation from where it was, (2) cycles are sought along
which the relaxed answer contradicts itself, (3) a row for each is added.  A multiplier ``y`` of a
row ``a . d <= b`` is a *loan*: ``y (b - a . d)`` is never negative, so adding it to the scores
leaves an upper bound, and what it changes are scores of coordinates, pairs and table entries.  The
bound is therefore the ordinary bound of link scores at the scores with all loans, plus ``y b``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.compiled import Compiled
from assent.errors import ModelError
from assent.problem import DualPoint, Float, Problem, Scores, split_links
from assent.regions import Regions
from assent.solvers.cycle_cuts import Separator
from assent.solvers.differences import Differences, differences
from assent.solvers.dual_bound import bound_at
from assent.solvers.linear_program import (
    CompactLP,
    build_lp,
    find_ray,
    highs_status,
    load_highs,
    row_scores,
    run_highs,
)
from assent.solvers.messages import check_settings
from assent.solvers.protocol import Info, WarmStart

if TYPE_CHECKING:
    from scipy import sparse

NO_CYCLE = (
    "No cycle contradicts itself any more, and a gap remains. decode(graph, Tightened(), "
    "exact=True) searches on."
)


@dataclass
class Workspace:
    """A linear program that grows.

    ``signs`` are the rows added so far, over differences; ``best`` what proves the best bound.
    """

    lp: CompactLP
    highs: Any
    given: Differences
    separator: Separator
    signs: sparse.csr_matrix
    upper: Float
    x: Float
    columns: Float | None = None
    ray: DualPoint | None = None
    relaxed: float = np.nan
    bound: float = np.inf
    best: Regions | None = None
    rounds: int = 0
    deadline: float = np.inf
    done: bool = field(default=False)


@dataclass(frozen=True)
class Tightened:
    """The linear relaxation, tightened by odd cycles until it is exact or none is left.

    For graphs with pairs and tables, with any constraints beside them: on grids and the like it
    often ends with the proven optimum.  Needs the linear program in memory, so tables of
    millions of entries are too large.

    Attributes:
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (1 + |bound|)``.
        residual_tolerance: not used: a relaxation is solved or not.
        max_iterations: stop after so many rounds.
        time_limit: seconds after which the rounds end, or None.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[1.0, 1.1, 1.2], name="x")
        >>> frustrated = g.add(at.Pair(x, x[[1, 2, 0]], scores=-2.0))
        >>> relaxed, tightened = at.decode(g, at.LinearProgram()), at.decode(g, at.Tightened())
        >>> round(relaxed.bound, 3), round(tightened.bound, 3), tightened.status.name
        (1.65, 1.2, 'OPTIMAL')
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 1000
    time_limit: float | None = None

    def __post_init__(self) -> None:
        check_settings(self.gap_tolerance, self.residual_tolerance, self.max_iterations)
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"time_limit is a positive number of seconds, got {self.time_limit}")

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> Workspace:
        """The plain relaxation; structures without rows are refused."""
        from scipy import sparse

        lp = build_lp(problem, scores)
        if lp.rows.priced:
            kind = problem.models[0].structure.kind
            raise ModelError(
                f"Tightened has no rows for structures such as {kind}; decode with AD3() or "
                "LinearProgram()"
            )
        given = differences(problem, lp)
        limit = np.inf if self.time_limit is None else time.perf_counter() + self.time_limit
        return Workspace(
            lp, load_highs(lp, {}), given, Separator(given),
            sparse.csr_matrix((0, len(given.ends))), np.zeros(0), np.full(problem.n, 0.5),
            deadline=limit,
        )  # fmt: skip

    def advance(
        self, problem: Problem, scores: Scores, workspace: Workspace, iterations: int = 1
    ) -> Info:
        """One round: add the rows that the last answer violates, and solve."""
        w = workspace
        if w.columns is not None and not self._add_rows(w):
            w.done = True
            return Info(w.rounds, 0.0, 0.0, finished=True)
        status = self._solve(w)
        w.rounds += 1
        if status == "interrupted":
            raise KeyboardInterrupt
        if status == "infeasible":
            w.ray = find_ray(problem, w.lp)
            return Info(w.rounds, np.inf, np.inf, finished=True, reason=NO_CYCLE)
        self._read(problem, scores, w)
        over = status != "optimal"
        return Info(
            w.rounds, np.inf, np.inf, finished=over,
            reason=f"HiGHS stopped before the relaxation was solved: {status}." if over else "",
        )  # fmt: skip

    def _add_rows(self, w: Workspace) -> bool:
        from scipy import sparse

        assert w.columns is not None
        cuts = w.separator.find(w.columns)
        if not len(cuts):
            return False
        rows = (cuts.signs @ w.given.columns).tocsr()
        upper = cuts.upper - cuts.signs @ w.given.offset
        w.highs.addRows(
            len(cuts), np.full(len(cuts), -np.inf), upper, rows.nnz,
            rows.indptr[:-1].astype(np.int32), rows.indices.astype(np.int32), rows.data,
        )  # fmt: skip
        w.signs = sparse.vstack([w.signs, cuts.signs]).tocsr()
        w.upper = np.concatenate([w.upper, cuts.upper - cuts.signs @ w.given.constant])
        return True

    def _solve(self, w: Workspace) -> str:
        if np.isfinite(w.deadline):
            # HiGHS counts the time of all its runs together.
            left = max(w.deadline - time.perf_counter(), 1e-3)
            w.highs.setOptionValue("time_limit", w.highs.getRunTime() + left)
        run_highs(w.highs)
        return highs_status(w.highs)

    def _read(self, problem: Problem, scores: Scores, w: Workspace) -> None:
        """The relaxed answer, and the bound that the multipliers prove."""
        solution = w.highs.getSolution()
        if solution.value_valid:
            w.columns = np.array(solution.col_value)
            w.x = np.clip(w.columns[: problem.n], 0.0, 1.0)
            w.relaxed = float(w.lp.offset - w.lp.scale * (w.lp.cost @ w.columns))
        if not solution.dual_valid:
            return
        dual = -w.lp.scale * np.array(solution.row_dual)
        free = np.isneginf(w.lp.row_lower)
        base = dual[: len(free)]
        base = np.where(free, np.maximum(base, 0.0), base)
        loan = np.maximum(dual[len(free) :], 0.0)
        proof = make_regions(problem, w, base, loan)
        bound = bound_at(problem, proof.lent(scores), proof.dual) + float(loan @ w.upper)
        if bound < w.bound:
            w.bound, w.best = bound, proof

    def bound(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """The best bound so far."""
        return workspace.bound

    def dual_point(
        self,
        problem: Problem,
        scores: Scores,
        workspace: Workspace,
        out: DualPoint | None = None,
    ) -> DualPoint:
        """Link scores of the best bound, which belong to scores with loans; zero before."""
        if workspace.best is None:
            return split_links(problem, np.zeros(problem.n_links))
        return workspace.best.dual

    def proof(self, compiled: Compiled, workspace: Workspace) -> Regions | None:
        """What proves the best bound."""
        return workspace.best

    def ray(self, workspace: Workspace) -> DualPoint | None:
        """Link scores that prove infeasibility, if HiGHS found such a proof."""
        return workspace.ray

    def marginals(self, workspace: Workspace) -> Float:
        """The relaxed answer ``[n]``."""
        return workspace.x

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Objective of the tightened relaxation at its answer."""
        return workspace.relaxed


def make_regions(problem: Problem, w: Workspace, base: Float, loan: Float) -> Regions:
    """The proof that multipliers stand for: ``base`` of the program's rows, ``loan`` of cuts."""
    from scipy import sparse

    taken = np.flatnonzero(loan > 0.0)
    amounts = (sparse.diags(-loan[taken]) @ w.signs[taken] @ w.given.places).tocsr()
    amounts.eliminate_zeros()
    products = w.lp.rows.products
    links = row_scores(problem, w.lp.rows, base)
    np.subtract.at(links, w.lp.rows.earned_link, w.lp.rows.earned)
    # A product that gains earns its score by one of its literals, whose link gives it back.
    total = np.bincount(amounts.indices, amounts.data, minlength=amounts.shape[1])
    gains = np.flatnonzero(products.gains)
    lent = total[problem.n + products.place[gains]]
    given_back = np.where(products.opposite[gains, 0], -lent, lent)
    np.subtract.at(links, products.links[gains, 0], given_back)
    return Regions(
        amounts.indptr.astype(np.int64), amounts.indices.astype(np.int64), amounts.data,
        split_links(problem, links),
    )  # fmt: skip
