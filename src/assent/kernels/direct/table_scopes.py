"""Which factors are tabulated over variables, and over which of them.

A variable is a block of coordinates of which one is true (its states), or a coordinate of its own
(state 1 is true).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.core.factor_list import (
    ACROSS,
    ALONG,
    CODE,
    COUNT,
    ITEM,
    LINK,
    PAIR,
    SIZE,
    TABLE,
    Flat,
)
from assent.kernels.core.propagate import coordinate
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.problem import KNAPSACK, SUM, Int32, Int64

# Forms of factors: tables over their variables, and what is not tabulated but has a slot per
# literal, constraints with their codes and factors of two literals.
TABULATED = -1
FOUR = 6

# Four entries are a table, whoever wrote them.
SMALLEST = 4


class Variables(NamedTuple):
    """Which coordinates make up the variables of a problem."""

    var_of: Int32  # [n] the variable of each coordinate
    state_of: Int32  # [n] and its state there
    card: Int32  # [V] number of states
    is_block: NDArray[np.bool_]  # [F] which logic factors say that a variable has one state

    def assignment(self, states: Int64) -> NDArray[np.int8]:
        """Coordinates ``[n]`` of states ``[V]``."""
        return (states[self.var_of] == self.state_of).astype(np.int8)

    def members(self) -> list[Int64]:
        """The coordinates of each variable, by state."""
        order = np.lexsort((self.state_of, self.var_of))
        return np.split(order, np.flatnonzero(np.diff(self.var_of[order])) + 1)


class VariableFactors(NamedTuple):
    """All factors of a problem and the variables they are over."""

    flat: Flat
    variables: Variables
    slot_states: Int32  # [slots] of tables
    slot_first: Int32  # [slots] see ``problem.Tables``


@jit_internal_no_allocation
def find_slots(tables, leader, width):
    """Which coordinates tables take for the states of one variable.

    Each has the first of them as its ``leader[n]``, and there are ``width[n]``; -1 and 0 elsewhere.
    """
    states, first, lits = tables.states, tables.first, tables.lits
    for t in range(len(tables.link) - 1):
        at = tables.link[t]
        for _ in range(tables.factor[t], tables.factor[t + 1]):
            for s in range(tables.slot[t], tables.slot[t + 1]):
                links = states[s] - first[s]
                for j in range(links if first[s] == 0 else 0):
                    leader[lits[at + j]], width[lits[at + j]] = lits[at], links
                at += links


@jit_internal_no_allocation
def may_be_block(lits, at, size, across, var_of):
    """Whether the literals of a sum are coordinates of no variable so far."""
    for j in range(size):
        lit = lits[at + j * across]
        if lit < 0 or var_of[lit] >= 0:
            return False
    return True


@jit_internal_no_allocation
def is_slot(lits, at, size, across, leader, width):
    """Whether tables take the literals of a sum for a variable."""
    for j in range(size):
        lit = lits[at + j * across]
        if leader[lit] < 0 or leader[lit] != leader[lits[at]] or width[lit] != size:
            return False
    return True


@jit
def find_blocks(groups, tables, variables):
    """Make variables of the sums of which exactly one coordinate is true; returns their number.

    None shares a coordinate with another: those that tables take for variables come first, then
    earlier ones.  ``variables.card`` has room for one per coordinate.
    """
    lits, var_of, state_of = groups.lits, variables.var_of, variables.state_of
    leader, width = np.full(len(var_of), -1), np.zeros(len(var_of), np.int64)
    find_slots(tables, leader, width)
    count = 0
    for of_tables in (True, False):
        factor = 0
        for g in range(len(groups.kind)):
            size, across = groups.size[g], groups.members[g]
            for f in range(across):
                at = groups.link[g] + f
                free = groups.kind[g] == SUM and groups.k[factor] == 1
                free = free and may_be_block(lits, at, size, across, var_of)
                if free and of_tables:
                    free = is_slot(lits, at, size, across, leader, width)
                if free:
                    for j in range(size):
                        lit = lits[at + j * across]
                        var_of[lit], state_of[lit] = count, j
                    variables.card[count] = size
                    variables.is_block[factor] = True
                    count += 1
                factor += 1
    return count


@jit_internal_no_allocation
def is_table(row, f, is_block):
    """Whether a factor is a table here, and does not just say that a variable has one state."""
    return row[CODE] >= PAIR or not is_block[row[ITEM] + f]


@jit_internal_no_allocation
def literal_of(flat, row, f, j):
    """Literal ``j`` of factor ``f`` of a group."""
    return flat.lits[row[LINK] + f * row[ALONG] + j * row[ACROSS]]


@jit_internal_no_allocation
def most_in(groups, column):
    """The largest number in a column of the groups, at least 1."""
    most = 1
    for g in range(len(groups)):
        most = max(most, groups[g, column])
    return most


@jit_internal_no_allocation
def add_variables(factors, row, f, scope, begin, most, stop):
    """List the distinct variables of a factor from ``scope[begin]`` on; their end, joint states.

    Gives up with more than ``most`` joint states, and goes no further once there are more than
    ``stop``.
    """
    variables, end, total = factors.variables, begin, 1
    for j in range(row[SIZE]):
        if total > stop:
            break
        v = variables.var_of[coordinate(literal_of(factors.flat, row, f, j))]
        known = False
        for i in range(begin, end):
            known = known or scope[i] == v
        if not known:
            scope[end] = v
            end += 1
            total *= variables.card[v]
            if total > most:
                break
    return end, total


@jit
def find_scopes(factors, most, keep, start, scope, entry, form):
    """The distinct variables of every factor and its joint states; the number of tables.

    Those of every variable come first, each a table of its own: table ``f`` is over
    ``scope[start[f]:start[f + 1]]`` and has the entries ``entry[f]`` to ``entry[f + 1]``.
    Returns -1 if one has more than ``most`` joint states.

    With ``keep`` pairs and constraints are not tabulated unless they are quite small.  They are
    over the variables of all literals, with four entries for two literals, else one.  ``form`` of
    every factor, counted from the first behind the variables, tells which they are.
    """
    card, groups = factors.variables.card, factors.flat.groups
    start[0], entry[0] = 0, 0
    for v in range(len(card)):
        scope[v], start[v + 1], entry[v + 1] = v, v + 1, entry[v] + card[v]
    tables, count = len(card), len(card)
    for g in range(len(groups)):
        row = groups[g]
        tabulated = not keep or row[CODE] >= TABLE
        heavy = row[CODE] == KNAPSACK  # link scores show less of it than its table does
        for f in range(row[COUNT]):
            if not is_table(row, f, factors.variables.is_block):
                continue
            begin = count
            stop = most if tabulated else SMALLEST
            count, total = add_variables(factors, row, f, scope, begin, most, stop)
            if total > most:
                return -1
            form[tables - len(card)] = TABULATED
            if not tabulated and (heavy or total > SMALLEST or count - begin < row[SIZE]):
                two = row[SIZE] == 2 and not heavy
                form[tables - len(card)], total = FOUR if two else row[CODE], 4 if two else 1
                for j in range(row[SIZE]):
                    lit = literal_of(factors.flat, row, f, j)
                    scope[begin + j] = factors.variables.var_of[coordinate(lit)]
                count = begin + row[SIZE]
            tables += 1
            start[tables], entry[tables] = count, entry[tables - 1] + total
    return tables
