"""Which chains allow passes, and in which order their blocks come.

See :mod:`assent.kernels.boxes.chain_passes`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assent.factors.forest import ForestFactor
from assent.kernels.boxes.chain_passes import ChainBlocks
from assent.kernels.core.factor_list import SLOTS, Flat
from assent.kernels.problem import Float, Int64, Problem
from assent.solvers.boxes.box_dual import Submodels

# What a chain knows of a variable it shares out between itself and the other side.  Many chains
# tell one consensus variable, and each should get its part back: the more they are, the less one
# keeps.  Found on linked sentences, with 4 to 75 links per variable: 2 / (2 + sqrt(links)).  Best
# states are in the middle of their intervals, as in Algorithm 4.  On the first pass, which tells
# nearly all, they are not quite at the end: there ties would look like gains to come.
FIRST_PASS_AT_BEST, AT_BEST = 0.9, 0.5


def kept(links: Int64) -> Float:
    """What a chain keeps for itself, by how many links the other variable has.

    Example:
        >>> kept(np.array([1, 4, 64])).round(2).tolist()
        [0.67, 0.5, 0.2]
    """
    return 2.0 / (2.0 + np.sqrt(links))


def find_chain_blocks(
    problem: Problem, flat: Flat, submodels: Submodels, keys: Int64, owner: Int64, place: Int64
) -> tuple[ChainBlocks, NDArray[np.bool_]]:
    """The chains, and which blocks ``[B]`` they have: those of chains not linked to other chains.

    ``keys``, ``owner`` and ``place`` are ``[B, 2]``: of the variable on each side its number, its
    submodel (-1: none) and any of its places there.
    """
    base, ranks = _ranks(problem, flat)
    group = np.append(submodels.group, -1)[owner]  # -1 is the last of all groups, which is soft
    on_path = (owner >= 0) & (base[group] >= 0)
    passed = on_path & ~np.isin(owner, owner[on_path.all(axis=1)])
    box, side = np.nonzero(passed)
    chain, position = owner[box, side], ranks[(base[group] + place)[box, side]]
    order = np.lexsort((position, chain))
    box, side, chain, position = box[order], side[order], chain[order], position[order]
    factor = np.unique(chain)
    slot = np.concatenate([[0], np.cumsum(flat.groups[submodels.group[factor], SLOTS])])
    along = slot[np.searchsorted(factor, chain)] + position
    start = np.searchsorted(along, np.arange(slot[-1] + 1))
    _, number, links = np.unique(keys, return_inverse=True, return_counts=True)
    keep = kept(links[number.reshape(keys.shape)[box, 1 - side]])
    chains = ChainBlocks(
        factor, slot, start, box, side,
        np.where(side == 0, AT_BEST, 1.0 - AT_BEST), np.where(side == 0, keep, 1.0 - keep),
    )  # fmt: skip
    return chains, passed.any(axis=1)


def for_first_pass(chains: ChainBlocks) -> ChainBlocks:
    """The same for the first pass, before the other side has any message.

    Chains then keep half as much: weak penalties are all but settled by the first pass.
    """
    end = np.where(chains.side == 0, 0.0, 1.0)
    at_best = np.where(chains.side == 0, FIRST_PASS_AT_BEST, 1.0 - FIRST_PASS_AT_BEST)
    return chains._replace(at_best=at_best, elsewhere=0.5 * (chains.elsewhere + end))


def _ranks(problem: Problem, flat: Flat) -> tuple[Int64, Int64]:
    """How far along its chain each place is: where groups begin (-1: no chains), and ranks."""
    first = len(flat.groups) - len(problem.models)
    base, ranks, size = np.full(len(flat.groups), -1), [np.zeros(0, np.int64)], 0
    for g, model in enumerate(problem.models):
        path = _path(model.structure) if isinstance(model.structure, ForestFactor) else []
        if path:
            position = np.argsort(path)
            ranks.append(np.repeat(position, model.structure.states))
            base[first + g], size = size, size + len(ranks[-1])
    return base, np.concatenate(ranks)


def _path(forest: ForestFactor) -> list[int]:
    """The slots of a chain in order; none if it is no chain, or if states are counted."""
    tops = [top for top in forest.parents if top >= 0]
    ends = set(range(len(forest.parents))) - set(tops)
    if len(ends) != 1 or len(tops) != len(forest.parents) - 1 or max(forest.counted) >= 0:
        return []
    path = [ends.pop()]
    while forest.parents[path[-1]] >= 0:
        path.append(forest.parents[path[-1]])
    return path
