"""Column generation: structures in a linear program, a vertex at a time (Dantzig and Wolfe, 1960).

A structure is a convex combination of its vertices: a column each, a row per coordinate and one
that says "weights sum to 1".  There are far too many, but of all columns that are missing the one
that would help most is the answer to ``maximize`` at the rows' multipliers.  Rows have
slacks at a price, so that there is an answer before the right vertices are known; the price rises
until no slack is used.  Where one always is, the model is infeasible, and the multipliers of the
problem of least slack (phase one) are the proof.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assent.compile.table_groups import structure_groups
from assent.kernels.core.factor_list import TABLE, inner_scores
from assent.kernels.problem import STRUCTURE, DualPoint, Float, Problem, Scores, split_links
from assent.solvers.base.infeasibility import zeroed
from assent.solvers.direct.independent_factors import best_vertices
from assent.solvers.programs.compact_lp import CompactLP, LpSolution, link_scores, row_scores
from assent.solvers.programs.highs import Method, highs_status, load_highs, read_highs, run_until

# A vertex is worth a column if it beats the convexity row's multiplier by this, in units of the
# scaled costs and relative to the value.  HiGHS is asked for multipliers that are more precise;
# a vertex that has its column already is no news, whatever rounding says.
WORTH = 1e-8
PRECISION = 1e-9
# The first price of missing a row, relative to the largest cost and vertex, how often it may rise
# tenfold, and the total miss that counts as none.
FIRST_PRICE = 10.0
MOST_RISES = 5
MISSED = 1e-7


@dataclass
class Master:
    """The linear program with the columns so far."""

    problem: Problem
    lp: CompactLP
    inner: Float
    highs: Any
    elastic: np.ndarray  # numbers of the columns that miss rows
    link_rows: np.ndarray  # row of every link of a priced structure, -1 elsewhere
    convexity: np.ndarray  # row of every searched structure, -1 if it is not priced
    links: list[np.ndarray]  # of every searched structure
    deadline: float
    iterations: int = 0
    known: set[tuple[int, bytes]] = field(default_factory=set)  # vertices with a column

    def solve(self) -> str:
        """Generate columns until none helps; the status of the last run."""
        while True:
            if self.deadline <= time.perf_counter():
                return "time limit"
            run_until(self.highs, self.deadline)
            info = self.highs.getInfo()
            self.iterations += max(0, info.simplex_iteration_count)
            status = highs_status(self.highs)
            if status != "optimal" or not self._price():
                return status

    def _price(self) -> bool:
        """Add every structure's best vertex that helps; whether there was any."""
        _, row_dual = read_highs(self.highs, self.lp)
        s = np.where(self.link_rows >= 0, -row_dual[self.link_rows], 0.0)
        z, value, earned = best_vertices(self.problem, self.inner, s, TABLE + STRUCTURE)
        priced = self.convexity >= 0
        worth = WORTH * (self.lp.scale + np.abs(value))
        beaten = priced & np.isfinite(value)
        beaten[beaten] = (value - worth)[beaten] > row_dual[self.convexity[beaten]]
        new = []
        for number in np.flatnonzero(beaten):
            key = int(number), (z[self.links[number]] > 0.5).tobytes()
            if key not in self.known:
                self.known.add(key)
                new.append(int(number))
        if new:
            self._add(new, z, earned)
        return bool(new)

    def _add(self, chosen: list[int], z: Float, earned: Float) -> None:
        """One column per chosen structure."""
        place, starts, indices, values = 0, [], [], []
        for number in chosen:
            links = self.links[number]
            used = links[z[links] > 0.0]
            starts.append(place)
            rows = np.append(self.link_rows[used], self.convexity[number])
            indices.append(rows)
            values.append(np.append(z[used], 1.0))
            place += len(rows)
        count = len(chosen)
        self.highs.addCols(
            count, -earned[chosen] / self.lp.scale, np.zeros(count), np.full(count, np.inf),
            place, np.array(starts, np.int32), np.concatenate(indices).astype(np.int32),
            np.concatenate(values),
        )  # fmt: skip

    def missed(self) -> float:
        """How much all rows together are missed by."""
        values = np.array(self.highs.getSolution().col_value)
        return float(values[self.elastic].sum())

    def set_price(self, price: float) -> None:
        count = len(self.elastic)
        self.highs.changeColsCost(
            count, self.elastic.astype(np.int32), np.full(count, price, np.float64)
        )


def first_price(problem: Problem, scores: Scores, lp: CompactLP) -> float:
    """A price of missing a row that is more than any vertex earns.

    Else a vertex would be used without end, and the program unbounded.
    """
    nothing = np.zeros(problem.n_links)
    _, most, _ = best_vertices(problem, inner_scores(scores), nothing, TABLE + STRUCTURE)
    sizes = np.abs(np.concatenate([lp.cost, most[np.isfinite(most)] / lp.scale]))
    return FIRST_PRICE * max(1.0, float(sizes.max(initial=0.0)))


def make_master(
    problem: Problem, scores: Scores, lp: CompactLP, method: Method, price: float,
    deadline: float, everything: bool = False,
) -> Master:  # fmt: skip
    """The program with the rows of priced structures elastic, or all, and no vertex yet."""
    from scipy import sparse

    groups = structure_groups(problem)
    first, last = groups[0], groups[-1]
    links = [own for group in groups for own in group.links]
    link_rows = np.full(problem.n_links, -1)
    convexity = np.full(last.factors.stop - first.factors.start, -1)
    for part in lp.rows.priced:
        group = groups[part.table - first.number]
        link_rows[group.links] = part.links
        number = group.factors.start - first.factors.start
        convexity[number : number + len(part.convexity)] = part.convexity
    may_miss = np.zeros(len(lp.row_upper), bool)
    may_miss[link_rows[link_rows >= 0]] = may_miss[convexity[convexity >= 0]] = True
    if everything:  # products can always be met by their own columns
        may_miss |= np.isinf(lp.rows.limit)
    above, below = np.flatnonzero(may_miss), np.flatnonzero(may_miss & np.isfinite(lp.row_lower))
    rows = np.concatenate([above, below])
    sign = np.repeat([-1.0, 1.0], [len(above), len(below)])
    extra = sparse.csc_matrix((sign, (rows, np.arange(len(rows)))), (lp.matrix.shape[0], len(rows)))
    elastic = replace(
        lp,
        matrix=sparse.hstack([lp.matrix, extra], format="csc"),
        cost=np.append(lp.cost, np.full(len(rows), price)),
        column_upper=np.append(lp.column_upper, np.full(len(rows), np.inf)),
    )
    solver = "simplex" if method == "choose" else method
    precise = {"dual_feasibility_tolerance": PRECISION}
    highs = load_highs(elastic, {"solver": solver, **precise})
    return Master(
        problem, lp, inner_scores(scores), highs, len(lp.cost) + np.arange(len(rows)), link_rows,
        convexity, links, deadline,
    )  # fmt: skip


def solve_priced(
    problem: Problem, scores: Scores, lp: CompactLP, method: Method, deadline: float
) -> LpSolution:
    """Solve the relaxation of a problem with structures that have no rows of their own."""
    began = time.perf_counter()
    price = first_price(problem, scores, lp)
    master = make_master(problem, scores, lp, method, price, deadline)
    status = master.solve()
    for _ in range(MOST_RISES):
        if status != "optimal" or master.missed() <= MISSED:
            break
        price *= 10.0
        master.set_price(price)
        status = master.solve()
    if status == "optimal" and master.missed() > MISSED:
        status = "infeasible"
    columns, row_dual = read_highs(master.highs, lp)
    x, relaxed_value, value, ray = np.full(problem.n, 0.5), np.nan, np.nan, None
    if columns is not None and status == "optimal":
        x = np.clip(columns[: problem.n], 0.0, 1.0)
        value = float(lp.offset - lp.scale * master.highs.getInfo().objective_function_value)
        relaxed_value = value
    elif status == "infeasible":
        value, ray = -np.inf, _ray(problem, scores, lp, method, deadline)
    dual = link_scores(problem, lp.rows, row_dual)
    seconds = time.perf_counter() - began
    return LpSolution(
        status, value, x, relaxed_value, row_dual, dual, ray, seconds, master.iterations
    )


def _ray(
    problem: Problem, scores: Scores, lp: CompactLP, method: Method, deadline: float
) -> DualPoint | None:
    """Link scores that prove infeasibility: multipliers of "miss as little as possible"."""
    nothing = zeroed(problem, scores.table)
    free = replace(lp, cost=np.zeros_like(lp.cost), scale=1.0)
    master = make_master(problem, nothing, free, method, 1.0, deadline, everything=True)
    if master.solve() != "optimal" or master.missed() <= MISSED:
        return None
    _, row_dual = read_highs(master.highs, free)
    row_dual = np.where(np.isinf(lp.rows.limit), row_dual, 0.0)
    return split_links(problem, row_scores(problem, lp.rows, row_dual))
