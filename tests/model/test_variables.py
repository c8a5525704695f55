"""Literals and categoricals behave like NumPy arrays of symbols."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import assent as at
from assent.model.variables import as_literals

shapes = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)


def binary(shape):
    g = at.FactorGraph()
    return g.binary(shape, name="x")


@given(st.data(), shapes)
def test_slicing_literals_is_slicing_an_array(data, shape):
    x = binary(shape)
    codes = np.arange(np.prod(shape)).reshape(shape)
    key = data.draw(hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    assert np.array_equal(x[key].codes, codes[key])
    assert np.array_equal((~x[key]).codes, ~codes[key])
    assert x[key].shape == codes[key].shape


@given(st.data(), hnp.array_shapes(min_dims=1, max_dims=3, max_side=4))
def test_integer_arrays_and_masks_select_as_on_an_array(data, shape):
    x = binary(shape)
    codes = np.arange(np.prod(shape)).reshape(shape)
    mask = data.draw(hnp.arrays(bool, shape))
    assert np.array_equal(x[mask].codes, codes[mask])
    chosen = data.draw(hnp.integer_array_indices(shape))
    assert np.array_equal(x[chosen].codes, codes[chosen])


@given(st.data(), shapes)
def test_slicing_categoricals_keeps_their_states(data, shape):
    t = at.FactorGraph().categorical(shape, states=3)
    codes = np.arange(np.prod(shape) * 3).reshape(*shape, 3)
    first = np.arange(np.prod(shape)).reshape(shape)
    key = data.draw(hnp.basic_indices(shape, allow_ellipsis=True))
    expected = codes.reshape(-1, 3)[first[key]]
    assert np.array_equal(t[key].codes, expected)
    assert np.array_equal((t[key] == 2).codes, expected[..., 2])


@given(st.data(), hnp.array_shapes(max_dims=3, max_side=4))
def test_reshape_ravel_transpose_and_negation(data, shape):
    x = binary(shape)
    codes = np.arange(np.prod(shape)).reshape(shape)
    assert np.array_equal(x.T.codes, codes.T)
    assert np.array_equal(x.reshape(-1).codes, codes.ravel())
    assert np.array_equal(x.ravel().codes, codes.ravel())
    assert np.array_equal((~~x).codes, codes)
    mask = data.draw(hnp.arrays(bool, shape))
    assert np.array_equal(x.negate(where=mask).codes, np.where(mask, ~codes, codes))
    assert np.array_equal((x == 0).codes, ~codes)
    assert np.array_equal((x != 0).codes, codes)


def test_lists_of_literals_stack_and_broadcast():
    x = binary((2, 3))
    assert as_literals([x[0], ~x[1]]).shape == (2, 3)
    assert as_literals([[x[0, 0], x[0, 1]], [x[1, 0], x[1, 1]]]).shape == (2, 2)
    assert as_literals([x, x[0, 0]]).shape == (2, 2, 3)


def test_length_iteration_and_size():
    x = binary((2, 3))
    assert len(x) == 2
    assert [row.shape for row in x] == [(3,), (3,)]
    assert (x.size, x.ndim) == (6, 2)
    tags = at.FactorGraph().categorical((2, 3), states="ab")
    assert len(tags) == 2
    assert [row.shape for row in tags] == [(3,), (3,)]
    with pytest.raises(TypeError, match="a single literal has no length"):
        len(x[0, 0])
    with pytest.raises(TypeError, match="a single variable has no length"):
        len(tags[0, 0])


def test_a_label_wins_over_an_index():
    t = at.FactorGraph().categorical(2, states=[1, 0], name="t")
    assert repr(t[0] == 1) == "t[0]=1"
    assert (t[0] == 1).codes == t.state(0).codes[0]
    assert (t[0] != 1).codes == ~t.state(0).codes[0]


def test_labels_of_any_hashable_type():
    t = at.FactorGraph().categorical(2, states=["a", (1, 2), None, 2.5])
    for number, label in enumerate(t.states):
        assert np.array_equal((t == label).codes, t.state(number).codes)


def test_variables_are_dictionary_keys_by_identity():
    x = binary(2)
    first, second = x[0], x[0]
    table = {x: 1, first: 2, second: 3}
    assert (table[x], table[first], table[second]) == (1, 2, 3)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda g: g.binary(3, name="x"), "[x[0], x[1], x[2]]"),
        (lambda g: ~g.binary(name="x"), "~x"),
        (lambda g: g.binary((2, 1), name="x"), "[x[0,0], x[1,0]] of shape (2, 1)"),
        (lambda g: g.binary(9, name="x"), "[x[0], x[1], x[2], x[3], x[4], x[5], … 9 literals]"),
        (lambda g: g.binary(0, name="x"), "[]"),
        (lambda g: g.categorical((), ["N", "V"], name="t"), "t"),
        (lambda g: g.categorical((), ["N", "V"], name="t") == "V", "t=V"),
        (lambda g: g.categorical(2, ["N", "V"], name="t")[1], "t[1]"),
        (lambda g: g.categorical(2, ["N", "V"], name="t"), "[t[0], …] of shape (2,)"),
        (lambda g: g.categorical(0, ["N", "V"], name="t"), "[no variables]"),
        (lambda g: (lambda x: x[0] & ~x[1])(g.binary(2, name="x")), "x[0] & ~x[1]"),
    ],
)
def test_reprs_are_words(make, text):
    assert repr(make(at.FactorGraph())) == text
