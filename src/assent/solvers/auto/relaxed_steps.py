"""Steps that solve the relaxation: a decoder's first look, a linear program."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from assent.kernels.problem import KNAPSACK, Problem
from assent.solvers.auto.cutoff import Patience
from assent.solvers.auto.features import is_pairwise, is_program_quick
from assent.solvers.auto.step import Step

# Iterations of AD3 that take about as long as a linear program: some, and one more for so many
# constraints, which are its rows.
FEWEST_ITERATIONS, RULES_PER_ITERATION = 70, 10

# Iterations of AD3 after which a relaxation that is tight has shown it, as a rule.  Rules take
# longer than tables to settle, and less time to ask.  A search is not much slower than a look.
FIRST_LOOK = 100
FIRST_LOOK_AT_RULES = 400

# The words of a look.
LOOK = "AD3 for a moment, as many relaxations are tight."


def first_look(problem: Problem, tolerance: float) -> Step:
    """AD3 for a moment, before a search on a linear program or around a decoder."""
    most = FIRST_LOOK if len(problem.tables.kind) else FIRST_LOOK_AT_RULES
    return look(tolerance, most)


def look(tolerance: float, iterations: int) -> Step:
    """So many iterations of AD3, before a search."""
    from assent.solvers.ad3.ad3 import AD3

    return Step(AD3(gap_tolerance=tolerance, max_iterations=iterations), LOOK, is_last=False)


def decoder_steps(problem: Problem, tolerance: float) -> Iterator[Step]:
    """AD3, and a linear program for the last digits where it is quick."""
    if not is_program_quick(problem):
        yield Step(_decoder(tolerance), "AD3: no shortcut applies.")
        return
    if (problem.group_kind == KNAPSACK).any():  # hardly ever tight
        yield _program(tolerance, "LinearProgram, as a knapsack is one row there.")
        return
    if not is_pairwise(problem):  # those were searched before
        yield _while_it_becomes_clear(problem, tolerance)
    yield _program(tolerance, "LinearProgram, as it is small and a gap remained.")


@cache
def _decoder(tolerance: float) -> Any:
    """AD3, made once for all problems: its settings take a while to check."""
    from assent.solvers.ad3.ad3 import AD3

    return AD3(gap_tolerance=tolerance)


def _while_it_becomes_clear(problem: Problem, tolerance: float) -> Step:
    """AD3, for about as long as a linear program takes; enough if it solves the relaxation."""
    rules, has_tables = problem.n_logic, len(problem.tables.kind) > 0
    patience = Patience(FEWEST_ITERATIONS + rules // RULES_PER_ITERATION, rules, has_tables)
    return Step(_decoder(tolerance), LOOK, is_last=False, relaxed=True, patience=patience)


def _program(tolerance: float, words: str) -> Step:
    from assent.solvers.programs.linear_program import LinearProgram

    return Step(LinearProgram(gap_tolerance=tolerance), words)
