"""Chains with many linked variables, each in turn for the price of one pass along the chain.

Max-marginals of a chain are what a variable scores itself, and messages from both of its ends.  On
the way along the chain the messages from behind are sent anew, with all that has just changed, and
those from ahead are still right, because nothing there has moved.  So every linked variable gets
its block's exact step, one after the other, where asking would take two passes for each; and the
messages left behind are what the way back needs (Kolmogorov's TRW-S goes to and fro like this).

For this nothing but its own passes may move the multipliers of a chain.

A chain rests for a few sweeps while its best sequence and the best states it is linked to leave
nothing to gain (complementary slackness): they either agree, or penalties are paid in full.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.boxes.box_mplp_sweep import (
    is_matrix,
    make_buffers,
    read_side,
    state_at,
    visit_block,
)
from assent.kernels.boxes.submodels import excess_of, load
from assent.kernels.core.factor_list import (
    DATA,
    DATA_END,
    ENTRIES,
    ENTRY,
    FACTOR,
    PLACES,
    SLOTS,
    START,
)
from assent.kernels.core.factor_oracles import gather
from assent.kernels.jit import jit, jit_inline, jit_internal, jit_internal_no_allocation
from assent.kernels.kinds.sequences.tree_recursion import (
    NODE,
    TABLE,
    TOP,
    WIDTH,
    edges_of,
    pass_maximum,
)

# Messages from slots before and after one's own.
BEFORE, AFTER = 0, 1

# Sweeps that a chain rests in a row.  Without an end to it bounds come to rest early, because
# it passes no messages on; on linked sentences 2 to 5 need the fewest passes.
MOST_RESTS = 3


class ChainBlocks(NamedTuple):
    """The chains and the blocks along them.

    Attributes:
        factor: ``[W]`` the chains among all submodels.
        slot: ``[W + 1]`` where their slots begin, in the order of the chain.
        start: ``[slots + 1]`` where the blocks of each slot begin.
        block: their numbers.
        side: which side of the block the chain is.
        at_best, elsewhere: where in its interval a multiplier should be (`best_block`).
    """

    factor: np.ndarray
    slot: np.ndarray
    start: np.ndarray
    block: np.ndarray
    side: np.ndarray
    at_best: np.ndarray
    elsewhere: np.ndarray


class PassState(NamedTuple):
    """What is known from earlier passes.

    Attributes:
        messages: ``[2, places]`` into every slot, from before and after it; they stand where
            max-marginals do in ``cache``.
        back: ``[W]`` whether a chain is to be passed from its end.
        rested: ``[W]`` sweeps that a chain has rested.
        x: ``[n]`` best sequences of chains, and best states of what they are linked to.
    """

    messages: np.ndarray
    back: np.ndarray
    rested: np.ndarray
    x: np.ndarray


class PassedChain(NamedTuple):
    """One of the chains: its slots in order, where their places begin, its tables."""

    rows: np.ndarray
    start: np.ndarray
    tables: np.ndarray


class PassBuffers(NamedTuple):
    """Scratch: scores of a chain's places, what a slot passes on, and `make_buffers` for blocks."""

    mine: np.ndarray
    known: np.ndarray
    both: np.ndarray
    new: np.ndarray


@jit_internal
def make_pass_room(descent):
    """Scratch for any chain."""
    most = 1
    for group in range(len(descent.flat.groups)):
        most = max(most, descent.flat.groups[group, PLACES])
    both, new = make_buffers(descent.boxes)
    return PassBuffers(np.empty(most), np.empty(most), both, new)


@jit_inline
def chain_of(descent, factor):
    """A submodel that is a chain."""
    flat = descent.flat
    row = flat.groups[descent.submodels.group[factor]]
    entry = row[ENTRY] + (factor - row[FACTOR]) * row[ENTRIES]
    return PassedChain(
        edges_of(flat.integers[row[DATA] : row[DATA_END]]),
        flat.integers[row[START] : row[START] + row[SLOTS] + 1],
        descent.inner[entry : entry + row[ENTRIES]],
    )


@jit_internal_no_allocation
def own_scores(descent, factor, mine):
    """What multipliers leave to the places of a chain, into ``mine``."""
    flat = descent.flat
    row = flat.groups[descent.submodels.group[factor]]
    f = factor - row[FACTOR]
    load(row, flat, f, descent.r, descent.s)
    a = gather(row, flat, f, descent.s, descent.work.a)
    for place in range(row[PLACES]):
        mine[place] = a[place]


@jit_internal_no_allocation
def first_messages(chain, messages, forward):
    """Messages into the slot where a pass begins: nothing, or what the chain's end scores."""
    row = chain.rows[0 if forward else len(chain.rows) - 1]
    begin = chain.start[row[NODE]]
    for k in range(row[WIDTH]):
        if forward:
            messages[BEFORE, begin + k] = 0.0
        else:
            messages[AFTER, begin + k] = chain.tables[row[TABLE] + k]


@jit_internal_no_allocation
def send(chain, messages, i, forward, buffers):
    """Pass on what slot ``i`` and those before it on the way know to the next one."""
    one = np.int64(1)
    row = chain.rows[i]
    begin, width = chain.start[row[NODE]], np.int64(row[WIDTH])
    way = messages[BEFORE if forward else AFTER]
    known = buffers.known[:width]
    for k in range(width):
        known[k] = buffers.mine[begin + k] + way[begin + k]
    # A table belongs to the earlier slot of the two, whose states are its rows.
    earlier = chain.rows[i if forward else i - 1]
    rows, columns = np.int64(earlier[WIDTH]), np.int64(earlier[TOP])
    table = chain.tables[earlier[TABLE] : earlier[TABLE] + rows * columns]
    to = chain.start[chain.rows[i + 1 if forward else i - 1, NODE]]
    if forward:
        pass_maximum(known, table, columns, one, 1.0, way[to : to + columns])
    else:
        pass_maximum(known, table, one, columns, 1.0, way[to : to + rows])


@jit_internal_no_allocation
def write_state(boxes, box, side, best, x):
    """Note that the variable on one side of a block is in its state ``best``."""
    begin = boxes.first[box]
    step = boxes.states[box] if is_matrix(boxes, box) and side == 0 else 1
    for i in range(boxes.states[box]):
        term = boxes.term[begin + i * step] + side
        lit = boxes.lits[term]
        if boxes.known[term] == 0:
            x[~lit if lit < 0 else lit] = 1.0 if (i == best) == (lit >= 0) else 0.0


@jit_internal_no_allocation
def leaves_nothing_to_gain(boxes, box, nu, x):
    """Complementary slackness between a block's multipliers and the states at its sides."""
    for t in range(boxes.first[box], boxes.first[box + 1]):
        excess = excess_of(boxes, t, x)
        if excess > 0.5 and nu[t] < boxes.upper[t]:
            return False
        if excess < -0.5 and nu[t] > boxes.lower[t]:
            return False
    return True


@jit_internal_no_allocation
def may_rest(descent, chains, number, passes):
    """Whether no block of a chain has anything to gain."""
    for at in range(chains.start[chains.slot[number]], chains.start[chains.slot[number + 1]]):
        if not leaves_nothing_to_gain(descent.boxes, chains.block[at], descent.nu, passes.x):
            return False
    return True


@jit_internal_no_allocation
def note_sequence(descent, chains, number, chain, messages, forward, passes, buffers):
    """The best sequence after a pass, followed back from where that ended, into ``passes.x``."""
    n = len(chain.rows)
    way, ahead = messages[BEFORE if forward else AFTER], messages[AFTER if forward else BEFORE]
    before = 0
    for step in range(n):
        i = n - 1 - step if forward else step
        row = chain.rows[i]
        begin = chain.start[row[NODE]]
        table = chain.rows[i if forward else max(i - 1, 0)]
        best, state = -np.inf, 0
        for k in range(row[WIDTH]):
            value = buffers.mine[begin + k] + way[begin + k]
            if step == 0:
                value += ahead[begin + k]
            elif forward:
                value += chain.tables[table[TABLE] + k * table[TOP] + before]
            else:
                value += chain.tables[table[TABLE] + before * table[TOP] + k]
            if value > best:
                best, state = value, k
        before = state
        slot = chains.slot[number] + i
        for at in range(chains.start[slot], chains.start[slot + 1]):
            box, side = chains.block[at], chains.side[at]
            write_state(
                descent.boxes, box, side, state_at(descent, box, side, begin + state), passes.x
            )


@jit_internal_no_allocation
def note_other(descent, box, side, passes, buffers):
    """The best state of a block's other side, which was read just now, into ``passes.x``."""
    m = buffers.both[side]
    read_side(descent, box, side, m)
    best = 0
    for i in range(descent.boxes.states[box]):
        if m[i] > m[best]:
            best = i
    write_state(descent.boxes, box, side, best, passes.x)


@jit_internal
def visit_slot(descent, chains, factor, slot, begin, width, messages, passes, buffers):
    """The steps of all blocks of a slot, whose places begin at ``begin``; moved and asked."""
    moved, asked = 0, 0
    cache = descent.cache[descent.first[factor] + begin :]
    before = messages[BEFORE, begin : begin + width]
    after = messages[AFTER, begin : begin + width]
    mine = buffers.mine[begin : begin + width]
    for k in range(width):
        cache[k] = before[k] + mine[k] + after[k]
    for at in range(chains.start[slot], chains.start[slot + 1]):
        box, other = chains.block[at], 1 - chains.side[at]
        descent.valid[factor] = descent.keys[box, chains.side[at]]
        changed, questions = visit_block(
            descent, box, True, chains.at_best[at], chains.elsewhere[at], buffers.both, buffers.new
        )
        moved += changed
        asked += questions
        note_other(descent, box, other, passes, buffers)
    for k in range(width):
        if cache[k] > -np.inf:
            mine[k] = cache[k] - before[k] - after[k]
    return moved, asked


@jit_internal
def pass_along(descent, chains, number, passes, fresh, buffers):
    """Along one chain, to its end or back; see `pass_all`."""
    moved, asked = 0, 0
    factor = chains.factor[number]
    chain = chain_of(descent, factor)
    messages = passes.messages[:, descent.first[factor] : descent.first[factor + 1]]
    forward = passes.back[number] == 0
    n = len(chain.rows)
    own_scores(descent, factor, buffers.mine)
    if fresh:
        first_messages(chain, messages, not forward)
        for step in range(n - 1):
            send(chain, messages, n - 1 - step if forward else step, not forward, buffers)
    first_messages(chain, messages, forward)
    for step in range(n):
        i = step if forward else n - 1 - step
        slot = chains.slot[number] + i
        if chains.start[slot] < chains.start[slot + 1]:
            row = chain.rows[i]
            changed, questions = visit_slot(
                descent, chains, factor, slot, chain.start[row[NODE]], row[WIDTH], messages,
                passes, buffers,
            )  # fmt: skip
            moved += changed
            asked += questions
        if step < n - 1:
            send(chain, messages, i, forward, buffers)
    note_sequence(descent, chains, number, chain, messages, forward, passes, buffers)
    passes.back[number] = 1 if forward else 0
    passes.rested[number] = 0
    return moved, asked


@jit
def pass_all(descent, chains, passes, most_rests, fresh):
    """Along every chain once; returns blocks moved, submodels asked, chains passed along.

    A chain may rest ``most_rests`` times in a row.  If ``fresh`` nobody does, and messages from
    ahead are sent first.
    """
    moved, asked, passed = 0, 0, 0
    buffers = make_pass_room(descent)
    for number in range(len(chains.factor)):
        tired = not fresh and passes.rested[number] < most_rests
        if tired and may_rest(descent, chains, number, passes):
            passes.rested[number] += 1
            continue
        changed, questions = pass_along(descent, chains, number, passes, fresh, buffers)
        moved += changed
        asked += questions
        passed += 1
    return moved, asked, passed
