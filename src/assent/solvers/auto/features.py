"""What Auto looks at in a model: its size, and whether its factors are over two variables."""

from __future__ import annotations

import numpy as np

from assent.kernels.core.memo import remembered
from assent.kernels.problem import Problem

# Tables have few entries where there are at most so many per link.
FEW_ENTRIES = 2.5

# Up to so many links and entries of tables a linear program takes less time than AD3 does for the
# last digits of a relaxation that is not tight; more where there are tables, fewer where all are
# tables over two variables.
SOON_PROGRAM, SOON_WITH_TABLES, SOON_OF_PAIRS = 50_000, 100_000, 25_000

# A linear program has to fit: so many links and entries of tables.
MOST_PROGRAM = 1_000_000


def entries_of(problem: Problem) -> int:
    """Links and entries of tables: the size of a linear program."""
    return problem.n_links + int(problem.tables.entry[-1])


def has_small_tables(problem: Problem) -> bool:
    """Whether tables have few entries per link."""
    return int(problem.tables.entry[-1]) <= FEW_ENTRIES * problem.n_links


@remembered
def is_pairwise(problem: Problem) -> bool:
    """Whether all factors are tables over two variables, beside what makes variables whole."""
    from assent.solvers.direct.tabulated_problem import find_variables

    tables = problem.tables
    if problem.n_pairs or problem.models or not len(tables.kind):
        return False
    return bool((np.diff(tables.slot) == 2).all()) and bool(find_variables(problem).is_block.all())


def is_program_quick(problem: Problem) -> bool:
    """Whether a linear program takes little time."""
    most = SOON_WITH_TABLES if len(problem.tables.kind) else SOON_PROGRAM
    if problem.models or entries_of(problem) > most:
        return False
    return entries_of(problem) <= SOON_OF_PAIRS or not is_pairwise(problem)


def fits_a_program(problem: Problem) -> bool:
    """Whether a linear program of the problem fits, and all of its factors have rows."""
    from assent.solvers.programs.structure_rows import formulation

    if entries_of(problem) > MOST_PROGRAM:
        return False
    return all(formulation(model.structure, integer=False) for model in problem.models)
