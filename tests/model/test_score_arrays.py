"""Scores as other libraries keep them: SciPy's sparse arrays, pandas, `__array__`, DLPack."""

import numpy as np
import pytest
from scipy import sparse

import assent as at


class Arrayed:
    """A library's own array type, which NumPy can ask for numbers."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)


class Tensor:
    """One that offers DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def frame(array):
    return pytest.importorskip("pandas").DataFrame(array)


SCORES = np.array([[3.0, 0.0, -1.0], [0.0, 2.0, 0.0]])
MAKERS = [sparse.csr_matrix, sparse.csr_array, sparse.coo_array, Arrayed, Tensor, frame]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_scores_may_be_any_array_of_numbers(make):
    g = at.FactorGraph()
    x = g.binary(scores=make(SCORES), name="x")
    tag = g.categorical(states="abc", scores=make(SCORES), name="tag")
    assert x.shape == (2, 3) and tag.shape == (2,)
    pairs = g.add(at.Pair(x, ~x[::-1], scores=make(SCORES)))
    table = g.add(at.Dense(x[0, 0], tag[0], scores=make(SCORES)))
    soft = g.add(at.Soft(at.Agree(x, x[::-1]), penalty=make(np.abs(SCORES))))
    for handle, expected in ((pairs, SCORES), (table, SCORES)):
        assert np.array_equal(np.ravel(handle.factor.scores), expected.ravel())
    plain = at.decode(g, scores={tag: -SCORES, table: -SCORES, soft: np.abs(SCORES) / 2})
    changes = {tag: make(-SCORES), table: make(-SCORES), soft: make(np.abs(SCORES) / 2)}
    assert at.decode(g, scores=changes).value == pytest.approx(plain.value)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_many_problems_in_one_such_array(make):
    g = at.FactorGraph()
    x = g.binary(3, name="x")
    g.add(at.AtMostOne(x))
    results = at.decode_many(g, scores={"x": make(SCORES)})
    assert results[x].tolist() == [[1, 0, 0], [0, 1, 0]]


def test_what_a_frame_leaves_open_is_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(at.ModelError, match="x: score nan at"):
        at.FactorGraph().binary(scores=pandas.Series([1.0, None]), name="x")
    with pytest.raises(at.ModelError, match="x: scores must be an array of numbers"):
        at.FactorGraph().binary(scores=pandas.Series(["a", "b"]), name="x")
    with pytest.raises(at.ModelError, match="x: scores must be an array of numbers"):
        at.FactorGraph().binary(scores=Tensor(np.array([1j])), name="x")
