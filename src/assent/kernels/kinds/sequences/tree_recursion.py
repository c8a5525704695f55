"""Trees (and forests) of slots: a table of scores per edge, and a score per count of a state.

A chain is a tree rooted at its last slot, so Viterbi and forward–backward are the recursion below
on a path: towards the root a table ``[child, parent]`` is read row by row, which is as fast as a
loop written for chains alone.

Roots hang on a *virtual root* with a single state.  Every node ``v`` therefore has an edge to a
parent, with a table ``[K_v, K_parent]`` (``[K_v, 1]`` for a root: its own scores) in ``inner``,
and behind the tables ``inner`` holds ``counts[C]``: what it is worth that 0, 1, … slots are in
their counted state; C or more are forbidden.  Without counting, C is 1 and that one score is 0.

The recursion works on arrays ``[rows, K]``: best value (or log-partition) of a part of the tree
for every number of visits to the counted state, of which a part with ``r - 1`` slots needs
``r`` rows, and for every state of its top slot.  Upwards, a node's *belief* begins with its own
scores and absorbs one child's *message* after another; all stages are kept.  Downwards, each of
these arrays gets a twin with the value of everything outside of it.

``data`` is made by :func:`tree_data`: ``[n, C, whether something is counted, room]``; ``n`` rows of
``FIELDS`` entries, children before parents: the node, its parent (``n``: the virtual root), and
places in ``inner`` and in the scratch arrays, as named below; each slot's counted state or -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

import numpy as np

from assent.kernels.jit import (
    jit_inline,
    jit_inline_llvm,
    jit_internal_no_allocation,
    jit_no_allocation,
    jit_structure,
)

HEADER = 4
# The columns of a row: node and parent, and how many states each has; where the table, the
# belief and the message begin, of how many rows; the parent's stage before and after.
NODE, PARENT, WIDTH, TOP, TABLE, BELIEF, MESSAGE, ROWS = range(8)
BEFORE, BEFORE_ROWS, AFTER, AFTER_ROWS = range(8, 12)
FIELDS = 12
# Numba compiles anew for every type of integer and every literal 1: strides and signs are int64.


def tree_data(
    states: Sequence[int],
    parents: Sequence[int],
    counted: Sequence[int] | None = None,
    counts: int = 1,
) -> np.ndarray:
    """The constants of a forest: see the module's description.

    Args:
        states: number of states of each of ``n`` slots.
        parents: the parent of each slot, -1 for a root.
        counted: the state of each slot that is counted, -1 for none.
        counts: length C of the scores per number of visits.

    Example:
        >>> tree_data([2, 3], parents=[1, -1])[:4].tolist()
        [2, 1, 0, 14]
    """
    n = len(states)
    width = [*states, 1]
    counted = [-1] * n if counted is None else list(counted)
    tops = [n if parent < 0 else int(parent) for parent in parents]
    rows = [1 + (counts > 1 and state >= 0) for state in counted] + [1]
    room = 0
    stage = []  # where the latest stage of each node begins
    for v in range(n + 1):
        stage.append(room)
        room += rows[v] * width[v]
    tables = np.concatenate([[0], np.cumsum([width[v] * width[tops[v]] for v in range(n)])])
    table = []
    for v in children_first(tops):
        top = tops[v]
        message, room = room, room + rows[v] * width[top]
        after, after_rows = room, min(counts, rows[top] + rows[v] - 1)
        room += after_rows * width[top]
        table += [v, top, width[v], width[top], tables[v], stage[v], message, rows[v]]
        table += [stage[top], rows[top], after, after_rows]
        stage[top], rows[top] = after, after_rows
    return np.array([n, counts, max(counted) >= 0, room, *table, *counted], np.int32)


@jit_inline
def edges_of(data):
    """The rows ``[n, FIELDS]`` of ``data``."""
    return data[HEADER : HEADER + data[0] * FIELDS].reshape(data[0], FIELDS)


def children_first(tops: Sequence[int]) -> list[int]:
    """The nodes ``0 … n - 1`` in an order in which each stands before its parent ``tops[v]``.

    Example:
        >>> children_first([3, 0, 0])
        [1, 2, 0]
    """
    waiting = np.bincount(np.asarray(tops, np.int64), minlength=len(tops) + 1)
    ready = [v for v in range(len(tops)) if not waiting[v]][::-1]
    order = []
    while ready:
        order.append(ready.pop())
        top = tops[order[-1]]
        waiting[top] -= 1
        if not waiting[top] and top < len(tops):
            ready.append(top)
    return order


@jit_inline_llvm
def best_of_four(source, table, step, scale, out):
    """``out[j]`` = maximum over k of ``source[k] + scale * table[k * step + j]``, four columns.

    Four running maxima stay in one vector register; written as a loop over columns they would
    be stored and loaded again for every row, at several times the cost.
    """
    a = b = c = d = -np.inf
    for k in range(len(source)):
        own = source[k]
        row = table[k * step : k * step + 4]
        w, x = own + scale * row[0], own + scale * row[1]
        y, z = own + scale * row[2], own + scale * row[3]
        a = w if w > a else a
        b = x if x > b else b
        c = y if y > c else c
        d = z if z > d else d
    out[0], out[1], out[2], out[3] = a, b, c, d


@jit_inline_llvm
def pass_maximum(source, table, source_step, target_step, scale, out):
    """``out[j]`` = maximum over k of ``source[k] + scale * table[k, j]``, by strides."""
    width = len(out)
    if target_step == 1 and width >= 4:
        for begin in range(0, width, 4):
            j = min(begin, width - 4)  # the last four columns, some of them once more
            best_of_four(source, table[j:], source_step, scale, out[j : j + 4])
        return
    for j in range(width):
        best = -np.inf
        for k in range(len(source)):
            value = source[k] + scale * table[k * source_step + j * target_step]
            best = value if value > best else best
        out[j] = best


@jit_internal_no_allocation
def soften(source, table, source_step, target_step, scale, temperature, out):
    """Turn the maxima ``out[j]`` of :func:`pass_maximum` into soft ones."""
    for j in range(len(out)):
        if out[j] == -np.inf:
            continue
        total = 0.0
        for k in range(len(source)):
            value = source[k] + scale * table[k * source_step + j * target_step]
            total += exp((value - out[j]) / temperature)
        out[j] += temperature * log(total)


@jit_inline_llvm
def pass_message(source, table, source_step, target_step, scale, temperature, out):
    """``out[j]`` = soft maximum over k of ``source[k] + scale * table[k, j]``, by strides.

    The soft maximum is ``temperature * log(sum(exp(… / temperature)))``, and at temperature 0
    the maximum.
    """
    pass_maximum(source, table, source_step, target_step, scale, out)
    if temperature > 0.0:
        soften(source, table, source_step, target_step, scale, temperature, out)


@jit_inline_llvm
def add_rows(first, second, out):
    """``out = first + second``, four at a time and the last four perhaps twice."""
    width = len(out)
    if width >= 4:
        last = width - 4
        for begin in range(0, width, 4):
            j = min(begin, last)
            w, x = first[j] + second[j], first[j + 1] + second[j + 1]
            y, z = first[j + 2] + second[j + 2], first[j + 3] + second[j + 3]
            out[j], out[j + 1], out[j + 2], out[j + 3] = w, x, y, z
        return
    for j in range(width):
        out[j] = first[j] + second[j]


@jit_internal_no_allocation
def convolve(first, second, sign, width, temperature, out):
    """``out[c]`` = soft maximum over d of ``first[d] + second[c + sign * d]``, state by state.

    The arrays are ``[rows, width]``, flat; with sign -1 two parts of a tree are joined, with
    sign 1 one of them is taken out of what surrounds both.
    """
    for c in range(0, len(out), width):
        for j in range(c, c + width):
            best = -np.inf
            for d in range(0, len(first), width):
                other = j + sign * d
                if 0 <= other < len(second):
                    best = max(best, first[d + j - c] + second[other])
            out[j] = best
            if temperature == 0.0 or best == -np.inf:
                continue
            total = 0.0
            for d in range(0, len(first), width):
                other = j + sign * d
                if 0 <= other < len(second):
                    total += exp((first[d + j - c] + second[other] - best) / temperature)
            out[j] += temperature * log(total)


@jit_inline_llvm
def own_scores(start, data, scores, up):
    """Write every node's belief before it has absorbed a message."""
    if not data[2]:
        for place in range(len(scores)):
            up[place] = scores[place]
        up[len(scores)] = 0.0
        return
    counted = data[len(data) - data[0] :]
    begin = 0
    for v in range(data[0]):
        width = start[v + 1] - start[v]
        for k in range(width):
            up[begin + k] = scores[start[v] + k]
        if counted[v] >= 0:
            up[begin + counted[v]] = -np.inf
            if data[1] > 1:
                begin += width
                up[begin : begin + width] = -np.inf
                up[begin + counted[v]] = scores[start[v] + counted[v]]
        begin += width
    up[begin] = 0.0


@jit_no_allocation
def inside(start, data, scores, inner, scale, temperature, up):
    """The upward pass, into ``up[room]``; returns the place of the virtual root's belief."""
    own_scores(start, data, scores, up)
    one = np.int64(1)
    rows = edges_of(data)
    for i in range(len(rows)):
        row = rows[i]
        width, top = np.int64(row[WIDTH]), np.int64(row[TOP])
        table = inner[row[TABLE] : row[TABLE] + width * top]
        for c in range(row[ROWS]):
            belief = row[BELIEF] + c * width
            message = row[MESSAGE] + c * top
            pass_message(
                up[belief : belief + width], table, top, one,
                scale, temperature, up[message : message + top],
            )  # fmt: skip
        before = up[row[BEFORE] : row[BEFORE] + row[BEFORE_ROWS] * top]
        messages = up[row[MESSAGE] : row[MESSAGE] + row[ROWS] * top]
        after = up[row[AFTER] : row[AFTER] + row[AFTER_ROWS] * top]
        if row[AFTER_ROWS] == 1:
            add_rows(before, messages, after)  # all there is to do without counting
        else:
            convolve(before, messages, -one, top, temperature, after)
    return rows[len(rows) - 1, AFTER]


@jit_no_allocation
def outside(start, data, inner, temperature, up, down):
    """The downward pass, into ``down[room]``: the value of all that is outside of each part."""
    one = np.int64(1)
    rows = edges_of(data)
    last = rows[len(rows) - 1]
    counts = inner[len(inner) - data[1] :]
    for c in range(last[AFTER_ROWS]):
        down[last[AFTER] + c] = counts[c]
    for i in range(len(rows) - 1, -1, -1):
        row = rows[i]
        width, top = np.int64(row[WIDTH]), np.int64(row[TOP])
        table = inner[row[TABLE] : row[TABLE] + width * top]
        before, before_end = row[BEFORE], row[BEFORE] + row[BEFORE_ROWS] * top
        message, message_end = row[MESSAGE], row[MESSAGE] + row[ROWS] * top
        around = down[row[AFTER] : row[AFTER] + row[AFTER_ROWS] * top]
        convolve(up[before:before_end], around, one, top, temperature, down[message:message_end])
        convolve(up[message:message_end], around, one, top, temperature, down[before:before_end])
        for c in range(row[ROWS]):
            belief = row[BELIEF] + c * width
            message = row[MESSAGE] + c * top
            pass_message(
                down[message : message + top], table, one, top,
                1.0, temperature, down[belief : belief + width],
            )  # fmt: skip


@jit_inline_llvm
def best_row(values, counts, scale):
    """Which number of visits is best at the virtual root, and its value."""
    best, number = -np.inf, 0
    for c in range(len(values)):
        value = values[c] + scale * counts[c]
        if value > best:
            best, number = value, c
    return number, best


@jit_inline_llvm
def split_count(first, second, width, state, count):
    """Visits in the child's part, if ``count`` is best for the two parts together."""
    best, number = -np.inf, 0
    for c in range(len(second) // width):
        rest = count - c
        if 0 <= rest < len(first) // width:
            value = first[rest * width + state] + second[c * width + state]
            if value > best:
                best, number = value, c
    return number


@jit_internal_no_allocation
def trace_back(start, data, inner, scale, up, visits, states):
    """Follow the best choices from the virtual root, ``visits[n]`` of it, into ``states[n]``.

    ``visits[n + 1]`` says how many visits are left to each node's part.  Maximisers are sought
    again, on this path alone: that is cheaper than to note them in the upward pass.  Returns the
    score of the inner parts on the path.
    """
    rows = edges_of(data)
    total = inner[len(inner) - data[1] + visits[data[0]]]
    for i in range(len(rows) - 1, -1, -1):
        row = rows[i]
        v, parent = row[NODE], row[PARENT]
        width, top = np.int64(row[WIDTH]), np.int64(row[TOP])
        above = states[parent] if parent < data[0] else 0
        visits[v] = 0
        if row[ROWS] > 1:
            first = up[row[BEFORE] : row[BEFORE] + row[BEFORE_ROWS] * top]
            second = up[row[MESSAGE] : row[MESSAGE] + row[ROWS] * top]
            visits[v] = split_count(first, second, top, above, visits[parent])
            visits[parent] -= visits[v]
        column = inner[row[TABLE] + above : row[TABLE] + width * top]
        own = up[row[BELIEF] + visits[v] * width :]
        best, state = -np.inf, 0
        for k in range(width):
            value = own[k] + scale * column[k * top]
            if value > best:
                best, state = value, k
        states[v] = state
        total += column[state * top]
    return total


@jit_structure
def maximize_tree(start, data, scores, inner, scale, states):
    """Best vertex, into ``states[n]``; returns its value and its inner score (not scaled)."""
    up = np.empty(data[3])
    visits = np.empty(data[0] + 1, np.int32)
    root = inside(start, data, scores, inner, scale, 0.0, up)
    reached = up[root : root + edges_of(data)[-1, AFTER_ROWS]]
    number, best = best_row(reached, inner[len(inner) - data[1] :], scale)
    visits[data[0]] = number
    states[:] = 0
    if best == -np.inf:
        return best, best
    return best, trace_back(start, data, inner, scale, up, visits, states)


@jit_inline_llvm
def soft_maximum(first, second, step, temperature):
    """Soft maximum of ``first + second``, over every entry that is a multiple of ``step``."""
    best = -np.inf
    for i in range(0, len(first), step):
        best = max(best, first[i] + second[i])
    if temperature == 0.0 or best == -np.inf:
        return best
    total = 0.0
    for i in range(0, len(first), step):
        total += exp((first[i] + second[i] - best) / temperature)
    return best + temperature * log(total)


@jit_internal_no_allocation
def soft_max_marginals(start, data, temperature, up, down, out):
    """Soft maximum of the vertices through each place, into ``out[places]``; and of all."""
    rows = edges_of(data)
    for i in range(len(rows)):
        begin, end = start[rows[i, NODE]], start[rows[i, NODE] + 1]
        width = np.int64(end - begin)
        for k in range(width):
            first = rows[i, BELIEF] + k
            last = first + (rows[i, ROWS] - 1) * width + 1
            out[begin + k] = soft_maximum(up[first:last], down[first:last], width, temperature)
    root = rows[len(rows) - 1, AFTER]
    end = root + rows[len(rows) - 1, AFTER_ROWS]
    return soft_maximum(up[root:end], down[root:end], np.int64(1), temperature)


@jit_structure
def max_marginals_tree(start, data, scores, inner, out):
    """Best value with each place chosen, into ``out[places]``; -inf where there is none."""
    up, down = np.empty(data[3]), np.empty(data[3])
    inside(start, data, scores, inner, 1.0, 0.0, up)
    outside(start, data, inner, 0.0, up, down)
    soft_max_marginals(start, data, 0.0, up, down, out)


@jit_internal_no_allocation
def inner_probabilities(start, data, inner, temperature, log_partition, up, down, out):
    """Probabilities of the inner parts, into ``out[parts]``."""
    rows = edges_of(data)
    out[:] = 0.0
    for i in range(len(rows)):
        row = rows[i]
        width, top = np.int64(row[WIDTH]), np.int64(row[TOP])
        for c in range(row[ROWS]):
            below = up[row[BELIEF] + c * width :]
            above = down[row[MESSAGE] + c * top :]
            for k in range(width):
                first = row[TABLE] + k * top
                for j in range(top):
                    value = below[k] + inner[first + j] + above[j]
                    out[first + j] += exp((value - log_partition) / temperature)
    last = rows[len(rows) - 1]
    counts = len(inner) - data[1]
    for c in range(last[AFTER_ROWS]):
        value = up[last[AFTER] + c] + inner[counts + c]
        out[counts + c] = exp((value - log_partition) / temperature)


@jit_structure
def marginals_tree(start, data, scores, inner, temperature, out, out_inner):
    """Probabilities of places and inner parts under ``exp(score / temperature)``.

    Returns ``temperature`` times the log-partition; everything is 0 where nothing is allowed.
    """
    up, down = np.empty(data[3]), np.empty(data[3])
    inside(start, data, scores, inner, 1.0, temperature, up)
    outside(start, data, inner, temperature, up, down)
    log_partition = soft_max_marginals(start, data, temperature, up, down, out)
    if log_partition == -np.inf:
        out[:] = 0.0
        out_inner[:] = 0.0
        return log_partition
    for place in range(len(out)):
        out[place] = exp((out[place] - log_partition) / temperature)
    inner_probabilities(start, data, inner, temperature, log_partition, up, down, out_inner)
    return log_partition


@jit_structure
def parts_tree(start, data, states, weight, out_inner):
    """Add ``weight`` to the inner parts a vertex uses; False if it visits a state too often."""
    n, counts = data[0], data[1]
    counted = data[len(data) - n :]
    visits = 0
    for v in range(n):
        visits += states[v] == counted[v]
    if visits >= counts:
        return False
    rows = edges_of(data)
    for i in range(n):
        row = rows[i]
        above = states[row[PARENT]] if row[PARENT] < n else 0
        out_inner[row[TABLE] + states[row[NODE]] * row[TOP] + above] += weight
    out_inner[len(out_inner) - counts + visits] += weight
    return True
