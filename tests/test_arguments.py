"""Values of the wrong kind, everywhere a person may pass one: each is told by an error of ours."""

from __future__ import annotations

import dataclasses
import linecache
import traceback
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import assent as at
from assent import io, learn, logic, models
from assent.solvers.base.protocol import Solver

SOURCE = str(Path(at.__file__).parent)


class Refusing:
    """An object that is no array, and says so in its own way."""

    def __array__(self, *args, **kwargs):
        raise RuntimeError("no array")


def odd_values():
    """What nobody means by a number, a shape, a limit, a name or a model."""
    return [
        10**400, -(10**400), 10**5000, 2**63, np.uint64(2**64 - 1), np.longdouble("1e4000"), 1e308,
        b"12", bytearray(b"1"), "a", "", "12", "\ud800", np.array(["a", "b"]), np.array([b"1"]),
        np.datetime64("2020-01-01"), np.timedelta64(3, "D"), np.array([np.datetime64("2020")]),
        {}, {"a": 1}, set(), [], (), [None], [[]], [[1], [1, 2]], ["1", 2], range(3), slice(None),
        1j, np.array([1j]), float("nan"), float("inf"), -float("inf"), Decimal("1e500"),
        Decimal("NaN"), Fraction(1, 3), 1.5, -1, True, None, int, at.AD3, at.AD3(), Refusing(),
        np.array(None), np.array([None, 1]), np.ma.masked_array([1, 2], [True, False]),
        np.zeros((0, 3)), np.array([(1, 2.0)], dtype="i,f"), object(), Ellipsis, NotImplemented,
    ]  # fmt: skip


def graph():
    g = at.FactorGraph()
    x = g.binary((3, 4), scores=0.5, name="x")
    t = g.categorical(4, states="abc", name="t")
    g.add(at.AtMost(2, x[0]), name="rule")
    return g, x, t


def on_graph(use):
    """A call that gets a fresh graph and its variables."""
    return lambda value: use(*graph(), value)


def added(make):
    """A call that writes a factor and adds it."""
    return on_graph(lambda g, x, t, value: g.add(make(x, t, value)))


G, X, T = graph()
PAIRS = G.add(at.Pair(X[0], X[1], scores=-1.0))
TABLE = G.add(at.Dense(T[0], T[1], scores=np.eye(3)))
RESULT = at.decode(G)
INPUTS, OUTPUTS = [np.ones((2, 1)), -np.ones((3, 1))], [[1, 1], [0, 0, 0]]


def examples(inputs=INPUTS, outputs=OUTPUTS, **options):
    return learn.Examples(models.ChainModel((0, 1), 1), inputs, outputs, **options)


def rules(use):
    """A call that writes a rule about a predicate."""

    def call(value):
        g = at.FactorGraph()
        p = logic.predicate(g.binary(3, name="p"))
        return use(logic.Rules(g), p, *logic.variables("a b"), value)

    return call


MODEL = {
    "binary shape": lambda v: at.FactorGraph().binary(v),
    "binary axis": lambda v: at.FactorGraph().binary((2, v)),
    "binary scores": lambda v: at.FactorGraph().binary(3, scores=v),
    "binary scores alone": lambda v: at.FactorGraph().binary(scores=v),
    "binary name": lambda v: at.FactorGraph().binary(3, name=v),
    "binary auxiliary": lambda v: at.FactorGraph().binary(3, auxiliary=v),
    "categorical shape": lambda v: at.FactorGraph().categorical(v),
    "categorical states": lambda v: at.FactorGraph().categorical(2, states=v),
    "categorical scores": lambda v: at.FactorGraph().categorical(2, states=3, scores=v),
    "add": on_graph(lambda g, x, t, v: g.add(v)),
    "add name": on_graph(lambda g, x, t, v: g.add(at.All(x[0]), name=v)),
    "add place": on_graph(lambda g, x, t, v: g.add(at.All(x[0]), place=v)),
    "constant": on_graph(lambda g, x, t, v: g.add_constant(v)),
    "evidence": on_graph(lambda g, x, t, v: g.fix(x, v)),
    "evidence of labels": on_graph(lambda g, x, t, v: g.fix(t, v)),
    "evidence for": on_graph(lambda g, x, t, v: g.fix(v, 1)),
    "include": on_graph(lambda g, x, t, v: g.include(v)),
    "include links": on_graph(lambda g, x, t, v: at.FactorGraph().include(g, v)),
    "include link": on_graph(lambda g, x, t, v: at.FactorGraph().include(g, {x: v})),
    "include name": on_graph(lambda g, x, t, v: at.FactorGraph().include(g, name=v)),
    "name": on_graph(lambda g, x, t, v: g[v]),
    "index": on_graph(lambda g, x, t, v: x[v]),
    "index of labels": on_graph(lambda g, x, t, v: t[v]),
    "reshape": on_graph(lambda g, x, t, v: x.reshape(v)),
    "negate": on_graph(lambda g, x, t, v: x.negate(where=v)),
    "and": on_graph(lambda g, x, t, v: x & v),
    "equals": on_graph(lambda g, x, t, v: x == v),
    "state": on_graph(lambda g, x, t, v: t.state(v)),
    "label": on_graph(lambda g, x, t, v: t == v),
    "group": on_graph(lambda g, x, t, v: at.group(x[0], by=v)),
}
KINDS = {
    "ExactlyOne": added(lambda x, t, v: at.ExactlyOne(v)),
    "AtMostOne axis": added(lambda x, t, v: at.AtMostOne(x, axis=v)),
    "AtLeastOne output": added(lambda x, t, v: at.AtLeastOne(x[0], output=v)),
    "AtMost": added(lambda x, t, v: at.AtMost(v, x[0])),
    "Parity": added(lambda x, t, v: at.Parity(x[0], odd=v)),
    "Implies": added(lambda x, t, v: at.Implies(v, x[0, 0])),
    "Agree": added(lambda x, t, v: at.Agree(t[0], v)),
    "Knapsack weights": added(lambda x, t, v: at.Knapsack(x[0], weights=v, capacity=1.0)),
    "Knapsack capacity": added(lambda x, t, v: at.Knapsack(x[0], weights=1.0, capacity=v)),
    "Pair": added(lambda x, t, v: at.Pair(x[0], x[1], scores=v)),
    "Potts": added(lambda x, t, v: at.Potts(t[0], t[1], scores=v)),
    "Dense": added(lambda x, t, v: at.Dense(t[0], t[1], scores=v)),
    "Dense of": added(lambda x, t, v: at.Dense(v, t[0], scores=np.zeros((3, 3)))),
    "Cardinality": added(lambda x, t, v: at.Cardinality(x[0], scores=v)),
    "Chain": added(lambda x, t, v: at.Chain(t, transitions=v)),
    "Chain limit": added(lambda x, t, v: at.Chain(t, transitions=0.0, at_most=("a", v))),
    "Tree": added(lambda x, t, v: at.Tree(t, parents=v, scores=0.0)),
    "Tree counts": added(lambda x, t, v: at.Tree(t, parents=[-1, 0, 0, 1], scores=0.0, counts=v)),
    "HeadAutomaton": added(lambda x, t, v: at.HeadAutomaton(x[0], scores=v)),
    "TriSiblingAutomaton": added(lambda x, t, v: at.TriSiblingAutomaton(x[0], scores=v)),
    "Compression heads": added(lambda x, t, v: at.Compression(x[0, :2], v, deletions=0.0)),
    "Compression": added(lambda x, t, v: at.Compression(x[0, :2], [2, 0], deletions=v)),
    "HeadSequence": added(lambda x, t, v: at.HeadSequence(x[:4, :3], scores=v)),
    "Matching": added(lambda x, t, v: at.Matching(x, rows=v)),
    "Cut edges": added(lambda x, t, v: at.Cut(x[0], v, scores=1.0)),
    "Cut": added(lambda x, t, v: at.Cut(x[0], [[0, 1]], scores=v)),
    "Soft rule": added(lambda x, t, v: at.Soft(v, penalty=1.0)),
    "Soft": added(lambda x, t, v: at.Soft(at.AtMostOne(x[0]), penalty=v)),
    "Soft labels": added(lambda x, t, v: at.Soft(at.Agree(t[0], t[1]), penalty=v)),
    "SoftCount": added(lambda x, t, v: at.SoftCount(at.AtMostOne(x[0]), penalty=v)),
    "Custom": added(lambda x, t, v: at.Custom(x[0], maximize=lambda s, i: s, scores=v)),
    "Automaton": lambda v: at.Automaton(v, [(0, "a", 0)], start=0, accept={0}),
    "Automaton arcs": lambda v: at.Automaton("abc", v, start=0, accept={0}),
    "Automaton end": lambda v: at.Automaton("abc", [(0, "a", 0)], start=0, accept=v),
}
QUESTIONS = {
    "decode": lambda v: at.decode(v),
    "decode solver": lambda v: at.decode(G, v),
    "decode exact": lambda v: at.decode(G, exact=v),
    "decode time": lambda v: at.decode(G, at.AD3(max_iterations=3), time_limit=v),
    "decode seed": lambda v: at.decode(G, at.AD3(max_iterations=3), seed=v),
    "decode warm start": lambda v: at.decode(G, warm_start=v),
    "decode progress": lambda v: at.decode(G, at.AD3(max_iterations=3), progress=v),
    "decode scores": lambda v: at.decode(G, scores=v),
    "decode scores of pairs": lambda v: at.decode(G, at.AD3(max_iterations=3), scores={PAIRS: v}),
    "decode_many": lambda v: at.decode_many(v),
    "decode_many list": lambda v: at.decode_many([G, v]),
    "decode_many threads": lambda v: at.decode_many([G], at.AD3(max_iterations=3), threads=v),
    "decode_many seed": lambda v: at.decode_many([G], at.AD3(max_iterations=3), seed=v),
    "decode_many scores": lambda v: at.decode_many(G, at.AD3(max_iterations=3), scores={X: v}),
    "decode_many tables": lambda v: at.decode_many(G, at.AD3(max_iterations=3), scores={TABLE: v}),
    "k_best": lambda v: at.k_best(v, 1),
    "k_best k": lambda v: at.k_best(G, v, time_limit=0.01),
    "k_best over": lambda v: at.k_best(G, 1, over=v, time_limit=0.01),
    "project": lambda v: at.project(G, v, max_iterations=2),
    "project point": lambda v: at.project(G, {X: v}, max_iterations=2),
    "project tolerance": lambda v: at.project(G, {X: 0.5}, tolerance=v, max_iterations=2),
    "project iterations": lambda v: at.project(at.FactorGraph(), {}, max_iterations=v),
    "compare": lambda v: at.compare(G, v) if v is not None else None,
    "presolve": lambda v: at.presolve(v),
    "binarize": lambda v: at.binarize(v),
    "result": lambda v: RESULT[v],
    "marginals": lambda v: RESULT.marginals[v],
    "write": lambda v: at.LinearProgram().write(v, "a.lp"),
}
OTHERS = {
    "load": lambda v: io.load_graph(v) if not isinstance(v, str) else None,
    "save": lambda v: io.save_graph(v, "a.uai"),
    "tables": lambda v: io.UaiModel.from_factors([2], [[0]], [v]),
    "states": lambda v: io.UaiModel.from_factors(v, [[0]], [[0, 1]]),
    "scopes": lambda v: io.UaiModel.from_factors([2], v, [[0, 1]]),
    "domain": lambda v: logic.Domain("d", v),
    "relation": lambda v: logic.relation("r", v, logic.Domain("d", 3)),
    "variables": lambda v: logic.variables(v),
    "rule": rules(lambda r, p, a, b, v: r.add(v)),
    "rule weight": rules(lambda r, p, a, b, v: r.add(p(a) >> p(b), weight=v)),
    "rule where": rules(lambda r, p, a, b, v: r.add(p(a) >> p(b), where=v)),
    "rule name": rules(lambda r, p, a, b, v: r.add(p(a) >> p(b), name=v)),
    "rule limit": rules(lambda r, p, a, b, v: r.add(p(a) >> p(b), limit=v)),
    "rule count": rules(lambda r, p, a, b, v: r.add(logic.at_most(v, a, p(a)))),
    "examples": lambda v: examples(v),
    "example": lambda v: examples([v], [[1]]),
    "output": lambda v: examples(INPUTS[:1], [v]),
    "loss": lambda v: examples(loss=v),
    "train": lambda v: learn.train(v, learn.MIRA()),
    "trainer": lambda v: learn.train(examples(), v),
    "patience": lambda v: learn.train(
        examples(), learn.MIRA(max_iterations=2), validation=lambda w: 0.0, patience=v
    ),
    "measure": lambda v: learn.train(examples(), learn.MIRA(max_iterations=2), measure_every=v),
    "resume": lambda v: learn.train(examples(), learn.MIRA(), resume=v)
    if not isinstance(v, str) else None,
    "predictor": lambda v: learn.StructuredPredictor.load(v) if not isinstance(v, str) else None,
    "fit": lambda v: learn.StructuredPredictor(models.ChainModel(), learn.MIRA()).fit(v, OUTPUTS),
    "costs": lambda v: models.WeightedHamming(v),
}  # fmt: skip
SETTINGS = {
    f"{name} {field.name}": (lambda v, kind=kind, field=field: kind(**{field.name: v}))
    for name, kind in [(name, getattr(at, name)) for name in at.__all__]
    + [(name, getattr(learn, name)) for name in ("MIRA", "FrankWolfe", "LogLikelihood", "L2Ball")]
    if isinstance(kind, type) and (issubclass(kind, Solver) or hasattr(learn, name))
    for field in dataclasses.fields(kind)
}
CALLS = MODEL | KINDS | QUESTIONS | OTHERS | SETTINGS


def is_ours(error: BaseException) -> bool:
    """Whether an error was raised by a statement of the library, not by something it called."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    words = linecache.getline(last.filename, last.lineno or 0).strip()
    return last.filename.startswith(SOURCE) and words.startswith("raise")


@pytest.mark.parametrize("name", CALLS)
def test_odd_values_are_taken_or_told(name):
    for value in odd_values():
        too_many = isinstance(value, (int, np.integer)) and 10**6 < value < 2**63
        if too_many:  # that many variables can be had, given the memory
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", at.RecompileWarning)
            try:
                CALLS[name](value)
            except (TypeError, ValueError, LookupError) as error:
                assert is_ours(error), f"{type(value).__name__} in {name}: {error!r}"
                assert len(str(error)) > 15


NUMBERS = ("binary scores", "constant", "Knapsack weights", "Dense", "Pair", "Soft", "tables")


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    "value",
    [b"12", "12", ["1"], np.datetime64("2020-01-01"), np.timedelta64(3, "D"), 10**400, {}, 1j],
    ids=str,
)
def test_what_only_looks_like_a_number_is_none(name, value):
    with pytest.raises((at.ModelError, TypeError), match=r"number|shape"):
        CALLS[name](value)


@pytest.mark.parametrize("seed", ["a", 1.5, None, b"1", True, {}])
def test_seeds_are_whole_numbers(seed):
    for decode in (lambda: at.decode(G, seed=seed), lambda: at.decode_many([G], seed=seed)):
        with pytest.raises(TypeError, match="seed is a whole number, got"):
            decode()
    assert at.decode(G, seed=10**30).feasible and at.decode(G, seed=-5).feasible
