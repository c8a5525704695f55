"""A problem as tables over variables, if its factors are small enough to be written out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from assent.kernels.core.memo import remembered
from assent.kernels.direct import table_scopes, tabulate
from assent.kernels.direct.eliminate import Model
from assent.kernels.problem import Float, Int32, Int64, Problem, Scores

# Entries of one table, and of all of them together (half a gigabyte).
LARGEST_TABLE = 1 << 20
MOST_ENTRIES = 1 << 26
TOO_MANY = "a factor over too many variables to be written out"


@dataclass(frozen=True)
class Variables:
    """Which coordinates make up the variables of a problem.

    Attributes:
        var_of: ``[n]`` the variable of each coordinate, ``state_of[n]`` its state there.
        card: ``[V]`` number of states.
        is_block: ``[factors]`` which logic factors say that a variable has one state.
    """

    var_of: Int32
    state_of: Int32
    card: Int32
    is_block: NDArray[np.bool_]

    def assignment(self, states: Int64) -> NDArray[np.int8]:
        """Coordinates ``[n]`` of states ``[V]``."""
        return (states[self.var_of] == self.state_of).astype(np.int8)

    def members(self) -> list[Int64]:
        """The coordinates of each variable, by state."""
        order = np.lexsort((self.state_of, self.var_of))
        return np.split(order, np.flatnonzero(np.diff(self.var_of[order])) + 1)


@remembered
def find_variables(problem: Problem) -> Variables:
    """Blocks of which exactly one coordinate is true, then coordinates by themselves.

    Example:
        >>> from assent.kernels.problem import SUM, make_problem
        >>> group = (SUM, np.array([[0, 1, 2]], np.int32), np.ones(1, np.int32))
        >>> find_variables(make_problem(4, np.zeros((0, 2), np.int32), [group])).card.tolist()
        [3, 2]
    """
    p, n = problem, problem.n
    var_of, state_of = np.full(n, -1, np.int32), np.ones(n, np.int32)
    card, is_block = np.empty(n, np.int32), np.zeros(p.n_logic, bool)
    count = table_scopes.find_blocks(
        p.group_kind, p.group_size, p.group_count, p.group_link, p.lits, p.k, p.written, var_of,
        state_of, card, is_block,
    )  # fmt: skip
    alone = np.flatnonzero(var_of < 0)
    var_of[alone] = np.arange(count, count + len(alone), dtype=np.int32)
    card[count : count + len(alone)] = 2
    return Variables(var_of, state_of, card[: count + len(alone)], is_block)


def group_lits(problem: Problem, group: int) -> Int32:
    """Literals ``[m, size]`` of a group of logic factors."""
    count, size = int(problem.group_count[group]), int(problem.group_size[group])
    start = int(problem.group_link[group])
    return problem.lits[start : start + count * size].reshape(size, count).T


@dataclass(frozen=True)
class Tabulation:
    """Where the tables of a problem go; scores come later.

    Attributes:
        groups: a row for each group of factors: see :mod:`assent.kernels.direct.table_scopes`.
        lits: literals of all links.
        shape: scopes and sizes of the tables, those of single variables first; no entry is
            written yet.
        form: ``[factors]`` WRITTEN, or what is not written out as a table.
    """

    of: ReferenceType[Problem]  # kept by others: this is kept as long as the problem is
    variables: Variables
    groups: Int64
    lits: Int32
    shape: Model
    form: NDArray[np.int8]

    @property
    def problem(self) -> Problem:
        """What is written out."""
        found = self.of()
        assert found is not None, "whoever asks has it"
        return found

    @property
    def entries(self) -> int:
        """Entries of all factors' tables together."""
        return int(self.shape.entry[-1] - self.shape.entry[len(self.shape.card)])

    def model(self, scores: Scores) -> Model:
        """The tables, variables' own scores included."""
        both = np.concatenate([self.own_scores(scores), self.tables(scores)])
        return self.shape._replace(table=both)

    def own_scores(self, scores: Scores) -> Float:
        """Scores of all states of all variables, end to end."""
        v, shape = self.variables, self.shape
        out = np.zeros(int(shape.entry[len(shape.card)]))
        out[shape.entry[v.var_of] + v.state_of] = scores.theta
        return out

    def tables(self, scores: Scores) -> Float:
        """Entries of all factors' tables, end to end; those of the scores where they are so."""
        if self._are_written_so:
            return scores.table
        p, v, shape = self.problem, self.variables, self.shape
        out = np.empty(self.entries)
        tabulate.fill(
            self.groups, self.lits, v.is_block, p.k, p.weights, p.capacity, p.tables.states,
            p.tables.first, v.var_of, v.state_of, v.card, shape.start, shape.scope, shape.entry,
            self.form, scores.pair, scores.table, out,
        )  # fmt: skip
        return out

    @cached_property
    def _are_written_so(self) -> bool:
        """Whether all factors are tables over whole variables, all states in their order."""
        v, tables, shape = self.variables, self.problem.tables, self.shape
        return bool(
            tabulate.are_written_so(
                self.groups, self.lits, v.is_block, tables.states, tables.first, v.var_of,
                v.state_of, v.card, shape.start, shape.scope,
            )
        )  # fmt: skip


@remembered
def tabulation(problem: Problem) -> Tabulation | str:
    """The problem's factors as tables, or what cannot be written out, in words."""
    return _tabulate(problem, keep=False)


@remembered
def partial_tabulation(problem: Problem) -> Tabulation | str:
    """The same with pairs and constraints as they are, unless they are quite small."""
    return _tabulate(problem, keep=True)


def _tabulate(problem: Problem, keep: bool) -> Tabulation | str:
    if problem.models:
        return f"a {problem.models[0].structure.kind} is not written out"
    variables, groups, lits = find_variables(problem), _groups(problem), problem.all_lits
    card = variables.card
    most = len(card) + problem.n_pairs + problem.n_logic + int(problem.tables.factor[-1])
    start, entry = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    scope = np.empty(len(card) + len(lits), np.int32)
    form = np.empty(most - len(card), np.int8)
    count = table_scopes.find_scopes(
        groups, lits, variables.is_block, variables.var_of, card, LARGEST_TABLE, keep, start, scope,
        entry, form,
    )  # fmt: skip
    if count < 0:
        return TOO_MANY
    start, entry = start[: count + 1], entry[: count + 1]
    shape = Model(card, start, scope[: start[-1]], entry, np.zeros(0))
    form = form[: count - len(card)]
    made = Tabulation(ref(problem), variables, groups, lits, shape, form)
    return TOO_MANY if made.entries > MOST_ENTRIES else made


def _groups(problem: Problem) -> Int64:
    p, t = problem, problem.tables
    out = np.empty((1 + len(p.group_kind) + len(t.kind), table_scopes.COLUMNS), np.int64)
    table_scopes.list_groups(
        p.n_pairs, p.group_kind, p.group_size, p.group_count, p.group_link, t.kind, t.slot, t.link,
        t.factor, t.entry, out,
    )  # fmt: skip
    return out
