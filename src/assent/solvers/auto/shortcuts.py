"""Steps that have the answer at once: nothing is shared, the graph is narrow, or one flow does."""

from __future__ import annotations

from assent.kernels.core.memo import remembered
from assent.kernels.problem import Problem
from assent.solvers.auto.features import entries_of, is_program_quick
from assent.solvers.auto.step import Step
from assent.solvers.direct.posiform import what_is_larger

# Where an answer is wanted soon, elimination may look at so many entries at most, plus some for
# every link: about as long as a decoder takes for its first bounds.
SOON, SOON_PER_LINK = 1 << 20, 500
# ... or so many where a linear program is quick, which takes about half as long.
SOON_AS_PROGRAM, PER_ENTRY = 80_000, 400

# Pairs of variables looked at per variable and link while an order of elimination is sought.
# Before a first look at a small problem it is so many, and so many in all if that is more, where
# variables have more factors on average than narrow graphs have.
SOON_EFFORT = 1000
QUICK_EFFORT, QUICK_LOOKS = 12, 30_000
NARROW_FACTORS = 3.0

# Elimination that looks at this many entries per link at most is quicker than a flow.
AT_ONCE_PER_LINK = 50

# Beyond so many links a flow takes longer and more memory than a decoder's first bounds.
MOST_FLOW_LINKS = 4_000_000


def unlinked(tolerance: float) -> Step:
    """Where no factor is left."""
    from assent.solvers.ad3.ad3 import AD3

    return Step(AD3(gap_tolerance=tolerance), "Every variable by itself, as no factor is left.")


def alone(problem: Problem, tolerance: float) -> Step | None:
    """The best of each structure, if no two share a variable."""
    if not len(problem.tables.kind) or problem.n_pairs:
        return None
    from assent.solvers.direct.independent_factors import Unshared

    if not _shares_nothing(problem):
        return None
    words = "Every structure by itself, as no two share a variable: the best of each."
    return Step(Unshared(gap_tolerance=tolerance), words)


@remembered
def _shares_nothing(problem: Problem) -> bool:
    from assent.solvers.direct.independent_factors import shares_nothing

    return shares_nothing(problem)


def soon_eliminated(problem: Problem, tolerance: float, effort: int = SOON_EFFORT) -> Step | None:
    """Elimination, if an order of little work is found."""
    return eliminated(problem, tolerance, effort, SOON + SOON_PER_LINK * problem.n_links)


def eliminated_as_a_program(problem: Problem, tolerance: float, effort: int) -> Step | None:
    """The same where a linear program would do: it may not take much longer."""
    if not is_program_quick(problem):
        return soon_eliminated(problem, tolerance, effort)
    most = SOON_AS_PROGRAM + PER_ENTRY * entries_of(problem)
    return eliminated(problem, tolerance, effort, most)


def eliminated(problem: Problem, tolerance: float, effort: int, most: int) -> Step | None:
    """Elimination, if an order is found by which it looks at so many entries at ``most``."""
    if problem.models:
        return None
    from assent.solvers.direct.variable_elimination import Elimination, way_for

    way = way_for(problem, effort, most)
    if isinstance(way, str):
        return None
    beside = f"{way.width} variable" + "s" * (way.width != 1)
    words = f"Elimination, as the graph is narrow: at most {beside} beside each."
    return Step(Elimination(gap_tolerance=tolerance), words)


def effort_before_a_look(problem: Problem) -> int:
    """How thoroughly an order is sought before a decoder's first look."""
    from assent.solvers.direct.tabulated_problem import tabulation

    tables = tabulation(problem)
    if isinstance(tables, str) or not is_program_quick(problem):
        return SOON_EFFORT
    count = len(tables.variables.card)
    if len(tables.shape.scope) - count <= NARROW_FACTORS * count:
        return SOON_EFFORT
    return max(QUICK_EFFORT, QUICK_LOOKS // problem.n_links)


def is_at_once(problem: Problem, per_link: float = AT_ONCE_PER_LINK) -> bool:
    """Whether an order of elimination is known that looks at few entries per link."""
    from assent.solvers.direct.variable_elimination import Way, way_for

    way = way_for(problem)
    return isinstance(way, Way) and way.work <= per_link * problem.n_links


@remembered
def takes_flow(problem: Problem) -> bool:
    """Whether all factors are over two binary variables, and not too many."""
    return not what_is_larger(problem) and problem.n_links <= MOST_FLOW_LINKS


def one_flow(tolerance: float) -> Step:
    """The relaxation of binary pairs."""
    from assent.solvers.direct.roof_duality import RoofDuality

    words = "RoofDuality, as all factors are over two binary variables: one flow."
    return Step(RoofDuality(gap_tolerance=tolerance), words)
