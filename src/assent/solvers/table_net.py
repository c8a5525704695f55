"""A problem's tables laid out for depth-first search, and how its messages become link scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.kernels.flat import first_links
from assent.kernels.table_places import find_strides, place_links
from assent.kernels.table_sweeps import Net
from assent.problem import Float, Int32, Int64, Problem, Scores
from assent.solvers.tabulated import Batch, Tabulation

# Values of answers and of what is none are told apart by this much, relative to their size.
MARGIN = 1e-6


@dataclass(frozen=True)
class TableNet:
    """Tables over variables with their scores.

    Attributes:
        net: the arrays that kernels read.
        least: less than any answer is worth, and more than anything that breaks a rule.
        strengths: ``[V]`` how strongly variables are tied to others, 1 on average.
    """

    net: Net
    least: float
    strengths: Float


class Layout:
    """What is the same for all scores of a problem.

    ``places`` and ``blocks`` say which messages links stand for: see :class:`assent.cases.Cases`.
    """

    def __init__(self, tabulation: Tabulation) -> None:
        shape = tabulation.shape()
        self.tabulation, self.card = tabulation, shape.card
        n = len(shape.card)
        self.first = np.concatenate([[0], np.cumsum(shape.card)]).astype(np.int64)
        self.states = int(self.first[-1])
        self.start, self.scope = shape.start[n:] - n, shape.scope[n:]
        self.entry = shape.entry[n:] - self.states
        arity = np.diff(self.start)
        self.factor = np.repeat(np.arange(len(arity), dtype=np.int32), arity)
        self.stride = np.empty(len(self.scope), np.int64)
        find_strides(self.start, self.scope, self.card, self.stride)
        self.at = np.concatenate([[0], np.cumsum(self.card[self.scope])]).astype(np.int64)
        self.around = np.argsort(self.scope, kind="stable").astype(np.int32)
        counts = np.bincount(self.scope, minlength=n)
        self.around_start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.named = np.full(len(self.scope), -1, np.int32)
        self.other = np.full(len(self.scope), -1, np.int32)
        self.blocks = _block_links(tabulation.problem, tabulation.variables.is_block)
        self.places = np.full((tabulation.problem.n_links, 2), -1, np.int64)

    @property
    def messages(self) -> int:
        """How many there are: one per slot and state."""
        return int(self.at[-1])

    def alone(self) -> NDArray[np.bool_]:
        """Which variables are one coordinate, true in state 1."""
        own = self.tabulation.variables
        out = np.ones(len(self.card), np.bool_)
        out[own.var_of[own.state_of == 0]] = False
        return out

    def place_links(self) -> bool:
        """Find out which messages links stand for; False if a factor asks for too much."""
        own, factor = self.tabulation.variables, 0
        alone = self.alone()
        for batch in self.tabulation.batches:
            if not place_links(
                batch.lits, _links_of(self.tabulation.problem, batch), factor,
                self._widths(batch), own.var_of, own.state_of, own.card, alone,
                self.start, self.scope, self.at, self.named, self.other, self.places,
            ):  # fmt: skip
                return False
            factor += len(batch.lits)
        return True

    def _widths(self, batch: Batch) -> Int32:
        """Literals of each slot of a batch of tables; none for other factors."""
        problem = self.tabulation.problem
        group, tables = batch.group - len(problem.group_kind), problem.tables
        if group < 0:
            return np.zeros(0, np.int32)
        slots = slice(tables.slot[group], tables.slot[group + 1])
        return np.asarray(tables.states[slots] - tables.first[slots])

    def net(self, scores: Scores) -> TableNet:
        """The tables with their scores; what is forbidden is so low that no answer has it."""
        table = self.tabulation.model(scores).table
        theta, entries = table[: self.states].copy(), table[self.states :].copy()
        top, low, forbidden = self._ranges(entries)
        owned = self.first[:-1]
        least = float(low.sum() + np.minimum.reduceat(theta, owned).sum())
        most = float(top.sum() + np.maximum.reduceat(theta, owned).sum())
        margin = 1.0 + MARGIN * (abs(least) + abs(most))
        entries[np.isneginf(entries)] = least - most + top.min(initial=0.0) - 2.0 * margin
        net = Net(
            self.card, self.first, theta, self.start, self.scope, self.factor, self.stride,
            self.entry, entries, self.at, self.named, self.other, self.around_start, self.around,
        )  # fmt: skip
        return TableNet(net, least - margin, self._strengths(top - low, forbidden))

    def _ranges(self, entries: Float) -> tuple[Float, Float, NDArray[np.bool_]]:
        """The largest and smallest possible entry of each table, and which forbid some."""
        if not len(entries):
            return np.zeros(0), np.zeros(0), np.zeros(0, bool)
        begin = self.entry[:-1]
        top = np.maximum.reduceat(entries, begin)
        low = np.minimum.reduceat(np.where(np.isneginf(entries), np.inf, entries), begin)
        forbidden = np.isneginf(np.minimum.reduceat(entries, begin))
        nothing = np.isneginf(top)  # no joint state is possible
        return np.where(nothing, 0.0, top), np.where(nothing, 0.0, low), forbidden

    def _strengths(self, ranges: Float, forbidden: NDArray[np.bool_]) -> Float:
        """Ranges of the tables around each variable; what is forbidden counts as an average."""
        usual = float(ranges.mean()) if len(ranges) else 0.0
        force = ranges + np.where(forbidden, usual or 1.0, 0.0)
        total = np.bincount(self.scope, force[self.factor], minlength=len(self.card))
        return np.asarray(total / (float(total.mean()) or 1.0))


def _links_of(problem: Problem, batch: Batch) -> Int64:
    """Numbers ``[m, size]`` of a batch's links among all links of the problem."""
    logic, table = first_links(problem)
    size = batch.lits.shape[1]
    position = np.arange(size)
    if batch.group < 0:
        return batch.rows[:, None] * 2 + position
    groups = len(problem.group_kind)
    if batch.group < groups:
        begin, count = problem.group_link[batch.group], problem.group_count[batch.group]
        return np.asarray(logic + begin + position * count + batch.rows[:, None])
    begin = problem.tables.link[batch.group - groups]
    return np.asarray(table + begin + batch.rows[:, None] * size + position)


def _block_links(problem: Problem, is_block: NDArray[np.bool_]) -> Int64:
    """Links of the exactly-one factors that make variables whole."""
    logic, _ = first_links(problem)
    out = [np.zeros(0, np.int64)]
    for g in range(len(problem.group_kind)):
        first, count = int(problem.group_factor[g]), int(problem.group_count[g])
        rows = np.flatnonzero(is_block[first : first + count])
        position = np.arange(int(problem.group_size[g]))[:, None]
        out.append((logic + problem.group_link[g] + position * count + rows).ravel())
    return np.concatenate(out)
