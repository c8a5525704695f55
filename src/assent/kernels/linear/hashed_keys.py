"""Keys of hashed features: a template's number mixed with the keys of what it looks at.

A weight's place in a table of 2^b weights is ``key & mask`` with ``mask = 2^b - 1``, b up to 32:
the lower half of a key is spread evenly, the upper one only carries on.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.jit import jit_inline_llvm

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_TURN = np.uint64(25)  # bits; odd, so that repeated mixing comes back late
_TURN_BACK = np.uint64(39)
# Digits of the golden ratio and of pi: nothing up the sleeve.
_SALT = np.uint64(0x9E3779B97F4A7C15)
_FACTOR_SALT = np.uint64(0x243F6A89)


@jit_inline_llvm
def mix(key, other):
    """One key of two, in order: ``mix(a, b)`` is another than ``mix(b, a)``.

    Both halves are multiplied with each other, after Wang Yi's wyhash32; a product of two numbers
    of 32 bits does not overflow, so plain Python computes the same without a warning.
    """
    x = key ^ ((other << _TURN) | (other >> _TURN_BACK)) ^ _SALT
    product = (x & _LOW) * ((x >> _HALF) ^ _FACTOR_SALT)
    return x ^ product ^ (product >> _HALF)
