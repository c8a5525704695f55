"""Box-MPLP (Belanger et al., Algorithm 4, corrected): agreement block by block.

A block is the multipliers between two variables that should agree; its best ones follow from the
max-marginals of the two submodels (:mod:`assent.kernels.boxes.agreement_block`,
:mod:`assent.kernels.boxes.matrix_block`).

Max-marginals are linear in the multipliers of their own variable, so a submodel is asked again
only when another of its variables has moved since.  Chains need not even be asked: see
:mod:`assent.kernels.boxes.chain_passes`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.boxes.agreement_block import is_slack, step_agreement
from assent.kernels.boxes.matrix_block import step_matrix
from assent.kernels.boxes.submodels import charge, load
from assent.kernels.core.factor_list import FACTOR, Flat
from assent.kernels.core.factor_oracles import OracleWork, gather, max_marginals_factor
from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation

ALL = -1  # all of a submodel's max-marginals are as they should be
NONE = -2

# Moves below this part of the penalties are rounding noise.
STILL = 1e-12


class Descent(NamedTuple):
    """Submodels, multipliers, and what is known of the submodels' max-marginals.

    Attributes:
        flat, submodels, boxes, inner, work: see :mod:`assent.solvers.boxes.box_solver`.
        keys: ``[B, 2]`` tells the variables that blocks link apart.
        nu, r, s: multipliers, what they leave of scores, link scores (scratch).
        first: ``[factors + 1]`` where a submodel's max-marginals begin in ``cache``.
        valid: ``[factors]`` ALL, NONE, or the key of the one variable they are right for.
    """

    flat: Flat
    submodels: Any
    boxes: Any
    inner: np.ndarray
    keys: np.ndarray
    nu: np.ndarray
    r: np.ndarray
    s: np.ndarray
    first: np.ndarray
    cache: np.ndarray
    valid: np.ndarray
    work: OracleWork


@jit_internal_no_allocation
def refresh(descent, factor):
    """Max-marginals of a submodel, by place, into ``cache`` from ``first[factor]``."""
    flat, work, first = descent.flat, descent.work, descent.first
    row = flat.groups[descent.submodels.group[factor]]
    f = factor - row[FACTOR]
    load(row, flat, f, descent.r, descent.s)
    a = gather(row, flat, f, descent.s, work.a)
    max_marginals_factor(row, flat, descent.inner, f, a, work)
    for at in range(first[factor + 1] - first[factor]):
        descent.cache[first[factor] + at] = work.out[at]


@jit_internal_no_allocation
def place_of(submodels, lit):
    """Place of a literal in its submodel."""
    return submodels.place[~lit, 0] if lit < 0 else submodels.place[lit, 1]


@jit_internal_no_allocation
def is_matrix(boxes, box):
    """Whether a block has a multiplier for every pair of states: first side's are rows."""
    return boxes.first[box + 1] - boxes.first[box] > boxes.states[box]


@jit_internal_no_allocation
def state_at(descent, box, side, place):
    """Which of a block's states has this place in the submodel on one side; -1 if none."""
    boxes = descent.boxes
    k = boxes.states[box]
    step = k if side == 0 and is_matrix(boxes, box) else 1
    for i in range(k):
        term = boxes.term[boxes.first[box] + i * step] + side
        if boxes.known[term] == 0 and place_of(descent.submodels, boxes.lits[term]) == place:
            return i
    return -1


@jit_internal_no_allocation
def read_side(descent, box, side, m):
    """Max-marginals ``m`` of one side's states, its multipliers included; 1 if it had to ask."""
    boxes, submodels, valid = descent.boxes, descent.submodels, descent.valid
    asked = 0
    begin = boxes.first[box]
    k = boxes.states[box]
    step = k if side == 0 and is_matrix(boxes, box) else 1
    for i in range(k):
        term = boxes.term[begin + i * step] + side
        lit = boxes.lits[term]
        if boxes.known[term] != 0:
            m[i] = 0.0 if boxes.known[term] == 1 else -np.inf
            continue
        v = ~lit if lit < 0 else lit
        owner = submodels.owner[v]
        if owner < 0:
            m[i] = 0.0 if lit < 0 else descent.r[v]
            continue
        if valid[owner] != ALL and valid[owner] != descent.keys[box, side]:
            refresh(descent, owner)
            valid[owner] = ALL
            asked += 1
        m[i] = descent.cache[descent.first[owner] + place_of(submodels, lit)]
    return asked


@jit_internal_no_allocation
def is_known(descent, box):
    """Whether both sides' max-marginals are at hand, so that a block costs no question."""
    boxes = descent.boxes
    for side in range(2):
        for t in range(boxes.first[box], boxes.first[box + 1]):
            term = boxes.term[t] + side
            lit = boxes.lits[term]
            owner = descent.submodels.owner[~lit if lit < 0 else lit]
            if boxes.known[term] != 0 or owner < 0:
                continue
            if descent.valid[owner] != ALL and descent.valid[owner] != descent.keys[box, side]:
                return False
    return True


@jit_internal_no_allocation
def settle_block(descent, box, new):
    """Take on a block's new multipliers; 1 if they differ from the old ones."""
    boxes, submodels = descent.boxes, descent.submodels
    begin = boxes.first[box]
    moved = 0
    for i in range(boxes.first[box + 1] - begin):
        t = begin + i
        change = new[i] - descent.nu[t]
        if np.abs(change) <= STILL * (1.0 + boxes.upper[t]):
            continue
        moved = 1
        charge(boxes, t, change, descent.r)
        descent.nu[t] = new[i]
        for side in range(2):
            term = boxes.term[t] + side
            lit = boxes.lits[term]
            if boxes.known[term] != 0:
                continue
            owner = submodels.owner[~lit if lit < 0 else lit]
            if owner < 0:
                continue
            place = descent.first[owner] + place_of(submodels, lit)
            descent.cache[place] -= change * boxes.sign[term]
            descent.valid[owner] = descent.keys[box, side]
    return moved


@jit_internal
def make_buffers(boxes):
    """Scratch for any block: max-marginals ``[2, most]`` of its sides, multipliers ``[most]``."""
    most = 1
    for box in range(len(boxes.first) - 1):
        most = max(most, boxes.first[box + 1] - boxes.first[box])
    return np.empty((2, most)), np.empty(most)


@jit_internal
def visit_block(descent, box, spread, at_best, elsewhere, both, new):
    """The best multipliers of one block; whether they moved, and how often submodels were asked.

    Where a block has nothing to gain it stays as it is, unless ``spread`` says to share out
    anyway what its submodels know; ``at_best`` and ``elsewhere`` as in `best_block`.
    """
    boxes = descent.boxes
    begin, end = boxes.first[box], boxes.first[box + 1]
    k, size = boxes.states[box], end - begin
    asked = 0
    for side in range(2):
        asked += read_side(descent, box, side, both[side])
    old, c, own = descent.nu[begin:end], boxes.upper[begin:end], new[:size]
    m1, m2 = both[0, :k], both[1, :k]
    if size > k:
        shape = (k, k)
        gains = step_matrix(m1, m2, c.reshape(shape), old.reshape(shape), own.reshape(shape))
    else:
        step_agreement(m1, m2, c, old, own, at_best, elsewhere)
        gains = spread or not is_slack(m1, m2, c, old)
    moved = settle_block(descent, box, new) if gains else 0
    return moved, asked


@jit
def sweep(descent, order, passes):
    """Every set of ``order`` in turn, ``passes`` times each; returns blocks moved, submodels asked.

    From the second pass on blocks that would have to ask a submodel again wait for the next sweep.
    ``order`` holds the numbers of blocks, set by set, and where sets begin.
    """
    blocks, starts = order
    moved, asked = 0, 0
    both, new = make_buffers(descent.boxes)
    for group in range(len(starts) - 1):
        for number in range(passes):
            before = moved
            for place in range(starts[group], starts[group + 1]):
                box = blocks[place]
                if number > 0 and not is_known(descent, box):
                    continue
                changed, questions = visit_block(descent, box, False, 0.5, 0.5, both, new)
                moved += changed
                asked += questions
            if moved == before:
                break
    return moved, asked
