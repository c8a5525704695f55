"""The most that other literals of a constraint gain, with one of them false and with it true."""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit_inline, jit_internal_no_allocation
from assent.kernels.problem import CAP, PARITY, SUM
from assent.kernels.search.literals import OPEN


@jit_internal_no_allocation
def best_numbers(form, limit, load, slot, order, truth, gain):
    """The most that others gain, with a literal of a CAP, SUM or PARITY false, and true."""
    if_false, if_true = -np.inf, -np.inf
    total, number = 0.0, load
    i = -1
    while form == PARITY or number <= limit:
        if form == CAP:
            fine, fine_with = True, number < limit
        elif form == SUM:
            fine, fine_with = number == limit, number + 1.0 == limit
        else:
            fine = number % 2.0 == 0.0
            fine_with = not fine
        if fine:
            if_false = max(if_false, total)
        if fine_with:
            if_true = max(if_true, total)
        i += 1
        while i < len(order) and (truth[order[i]] != OPEN or order[i] == slot):
            i += 1
        if i == len(order) or (form == CAP and gain[order[i]] <= 0.0):
            break
        total += gain[order[i]]
        number += 1.0
    return if_false, if_true


@jit_internal_no_allocation
def best_any(load, slot, begin, last, truth, gain):
    """The same for an ANYOF with inputs from ``begin`` and the output ``last``."""
    positive, best = 0.0, -np.inf
    for k in range(begin, last):
        if truth[k] == OPEN and k != slot:
            positive += max(gain[k], 0.0)
            best = max(best, gain[k])
    known = load > 1.0
    none = -np.inf if known else 0.0
    some = positive if known or best > 0.0 else best
    if slot == last:
        return none, some
    if truth[last] == OPEN:
        return max(none, some + gain[last]), positive + gain[last]
    if load % 2.0 == 1.0:
        return some, positive
    return none, -np.inf


@jit_internal_no_allocation
def fill(room, but, order, truth, gain, weight):
    """The most that open literals gain in a room, one of them possibly in part."""
    if room < 0.0:
        return -np.inf
    value = 0.0
    for k in order:
        if truth[k] != OPEN or k == but or gain[k] <= 0.0:
            continue
        if weight[k] > room:
            return value + gain[k] * (room / weight[k])
        value += gain[k]
        room -= weight[k]
    return value


@jit_internal_no_allocation
def fill_with(room, slot, order, truth, gain, weight, key):
    """The same with a literal of the knapsack, as a line above all shares of it.

    A knapsack may be filled with part of a literal: the most that is gained is concave in its
    share.  The line touches it where it is greatest; returns its ends, where the literal is false
    and where it is true.
    """
    if room < 0.0:
        return -np.inf, -np.inf
    value, taken, loss, rise = 0.0, False, 0.0, 0.0  # by less room, by more
    full = False
    for k in order:
        if truth[k] != OPEN or gain[k] <= 0.0:
            continue
        if weight[k] > room:
            value += gain[k] * (room / weight[k])
            if k == slot:
                return value, value
            full, rise = True, key[k]
            loss = key[k] if room > 0.0 else loss
            break
        value += gain[k]
        room -= weight[k]
        taken = taken or k == slot
        loss = key[k] if weight[k] > 0.0 else loss
    loss = loss if full or room == 0.0 else 0.0
    if taken:
        return value - gain[slot] + weight[slot] * rise, value
    return value, value + gain[slot] - weight[slot] * loss


@jit_inline
def best_filling(room, slot, lines, order, truth, gain, weight, key):
    """The most that others gain with a literal of a KNAPSACK false, and true."""
    if lines and truth[slot] == OPEN:
        if_false, if_true = fill_with(room, slot, order, truth, gain, weight, key)
        return if_false, if_true - gain[slot]
    if_false = fill(room, slot, order, truth, gain, weight)
    return if_false, fill(room - weight[slot], slot, order, truth, gain, weight)
