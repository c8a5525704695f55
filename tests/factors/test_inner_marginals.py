"""Inner parts of tables in a result: weights of joint states, whatever evidence removed."""

import numpy as np
import pytest

import assent as at


def tagger():
    rng = np.random.default_rng(1)
    g = at.FactorGraph()
    tag = g.categorical(4, states="abc", scores=rng.normal(size=(4, 3)), name="tag")
    x = g.binary(2, scores=[0.3, -0.2], name="x")
    bigram = g.add(at.Dense(tag[:-1], tag[1:], scores=rng.normal(size=(3, 3, 3))))
    ends = g.add(at.Potts(tag[0], tag[3], scores=[1.0, 0.5, -1.0]))
    triple = g.add(at.Dense(x[0], ~x[1], tag[2], scores=rng.normal(size=(2, 2, 3))))
    return g, tag, x, bigram, ends, triple


@pytest.mark.parametrize("evidence", [False, True])
def test_the_weights_of_a_solved_model_are_those_of_its_answer(evidence):
    g, tag, x, bigram, ends, triple = tagger()
    if evidence:
        g.fix(tag[1], "b")
        g.fix(x[1], 1)
    result = at.decode(g, at.AD3(gap_tolerance=0.0, residual_tolerance=1e-9))
    assert result.certificate.relative_gap <= 1e-8
    states, truth = result[tag], result[x]
    joint = np.zeros((3, 3, 3))
    joint[np.arange(3), states[:-1], states[1:]] = 1
    assert np.allclose(result.marginals[bigram], joint, atol=1e-5)
    same = (np.arange(3) == states[0]) & (states[0] == states[3])
    assert np.allclose(result.marginals[ends], same, atol=1e-5)
    cube = np.zeros((2, 2, 3))
    cube[truth[0], 1 - truth[1], states[2]] = 1
    assert np.allclose(result.marginals[triple], cube, atol=1e-5)


def test_a_solver_without_inner_parts_says_so():
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0)
    table = g.add(at.Dense(x, x[[1, 2, 0]], scores=[[0.0, 0.0], [0.0, -2.0]]))
    result = at.decode(g, at.LinearProgram())
    assert result.marginals[x].tolist() == [0.5, 0.5, 0.5]
    with pytest.raises(TypeError, match="keeps no inner parts of tables; decode with AD3"):
        result.marginals[table]


@pytest.mark.parametrize("solver", [at.Elimination(), at.LinearProgram()])
def test_a_whole_answer_has_whole_inner_parts(solver):
    g, *_, triple = tagger()
    kept, read = at.decode(g, at.AD3()), at.decode(g, solver)
    assert (read.consensus == kept.certificate.assignment).all()
    assert np.allclose(read.marginals[triple], kept.marginals[triple], atol=1e-5)
