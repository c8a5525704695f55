"""Arrays of variables put together as NumPy does, and axes as it takes them."""

import itertools

import numpy as np
import pytest

import assent as at


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_joining_is_that_of_numpy(axis):
    g = at.FactorGraph()
    x, y = g.binary((2, 3)), ~g.binary((2, 3))
    assert np.array_equal(
        at.concatenate([x, y], axis).codes, np.concatenate([x.codes, y.codes], axis)
    )
    assert np.array_equal(at.stack([x, y], axis).codes, np.stack([x.codes, y.codes], axis))
    tag = g.categorical((2, 3), "NV")
    joined = at.concatenate([tag, tag[::-1]], axis)
    assert joined.shape == np.concatenate([np.zeros((2, 3))] * 2, axis).shape
    assert joined.states == ("N", "V")
    assert at.stack([tag, tag], axis).shape == np.stack([np.zeros((2, 3))] * 2, axis).shape
    assert np.array_equal(at.stack([tag, tag], -1).codes[:, :, 1], tag.codes)


def test_where_chooses_between_literals():
    g = at.FactorGraph()
    x, z = g.binary((2, 3)), g.binary()
    mask = np.array([True, False, True])
    assert np.array_equal(at.where(mask, x, z).codes, np.where(mask, x.codes, z.codes))


def test_what_does_not_fit_is_named():
    g, other = at.FactorGraph(), at.FactorGraph()
    x, y, tag = g.binary(2), g.binary(3), g.categorical(2, "NVD")
    with pytest.raises(at.ModelError, match=r"stack: shapes \(2,\), \(3,\) do not fit"):
        at.stack([x, y])
    with pytest.raises(at.ModelError, match="do not fit"):
        at.concatenate([x, y], axis=1)
    with pytest.raises(at.ModelError, match="different states"):
        at.concatenate([x, tag])
    with pytest.raises(at.ModelError, match="different graphs"):
        at.concatenate([x, other.binary(2)])
    with pytest.raises(at.ModelError, match="stack makes an array"):
        at.concatenate([x[0], x[1]])
    with pytest.raises(at.ModelError, match="at least one"):
        at.stack([])
    with pytest.raises(TypeError, match="a list of arrays"):
        at.concatenate(x)
    with pytest.raises(at.ModelError, match="mask of truth values"):
        at.where([1, 0], x, ~x)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), (2, 0), (0, 1, 2), (-1,)])
def test_axes_are_consumed_as_by_numpy(axis):
    g = at.FactorGraph()
    x = g.binary((2, 3, 4), scores=1.0)
    handle = g.add(at.AtMost(1, x, axis=axis))
    result = at.decode(g)
    counts = result[x].sum(axis=axis)
    assert handle.shape == np.shape(counts)
    assert (np.asarray(counts) == 1).all() and result.value == np.size(counts)
    for row in itertools.islice(handle.factor.codes, 3):
        assert len(set(row.tolist())) == handle.factor.size
