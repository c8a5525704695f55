"""Which factors are written out as tables over variables, and over which of them.

A variable is a block of coordinates of which one is true (its states), or a coordinate of its own
(state 1 is true).  ``var_of[n]`` and ``state_of[n]`` tell the variable and state of a coordinate.
Link ``j`` of factor ``f`` of a group is ``LINK + f * ALONG + j * ACROSS`` among all links.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.core.propagate import lean
from assent.kernels.jit import jit
from assent.kernels.problem import KNAPSACK, SUM

# Codes of groups: those of logic forms (CAP to KNAPSACK), pairs, then tables by their kind.
PAIR = 5
TABLE = 8

# Forms of factors: tables over their variables, and what is not written out but has a slot per
# literal, constraints with their codes and factors of two literals.
WRITTEN = -1
FOUR = 6

# Four entries are a table, whoever wrote them.
SMALLEST = 4

# Columns of ``groups``.
CODE = 0
COUNT = 1  # factors in the group
SIZE = 2  # links per factor
LINK = 3  # first link
ACROSS = 4  # from a link of a factor to its next one
ALONG = 5  # from a factor's first link to that of the next factor
FACTOR = 6  # number of its first logic factor
WEIGHT = 7  # weights of KNAPSACK begin here, transposed as links are
CAPACITY = 8  # and capacities here
SLOT = 9  # first slot of a table
SLOTS = 10  # as many per factor
ENTRY = 11  # scores of joint states begin here
ENTRIES = 12  # as many per factor
COLUMNS = 13


@lean
def find_slots(slot, states, first, link, factor, lits, leader, width):
    """Which coordinates tables take for the states of one variable.

    Each has the first of them as its ``leader[n]``, and there are ``width[n]``; -1 and 0 elsewhere.
    """
    for t in range(len(link) - 1):
        at = link[t]
        for _ in range(factor[t], factor[t + 1]):
            for s in range(slot[t], slot[t + 1]):
                links = states[s] - first[s]
                for j in range(links if first[s] == 0 else 0):
                    leader[lits[at + j]], width[lits[at + j]] = lits[at], links
                at += links


@lean
def may_be_block(lits, at, size, across, var_of):
    """Whether the literals of a sum are coordinates of no variable so far."""
    for j in range(size):
        lit = lits[at + j * across]
        if lit < 0 or var_of[lit] >= 0:
            return False
    return True


@lean
def is_slot(lits, at, size, across, leader, width):
    """Whether tables take the literals of a sum for a variable."""
    for j in range(size):
        lit = lits[at + j * across]
        if leader[lit] < 0 or leader[lit] != leader[lits[at]] or width[lit] != size:
            return False
    return True


@jit
def find_blocks(group_kind, group_size, group_count, group_link, lits, k, tables, var_of, state_of,
                card, is_block):  # fmt: skip
    """Make variables of the sums of which exactly one coordinate is true; returns their number.

    None shares a coordinate with another: those that tables take for variables come first, then
    earlier ones.  ``card`` has room for one per coordinate, ``is_block[factors]`` tells which logic
    factors these are.
    """
    leader, width = np.full(len(var_of), -1), np.zeros(len(var_of), np.int64)
    find_slots(
        tables.slot, tables.states, tables.first, tables.link, tables.factor, tables.lits, leader,
        width,
    )  # fmt: skip
    count = 0
    for of_tables in (True, False):
        factor = 0
        for g in range(len(group_kind)):
            size, across = group_size[g], group_count[g]
            for f in range(across):
                at = group_link[g] + f
                free = group_kind[g] == SUM and k[factor] == 1
                free = free and may_be_block(lits, at, size, across, var_of)
                if free and of_tables:
                    free = is_slot(lits, at, size, across, leader, width)
                if free:
                    for j in range(size):
                        lit = lits[at + j * across]
                        var_of[lit], state_of[lit] = count, j
                    card[count] = size
                    is_block[factor] = True
                    count += 1
                factor += 1
    return count


@jit
def list_groups(
    n_pairs, group_kind, group_size, group_count, group_link, table_kind, table_slot, table_link,
    table_factor, table_entry, groups,
):  # fmt: skip
    """Pairs, logic factors and tables, a row of ``groups[1 + G + T, COLUMNS]`` for each group."""
    groups[:] = 0
    groups[0, CODE], groups[0, COUNT], groups[0, SIZE] = PAIR, n_pairs, 2
    groups[0, ACROSS], groups[0, ALONG] = 1, 2
    factor, begin, weight, capacity = 0, 2 * n_pairs, 0, 0
    for g in range(len(group_kind)):
        own = groups[1 + g]
        own[CODE], own[COUNT], own[SIZE] = group_kind[g], group_count[g], group_size[g]
        own[LINK], own[ACROSS], own[ALONG] = 2 * n_pairs + group_link[g], group_count[g], 1
        own[FACTOR], own[WEIGHT], own[CAPACITY] = factor, weight, capacity
        factor += group_count[g]
        begin += group_count[g] * group_size[g]
        if group_kind[g] == KNAPSACK:
            weight += group_count[g] * group_size[g]
            capacity += group_count[g]
    for t in range(len(table_kind)):
        own, count = groups[1 + len(group_kind) + t], table_factor[t + 1] - table_factor[t]
        size = (table_link[t + 1] - table_link[t]) // max(count, 1)
        own[CODE], own[COUNT], own[SIZE] = TABLE + table_kind[t], count, size
        own[LINK], own[ACROSS], own[ALONG] = begin + table_link[t], 1, size
        own[SLOT], own[SLOTS] = table_slot[t], table_slot[t + 1] - table_slot[t]
        own[ENTRY] = table_entry[t]
        own[ENTRIES] = (table_entry[t + 1] - table_entry[t]) // max(count, 1)


@lean
def is_written(group, f, is_block):
    """Whether a factor is a table here, and not what makes a variable whole."""
    return group[CODE] >= PAIR or not is_block[group[FACTOR] + f]


@lean
def read_lits(group, f, lits, own):
    """The literals of a factor, end to end."""
    for j in range(group[SIZE]):
        own[j] = lits[group[LINK] + f * group[ALONG] + j * group[ACROSS]]


@jit
def find_scopes(groups, lits, is_block, var_of, card, most, keep, start, scope, entry, form):
    """The distinct variables of every factor and its joint states; the number of tables.

    Those of every variable come first, each a table of its own: table ``f`` is over
    ``scope[start[f]:start[f + 1]]`` and has the entries ``entry[f]`` to ``entry[f + 1]``.
    Returns -1 if one has more than ``most`` joint states.

    With ``keep`` pairs and constraints are not written out unless they are quite small.  They are
    over the variables of all literals, with four entries for two literals, else one.  ``form`` of
    every factor, counted from the first behind the variables, tells which they are.
    """
    start[0], entry[0] = 0, 0
    for v in range(len(card)):
        scope[v], start[v + 1], entry[v + 1] = v, v + 1, entry[v] + card[v]
    tables, count = len(card), len(card)
    for g in range(len(groups)):
        group = groups[g]
        for f in range(group[COUNT]):
            if not is_written(group, f, is_block):
                continue
            begin, total = count, 1
            written = not keep or group[CODE] >= TABLE
            for j in range(group[SIZE]):
                if not written and total > SMALLEST:
                    break
                lit = lits[group[LINK] + f * group[ALONG] + j * group[ACROSS]]
                v = var_of[lit if lit >= 0 else ~lit]
                known = False
                for i in range(begin, count):
                    known = known or scope[i] == v
                if not known:
                    scope[count] = v
                    count += 1
                    total *= card[v]
                    if total > most:
                        return -1
            form[tables - len(card)] = WRITTEN
            heavy = group[CODE] == KNAPSACK  # link scores show less of it than its table does
            if not written and (heavy or total > SMALLEST or count - begin < group[SIZE]):
                two = group[SIZE] == 2 and not heavy
                form[tables - len(card)], total = FOUR if two else group[CODE], 4 if two else 1
                for j in range(group[SIZE]):
                    lit = lits[group[LINK] + f * group[ALONG] + j * group[ACROSS]]
                    scope[begin + j] = var_of[lit if lit >= 0 else ~lit]
                count = begin + group[SIZE]
            tables += 1
            start[tables], entry[tables] = count, entry[tables - 1] + total
    return tables
