"""Structures that share no variable, under many scores: each one's best vertex, row by row."""

from __future__ import annotations

from assent.kernels.core.questions import maximize_all
from assent.kernels.jit import jit


@jit
def maximize_rows(flat, inner, first_group, links, z, value, earned, work):
    """Best vertices for every row of link scores ``[B, links]``, by link into ``z[B, links]``.

    Values and inner values by factor into ``value`` and ``earned``, ``[B, factors]``.
    """
    for b in range(len(links)):
        maximize_all(flat, inner, first_group, links[b], z[b], value[b], earned[b], work)
