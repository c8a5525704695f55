"""`compare` and ``assent compare``."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import assent as at
from assent.cli import main
from assent.solvers.base.stop_reasons import INTERRUPTED


def small_grid() -> at.FactorGraph:
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary((4, 4), scores=rng.normal(size=(4, 4)))
    g.add(at.Pair(x[:-1], x[1:], scores=rng.normal(size=(3, 4))))
    g.add(at.Pair(x[:, :-1], x[:, 1:], scores=rng.normal(size=(4, 3))))
    return g


@pytest.mark.parametrize(("at_run", "finished"), [(1, 0), (2, 1), (3, 1), (4, 2)])
def test_an_interrupt_ends_the_comparison(monkeypatch, at_run, finished):
    """Every solver runs twice; what was compared until then is kept."""
    runs = []

    def interrupted(*args, **kwargs):
        result = at.decode(*args, **kwargs)
        runs.append(result)
        return replace(result, message=INTERRUPTED) if len(runs) == at_run else result

    monkeypatch.setattr(sys.modules["assent.compare"], "decode", interrupted)
    if not finished:
        with pytest.raises(KeyboardInterrupt):
            at.compare(small_grid(), [at.AD3(), at.MPLP(), at.TRWS()])
    else:
        found = at.compare(small_grid(), [at.AD3(), at.MPLP(), at.TRWS()])
        assert len(found.results) == finished
    assert len(runs) == at_run


def test_the_usual_solvers_agree_and_count_their_calls(tmp_path):
    found = at.compare(small_grid(), time_limit=5.0)
    assert set(found.results) == {
        "AD3", "Subgradient", "MPLP", "StarDiffusion", "TRWS", "Accelerated", "LinearProgram",
    }  # fmt: skip
    for name, result in found.results.items():
        assert result.bound >= found.value - 1e-6
        assert (result.trace.calls[-1] > 0) == (name != "LinearProgram")
    assert found.bound == pytest.approx(found["LinearProgram"].bound, abs=1e-4)
    assert "StarDiffusion" in repr(found)
    found.plot(tmp_path / "compare.png")
    assert (tmp_path / "compare.png").stat().st_size > 10_000


def test_who_cannot_take_the_problem_is_listed_with_the_reason():
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0)
    g.add(at.Knapsack(x, weights=[1.0, 2.0, 3.0], capacity=4.0))
    found = at.compare(g, [at.AD3(), at.MPLP()], time_limit=5.0)
    assert list(found.results) == ["AD3"]
    assert "MPLP needs max_marginals" in found.refused["MPLP"]
    assert "MPLP needs max_marginals" in repr(found)


def test_two_settings_of_one_solver_have_two_names():
    found = at.compare(
        small_grid(), [at.Subgradient(), at.Subgradient(step="root")], time_limit=5.0
    )
    assert len(found.results) == 2


def test_on_the_command_line(tmp_path):
    path = tmp_path / "grid.uai"
    at_file = "MARKOV\n2\n2 2\n1\n2 0 1\n\n4\n1.0 2.0 3.0 1.0\n"
    path.write_text(at_file)
    shown = CliRunner().invoke(main, ["compare", str(path), "--solvers", "ad3,lp"])
    assert shown.exit_code == 0 and "OPTIMAL" in shown.output
    listed = CliRunner().invoke(main, ["compare", str(path), "--solvers", "mplp", "--json"])
    assert json.loads(listed.output)["solvers"]["mplp"]["status"] == "OPTIMAL"
    wrong = CliRunner().invoke(main, ["compare", str(path), "--solvers", "simplex"])
    assert wrong.exit_code == 2 and "no solver is called simplex" in wrong.output
