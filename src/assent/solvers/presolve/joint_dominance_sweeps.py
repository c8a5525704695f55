"""Values of labels that some best answer is without, found by sweeps over a difference.

Begun with every variable in the state that looks best and all other states turned into it.  What
an assignment is worth above what it turns into is a problem of its own, whose bound sweeps lower;
as long as it is above zero, states that look best in it are no longer exchanged (Shekhovtsov,
Swoboda and Savchynskyy, 2015).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import (
    DENSE,
    SUM,
    DualPoint,
    Float,
    Int64,
    Problem,
    Scores,
    make_problem,
    make_tables,
    split_links,
)
from assent.reductions.dense_tables import DenseTables, Slot, dense_tables, no_scores
from assent.reductions.exchange_difference import (
    first_table_link,
    movable,
    states_after,
    table_differences,
    whole_variables,
)
from assent.reductions.exclusive_literals import Choices, find_choices
from assent.reductions.joint_dominance import Improving
from assent.reductions.reduction import Reduction, ReductionStep
from assent.solvers.base.protocol import WarmStart
from assent.solvers.messages.star_diffusion import StarDiffusion
from assent.solvers.messages.star_sweeps import StarMessages
from assent.solvers.messages.trws import TRWS

# Sweeps for a first opinion; later on so many at a time, as long as they take this share off the
# bound.
FIRST_SWEEPS = 50
SWEEPS = 5
WORTH = 0.2
# Once less than this share of the states is left to exchange, it is not worth the time.
LEAST = 0.5
# Where no exchanged state looks best, this share of them, those that are nearest to it.
NEAREST = 0.02
# A bound counts as zero below this, relative to all scores; and so does the difference of states
# that look equally good.
ROUNDED = 1e-10
# Entries of tables beyond which sweeps take too long.
MOST_ENTRIES = 1 << 24


def find_improving(before: Reduction) -> tuple[ReductionStep, Reduction] | None:
    """States to pruned by joint exchange, and what they leave; None if there are too few.

    Example:
        >>> import assent as at
        >>> from assent.compile.compiled import graph_scores
        >>> g = at.FactorGraph()
        >>> t = g.categorical(3, states="ab", scores=[[2.0, 0.0], [0.0, 0.5], [0.0, 0.5]])
        >>> rule = g.add(at.Potts(t[[0, 0, 1]], t[[1, 2, 2]], scores=1.0))
        >>> step, after = find_improving(Reduction.of(g.compile(), graph_scores(g)))
        >>> after.compiled.fixed.tolist()
        [1, 0, 1, 0, 1, 0]
    """
    problem = before.compiled.problem
    choices = find_choices(problem)
    free = movable(problem, choices)
    if not free.any() or _entries(problem) > MOST_ENTRIES:
        return None
    search = _Search(problem, before.flat, choices, free)
    if not search.run():
        return None
    lost = np.flatnonzero(search.lost)
    by = before.coordinates(search.to[lost])
    step = Improving(before.coordinates(lost), by, search.dual())
    after = step.apply(before)
    if after is None or after.loss - before.loss > search.rounded:
        return None
    return step, after


class _Search:
    """Which states are exchanged (``lost[n]``) for which, and link scores of the difference."""

    def __init__(
        self, problem: Problem, scores: Scores, choices: Choices, free: NDArray[np.bool_]
    ) -> None:
        self.problem, self.scores, self.choices = problem, scores, choices
        self.own, self.link = _tables_alone(problem, choices)
        t = problem.written
        pairwise = (np.diff(t.slot) <= 2).all() and free[
            np.where(t.lits < 0, ~t.lits, t.lits)
        ].all()
        self.solver = TRWS() if pairwise else StarDiffusion()
        self.rounded = ROUNDED * (1.0 + float(np.abs(scores.theta).sum()))
        self.messages = np.zeros(self.own.n_links)
        own, first = self._begin(scores.theta, dense_tables(problem, scores))
        self.solver.advance(self.own, own, first, FIRST_SWEEPS)
        self.goal = _best_members(choices, first.belief)
        self.lost = free & (self.goal != np.arange(problem.n))
        self.messages = first.s - first.s[_links_after(self.own, choices, self.to)]

    @property
    def to(self) -> Int64:
        """The column ``[n]`` that each turns into."""
        return np.where(self.lost, self.goal, np.arange(self.problem.n))

    def run(self) -> bool:
        """Exchange fewer states until nothing can be worth more than what it turns into."""
        most = np.count_nonzero(self.lost)
        while np.count_nonzero(self.lost) > LEAST * most:
            theta = self.scores.theta - self.scores.theta[self.to]
            tables = list(table_differences(self.problem, self.scores, self.to))
            if np.isinf(self.scores.table).any() and (breaking := self._breaking(tables)).any():
                self.lost &= ~breaking
                continue
            swept = self._lowered(theta, tables)
            self.messages = swept.s
            if swept.bound <= self.rounded:
                return True
            self.lost &= ~self._disputed(swept.belief)
        return False

    def dual(self) -> DualPoint:
        """Link scores of the problem."""
        links = np.zeros(self.problem.n_links)
        links[self.link] = self.messages
        return split_links(self.problem, links)

    def _begin(self, theta: Float, tables: Iterable[DenseTables]) -> tuple[Scores, StarMessages]:
        """Scores of the tables alone, and a start at the link scores that there are."""
        entries = np.concatenate([np.zeros(0), *(part.scores.ravel() for part in tables)])
        scores = Scores(theta, np.zeros(0), 0.0, entries)
        start = WarmStart(np.zeros(len(theta)), split_links(self.own, self.messages), 1.0)
        return scores, self.solver.init(self.own, scores, start)

    def _lowered(self, theta: Float, tables: Iterable[DenseTables]) -> StarMessages:
        """Sweeps over a difference, as long as they are worth it or until it is at most zero."""
        scores, workspace = self._begin(theta, tables)
        before = np.inf
        while True:
            self.solver.advance(self.own, scores, workspace, SWEEPS)
            is_worth_it = workspace.bound < (1.0 - WORTH) * before
            if not is_worth_it or workspace.bound <= self.rounded:
                return workspace
            before = workspace.bound

    def _breaking(self, tables: list[DenseTables]) -> NDArray[np.bool_]:
        """Columns ``[n]`` whose exchange may turn what is possible into what is not."""
        out = np.zeros(self.problem.n, bool)
        for part in tables:
            is_broken = np.isposinf(part.scores)
            for axis, slot in enumerate(part.slots):
                others = tuple(1 + other for other in range(len(part.slots)) if other != axis)
                if not slot.is_literal:
                    out[slot.column[is_broken.any(axis=others)]] = True
        return out & self.lost

    def _disputed(self, belief: Float) -> NDArray[np.bool_]:
        """Exchanged columns ``[n]`` that look better than all others, or nearly so if none does."""
        number = self.choices.number
        top = np.full(self.choices.count + 1, -np.inf)
        np.maximum.at(top, number[~self.lost], belief[~self.lost])
        behind = np.where(self.lost, top[number] - belief, np.inf)
        found = behind <= ROUNDED * (1.0 + np.abs(top[number]))
        if not found.any():
            count = int(NEAREST * np.count_nonzero(self.lost))
            found = behind <= np.partition(behind[self.lost], count)[count]
        return found & self.lost if found.any() else self.lost


def _entries(problem: Problem) -> int:
    """Entries of all tables once they are written out."""
    t = problem.written
    each = [int(np.prod(t.states[a:b], dtype=np.int64)) for a, b in pairwise(t.slot)]
    return int((np.diff(t.factor) * np.array(each, np.int64)).sum())


def _tables_alone(problem: Problem, choices: Choices) -> tuple[Problem, Int64]:
    """The tables of a problem and what makes variables whole; the number there of every link."""
    t, rules, tables = problem.written, [], []
    links = [np.zeros(0, np.int64)]
    for whole in whole_variables(problem, choices):
        rules.append((SUM, whole.column.astype(np.int32), np.ones(len(whole.column), np.int32)))
        links.append(whole.links.T.ravel())
    for group in range(len(t.kind)):
        slots = slice(t.slot[group], t.slot[group + 1])
        m = int(t.factor[group + 1] - t.factor[group])
        lits = t.lits[t.link[group] : t.link[group + 1]].reshape(m, -1)
        states, first = tuple(t.states[slots].tolist()), tuple(t.first[slots].tolist())
        tables.append((DENSE, states, first, lits))
    own = make_problem(problem.n, np.zeros((0, 2), np.int32), rules, make_tables(tables))
    last = first_table_link(problem) + np.arange(len(t.lits))
    return own, np.concatenate([*links, last])


def _links_after(own: Problem, choices: Choices, to: Int64) -> Int64:
    """The link of the state that each link's state turns into, for tables and whole variables."""
    out = np.arange(own.n_links)
    for whole in whole_variables(own, choices):
        state = states_after(Slot(whole.column.astype(np.int32), False), to, whole.links.shape[1])
        out[whole.links] = np.take_along_axis(whole.links, state, axis=1)
    begin = first_table_link(own)
    for tables in dense_tables(own, no_scores(own)):
        width = sum(slot.lits.shape[1] for slot in tables.slots)
        links = begin + np.arange(len(tables.scores) * width).reshape(-1, width)
        begin += links.size
        place = 0
        for slot in tables.slots:
            own_links = links[:, place : place + slot.lits.shape[1]]
            place += slot.lits.shape[1]
            if not slot.is_literal:
                state = states_after(slot, to, slot.lits.shape[1])
                out[own_links] = np.take_along_axis(own_links, state, axis=1)
    return out


def _best_members(choices: Choices, belief: Float) -> Int64:
    """For every column ``[n]`` the one of its choice that looks best; itself without one."""
    out = np.arange(len(belief))
    inside = np.flatnonzero(choices.number >= 0)
    order = inside[np.lexsort((-belief[inside], choices.number[inside]))]
    _, first = np.unique(choices.number[order], return_index=True)
    out[inside] = order[first][choices.number[inside]]
    return out
