"""Structures of one's own: mistakes are caught before they cost an evening."""

import numpy as np
import pytest
from numba import njit

import assent as at
from assent.errors import ModelError
from assent.testing import check_structure

MADE_BY_EXEC = """
def none_at_all(start, data, scores, inner, scale, states):
    states[:] = 0
    return scores[0] + scores[2], 0.0
"""


@njit
def forgets_to_clear(start, data, scores, inner, scale, states):
    """At most one literal, but what stood in ``states`` before stays."""
    best, chosen = -np.inf, -1
    for i in range(-1, len(states)):
        total = 0.0
        for j in range(len(states)):
            total += scores[2 * j + (i == j)]
        if total > best:
            best, chosen = total, i
    if chosen >= 0:
        states[chosen] = 1
    return best, 0.0


def test_unwritten_states_are_found():
    with pytest.raises(AssertionError, match="write every entry of states"):
        check_structure(at.Custom(at.FactorGraph().binary(3), kernel=forgets_to_clear))


def test_code_without_a_module():
    names = {}
    exec(MADE_BY_EXEC, names)
    kernel = njit(names["none_at_all"])
    kernel.py_func.__module__ = None
    g = at.FactorGraph()
    x = g.binary(2, scores=1.0)
    g.add(at.Custom(x, kernel=kernel))
    assert at.decode(g)[x].tolist() == [0, 0]


def test_what_does_not_fit_is_named():
    x = at.FactorGraph().binary(2, name="x")
    with pytest.raises(TypeError, match=r"compiled by numba\.njit, and zeros is not"):
        at.Custom(x, kernel=np.zeros)
    with pytest.raises(ModelError, match="data= goes to kernel="):
        at.Custom(x, maximize=np.sign, data=[1, 2])
    with pytest.raises(ModelError, match="either maximize= "):
        at.Custom(x)
    with pytest.raises(TypeError, match="is no function"):
        at.Custom(x, kernel="best")
