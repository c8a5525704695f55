"""Soft maxima: one recursion answers for the best and, at a temperature, for all of them.

The soft maximum of some values is ``temperature * log(sum(exp(value / temperature)))``, and at
temperature 0 the maximum.  It never subtracts, so whatever is computed with soft maxima, sums
and differences of two of them is as accurate as its terms, whatever their range.
"""

from __future__ import annotations

from math import exp, log, log1p

import numpy as np

from assent.kernels.jit import jit_inline_llvm, jit_inline_llvm_vector_sums


@jit_inline_llvm
def join(a, b, temperature):
    """Soft maximum of two values."""
    high, low = (a, b) if a > b else (b, a)
    if temperature == 0.0 or low == -np.inf:
        return high
    return high + temperature * log1p(exp((low - high) / temperature))


@jit_inline_llvm_vector_sums
def largest_sum(first, second, scale):
    """Largest ``first[i] + scale * second[i]``, -inf if there is none."""
    best = -np.inf
    for i in range(len(first)):
        value = first[i] + scale * second[i]
        best = value if value > best else best
    return best


@jit_inline_llvm
def join_sums(first, second, scale, temperature):
    """Soft maximum of all ``first[i] + scale * second[i]``."""
    best = largest_sum(first, second, scale)
    if temperature == 0.0 or best == -np.inf:
        return best
    total = 0.0
    for i in range(len(first)):
        total += exp((first[i] + scale * second[i] - best) / temperature)
    return best + temperature * log(total)
