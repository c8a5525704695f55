"""HiGHS that cannot be loaded: linear programs say why, everything else goes on without it."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

import assent as at
from assent.solvers.auto.plan import last_step
from tests.solvers.search.test_branch_and_bound import frustrated
from tests.strategies import optimum

SYMBOL = "/x/highspy/_core.so: undefined symbol: _ZN5Highs13setSolutionERK13HighsSolution"


class Refusing:
    """Finds a module, and fails to load it."""

    def __init__(self, error: ImportError) -> None:
        self.error = error

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "highspy":
            raise self.error
        return None


@pytest.fixture
def refuse(monkeypatch):
    """Makes ``import highspy`` raise an error."""

    def make(error: ImportError) -> None:
        for name in [*sys.modules]:
            if name.partition(".")[0] == "highspy":
                monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "meta_path", [Refusing(error), *sys.meta_path])

    return make


PROGRAMS = [at.LinearProgram(), at.IntegerProgram(), at.Tightened(), at.BranchAndCut()]


@pytest.mark.parametrize("solver", PROGRAMS, ids=lambda s: type(s).__name__)
def test_another_library_in_the_way_is_named(refuse, monkeypatch, solver):
    monkeypatch.setitem(sys.modules, "ortools", ModuleType("ortools"))
    refuse(ImportError(SYMBOL))
    with pytest.raises(ImportError, match="ortools was loaded before") as told:
        at.decode(frustrated(np.random.default_rng(0)), solver)
    assert "undefined symbol" in str(told.value) and "AD3" in str(told.value)


def test_other_obstacles_are_told(refuse):
    g = frustrated(np.random.default_rng(0))
    refuse(ModuleNotFoundError("No module named 'highspy'", name="highspy"))
    with pytest.raises(ImportError, match="it is not installed: pip install"):
        at.decode(g, at.LinearProgram())
    refuse(ImportError(SYMBOL))
    with pytest.raises(ImportError, match="another library that is loaded may bring a HiGHS"):
        at.decode(g, at.LinearProgram())


@pytest.mark.parametrize("seed", range(4))
def test_auto_and_searches_go_on_without_it(refuse, seed):
    rng = np.random.default_rng(seed)
    g = frustrated(rng)
    best = optimum(g)
    refuse(ImportError(SYMBOL))
    assert at.decode(g).feasible
    exact = at.decode(g, exact=True)
    searched = at.decode(g, at.BranchAndBound())
    first, *_ = at.k_best(g, 2)
    presolved = at.presolve(g).decode(exact=True)
    for result in (exact, searched, first, presolved):
        assert result.status is at.Status.OPTIMAL and result.certificate.verify()
        assert result.value == pytest.approx(best, abs=1e-6)


def test_a_knapsack_is_decoded_without_it(refuse):
    """With HiGHS, such a graph is left to a linear program alone."""
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary(30, scores=rng.normal(size=30))
    first, second = np.triu_indices(30, 1)
    g.add(at.Pair(x[first], x[second], scores=rng.normal(size=len(first))))
    g.add(at.Knapsack(x, weights=0.1 + rng.random(30), capacity=4.0))
    assert at.decode(g).plan.startswith("LinearProgram")
    refuse(ImportError(SYMBOL))
    result = at.decode(g)
    assert result.feasible and result.bound < np.inf and "AD3" in result.plan


def test_a_plan_says_that_it_goes_without(refuse):
    compiled = frustrated(np.random.default_rng(0)).compile()
    assert "BranchAndCut" in last_step(compiled, 1e-6, at.Auto(exact=True)).why
    refuse(ImportError(SYMBOL))
    assert "HiGHS cannot be loaded" in last_step(compiled, 1e-6, at.Auto(exact=True)).why
