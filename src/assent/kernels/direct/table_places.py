"""Where entries and messages of tables over variables stand, and which links they speak for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.core.factor_list import (
    ACROSS,
    ALONG,
    CAPACITY,
    CODE,
    COUNT,
    ITEM,
    LINK,
    PAIR,
    SIZE,
    SLOT,
    SLOTS,
    WEIGHT,
)
from assent.kernels.core.propagate import coordinate
from assent.kernels.direct.table_scopes import FOUR, TABULATED, is_table, most_in
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.problem import ANYOF, KNAPSACK


class SlotPlaces(NamedTuple):
    """Slots of all factors, their messages, and which links these stand for.

    The first four are read, the others written.  A link's score is the difference of two messages,
    the second of its ``places`` less the first: for a positive literal that of its state and of
    another one, -1 where every state has a link of its own.
    """

    start: np.ndarray  # int64[F + 1] slots of each factor
    scope: np.ndarray  # int32[slots] their variables
    at: np.ndarray  # int64[slots + 1] where their messages begin
    form: np.ndarray  # int8[F] TABULATED, or what is not
    limit: np.ndarray  # float64[F] right-hand side or capacity of a constraint
    weight: np.ndarray  # float64[slots] of a literal
    named: np.ndarray  # int32[slots] the one state that a factor names, or -1
    other: np.ndarray  # int32[slots] one that it does not
    negated: np.ndarray  # bool[slots]
    several: np.ndarray  # bool[slots] whether other literals are over the same variable
    places: np.ndarray  # int64[links, 2]


@jit
def find_strides(start, scope, card, form, stride, at):
    """From an entry to that of the next state of each slot, and where its messages begin.

    The last slot is fastest.  A literal has two states: not named, and named.
    """
    at[0] = 0
    for f in range(len(start) - 1):
        step = 1
        for k in range(start[f], start[f + 1]):
            at[k + 1] = at[k] + (card[scope[k]] if form[f] == TABULATED else 2)
        for k in range(start[f + 1] - 1, start[f] - 1, -1):
            stride[k] = step
            if form[f] == TABULATED or form[f] == FOUR:
                step *= at[k + 1] - at[k]


@jit
def place_literals(factors, slots):
    """All about factors that are not tabulated: their links have two messages each."""
    flat, variables = factors.flat, factors.variables
    factor = 0
    latest = np.full(len(variables.card), -1)  # slot that spoke of each variable
    for g in range(len(flat.groups)):
        row = flat.groups[g]
        for f in range(row[COUNT]):
            if not is_table(row, f, variables.is_block):
                continue
            if slots.form[factor] != TABULATED:
                if row[CODE] == KNAPSACK:
                    slots.limit[factor] = flat.numbers[row[CAPACITY] + f]
                elif row[CODE] != PAIR:
                    slots.limit[factor] = flat.k[row[ITEM] + f]
                for j in range(row[SIZE]):
                    place_literal(factors, row, f, j, factor, slots, latest)
            factor += 1


@jit_internal_no_allocation
def place_literal(factors, row, f, j, factor, slots, latest):
    """The slot of literal ``j`` of a group's factor ``f``, which is the ``factor``-th of all."""
    flat, variables = factors.flat, factors.variables
    link = row[LINK] + f * row[ALONG] + j * row[ACROSS]
    lit, begin = flat.lits[link], slots.start[factor]
    slot, c = begin + j, coordinate(lit)
    slots.named[slot], slots.negated[slot] = variables.state_of[c], lit < 0
    if row[CODE] == KNAPSACK:
        slots.weight[slot] = flat.numbers[row[WEIGHT] + f + j * row[ACROSS]]
    else:
        is_input = slots.form[factor] == ANYOF and j + 1 < row[SIZE]
        slots.weight[slot] = 2.0 if is_input else 1.0
    slots.places[link, 0] = slots.at[slot] + (1 if lit >= 0 else 0)
    slots.places[link, 1] = slots.at[slot] + (0 if lit >= 0 else 1)
    before = latest[variables.var_of[c]]
    if before >= begin:
        slots.several[before], slots.several[slot] = True, True
    latest[variables.var_of[c]] = slot


@jit_internal_no_allocation
def are_variables(slot, uses, states, first):
    """Whether literals of each slot in turn are all those about one variable."""
    at = 0
    for s in range(len(states)):
        width = states[s] - first[s]
        if uses[slot[at]] != width:
            return False
        for j in range(at + 1, at + width):
            if slot[j] != slot[at]:
                return False
        at += width
    return len(states) > 0


@jit
def place_links(factors, alone, slots):
    """Which messages the links of all tables stand for, in ``slots.places``.

    ``alone[V]``: variables of one coordinate.  Factors that name one state of a variable of several
    are marked.  Returns False if one names more: it may take several for true, and messages do not.
    """
    flat = factors.flat
    slot = np.empty(most_in(flat.groups, SIZE), np.int64)  # of each literal
    uses = np.empty(len(slot), np.int64)  # literals of each slot
    factor = 0
    for g in range(len(flat.groups)):
        row = flat.groups[g]
        own = slice(row[SLOT], row[SLOT] + row[SLOTS])
        states, first = factors.slot_states[own], factors.slot_first[own]
        for f in range(row[COUNT]):
            if not is_table(row, f, factors.variables.is_block):
                continue
            if slots.form[factor] == TABULATED:
                find_own_slots(factors, row, f, slots.scope[slots.start[factor] :], slot, uses)
                complete = are_variables(slot, uses, states, first)
                for j in range(row[SIZE]):
                    k, count = slots.start[factor] + slot[j], uses[slot[j]]
                    if not place_link(factors, alone, row, f, j, k, count, complete, slots):
                        return False
            factor += 1
    return True


@jit_internal_no_allocation
def find_own_slots(factors, row, f, scope, slot, uses):
    """The ``slot`` of each literal of a factor in its scope, and the literals of each slot."""
    uses[: row[SIZE]] = 0
    for j in range(row[SIZE]):
        lit, k = factors.flat.lits[row[LINK] + f * row[ALONG] + j * row[ACROSS]], 0
        while scope[k] != factors.variables.var_of[coordinate(lit)]:
            k += 1
        slot[j] = k
        uses[k] += 1


@jit_internal_no_allocation
def place_link(factors, alone, row, f, j, k, count, complete, slots):
    """The messages of a link in slot ``k``, which ``count`` literals share; False if refused.

    ``complete``: each slot of the table is one variable with all of its states.
    """
    variables, link = factors.variables, row[LINK] + f * row[ALONG] + j * row[ACROSS]
    lit = factors.flat.lits[link]
    c = coordinate(lit)
    v, state = variables.var_of[c], variables.state_of[c]
    mine, beside = slots.at[k] + state, np.int64(-1)
    if count == 1 and alone[v]:
        beside = slots.at[k]
    elif count == 1 and variables.card[v] > 1:
        slots.named[k], slots.other[k] = state, 1 if state == 0 else 0
        beside = slots.at[k] + slots.other[k]
    elif not complete or count != variables.card[v] or alone[v] or lit < 0:
        return False
    slots.places[link, 0] = mine if lit >= 0 else beside
    slots.places[link, 1] = beside if lit >= 0 else mine
    return True


@jit
def block_links(factors, out):
    """Links of the exactly-one factors that say that a variable has one state, end to end."""
    groups, count = factors.flat.groups, 0
    for g in range(len(groups)):
        row = groups[g]
        for f in range(row[COUNT]):
            if is_table(row, f, factors.variables.is_block):
                continue
            for j in range(row[SIZE]):
                out[count] = row[LINK] + f * row[ALONG] + j * row[ACROSS]
                count += 1


@jit
def find_ranges(entry, entries, top, low, forbidden):
    """The largest and smallest possible entry of each table, and which forbid some.

    Both are 0 where no joint state is possible.
    """
    for f in range(len(entry) - 1):
        most, least, forbids = -np.inf, np.inf, False
        for e in range(entry[f], entry[f + 1]):
            value = entries[e]
            if value == -np.inf:
                forbids = True
            else:
                most, least = max(most, value), min(least, value)
        nothing = most == -np.inf
        top[f], low[f] = 0.0 if nothing else most, 0.0 if nothing else least
        forbidden[f] = forbids
