"""AD3's factors outside the fused loop: tables, structures, parities and knapsacks.

They are stepped once per iteration, before the fused loop takes its own step.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assent.kernels.ad3 import active_set, parity_knapsack_steps, table_steps
from assent.kernels.core import schedule, vertices
from assent.kernels.problem import Float, Problem, Scores
from assent.solvers.base.dual_bound import read_only
from assent.solvers.base.thread_plan import common_groups

if TYPE_CHECKING:
    from assent.solvers.ad3.structure_factors import Searched


@dataclass
class Aside:
    """Supports of the tables, who sleeps, and scratch."""

    layout: table_steps.Layout
    supports: vertices.Support
    work: vertices.Work
    tables_asleep: NDArray[np.bool_]
    singles_asleep: NDArray[np.bool_]
    scratch: Float
    searched: Searched | None
    alone: bool  # whether there are structures and nothing else
    scored: Float | None = field(default=None, repr=False)  # the tables the supports belong to

    @classmethod
    def of(cls, problem: Problem) -> Aside:
        """Empty state."""
        common = common_groups(problem)
        tables = problem.written
        layout = table_steps.layout_of(problem)
        longest = int(problem.group_size[common:].max(initial=1))
        return cls(
            layout,
            table_steps.make_supports(tables, layout),
            table_steps.make_flat_work(tables, layout),
            np.zeros(tables.factor[-1], np.bool_),
            np.zeros(int(problem.group_count[common:].sum()), np.bool_),
            np.zeros((parity_knapsack_steps.ROWS, longest)),
            _search(problem) if problem.models else None,
            not (problem.n_pairs or len(problem.lits) or len(tables.lits)),
        )

    def step(
        self, problem: Problem, scores: Scores, iterations: int, penalty: float, alpha: float,
        full: bool, limit: float, weight: Float, w_logic: Float, w_table: Float, tau: Float,
        p: Float, total: Float,
    ) -> float:  # fmt: skip
        """Project and move the multipliers; adds ``q - p`` to ``total`` and returns its squares."""
        squares = 0.0
        common = common_groups(problem)
        if len(self.singles_asleep):
            squares += parity_knapsack_steps.step_singles(
                problem.group_kind[common:], problem.group_size[common:],
                problem.group_count[common:], problem.group_link[common:],
                problem.group_factor[common:], problem.lits, problem.weights, problem.capacity,
                weight[common:], alpha, full, limit, w_logic, tau, self.singles_asleep, p, total,
                self.scratch,
            )  # fmt: skip
        most = schedule.vertices(iterations, active_set.EXACT)
        if len(self.tables_asleep):
            self._rescore(problem, scores)
            squares += table_steps.step_tables(
                problem.written, self.layout, read_only(scores.table), 1.0 / penalty, alpha,
                most, full, limit, w_table, self.tables_asleep, p, total,
                self.supports, self.work,
            )  # fmt: skip
        if self.searched is not None:
            squares += self.searched.step(
                scores, iterations, penalty, alpha, full, limit, w_table, p, total
            )
        return squares

    @property
    def tables_alone(self) -> Aside | None:
        """These factors, if all are tables: they iterate with the fused loop in one call."""
        return None if self.searched is not None or len(self.singles_asleep) else self

    def advance(
        self, problem: Problem, scores: Scores, done: int, iterations: int, penalty: float,
        alpha: float, cache: bool, limit: float, model: tuple[Any, ...], state: tuple[Any, ...],
        w_table: Float, mean_w_table: Float,
    ) -> tuple[float, float, float, float]:  # fmt: skip
        """Iterate tables and the fused loop together; returns what ``kernels.ad3.advance`` does."""
        from assent.kernels.ad3.table_loop import advance_tables

        self._rescore(problem, scores)
        return advance_tables(
            model, penalty, alpha, cache, done, iterations, limit, state,
            problem.written, self.layout, read_only(scores.table), w_table, mean_w_table,
            self.tables_asleep, self.supports, self.work,
        )  # fmt: skip

    def _rescore(self, problem: Problem, scores: Scores) -> None:
        """New tables: the supports stay, with the entries that are theirs now."""
        if self.scored is scores.table:
            return
        if self.scored is not None:
            table_steps.rescore_tables(
                problem.written, self.layout, read_only(scores.table), self.supports
            )
        self.scored = scores.table

    @property
    def searched_alone(self) -> Searched | None:
        """The structures, if there are no other factors: they iterate without interruption."""
        return self.searched if self.alone else None

    def wake(self) -> None:
        """Let nobody sleep."""
        self.tables_asleep[:] = False
        self.singles_asleep[:] = False
        if self.searched is not None:
            self.searched.asleep[:] = False

    def inner_value(self, problem: Problem) -> float:
        """Score of the inner parts of tables and structures."""
        total = table_steps.inner_value(problem.written, self.layout, self.supports)
        return total if self.searched is None else total + self.searched.inner_value()

    def inner_marginals(self, problem: Problem) -> Float:
        """Weights of the entries of tables and of the inner parts of structures."""
        out = np.empty(problem.written.entry[-1])
        table_steps.inner_marginals(problem.written, self.layout, self.supports, out)
        if self.searched is None:
            return out
        return np.append(out, self.searched.inner_marginals(problem))


def _search(problem: Problem) -> Searched:
    """Imported when needed: most problems do without these kernels."""
    from assent.solvers.ad3.structure_factors import Searched

    return Searched.of(problem)
