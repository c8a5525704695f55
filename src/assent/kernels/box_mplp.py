"""Box-MPLP (Belanger et al., Algorithm 4, corrected): agreement block by block.

Between two submodels with max-marginals ``m1`` and ``m2`` over the states that should agree, the
multipliers of a block are best when they make the submodels' maxima add up to

    max over i, j of  m1(i) + m2(j) - c(i) [i != j]

A matrix of penalties has its own step (:mod:`assent.kernels.matrix_block`).

Max-marginals are linear in the multipliers of their own variable, so a submodel is asked again
only when another of its variables has moved since.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.boxes import charge, load
from assent.kernels.flat import FACTOR
from assent.kernels.jit import jit
from assent.kernels.matrix_block import best_matrix_block
from assent.kernels.propagate import lean
from assent.kernels.questions import gather, max_marginals_factor

ALL = -1  # all of a submodel's max-marginals are as they should be
NONE = -2

# Moves below this part of the penalties are rounding noise.
STILL = 1e-12


@lean
def refresh(flat, submodels, inner, factor, r, s, first, cache, work):
    """Max-marginals of a submodel, by place, into ``cache`` from ``first[factor]``."""
    row = flat.groups[submodels.group[factor]]
    f = factor - row[FACTOR]
    load(row, flat, f, r, s)
    a = gather(row, flat, f, s, work.a)
    max_marginals_factor(row, flat, inner, f, a, work)
    for at in range(first[factor + 1] - first[factor]):
        cache[first[factor] + at] = work.out[at]


@lean
def place_of(submodels, lit):
    """Place of a literal in its submodel."""
    return submodels.place[~lit, 0] if lit < 0 else submodels.place[lit, 1]


@lean
def read_side(flat, submodels, boxes, inner, box, side, r, s, first, cache, valid, key, work, m):
    """Max-marginals ``m`` of one side's states, its multipliers included; 1 if it had to ask."""
    asked = 0
    begin = boxes.first[box]
    k = boxes.states[box]
    # In a matrix the first side's states are its rows.
    step = k if side == 0 and boxes.first[box + 1] - begin > k else 1
    for i in range(k):
        term = boxes.term[begin + i * step] + side
        lit = boxes.lits[term]
        if boxes.known[term] != 0:
            m[i] = 0.0 if boxes.known[term] == 1 else -np.inf
            continue
        v = ~lit if lit < 0 else lit
        owner = submodels.owner[v]
        if owner < 0:
            m[i] = 0.0 if lit < 0 else r[v]
            continue
        if valid[owner] != ALL and valid[owner] != key:
            refresh(flat, submodels, inner, owner, r, s, first, cache, work)
            valid[owner] = ALL
            asked += 1
        m[i] = cache[first[owner] + place_of(submodels, lit)]
    return asked


@lean
def is_known(submodels, boxes, box, valid, keys):
    """Whether both sides' max-marginals are at hand, so that a block costs no question."""
    for side in range(2):
        for t in range(boxes.first[box], boxes.first[box + 1]):
            term = boxes.term[t] + side
            lit = boxes.lits[term]
            owner = submodels.owner[~lit if lit < 0 else lit]
            if boxes.known[term] != 0 or owner < 0:
                continue
            if valid[owner] != ALL and valid[owner] != keys[box, side]:
                return False
    return True


@lean
def middle(low, high):
    """A number between two, whatever is infinite or rounded."""
    if low == -np.inf and high == np.inf:
        return 0.0
    if low == -np.inf:
        return high
    return low if high == np.inf else 0.5 * (low + high)


@jit
def best_block(m1, m2, c, nu):
    """The best multipliers of a block, into ``nu[K]``; returns the block's optimum.

    ``m1`` and ``m2`` are max-marginals without the block's own multipliers, ``c`` the penalties.

    Example:
        >>> import numpy as np
        >>> nu = np.zeros(2)
        >>> best_block(np.array([3.0, 0.0]), np.array([0.0, 2.0]), np.array([1.5, 4.0]), nu)
        3.5
        >>> nu.tolist()
        [1.5, 0.0]
    """
    k = len(nu)
    # The best pair of states that agree, and the best of any.
    best, first, second = -np.inf, 0, 0
    leaving, joining = 0, 0
    for i in range(k):
        if m1[i] + m2[i] > best:
            best, first, second = m1[i] + m2[i], i, i
        if m1[i] - c[i] > m1[leaving] - c[leaving]:
            leaving = i
        if m2[i] > m2[joining]:
            joining = i
    apart = m1[leaving] - c[leaving] + m2[joining]
    if leaving != joining and apart > best:
        best, first, second = apart, leaving, joining
    if best == -np.inf:
        return best
    if first == second:
        low, high = 0.0, c[first]
        for i in range(k):
            if i != first:
                low = max(low, m2[i] - m2[first])
                high = min(high, c[i] + m1[first] - m1[i])
        nu[first] = min(max(middle(low, high), 0.0), c[first])
    else:
        nu[first] = c[first]
        nu[second] = 0.0
    for i in range(k):
        if i != first and i != second:
            low = max(0.0, m1[i] - m1[first] + nu[first])
            high = min(c[i], m2[second] - m2[i] + nu[second])
            nu[i] = min(max(middle(low, high), 0.0), c[i])
    return best


@lean
def is_slack(m1, m2, c, nu):
    """Whether the block's best states fit its multipliers already: nothing to gain."""
    first, second = 0, 0
    for i in range(len(nu)):
        if m1[i] - nu[i] > m1[first] - nu[first]:
            first = i
        if m2[i] + nu[i] > m2[second] + nu[second]:
            second = i
    if first == second:
        return True
    return nu[first] == c[first] and nu[second] == 0.0


@lean
def is_matrix_slack(m1, m2, c, nu):
    """As `is_slack`, where ``c[K, K]`` and ``nu[K, K]`` are matrices."""
    k = len(m1)
    first, second = 0, 0
    highest, joined = -np.inf, -np.inf
    for i in range(k):
        own, other = m1[i], m2[i]
        for j in range(k):
            own -= nu[i, j]
            other += nu[j, i]
        if own > highest:
            highest, first = own, i
        if other > joined:
            joined, second = other, i
    for i in range(k):
        if i != second and nu[first, i] != c[first, i]:
            return False
        if i != first and nu[i, second] != 0.0:
            return False
    return True


@jit
def step_agreement(m1, m2, c, old, new):
    """The best multipliers ``new[K]`` of a block; whether there is anything to gain."""
    for i in range(len(m1)):
        m1[i] += old[i]
        m2[i] -= old[i]
    if is_slack(m1, m2, c, old):
        return False
    new[:] = old
    best_block(m1, m2, c, new)
    return True


@jit
def step_matrix(m1, m2, c, old, new):
    """As `step_agreement`, for a matrix of penalties."""
    for i in range(len(m1)):
        for j in range(len(m1)):
            m1[i] += old[i, j]
            m2[j] -= old[i, j]
    if is_matrix_slack(m1, m2, c, old):
        return False
    new[:] = old
    best_matrix_block(m1, m2, c, new)
    return True


@jit
def sweep(
    flat, submodels, boxes, inner, order, passes, keys, nu, r, s, first, cache, valid, work
):  # fmt: skip
    """Every set of ``order`` in turn, ``passes`` times each; returns blocks moved, submodels asked.

    From the second pass on blocks that would have to ask a submodel again wait for the next sweep.
    ``order[sets + 1, ...]`` holds blocks set by set: ``order[0]`` their numbers, ``order[1]`` where
    sets begin.  ``keys[B, 2]`` tells the variables of a submodel apart.
    """
    blocks, starts = order
    moved, asked = 0, 0
    most = 1
    for box in range(len(boxes.first) - 1):
        most = max(most, boxes.first[box + 1] - boxes.first[box])
    both, new = np.empty((2, most)), np.empty(most)
    for group in range(len(starts) - 1):
        for number in range(passes):
            before = moved
            for place in range(starts[group], starts[group + 1]):
                box = blocks[place]
                if number > 0 and not is_known(submodels, boxes, box, valid, keys):
                    continue
                begin, end = boxes.first[box], boxes.first[box + 1]
                k, size = boxes.states[box], end - begin
                for side in range(2):
                    asked += read_side(
                        flat, submodels, boxes, inner, box, side, r, s, first, cache, valid,
                        keys[box, side], work, both[side],
                    )  # fmt: skip
                old, c, own = nu[begin:end], boxes.upper[begin:end], new[:size]
                m1, m2 = both[0, :k], both[1, :k]
                if size > k:
                    shape = (k, k)
                    gains = step_matrix(
                        m1, m2, c.reshape(shape), old.reshape(shape), own.reshape(shape)
                    )
                else:
                    gains = step_agreement(m1, m2, c, old, own)
                if gains:
                    moved += settle_block(
                        submodels, boxes, box, new, nu, r, first, cache, valid, keys
                    )
            if moved == before:
                break
    return moved, asked


@lean
def settle_block(submodels, boxes, box, new, nu, r, first, cache, valid, keys):
    """Take on a block's new multipliers; 1 if they differ from the old ones."""
    begin = boxes.first[box]
    moved = 0
    for i in range(boxes.first[box + 1] - begin):
        t = begin + i
        change = new[i] - nu[t]
        if np.abs(change) <= STILL * (1.0 + boxes.upper[t]):
            continue
        moved = 1
        charge(boxes, t, change, r)
        nu[t] = new[i]
        for side in range(2):
            term = boxes.term[t] + side
            lit = boxes.lits[term]
            if boxes.known[term] != 0:
                continue
            owner = submodels.owner[~lit if lit < 0 else lit]
            if owner < 0:
                continue
            cache[first[owner] + place_of(submodels, lit)] -= change * boxes.sign[term]
            valid[owner] = keys[box, side]
    return moved
