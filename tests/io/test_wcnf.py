"""Weighted clauses: files, graphs, and what they cost by enumeration."""

import itertools

import numpy as np
import pytest

import assent as at
from assent.io import Clauses, FormatError, load_graph, load_models, read_wcnf, save_graph
from assent.io.wcnf import HARD, wcnf_from_graph, wcnf_to_graph, write_wcnf


def cost(model, x):
    """What an assignment pays; infinite where a hard clause fails."""
    holds = [any(x[c] if c >= 0 else not x[~c] for c in clause) for clause in model.clauses]
    return sum(w for w, good in zip(model.weights, holds, strict=True) if not good)


def random_clauses(rng, n=6, count=14):
    clauses, weights = [], []
    for _ in range(count):
        size = int(rng.integers(1, 4))
        own = rng.choice(n, size=size, replace=False)
        clauses.append([int(v) if rng.random() < 0.5 else int(~v) for v in own])
        weights.append(HARD if rng.random() < 0.3 else float(rng.integers(1, 6)))
    return Clauses(n, clauses, weights)


@pytest.mark.parametrize("seed", range(25))
def test_the_optimum_is_the_least_cost(seed, tmp_path):
    model = random_clauses(np.random.default_rng(seed))
    costs = [cost(model, x) for x in itertools.product((0, 1), repeat=model.n_variables)]
    write_wcnf(model, tmp_path / "model.wcnf.gz")
    again = read_wcnf(tmp_path / "model.wcnf.gz")
    assert (again.clauses, again.weights) == (model.clauses, model.weights)
    (loaded,) = load_models(tmp_path / "model.wcnf.gz")
    result = at.decode(loaded.graph, exact=True)
    if min(costs) == np.inf:
        assert result.status is at.Status.INFEASIBLE
        return
    assert result.value == pytest.approx(-min(costs))
    found = loaded.assignment(result)
    assert cost(model, [*found, *[0] * model.n_variables]) == pytest.approx(min(costs))


def test_both_forms_of_the_format(tmp_path):
    old, new = tmp_path / "old.wcnf", tmp_path / "new.wcnf"
    old.write_text("c a comment\np wcnf 3 3 10\n10 1 2 0\n3 -1 0\n2 -2 3 0\n")
    new.write_text("c a comment\nh 1 2 0\n3 -1 0\nc another\n2 -2 3 0\n")
    first, second = read_wcnf(old), read_wcnf(new)
    assert first == second == Clauses(3, [[0, 1], [~0], [~1, 2]], [HARD, 3.0, 2.0])


def clause_graph(rng):
    """All kinds that clauses can say, with whole numbers."""
    g = at.FactorGraph()
    x = g.binary(7, scores=rng.integers(-3, 4, 7), name="x")
    g.add(at.Pair(x[0], ~x[1], scores=float(rng.integers(-3, 4))))
    g.add(at.AtLeastOne([x[0], ~x[2], x[3]]))
    g.add(at.AtMostOne([x[1], ~x[4], x[5]]))
    g.add(at.ExactlyOne([x[2], x[4], ~x[6]]))
    g.add(at.Implies(x[3] & x[5], x[0]))
    g.add(at.AtLeastOne(x[[0, 5]], output=x[6]))
    g.add(at.Soft(at.AtLeastOne(x[[1, 3]]), penalty=2.0))
    g.add(at.Soft(at.Implies(x[0], x[4]), penalty=1.0))
    g.fix(x[2], 0)
    return g


@pytest.mark.parametrize("seed", range(10))
def test_graphs_keep_their_order_of_assignments(seed, tmp_path):
    g = clause_graph(np.random.default_rng(seed))
    save_graph(g, tmp_path / "graph.wcnf")
    same = load_graph(tmp_path / "graph.wcnf")
    best, found = (at.decode(graph, at.IntegerProgram()) for graph in (g, same))
    assert best.feasible == found.feasible
    if found.feasible:  # values differ by a constant: the one's best is a best of the other
        check = clause_graph(np.random.default_rng(seed))
        rest = np.arange(7) != 2
        check.fix(check["x"][rest], found[same["x"]][rest])
        assert at.decode(check, at.IntegerProgram()).value == pytest.approx(best.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("p cnf 1 1 2\n", "expected wcnf, found 'cnf'"), ("3 1 2\n", "a literal of"),
     ("-1 1 0\n", "h or a weight"), ("p wcnf 2 3 9\n1 1 0\n", "3 clauses as declared"),
     ("p wcnf 2 1 9\n1 5 0\n", "a literal of 1 to 2"),
     ("p wcnf 999999999 1 9\n1 1 0\n", "number of variables"),
     ("1 999999999999 0\n", "a literal of 1 to"), ("x 1 0\n", "h or a weight")],
)  # fmt: skip
def test_what_does_not_follow_the_format_is_named(text, complaint, tmp_path):
    path = tmp_path / "broken.wcnf"
    path.write_text(text)
    with pytest.raises(FormatError, match=complaint):
        read_wcnf(path)


def test_what_clauses_cannot_say_is_named(tmp_path):
    g = at.FactorGraph()
    g.binary(5, scores=0.5)
    with pytest.raises(at.ModelError, match=r"whole numbers, not 0\.5"):
        save_graph(g, tmp_path / "x.wcnf")
    for kind in (
        lambda x: at.AtMost(2, x),
        at.Parity,
        lambda x: at.Soft(at.AtMost(2, x), penalty=1.0),
        lambda x: at.Cardinality(x, scores=np.zeros(6)),
    ):
        g = at.FactorGraph()
        g.add(kind(g.binary(5)))
        with pytest.raises(at.ModelError, match=r"\.wcnf format"):
            wcnf_from_graph(g)
    g = at.FactorGraph()
    g.categorical(2, "abc")
    with pytest.raises(at.ModelError, match="binary variables only"):
        wcnf_from_graph(g)
    with pytest.raises(at.ModelError, match="clause 1 is hard and empty"):
        wcnf_to_graph(Clauses(1, [[]], [HARD]))
