"""What link scores leave of the coordinates' own."""

from __future__ import annotations

from assent.kernels.core.copies import copy_values
from assent.kernels.jit import jit, jit_internal_no_allocation


@jit_internal_no_allocation
def settle(lit, score, residual):
    """Take a link's score off what its coordinate has left: ``s * (1 - x) = s - s * x``."""
    if lit < 0:
        residual[~lit] += score
    else:
        residual[lit] -= score


@jit
def take_links(lits, s, residual):
    """Take link scores ``s`` off what the coordinates have left."""
    for link in range(len(lits)):
        settle(lits[link], s[link], residual)


@jit
def residuals(lits, s, theta, out):
    """What link scores ``s`` leave of ``theta``, into ``out[n]``."""
    copy_values(theta, out)
    take_links(lits, s, out)
