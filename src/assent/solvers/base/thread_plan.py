"""How the threads of one solve divide its work."""

from __future__ import annotations

import numpy as np

from assent.kernels.core import thread_shares as kernel
from assent.kernels.core.memo import remembered
from assent.kernels.core.thread_shares import PAIR_BLOCK, SEGMENT, Division
from assent.kernels.kinds.logic_projections import LANES
from assent.kernels.problem import ANYOF, PARITY, Int64, LogicGroups, Problem


@remembered
def common(problem: Problem) -> LogicGroups:
    """The groups that the blockwise kernels take; PARITY and KNAPSACK stand behind them."""
    g, own = problem.groups, slice(common_groups(problem))
    return g._replace(
        kind=g.kind[own], size=g.size[own], members=g.members[own], link=g.link[own],
        factor=g.factor[own],
    )  # fmt: skip


def common_groups(problem: Problem) -> int:
    """How many groups the blockwise kernels take."""
    return int(np.searchsorted(problem.group_kind, PARITY))


def all_common(problem: Problem) -> bool:
    """Whether the blockwise kernels take every factor."""
    return common_groups(problem) == len(problem.group_kind) and not len(problem.tables.lits)


def whole(problem: Problem) -> Division:
    """All the work for one thread, in the order it is stored in."""
    counts = problem.group_count[: common_groups(problem)]
    return kernel.whole_division(problem.n_pairs, counts, problem.n, len(problem.lits))


def divide(problem: Problem, threads: int) -> Division:
    """Shares of equal size."""
    divisions = _divisions(problem)
    if threads not in divisions:
        divisions[threads] = _divided(problem, threads)
    return divisions[threads]


@remembered
def _divisions(problem: Problem) -> dict[int, Division]:
    """Divisions by number of threads: they take as long as a few iterations to find."""
    return {1: whole(problem)}


def _divided(problem: Problem, threads: int) -> Division:
    one = whole(problem)
    ends = one.shares[0, 1::2]
    shares = np.zeros((threads, kernel.COLUMNS), np.int64)
    for number, end in enumerate(ends):
        cuts = np.arange(threads + 1, dtype=np.int64) * end // threads
        if 2 * number == kernel.BLOCKS:
            cuts = _cut_blocks(problem, threads)
        shares[:, 2 * number], shares[:, 2 * number + 1] = cuts[:-1], cuts[1:]
    order = np.argsort(problem.pair_var[::PAIR_BLOCK, 0], kind="stable").astype(np.int64)
    touched = np.zeros((threads, ends[kernel.SEGMENTS // 2]), np.bool_)
    for row, own in zip(touched, shares, strict=True):
        _mark_pairs(problem, order[own[kernel.PAIRS] : own[kernel.PAIRS + 1]], row)
        _mark_logic(problem, own[kernel.BLOCKS], own[kernel.BLOCKS + 1], row)
    return Division(shares, order, touched)


def _mark_pairs(problem: Problem, blocks: Int64, touched: np.ndarray) -> None:
    """Mark where the pairs of some blocks have their ends."""
    own = (blocks[:, None] * PAIR_BLOCK + np.arange(PAIR_BLOCK)).ravel()
    own = own[own < problem.n_pairs]
    for end in range(2):
        touched[problem.pair_var[own, end] // SEGMENT] = True


def _mark_logic(problem: Problem, first: int, last: int, touched: np.ndarray) -> None:
    """Mark where the factors of a range of blocks have their literals."""
    block = 0
    for i in range(common_groups(problem)):
        size, count = int(problem.group_size[i]), int(problem.group_count[i])
        link = problem.group_link[i]
        lits = problem.lits[link : link + size * count].reshape(size, count)
        own = lits[:, max(0, (first - block) * LANES) : max(0, (last - block) * LANES)].ravel()
        touched[np.where(own < 0, ~own, own) // SEGMENT] = True
        block += -(-count // LANES)


def _cut_blocks(problem: Problem, threads: int) -> Int64:
    """Cuts ``[threads + 1]`` of the blocks of logic factors that give each as many links.

    Factors of two literals are stepped several blocks at a time and cut only there.
    """
    places, links = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
    for i in range(common_groups(problem)):
        size, count = int(problem.group_size[i]), int(problem.group_count[i])
        short = size == 2 and problem.group_kind[i] != ANYOF
        step = PAIR_BLOCK if short else LANES
        ends = np.minimum(np.arange(step, count + step, step), count)
        places.append(places[-1][-1] + -(-ends // LANES))
        links.append(links[-1][-1] + size * ends)
    place, link = np.concatenate(places), np.concatenate(links)
    cuts = place[np.searchsorted(link, np.linspace(0, link[-1], threads + 1))]
    cuts[-1] = place[-1]
    return cuts
