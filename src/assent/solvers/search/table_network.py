"""A problem's tables laid out for depth-first search, and how its messages become link scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assent.kernels.core.memo import remembered
from assent.kernels.direct.table_places import (
    SlotPlaces,
    block_links,
    find_ranges,
    find_strides,
    place_links,
    place_literals,
)
from assent.kernels.direct.table_scopes import TABULATED
from assent.kernels.problem import KNAPSACK, DualPoint, Float, Int32, Int64, Problem, Scores
from assent.kernels.search.table_sweeps import Net
from assent.solvers.direct.tabulated_problem import Tabulation, partial_tabulation

# Entries of one table over three variables or more, and of all tables together.
LARGEST_TABLE = 1 << 12
MOST_ENTRIES = 1 << 22

# To come to a slot of a factor takes as long as reading this many entries.
SLOT_READS = 50

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


class TableLayout:
    """What is the same for all scores of a problem.

    ``places`` and ``blocks`` say which messages links stand for: see
    :class:`assent.proof.depth_first_proof.DepthFirstProof`.
    """

    def __init__(self, tabulation: Tabulation) -> None:
        shape = tabulation.shape
        self.tabulation, self.card = tabulation, shape.card
        n = len(shape.card)
        self.first = shape.entry[: n + 1]  # tables of single variables come first
        self.states = int(self.first[-1])
        self.start, self.scope = shape.start[n:] - n, shape.scope[n:]
        self.entry = shape.entry[n:] - self.states
        arity = np.diff(self.start)
        self.factor = np.repeat(np.arange(len(arity), dtype=np.int32), arity)
        self.form, slots = tabulation.form, len(self.scope)
        self.stride, self.at = np.empty(slots, np.int64), np.empty(slots + 1, np.int64)
        find_strides(self.start, self.scope, self.card, self.form, self.stride, self.at)
        is_literal = (self.form != TABULATED)[self.factor]
        self.around = np.lexsort((is_literal, self.scope)).astype(np.int32)
        counts = np.bincount(self.scope, minlength=n)
        self.around_start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        own = np.bincount(self.scope[is_literal], minlength=n)
        self.literals = self.around_start[1:] - own
        self.named, self.other = np.full((2, slots), -1, np.int32)
        self.limit, self.weight = np.zeros(len(self.form)), np.zeros(slots)
        self.negated, self.several = np.zeros((2, slots), np.bool_)
        self.blocks = _block_links(tabulation)
        self.places = np.full((tabulation.problem.n_links, 2), -1, np.int64)

    @property
    def messages(self) -> int:
        """How many there are: one per slot and state, two per literal."""
        return int(self.at[-1])

    def round_reads(self, left: float = 1.0) -> float:
        """Entries that a round reads while a share ``left`` of the states is not pruned.

        Two sweeps and a probe read a table for each of its variables and all others, a knapsack
        once for each of its literals; to come to a slot takes as long as reading some entries.
        """
        arity, tables = np.diff(self.start).astype(np.int64), self.form == TABULATED
        entries = int((np.diff(self.entry) * arity * (arity - 1))[tables].sum())
        sacks = int((arity[self.form == KNAPSACK] ** 2).sum())
        return SLOT_READS * len(self.scope) + 3 * (left * left * entries + sacks)

    def messages_of(self, dual: DualPoint, theta: Float) -> tuple[Float, Float]:
        """Messages that link scores stand for, and what states then have of ``theta[S]``."""
        given = np.zeros(self.messages + 1)  # the last for links of exactly-one factors
        np.subtract.at(given, self.places[:, 0], dual.joined())
        given = given[:-1]
        slot = np.repeat(np.arange(len(self.scope)), np.diff(self.at))
        is_literal = (self.form != TABULATED)[self.factor]
        state = self.first[self.scope[slot]] + np.arange(len(given)) - self.at[slot]
        written = ~is_literal[slot]
        own = theta + np.bincount(state[written], given[written], minlength=self.states)
        over, at = self.scope[is_literal], self.at[:-1][is_literal]
        named = self.first[over] + self.named[is_literal]
        own += np.bincount(named, given[at + 1] - given[at], minlength=self.states)
        all_states = np.bincount(over, given[at], minlength=len(self.card))
        return given, own + np.repeat(all_states, self.card)

    @cached_property
    def alone(self) -> NDArray[np.bool_]:
        """Which variables are one coordinate, true in state 1."""
        own = self.tabulation.variables
        out = np.ones(len(self.card), np.bool_)
        out[own.var_of[own.state_of == 0]] = False
        return out

    def states_of(self, x: NDArray[np.int8]) -> Int32:
        """States ``[V]`` of an assignment ``x[n]``."""
        own, true = self.tabulation.variables, x == 1
        states = np.zeros(len(self.card), np.int32)
        states[own.var_of[true]] = own.state_of[true]
        return states

    def place_links(self) -> bool:
        """Find out which messages links stand for; False if a factor asks for too much."""
        factors = self.tabulation.factors
        slots = SlotPlaces(
            self.start, self.scope, self.at, self.form, self.limit, self.weight, self.named,
            self.other, self.negated, self.several, self.places,
        )  # fmt: skip
        if (self.form != TABULATED).any():
            place_literals(factors, slots)
        return bool(place_links(factors, self.alone, slots))

    def net(self, scores: Scores) -> TableNet:
        """The tables with their scores; what is forbidden is so low that no answer has it."""
        theta, entries = self.tabulation.own_scores(scores), self.tabulation.tables(scores)
        top, low, forbidden = self._ranges(entries)
        owned = self.first[:-1]
        least = float(np.minimum(low, 0.0).sum() + np.minimum(theta, 0.0).sum())
        most = float(top.sum() + np.maximum.reduceat(theta, owned).sum())
        margin = 1.0 + MARGIN * (abs(least) + abs(most))
        if forbidden.any():
            never = least - most + top.min(initial=0.0) - 2.0 * margin
            entries = np.where(np.isneginf(entries), never, entries)
        net = Net(
            self.card, self.first, theta, self.start, self.scope, self.factor, self.stride,
            self.entry, entries, self.at, self.named, self.other, self.form, self.limit,
            self.weight, self.negated, self.several, self.around_start, self.around,
            self.literals,
        )  # fmt: skip
        return TableNet(net, least - margin, self._strengths(top - low, forbidden))

    def _ranges(self, entries: Float) -> tuple[Float, Float, NDArray[np.bool_]]:
        """The largest and smallest possible entry of each table, and which forbid some."""
        count = len(self.entry) - 1
        top, low, forbidden = np.empty(count), np.empty(count), np.empty(count, np.bool_)
        find_ranges(self.entry, entries, top, low, forbidden)
        return top, low, forbidden

    def _strengths(self, ranges: Float, forbidden: NDArray[np.bool_]) -> Float:
        """Ranges of the tables around each variable; what is forbidden counts as an average."""
        usual = float(ranges.sum()) / max(len(ranges), 1)
        force = ranges + np.where(forbidden, usual or 1.0, 0.0)
        total = np.bincount(self.scope, force[self.factor], minlength=len(self.card))
        return np.asarray(total / (float(total.sum()) / len(total) or 1.0))


@remembered
def layout_of(problem: Problem) -> TableLayout | str:
    """The problem's tables, or why they cannot be searched, in words."""
    tables = partial_tabulation(problem)
    if isinstance(tables, str):
        return tables
    shape = tables.shape
    arity, size = np.diff(shape.start), np.diff(shape.entry)
    if (size[arity > 2] > LARGEST_TABLE).any() or tables.entries > MOST_ENTRIES:
        return "its tables have too many entries to be looked at again and again"
    layout = TableLayout(tables)
    return layout if layout.place_links() else "a factor names several states of a variable"


def _block_links(tabulation: Tabulation) -> Int64:
    """Links of the exactly-one factors that make variables whole."""
    is_block, card = tabulation.variables.is_block, tabulation.variables.card
    out = np.empty(int(card[: int(is_block.sum())].sum()), np.int64)
    block_links(tabulation.factors, out)
    return out
