"""Error texts name what, where and the way out, before any work is done."""

from __future__ import annotations

import re

import numpy as np
import pytest

import assent as at


@pytest.fixture
def g():
    return at.FactorGraph()


@pytest.fixture
def x(g):
    return g.binary(3, name="x")


@pytest.fixture
def tag(g):
    return g.categorical(8, states=["N", "V"], name="tag")


def other():
    return at.FactorGraph().binary(3, name="y")


def says(error, text):
    """The error is raised with this text in it, word for word."""
    return pytest.raises(error, match=re.escape(text))


# ------------------------------------------------------------------ scores


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        ([0.0, np.nan, 1.0], "x: score nan at [1]; scores are finite"),
        ([0.0, 1.0, np.inf], "x: score inf at [2]; scores are finite"),
        (np.nan, "x: score nan; scores are finite (at most 1e+100 in size), or -inf to forbid"),
        ([1.0, 2.0, 1e300], "x: score 1e+300 at [2]; scores are finite (at most 1e+100 in size)"),
        ([1.0, 2.0], "x: scores have shape (2,), expected (3,)"),
        ([[1.0], [2.0, 3.0]], "x: scores must be an array of numbers"),
        ("abc", "x: scores must be an array of numbers"),
    ],
)
def test_bad_scores(g, scores, text):
    with says(at.ModelError, text):
        g.binary(3, scores=scores, name="x")


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        ([1.0, np.nan], "Pair: score nan at [1]"),
        ([np.inf, 0.0], "Pair: score inf at [0]"),
        ([1.0, 2.0, 3.0], "Pair: scores have shape (3,), expected (2,)"),
        (["a", "b"], "Pair: scores must be an array of numbers"),
    ],
)
def test_bad_pair_scores(x, scores, text):
    with says(at.ModelError, text):
        at.Pair(x[:2], x[1:], scores=scores)


def test_bad_new_scores(g, x):
    pairs = g.add(at.Pair(x[:2], x[1:]))
    rule = g.add(at.AtMostOne(x))
    cases = [
        (at.ModelError, {x: [1.0, np.nan, 0.0]}, "[x[0], x[1], x[2]]: score nan at [1]"),
        (at.ModelError, {x: [1.0, 2.0]}, "scores have shape (2,), expected (3,)"),
        (at.ModelError, {~x: 1.0}, "scores are given for variables, not for negated literals"),
        (at.ModelError, {other(): 1.0}, "these variables belong to another graph"),
        (at.ModelError, {rule: 1.0}, "has no scores in this graph to change"),
        (at.ModelError, {pairs: np.inf}, "Pair: score inf"),
        (TypeError, {3: 1.0}, "scores are given for variables or handles, not 3"),
        (KeyError, {"y": 1.0}, "nothing is called 'y'; there are x"),
    ]
    for error, scores, text in cases:
        with says(error, text):
            at.decode(g, scores=scores)


def test_scores_of_categoricals_end_in_their_states(g):
    with says(at.ModelError, "tag: scores of shape (2, 3) do not end in 2 states"):
        g.categorical(states="NV", scores=np.zeros((2, 3)), name="tag")


def test_scores_are_not_variables(g, x):
    with says(TypeError, "z: scores are numbers, not variables"):
        g.binary(3, scores=x, name="z")


def test_a_constant_is_finite(g):
    with says(at.ModelError, "a constant must be finite (at most 1e+100 in size), got nan"):
        g.add_constant(np.nan)


# ------------------------------------------------------------------ declarations


@pytest.mark.parametrize("shape", [-1, 2.5, (2, -3), (1, 0.5)])
def test_bad_shapes(g, shape):
    with says(at.ModelError, "x: a shape is made of whole numbers >= 0, got"):
        g.binary(shape, name="x")


def test_names(g, x):
    with says(at.ModelError, "there is already a variable called 'x'; choose another name"):
        g.binary(1, name="x")
    with says(at.ModelError, "a variable's name must be a non-empty string, got ''"):
        g.binary(1, name="")
    with says(KeyError, "nothing is called 'z'; there are x"):
        g["z"]


def test_states(g):
    with says(at.ModelError, "t: a categorical variable needs at least one state"):
        g.categorical(2, states=[], name="t")
    with says(at.ModelError, "t: state labels must differ, got ('a', 'a')"):
        g.categorical(2, states=["a", "a"], name="t")


def test_unknown_labels(tag):
    with says(at.ModelError, "tag[0] has no state 'X'; its states are 'N', 'V'"):
        tag[0] == "X"  # noqa: B015
    with says(at.ModelError, "no state 1; its states are 'N', 'V' (for a state by its index write"):
        tag[0] == 1  # noqa: B015
    with says(at.ModelError, "tag[0] has 2 states; index 2 is out of range"):
        tag[0].state(2)


# ------------------------------------------------------------------ factors


KINDS_OVER_AN_AXIS = [
    at.ExactlyOne, at.AtMostOne, at.AtLeastOne, at.All,
    lambda x, **kw: at.AtMost(1, x, **kw),
    lambda x, **kw: at.AtLeast(1, x, **kw),
    lambda x, **kw: at.Exactly(1, x, **kw),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS_OVER_AN_AXIS)
def test_reducing_kinds(g, x, kind):
    grid = g.binary((2, 3))
    with says(at.ModelError, "an axis stands twice in (0, -2)"):
        kind(grid, axis=(0, -2))
    with says(at.ModelError, "has no axis 2: the literals have shape (2, 3)"):
        kind(grid, axis=2)
    with says(at.ModelError, "over no literals (shape (2, 0), axis 1) says nothing"):
        kind(grid[:, :0], axis=1)
    with says(at.ModelError, "an empty list holds no literals"):
        kind([])
    with says(at.ModelError, "factor 0 has a literal twice"):
        kind([x[0], x[1], x[0]])
    with says(at.ModelError, "the literals belong to different graphs"):
        kind([x[0], other()[1]])
    with says(TypeError, "expected literals, got str: 'abc'"):
        kind("abc")
    with says(TypeError, "a conjunction is not a list; write [a, b] instead of a & b here"):
        kind(x[0] & x[1])


def test_a_repeated_literal_is_shown(x):
    with says(at.ModelError, "AtMostOne(x[0], x[1], x[0]); write each literal once"):
        at.AtMostOne([x[0], x[1], x[0]])


@pytest.mark.parametrize("kind", [at.AtMost, at.AtLeast, at.Exactly])
@pytest.mark.parametrize(
    ("k", "text"),
    [
        (4, "k = 4 is out of range 0..3, the number of literals"),
        (-1, "k = -1 is out of range 0..3, the number of literals"),
        (1.0, "k must be a whole number, got 1.0"),
        (True, "k must be a whole number, got True"),
        ([1, 2], "k has shape (2,), the factors have shape ()"),
    ],
)
def test_k_out_of_range(x, kind, k, text):
    with says(at.ModelError, f"{kind.__name__}: {text}"):
        kind(k, x)


def test_outputs(g, x):
    z = g.binary(2, name="z")
    with says(at.ModelError, "All: one output per factor is needed, shape (); got shape (2,)"):
        at.All(x, output=z)
    with says(at.ModelError, "AtLeastOne: the output belongs to another graph"):
        at.AtLeastOne(x, output=other()[0])
    with says(at.ModelError, "has a literal twice: AtMostOne(x[0], x[1], x[2] → x[0])"):
        at.AtMostOne(x, output=x[0])


def test_elementwise_kinds(g, x, tag):
    with says(at.ModelError, "Pair: shapes (3,) and (2,) do not broadcast together"):
        at.Pair(x, x[:2])
    with says(at.ModelError, "Pair(x[0], ~x[0]) can never hold: a literal and its negation"):
        at.Pair(x[0], ~x[0])
    with says(at.ModelError, "Implies: the variables belong to different graphs"):
        at.Implies(x[0] & other()[0], x[1])
    with says(at.ModelError, "have different states"):
        at.Agree(tag[0], g.categorical(states="XY"))
    with says(TypeError, "write (variable == 'label') or .indicators"):
        at.Agree(tag[0], x[0])


def test_add_takes_factors_of_this_graph(g, x):
    with says(TypeError, "add takes a factor such as ExactlyOne(...), got [x[0], x[1], x[2]]"):
        g.add(x)
    with says(at.ModelError, "was written for another graph"):
        g.add(at.AtMostOne(other()))


# ------------------------------------------------------------------ evidence


def test_evidence(g, x, tag):
    with says(at.ModelError, "must be 0 or 1, got 2"):
        g.fix(x[0], 2)
    with says(at.ModelError, "must be 0 or 1, got 0.5"):
        g.fix(x[0], 0.5)
    with says(at.ModelError, "evidence has shape (2,), the variables have shape (3,)"):
        g.fix(x, [0, 1])
    with says(at.ModelError, "belongs to another graph"):
        g.fix(other(), 1)
    with says(at.ModelError, "belongs to another graph"):
        g.fix([other()[0]], 1)
    with says(at.ModelError, "tag[0] has no state 'X'; its states are 'N', 'V'"):
        g.fix(tag[0], "X")
    with says(at.ModelError, "has no state 'X'"):
        g.fix(tag[:2], ["N", "X"])
    with says(at.ModelError, "must be one label or labels of shape (2,)"):
        g.fix(tag[:2], ["N"])


# ------------------------------------------------------------------ Python's traps


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda x, tag: np.array([True, False, True]) & x, "a mask selects as in x[mask]"),
        (lambda x, tag: x & np.array([True, False, True]), "a mask selects as in x[mask]"),
        (lambda x, tag: x[0] and x[1], "x[0] has no truth value before decoding; use & and ~"),
        (lambda x, tag: 1 if x[0] else 0, "x[0] has no truth value before decoding"),
        (lambda x, tag: not x[0], "x[0] has no truth value before decoding"),
        (lambda x, tag: bool(tag[0]), "tag[0] has no truth value before decoding"),
        (lambda x, tag: bool(x[0] & x[1]), "x[0] & x[1] has no truth value before decoding"),
        (lambda x, tag: np.array(x), "is an array of variables, not of numbers; decode the graph"),
        (lambda x, tag: np.array([x[0], x[1]]), "x[0] is an array of variables, not of numbers"),
        (lambda x, tag: np.asarray(tag), "is an array of variables, not of numbers"),
        (lambda x, tag: np.sum(x), "does not support ufuncs"),
        (lambda x, tag: np.ones(3) * x, "unsupported operand"),
        (lambda x, tag: x[0] | x[1], "`|` is not a literal; add AtLeastOne([a, b])"),
        (lambda x, tag: np.array([True, True, False]) | x, "`|` is not a literal"),
        (lambda x, tag: x[0] >> x[1], "`>>` is not a literal; add Implies(premises, conclusion)"),
        (lambda x, tag: tag[0] == tag[7], "compared by a factor: add Agree(a, b)"),
        (lambda x, tag: tag[0] != tag[7], "compared by a factor: add Agree(a, b)"),
        (lambda x, tag: x[0] == x[1], "x[0] == x[1] is not a literal; add Agree(a, b)"),
        (lambda x, tag: x[0] == 2, "x[0] is true or false; compare it with 1 or 0, not 2"),
        (lambda x, tag: np.array([1, 0, 1]) == x, "compare it with 1 or 0"),
        (lambda x, tag: x[0] & tag[0], "tag[0] has states; write (variable == 'label')"),
        (lambda x, tag: tag[0] & x[0], "tag[0] has states; write (variable == 'label')"),
        (lambda x, tag: ~tag[0], "tag[0] has states; write ~(variable == 'label') to negate one"),
        (lambda x, tag: ~(x[0] & x[1]), "a negated conjunction is not flat"),
        (lambda x, tag: at.AtMostOne(tag), "write (variable == 'label') or .indicators"),
        (lambda x, tag: at.Implies(tag[0], x[0]), "write (variable == 'label')"),
        (lambda x, tag: x[x[0]], "is indexed with numbers, slices or masks, not with variables"),
    ],
)
def test_symbols_refuse_to_act_as_numbers(x, tag, use, text):
    with says(TypeError, text):
        use(x, tag)


def test_indexing(x, tag):
    with says(IndexError, "cannot index shape (3,) with 5"):
        x[5]
    with says(IndexError, "cannot index shape (8,) with 'V'"):
        tag["V"]
    with says(at.ModelError, "where has shape (2, 3), the literals have shape (3,)"):
        x.negate(where=np.ones((2, 3), bool))


# ------------------------------------------------------------------ decoding


@pytest.mark.parametrize("solver", ["AD3", at.AD3, 3, object()])
def test_a_solver_is_a_settings_object(g, solver):
    with says(TypeError, "a solver is a settings object such as AD3(), got"):
        at.decode(g, solver)


@pytest.mark.parametrize("limit", [-1.0, 0.0, np.nan])
def test_time_limits_are_positive(g, limit):
    with says(ValueError, "time_limit is a positive number of seconds, got"):
        at.decode(g, time_limit=limit)


def test_only_graphs_are_decoded(x):
    with says(TypeError, "decode takes a FactorGraph, got Literals"):
        at.decode(x)


def test_warm_starts_come_from_the_same_graph(g, x):
    result = at.decode(g)
    with says(TypeError, "warm_start is an earlier result, got True"):
        at.decode(g, warm_start=True)
    with says(at.ModelError, "warm_start comes from another graph, or the graph changed since"):
        at.decode(at.FactorGraph(), warm_start=result)
    g.add(at.AtMostOne(x))
    with says(at.ModelError, "warm_start comes from another graph, or the graph changed since"):
        at.decode(g, warm_start=result)


def test_reading_results(g, x, tag):
    rule = g.add(at.AtMostOne(x))
    result = at.decode(g)
    with says(TypeError, "results are read by variable or handle, not 3"):
        result[3]
    with says(KeyError, "nothing is called 'y'; there are x"):
        result["y"]
    with says(at.ModelError, "belongs to another graph than this result"):
        result[other()]
    with says(TypeError, "is a constraint; read its variables instead"):
        result[rule]
    with says(TypeError, "is a constraint; read its variables instead"):
        result.marginals[rule]
    with says(TypeError, "labels belong to categorical variables, not"):
        result.labels[x]


def test_nothing_feasible_to_read(g, x):
    g.fix(x, 1)
    g.add(at.AtMostOne(x))
    result = at.decode(g)
    with says(at.NoFeasibleAssignment, "no feasible assignment was found (INFEASIBLE)"):
        result[x]
    with says(at.NoFeasibleAssignment, "result.least_violating[x] reads the closest one"):
        result[x]
    assert result.least_violating[x].shape == (3,)


def test_new_forbidden_values_recompile_and_say_so(g, x):
    with pytest.warns(at.RecompileWarning, match="forbid .-inf. other values than the graph's own"):
        result = at.decode(g, scores={x: [-np.inf, 1.0, 1.0]})
    assert result[x].tolist() == [0, 1, 1]
