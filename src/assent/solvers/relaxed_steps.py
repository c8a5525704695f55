"""Steps that solve the relaxation: a decoder's first look, sweeps, a linear program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assent.problem import KNAPSACK, Problem
from assent.solvers.model_shape import is_pairwise, is_program_quick
from assent.solvers.shortcuts import soon_eliminated
from assent.solvers.step import Step

# Iterations of AD3 that take about half as long as a linear program: some, and one more for so
# many links.
FIRST_RULES, LINKS_PER_ITERATION = 40, 60
# ... and with a knapsack, of which something is left over as a rule: the first answers show it.
# Where pairs are as many as coordinates as well, nothing is tight.
FIRST_KNAPSACK, CLOSE_KNAPSACK = 20, 1e-3

# Iterations of AD3 after which a relaxation that is tight has shown it, as a rule.  Rules take
# longer than tables to settle, and less time to ask.  A search is not much slower than a look.
FIRST_LOOK = 100
FIRST_LOOK_AT_RULES = 400

# The words of a look.
LOOK = "AD3 for a moment, as many relaxations are tight."


def first_look(problem: Problem, tolerance: float) -> Step:
    """AD3 for a moment, before a search."""
    from assent.solvers.ad3 import AD3

    most = FIRST_LOOK if len(problem.tables.kind) else FIRST_LOOK_AT_RULES
    return Step(AD3(gap_tolerance=tolerance, max_iterations=most), LOOK, is_last=False)


def decoder_steps(problem: Problem, tolerance: float) -> Iterator[Step]:
    """AD3, and a linear program for the last digits where it is quick."""
    from assent.solvers.ad3 import AD3

    if not is_program_quick(problem):
        yield Step(AD3(gap_tolerance=tolerance), "AD3: no shortcut applies.")
        return
    has_knapsack = KNAPSACK in problem.group_kind
    if has_knapsack and problem.n_pairs >= problem.n:
        yield _program(tolerance, "LinearProgram, as a knapsack is one row there.")
        return
    if has_knapsack:
        yield replace(_look(tolerance, FIRST_KNAPSACK), close=CLOSE_KNAPSACK)
    elif not is_pairwise(problem):  # those were searched before
        yield _look(tolerance, FIRST_RULES + problem.n_links // LINKS_PER_ITERATION)
    narrow = soon_eliminated(problem, tolerance)
    yield narrow or _program(tolerance, "LinearProgram, as it is small and a gap remained.")


def _look(tolerance: float, many: int) -> Step:
    """AD3, given up after so many iterations, or before."""
    from assent.solvers.ad3 import AD3

    return Step(AD3(gap_tolerance=tolerance), LOOK, is_last=False, many=many)


def _program(tolerance: float, words: str) -> Step:
    from assent.solvers.linear_program import LinearProgram

    return Step(LinearProgram(gap_tolerance=tolerance), words)
