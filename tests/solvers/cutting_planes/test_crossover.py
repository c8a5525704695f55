"""Mixed answers: never worse, feasible, and as good as what they disagree on allows."""

from __future__ import annotations

import numpy as np
import pytest

import assent as at
from assent.compile.compiled import graph_scores
from assent.kernels.core import evaluate
from assent.solvers.base.incumbent import Incumbent
from assent.solvers.cutting_planes import crossover
from assent.solvers.cutting_planes.branch_and_cut import POOL_SIZE, BranchAndCut
from assent.solvers.cutting_planes.crossover import Crossover
from assent.solvers.cutting_planes.cutting_plane_program import GrowingProgram
from assent.solvers.programs.compact_lp import build_lp
from benchmarks.constrained import budgeted_selection
from tests.strategies import optimum


def searched(graph: at.FactorGraph) -> tuple[GrowingProgram, Incumbent]:
    """A solved relaxation, and no answers yet."""
    compiled = graph.compile()
    problem, scores = compiled.problem, compiled.flat_scores(graph_scores(graph))
    program = GrowingProgram(problem, scores, build_lp(problem, scores))
    assert program.solve() == "optimal"
    return program, Incumbent(pool_size=POOL_SIZE)


@pytest.mark.parametrize("seed", range(4))
def test_what_answers_disagree_on_is_decided_best(seed):
    graph = budgeted_selection(14, seed)
    program, answers = searched(graph)
    rng = np.random.default_rng(seed)
    while len(answers.pool) < 3:
        x = (rng.random(program.problem.n) < 0.3).astype(np.int8)
        answers.consider(program.problem, program.scores, x)
    before = answers.value
    own = Crossover(answers)
    own.begin(program.x)
    lower, upper = own._range(program.x)
    value = own.mix(program, np.inf)
    assert before <= value <= optimum(graph) + 1e-9
    assert evaluate.count_violated(program.problem, program.scores, answers.assignment) == 0
    points = (np.arange(2**14)[:, None] >> np.arange(14)) & 1
    inside = points[((points >= lower) & (points <= upper)).all(axis=1)].astype(np.int8)
    every = Incumbent()
    for x in inside[: 1 << 12]:
        every.consider(program.problem, program.scores, x)
    assert value >= every.value - 1e-9
    assert own.open > crossover.OPEN or value > before


def test_the_best_answers_are_kept_once():
    program, answers = searched(budgeted_selection(12, 0))
    rng = np.random.default_rng(0)
    for x in (rng.random((300, 12)) < 0.25).astype(np.int8):
        for copy in (x, x.copy()):
            answers.consider(program.problem, program.scores, copy)
    values = [value for value, _ in answers.pool]
    assert values == sorted(values, reverse=True) and values[0] == answers.value
    assert len({x.tobytes() for _, x in answers.pool}) == len(values) <= POOL_SIZE


def test_mixing_waits_for_cases_and_time(monkeypatch):
    program, answers = searched(budgeted_selection(12, 0))
    own = Crossover(answers)
    assert not own.is_due(100)  # cases have not begun
    clock = [0.0]
    monkeypatch.setattr(crossover.time, "process_time", lambda: clock[0])
    own.begin(np.zeros(12))
    one = np.eye(12, dtype=np.int8)[0]  # one item of the ten that ask for one
    answers.consider(program.problem, program.scores, one)
    assert answers.assignment is not None
    assert not own.is_due(10)
    clock[0] = 1.0
    assert own.is_due(10) and not own.is_due(19) and own.is_due(20)


def test_a_search_that_mixes_proves_what_it_finds(monkeypatch):
    monkeypatch.setattr(crossover, "FIRST", 0.0)
    monkeypatch.setattr(crossover, "SHARE", 1e6)
    graph = budgeted_selection(16, 3)
    result = at.decode(graph, BranchAndCut())
    assert result.status is at.Status.OPTIMAL and result.certificate.verify()
    assert result.value == pytest.approx(optimum(graph))
    assert not result.certificate.trusted


def test_an_interrupt_while_mixing_ends_the_search(monkeypatch):
    monkeypatch.setattr(crossover, "FIRST", 0.0)
    monkeypatch.setattr(crossover, "SHARE", 1e6)
    monkeypatch.setattr(crossover, "highs_status", lambda highs: "interrupted")
    result = at.decode(budgeted_selection(50, 0), BranchAndCut())
    assert "Interrupted" in result.message and result.feasible and result.certificate.verify()
