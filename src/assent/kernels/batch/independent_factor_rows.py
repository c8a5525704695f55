"""Structures that share no variable, under many scores: each one's best vertex, row by row."""

from __future__ import annotations

from typing import NamedTuple

from assent.kernels.core.factor_oracles import OracleWork, maximize_all
from assent.kernels.jit import jit
from assent.kernels.problem import Float


class RowBuffers(NamedTuple):
    """Room for one row: link scores, vertices by link, values and inner values by factor."""

    links: Float
    z: Float
    value: Float
    earned: Float
    work: OracleWork


@jit
def maximize_rows(flat, inner, first_group, lits, theta, buffers, x, value):
    """Best values ``value[B]`` and assignments ``x[B, n]`` for scores ``theta[B, n]`` of variables.

    ``lits`` are those of the structures' links, the last ones.  Variables in no structure are left
    to the caller.
    """
    links, z = buffers.links, buffers.z
    begin = len(links) - len(lits)
    for b in range(len(theta)):
        total = 0.0
        for j in range(len(lits)):
            v = lits[j]
            if v < 0:  # earned where the literal is false
                links[begin + j] = -theta[b, ~v]
                total += theta[b, ~v]
            else:
                links[begin + j] = theta[b, v]
        maximize_all(
            flat, inner, first_group, links, z, buffers.value, buffers.earned, buffers.work
        )
        for f in range(len(buffers.value)):
            total += buffers.value[f]
        for j in range(len(lits)):
            v = lits[j]
            if v < 0:
                x[b, ~v] = z[begin + j] <= 0.5
            else:
                x[b, v] = z[begin + j] > 0.5
        value[b] = total
