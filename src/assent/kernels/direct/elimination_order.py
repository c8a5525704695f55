"""An order of variable elimination: min-fill, or one that is given, within limits of size and work.

Eliminating a variable makes all of its neighbours neighbours of each other.  Min-fill takes the
variable next that adds the fewest such links; the clique of a variable and its neighbours has as
many joint states as the table that its elimination goes through.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from assent.kernels.core.copies import copy_values
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation

# A variable with more neighbours is never eliminated next: 2 ** 40 is beyond all memories.
MOST_NEIGHBOURS = 40

# Up to this many variables a matrix says who is whose neighbour.
FEW_VARIABLES = 1024


class EliminationLinks(NamedTuple):
    """Neighbours of every variable as linked lists; those that are gone stay listed."""

    head: np.ndarray  # int32[V]
    degree: np.ndarray  # int32[V], of variables that are still there
    alive: np.ndarray  # bool[V]
    matrix: np.ndarray  # bool[V, V]: who is whose neighbour, nothing where there are many
    to: np.ndarray  # int32[...]: the neighbour at each place of the lists
    following: np.ndarray  # int32[...]: the next place of the same list, or -1


@jit_internal_no_allocation
def linked(links, a, b):
    """Whether two variables are neighbours, by the shorter list if there is no matrix."""
    if len(links.matrix):
        return links.matrix[a, b]
    if links.degree[b] < links.degree[a]:
        a, b = b, a
    at = links.head[a]
    while at >= 0:
        if links.to[at] == b:
            return True
        at = links.following[at]
    return False


@jit_internal_no_allocation
def gather_near(links, v, near):
    """The neighbours of ``v`` that are still there; returns their number, -1 if too many."""
    to, following = links.to, links.following
    count = 0
    at = links.head[v]
    before = -1
    while at >= 0:
        if links.alive[to[at]]:
            if count == len(near):
                return -1
            near[count] = to[at]
            count += 1
            before = at
        elif before < 0:
            links.head[v] = following[at]
        else:
            following[before] = following[at]
        at = following[at]
    return count


@jit_internal_no_allocation
def score_of(links, log_card, v, near, most, rank):
    """Links that eliminating ``v`` would add, then the size of its clique; inf if too large.

    Its rank, where ranks are given.
    """
    if links.degree[v] > len(near):
        return np.inf
    count = gather_near(links, v, near)
    size = log_card[v]
    for i in range(count):
        size += log_card[near[i]]
    if size > most:
        return np.inf
    if len(rank):
        return float(rank[v])
    missing = 0
    for i in range(count):
        for j in range(i):
            if not linked(links, near[i], near[j]):
                missing += 1
    return missing + 1e-3 * size


@jit_internal_no_allocation
def link(links, used, a, b):
    """Make two variables neighbours; returns how many places of the lists are used."""
    to, following = links.to, links.following
    to[used], following[used] = b, links.head[a]
    links.head[a] = used
    to[used + 1], following[used + 1] = a, links.head[b]
    links.head[b] = used + 1
    links.degree[a] += 1
    links.degree[b] += 1
    if len(links.matrix):
        links.matrix[a, b] = links.matrix[b, a] = True
    return used + 2


@jit_internal_no_allocation
def link_all(links, used, members):
    """Make all members neighbours of each other; returns how many places are used."""
    for i in range(len(members)):
        for j in range(i):
            if not linked(links, members[i], members[j]):
                used = link(links, used, members[i], members[j])
    return used


@jit_internal
def link_scopes(n, start, scope, effort):
    """Neighbours by the scopes of tables, how many places they use, and what effort is left."""
    scope = scope.copy()  # writable as later neighbours are, so that one link_all serves both
    room = 16
    for f in range(len(start) - 1):
        room += (start[f + 1] - start[f]) ** 2
    few = n if n <= FEW_VARIABLES else 0
    links = EliminationLinks(
        np.full(n, -1, np.int32), np.zeros(n, np.int32), np.ones(n, np.bool_),
        np.zeros((few, few), np.bool_), np.empty(room, np.int32), np.empty(room, np.int32),
    )  # fmt: skip
    used = 0
    for f in range(len(start) - 1):
        size = start[f + 1] - start[f]
        used = link_all(links, used, scope[start[f] : start[f + 1]])
        effort -= size * (size - 1) // 2
        if effort < 0:
            break
    return links, used, effort


@jit_internal_no_allocation
def effort_of(links, v):
    """About the pairs looked at for the score of a variable."""
    return 1 + min(links.degree[v], MOST_NEIGHBOURS) ** 2


@jit
def find_order(card, start, scope, most, work, effort, rank):
    """An order of elimination that adds few links (min-fill), while cliques stay below ``2**most``.

    With ranks, ``rank[V]``, the order is theirs.
    Returns the order, and the neighbours of each variable when it is its turn, as
    ``(order, near_start, near)``; the order is shorter than ``card`` if no variable is left whose
    turn could come, if cliques have more than ``work`` states together, or if ``effort`` (about the
    number of pairs looked at) is used up.
    """
    n = len(card)
    log_card = np.log2(card.astype(np.float64))
    links, used, effort = link_scopes(n, start, scope, effort)
    near, own = np.empty(MOST_NEIGHBOURS, np.int32), np.empty(MOST_NEIGHBOURS, np.int32)
    score = np.empty(n)
    # Not an empty comprehension: beside one Numba loses what is written to ``links.alive``.
    heap = [(0.0, 0)]
    heap.clear()
    for v in range(n):
        score[v] = score_of(links, log_card, v, near, most, rank)
        effort -= effort_of(links, v)
        if score[v] < np.inf:
            heap.append((score[v], v))
        if effort < 0:
            break
    heapify(heap)
    order, count = np.empty(n, np.int32), 0
    near_start = np.zeros(n + 1, np.int64)
    all_near = np.empty(max(16, 4 * n), np.int32)
    while len(heap) and effort >= 0:
        known, v = heappop(heap)
        if not links.alive[v] or known != score[v]:
            continue
        links.alive[v] = False
        others = gather_near(links, v, own)
        states = float(card[v])
        for i in range(others):
            states *= card[own[i]]
        work -= states
        if work < 0.0:
            break
        begin = near_start[count]
        all_near = with_room(all_near, begin + others)
        copy_values(own[:others], all_near[begin:])
        order[count] = v
        count += 1
        near_start[count] = begin + others
        links = with_places(links, used + others * others)
        for i in range(others):
            links.degree[own[i]] -= 1
        used = link_all(links, used, own[:others])
        effort -= others * (others - 1) // 2
        for i in range(others):
            u = np.int64(own[i])
            effort -= effort_of(links, u)
            score[u] = score_of(links, log_card, u, near, most, rank)
            if score[u] < np.inf:
                heappush(heap, (score[u], u))
    return order[:count], near_start[: count + 1], all_near[: near_start[count]]


@jit_internal
def with_places(links, size):
    """The same lists, with at least ``size`` places."""
    return EliminationLinks(
        links.head, links.degree, links.alive, links.matrix, with_room(links.to, size),
        with_room(links.following, size),
    )  # fmt: skip


@jit_internal
def with_room(values, size):
    """The array, or a copy twice as long, so that it has at least ``size`` places."""
    if size <= len(values):
        return values
    out = np.empty(max(size, 2 * len(values)), values.dtype)
    copy_values(values, out)
    return out
