"""Steps that solve the relaxation: a decoder's first look, sweeps, a linear program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from assent.problem import KNAPSACK, POTTS, Problem
from assent.solvers.model_shape import has_small_tables, is_pairwise, is_program_quick
from assent.solvers.shortcuts import is_at_once, soon_eliminated
from assent.solvers.step import Step

# Sweeps in which TRWS closes the gap of most models whose relaxation is tight.  It is quicker than
# AD3 where tables have few entries.
FIRST_SWEEPS = 50
# Between Potts factors it solves those that are tight in as many as these, where its first answers
# are close; AD3 takes longer than a linear program.
POTTS_SWEEPS, CLOSE_POTTS = 60, 0.015

# Iterations in which AD3 solves most relaxations of tables that are tight.
FIRST_TABLES = 100
# ... and those that elimination would solve nearly as soon; with fewer entries per link than these
# it is sooner.
BEFORE_ELIMINATION, BEFORE_TABLES_PER_LINK = 20, 600

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


def before_elimination(problem: Problem, tolerance: float) -> Iterator[Step]:
    """A look at tables, where it is likely to be quicker than large joins."""
    if is_pairwise(problem) and not is_at_once(problem, BEFORE_TABLES_PER_LINK):
        yield _look(tolerance, BEFORE_ELIMINATION)


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
    if POTTS in problem.tables.kind and is_pairwise(problem):
        yield _sweeps(tolerance, POTTS_SWEEPS, CLOSE_POTTS)
    elif is_pairwise(problem):
        if has_small_tables(problem):
            yield _sweeps(tolerance, FIRST_SWEEPS)
        yield _look(tolerance, FIRST_TABLES)
    elif has_knapsack:
        yield replace(_look(tolerance, FIRST_KNAPSACK), close=CLOSE_KNAPSACK)
    else:
        yield _look(tolerance, FIRST_RULES + problem.n_links // LINKS_PER_ITERATION)
    narrow = soon_eliminated(problem, tolerance)
    yield narrow or _program(tolerance, "LinearProgram, as it is small and a gap remained.")


def _look(tolerance: float, many: int) -> Step:
    """AD3, given up after so many iterations, or before."""
    from assent.solvers.ad3 import AD3

    return Step(AD3(gap_tolerance=tolerance), LOOK, is_last=False, many=many)


def _sweeps(tolerance: float, many: int, close: float = np.inf) -> Step:
    """TRWS, whose marginals tell nothing before the end."""
    from assent.solvers.trws import TRWS

    words = "TRWS for some sweeps, as all factors are over two variables."
    solver = TRWS(gap_tolerance=tolerance)
    return Step(solver, words, is_last=False, many=many, settles=False, close=close)


def _program(tolerance: float, words: str) -> Step:
    from assent.solvers.linear_program import LinearProgram

    return Step(LinearProgram(gap_tolerance=tolerance), words)
