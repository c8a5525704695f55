"""A problem as tables over variables, if its factors are small enough to be written out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from assent.kernels import tabulate
from assent.kernels.elimination import Model
from assent.problem import DENSE, KNAPSACK, SUM, Float, Int32, Int64, Problem, Scores
from assent.remembered import remembered

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
        >>> from assent.problem import make_problem
        >>> group = (SUM, np.array([[0, 1, 2]], np.int32), np.ones(1, np.int32))
        >>> find_variables(make_problem(4, np.zeros((0, 2), np.int32), [group])).card.tolist()
        [3, 2]
    """
    n = problem.n
    var_of, state_of = np.full(n, -1, np.int32), np.ones(n, np.int32)
    is_block = np.zeros(problem.n_logic, bool)
    card: list[Int32] = []
    count = 0
    for g in np.flatnonzero(problem.group_kind == SUM).tolist():
        lits, first = group_lits(problem, g), int(problem.group_factor[g])
        own = slice(first, first + len(lits))
        before = count
        count = tabulate.find_blocks(lits, problem.k[own], count, var_of, state_of, is_block[own])
        card.append(np.full(count - before, lits.shape[1], np.int32))
    alone = np.flatnonzero(var_of < 0)
    var_of[alone] = count + np.arange(len(alone), dtype=np.int32)
    card.append(np.full(len(alone), 2, np.int32))
    return Variables(var_of, state_of, np.concatenate(card), is_block)


def group_lits(problem: Problem, group: int) -> Int32:
    """Literals ``[m, size]`` of a group of logic factors."""
    count, size = int(problem.group_count[group]), int(problem.group_size[group])
    start = int(problem.group_link[group])
    return problem.lits[start : start + count * size].reshape(size, count).T


@dataclass(frozen=True)
class Batch:
    """Factors of one kind and size, with the variables they are over.

    ``group`` is -1 for pairs, then counts groups of logic factors, then of tables.
    """

    group: int
    lits: Int32  # [m, links]
    rows: Int64  # which factors of the group these are
    scope: Int32  # [m, links], the first arity[m] of each
    arity: Int32
    size: Int64


@dataclass(frozen=True)
class Tabulation:
    """Where the tables of a problem go; scores come later."""

    of: ReferenceType[Problem]  # kept by others: this is kept as long as the problem is
    variables: Variables
    batches: tuple[Batch, ...]

    @property
    def problem(self) -> Problem:
        """What is written out."""
        found = self.of()
        assert found is not None, "whoever asks has it"
        return found

    @property
    def entries(self) -> int:
        """Entries of all tables together."""
        return int(sum(batch.size.sum() for batch in self.batches))

    def shape(self) -> Model:
        """The scopes and sizes of the tables, with no entry written yet."""
        return self._shape

    @cached_property
    def _shape(self) -> Model:
        card = self.variables.card
        scopes = [np.arange(len(card), dtype=np.int32)]
        sizes, arities = [card.astype(np.int64)], [np.ones(len(card), np.int32)]
        for batch in self.batches:
            sizes.append(batch.size)
            arities.append(batch.arity)
            kept = np.arange(batch.scope.shape[1]) < batch.arity[:, None]
            scopes.append(batch.scope[kept])
        return Model(
            card,
            np.concatenate([[0], np.cumsum(np.concatenate(arities))]).astype(np.int64),
            np.concatenate(scopes),
            np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64),
            np.zeros(0),
        )

    def model(self, scores: Scores) -> Model:
        """The tables, variables' own scores included."""
        card, variables = self.variables.card, self.variables
        own = np.zeros(int(card.sum()))
        first = np.concatenate([[0], np.cumsum(card)])
        own[first[variables.var_of] + variables.state_of] = scores.theta
        tables = [self._fill(batch, scores) for batch in self.batches]
        return self.shape()._replace(table=np.concatenate([own, *tables]))

    def _fill(self, batch: Batch, scores: Scores) -> Float:
        problem, v = self.problem, self.variables
        first = np.concatenate([[0], np.cumsum(batch.size)]).astype(np.int64)
        out = np.empty(int(first[-1]))
        where = (v.var_of, v.state_of, v.card, batch.scope, batch.arity, first, out)
        if batch.group < 0:
            tabulate.fill_pairs(batch.lits, scores.pair, *where)
        elif batch.group < len(problem.group_kind):
            kind, k, weights, capacity = self._numbers(batch)
            tabulate.fill_logic(kind, batch.lits, k, weights, capacity, *where)
        else:
            t, tables = batch.group - len(problem.group_kind), problem.tables
            slots = slice(tables.slot[t], tables.slot[t + 1])
            entries = scores.table[tables.entry[t] : tables.entry[t + 1]]
            if tables.kind[t] == DENSE and self._is_written_so(batch, slots):
                return entries
            tabulate.fill_tables(
                int(tables.kind[t]), tables.states[slots], tables.first[slots], batch.lits,
                np.ascontiguousarray(entries.reshape(len(batch.lits), -1)), *where,
            )  # fmt: skip
        return out

    def _is_written_so(self, batch: Batch, slots: slice) -> bool:
        """Whether tables are over whole variables already, with all states in their order."""
        tables, v = self.problem.tables, self.variables
        states, first = tables.states[slots], tables.first[slots]
        return bool((batch.arity == len(states)).all()) and bool(
            tabulate.is_written_so(
                batch.lits, states, first, v.var_of, v.state_of, v.card, batch.scope
            )
        )

    def _numbers(self, batch: Batch) -> tuple[int, Int32, Float, Float]:
        """Kind, right-hand sides, weights ``[m, links]`` and capacities ``[m]``."""
        problem, m = self.problem, len(batch.lits)
        kind, first = int(problem.group_kind[batch.group]), problem.group_factor[batch.group]
        k = problem.k[first + batch.rows]
        if kind != KNAPSACK:
            return kind, k, np.zeros((m, 1)), np.zeros(m)
        at = int(problem.group_link[batch.group]) - (len(problem.lits) - len(problem.weights))
        weights = problem.weights[at : at + batch.lits.size].reshape(-1, m).T
        capacity = problem.capacity[first + batch.rows - (problem.n_logic - len(problem.capacity))]
        return kind, k, np.ascontiguousarray(weights), capacity


@remembered
def tabulation(problem: Problem) -> Tabulation | str:
    """The problem's factors as tables, or what cannot be written out, in words."""
    if problem.models:
        return f"a {problem.models[0].structure.kind} is not written out"
    batches = []
    for batch in _batches(problem, find_variables(problem)):
        if batch.size.max(initial=0) > LARGEST_TABLE:
            return TOO_MANY
        batches.append(batch)
    batches.sort(key=lambda batch: batch.group)
    made = Tabulation(
        ref(problem), find_variables(problem), tuple(b for b in batches if len(b.lits))
    )
    return TOO_MANY if made.entries > MOST_ENTRIES else made


def _batches(problem: Problem, variables: Variables) -> Iterator[Batch]:
    """All factors by kind and size, the largest rules first: most often they end the matter."""
    logic = len(problem.group_kind)
    for g in np.argsort(-problem.group_size, kind="stable").tolist():
        lits, first = group_lits(problem, g), int(problem.group_factor[g])
        rows = np.flatnonzero(~variables.is_block[first : first + len(lits)])
        yield _batch(variables, g, lits[rows], rows)
    yield _batch(variables, -1, problem.pair_var, np.arange(problem.n_pairs))
    tables = problem.tables
    for t in range(len(tables.kind)):
        count = int(tables.factor[t + 1] - tables.factor[t])
        lits = tables.lits[tables.link[t] : tables.link[t + 1]].reshape(count, -1)
        yield _batch(variables, logic + t, lits, np.arange(count))


def _batch(variables: Variables, group: int, lits: Int32, rows: Int64) -> Batch:
    lits = np.ascontiguousarray(lits)
    scope = np.empty(lits.shape, np.int32)
    arity, size = np.empty(len(lits), np.int32), np.empty(len(lits), np.int64)
    tabulate.find_scopes(lits, variables.var_of, variables.card, LARGEST_TABLE, scope, arity, size)
    return Batch(group, lits, rows, scope, arity, size)
