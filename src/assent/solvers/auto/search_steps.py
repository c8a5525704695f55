"""Depth-first searches as steps: before anything else, or once a look left a gap."""

from __future__ import annotations

from collections.abc import Iterator

from assent.kernels.core.memo import remembered
from assent.kernels.problem import KNAPSACK, POTTS, Problem
from assent.solvers.auto.features import entries_of, has_small_tables, is_pairwise, is_program_quick
from assent.solvers.auto.relaxed_steps import look
from assent.solvers.auto.search_cutoff import SearchPatience
from assent.solvers.auto.step import Step

# Reading more links and entries of tables than these takes long; up to so many a round or two tell
# whether they are put away at once.
MOST_SEARCHED, MOST_SWEPT = 1_000_000, 5_000_000

# Rounds before a first search is looked at, and the open states that may be left then, after twice
# and after four times as many.  A linear program of small Potts factors takes as long as some
# eighty rounds, of tables some three hundred, AD3 without one longer than that.
FIRST_OF_POTTS, LEFT_OF_POTTS = 8, (0.88, 0.45, 0.35)
FIRST_OF_TABLES, LEFT_OF_TABLES = 8, (0.995, 0.97, 0.9)
FIRST_OF_LARGE, LEFT_OF_LARGE = 1, (0.5, 0.25, 0.1)
# Most that get so far end before as many rounds over all states.
MOST_ROUNDS = 250.0

# Small models of other kinds are searched first as well, up to so many rounds: with tables up to so
# many links, and fewer where a relaxation is hardly ever tight, with a knapsack or pairs of every
# other coordinate.  AD3 is quicker on the rest, which often is.
MOST_ROUNDS_OF_SMALL = 100.0
LINKS_WITH_TABLES, LINKS_OF_LOOSE = 500, 350
PAIRS_OF_LOOSE = 0.5

# Where a proof is asked for: up to so many variables, or where tables over two variables are large,
# a search comes first; it is given up once more rounds of sweeps are likely.
FEW_VARIABLES = 150
# ... and up to so many once a look has found an answer to compare with.
SOME_VARIABLES = 500
LIKELY_ROUNDS = 5000
# With constraints over more than a few literals, up to so many links: then a linear program, which
# sees all of them at once, is quicker.
FEW_LITERALS = 4
LINKS_BESIDE_CONSTRAINTS = 3500
# Up to so many links a search is quick whatever the constraints are.  Beyond, so many iterations of
# AD3 come before it if there are no tables: their link scores spare most of the rounds.
FEW_LINKS, GLANCE = 400, 50

WORDS = "DepthFirst, as factors are small: sweeps over them, then case by case."


def soon_searched(problem: Problem, tolerance: float) -> Iterator[Step]:
    """A search that is likely to be the quickest, given up soon unless most states are put away."""
    from assent.solvers.search.depth_first import DepthFirst
    from assent.solvers.search.table_network import layout_of

    patience = _patience(problem)
    if patience is None or isinstance(layout_of(problem), str):
        return
    solver = DepthFirst(gap_tolerance=tolerance)
    yield Step(solver, WORDS, is_last=False, patience=patience)


def _patience(problem: Problem) -> SearchPatience | None:
    """How long a search is worth it, with tables over two variables or few links; None if not."""
    entries = entries_of(problem)
    if problem.models or entries > MOST_SWEPT:
        return None
    if not is_pairwise(problem):
        most, is_small = MOST_ROUNDS_OF_SMALL, entries <= MOST_SEARCHED and _is_small(problem)
        return SearchPatience(int(most), (1.0, 1.0, 1.0), most) if is_small else None
    if entries > MOST_SEARCHED:
        return SearchPatience(FIRST_OF_LARGE, LEFT_OF_LARGE, MOST_ROUNDS)
    if POTTS in problem.tables.kind and is_program_quick(problem):
        return SearchPatience(FIRST_OF_POTTS, LEFT_OF_POTTS, MOST_ROUNDS)
    return SearchPatience(FIRST_OF_TABLES, LEFT_OF_TABLES, MOST_ROUNDS)


def _is_small(problem: Problem) -> bool:
    """Whether a search takes less than a look at the relaxation, or than the program behind it."""
    links, pairs = problem.n_links, problem.n_pairs
    if len(problem.tables.kind):
        return links <= LINKS_WITH_TABLES
    if links > LINKS_OF_LOOSE:
        return False
    if (problem.group_kind == KNAPSACK).any():
        return pairs < problem.n  # with more of them there are too many cases
    return pairs >= PAIRS_OF_LOOSE * problem.n


def glance(problem: Problem, tolerance: float) -> Iterator[Step]:
    """AD3 for a moment, before a search beside long constraints."""
    if not len(problem.tables.kind) and _has_long_constraints(problem, FEW_LINKS):
        yield look(tolerance, GLANCE)


def depth_first(problem: Problem, tolerance: float) -> Iterator[Step]:
    """A search whose nodes are cheap, given up once it is likely to take long."""
    from assent.solvers.search.depth_first import DepthFirst
    from assent.solvers.search.table_network import layout_of

    if isinstance(layout_of(problem), str):
        return
    solver = DepthFirst(gap_tolerance=tolerance, likely_rounds=LIKELY_ROUNDS)
    yield Step(solver, WORDS, is_last=False)


@remembered
def may_be_searched(problem: Problem) -> bool:
    """Whether few variables are likely to be left undecided by sweeps over all tables."""
    from assent.solvers.direct.tabulated_problem import find_variables

    if problem.models or entries_of(problem) > MOST_SEARCHED or _is_loose(problem):
        return False
    if len(find_variables(problem).card) <= FEW_VARIABLES:
        return not _has_long_constraints(problem, LINKS_BESIDE_CONSTRAINTS)
    return not has_small_tables(problem) and is_pairwise(problem)


def may_be_searched_with_an_answer(problem: Problem) -> bool:
    """Whether sweeps may decide most variables once an answer is known, and were not tried yet."""
    from assent.solvers.direct.tabulated_problem import find_variables

    if problem.models or may_be_searched(problem) or is_pairwise(problem) or _is_loose(problem):
        return False
    few = len(find_variables(problem).card) <= SOME_VARIABLES
    return few and not _has_long_constraints(problem, LINKS_BESIDE_CONSTRAINTS)


def _is_loose(problem: Problem) -> bool:
    """Whether there is a knapsack beside as many pairs as coordinates: none of it is tight."""
    if problem.n_links <= FEW_LINKS or problem.n_pairs < problem.n:
        return False
    return KNAPSACK in problem.group_kind


def _has_long_constraints(problem: Problem, links: int) -> bool:
    """Whether there are more links than these, and constraints over many literals beside tables."""
    from assent.solvers.search.table_network import layout_of

    if problem.n_links <= links:
        return False
    layout = layout_of(problem)
    return isinstance(layout, str) or layout.most_literals > FEW_LITERALS
