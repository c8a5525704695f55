"""Coordinate descent over a corpus, set by set: MPLP and Box-MPLP (Belanger et al., 2014).

Sentences of any structure tell their max-marginals.  Those of a position stay right while only its
own links move, so that a set whose links are in different sentences is gone through several times
for one call to each (supplement, section 6).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.boxes.chain_passes import MOST_RESTS
from assent.kernels.consensus.consensus_sets import (
    BOX,
    first_best,
    is_settled,
    new_buffers,
    step_link,
)
from assent.kernels.core.copies import copy_values
from assent.kernels.jit import jit


class SetDescent(NamedTuple):
    """Multipliers, and what is known of sentences.

    Attributes:
        nu: ``[L, K]`` multipliers.
        total: ``[S, K]`` what states of sets are worth.
        at_best, elsewhere: ``[L]`` as of `best_block`.
        rested: ``[L]`` rounds a link has stayed because it had nothing to gain.
        marginals: ``[positions, K]`` best scores with each state fixed, where asked.
    """

    nu: Any
    total: Any
    at_best: Any
    elsewhere: Any
    rested: Any
    marginals: Any


@jit
def step_links(form, model, w, links, positions, passes):
    """Steps of ``links[m]`` at ``positions[m]``, of one set and as many sentences.

    Up to ``passes`` times, until all are at rest; returns which positions ``[m]`` have moved.  A
    link of the box that has nothing to gain stays where it is (Algorithm 4, line 9), but for
    `MOST_RESTS` rounds only: if all stay, the bound may come to rest early.  Algorithm 3 moves all.
    """
    buffers = new_buffers(w.nu.shape[1])
    moved = np.zeros(len(links), np.bool_)
    for done in range(passes):
        any_moved = False
        for i in range(len(links)):
            link, marginals = links[i], w.marginals[positions[i]]
            own, best = w.nu[link], first_best(w.total[model.sets[link]])
            settled = form == BOX and is_settled(
                form, own, model.penalty[link], first_best(marginals), best
            )
            if settled and (done > 0 or w.rested[link] < MOST_RESTS):
                w.rested[link] += done == 0
                continue
            w.rested[link] = 0
            copy_values(marginals, buffers.marginals)
            step_link(form, model, w, link, buffers)
            copy_values(buffers.marginals, marginals)
            for k in range(len(own)):
                any_moved |= buffers.change[k] != 0.0
                moved[i] |= buffers.change[k] != 0.0
        if not any_moved:
            break
    return moved
