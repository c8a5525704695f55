"""Auto's plan: from features of a model to the solvers that take turns on it, and why.

========================================  ===================================================
if                                        then
========================================  ===================================================
no factor is left                         every variable by itself
no two structures share a variable        the best of each (`Unshared`)
an order of elimination takes little      `Elimination`
all factors are over two binary variables `RoofDuality`, one flow
otherwise, in turns                       `DepthFirst` (small factors), `AD3` (always), and
                                          `LinearProgram` (rows fit, no structure)
========================================  ===================================================

To be exact, a wider `Elimination` and a search on what presolving leaves (`Presolving`) take turns
with them in place of `LinearProgram`, and `RoofDuality` is the first of them.

Costs are in microseconds of the machine they were measured on; only their ratios matter, and
iterations are counted instead of seconds, so that a plan does the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.compile.compiled import Compiled
from assent.kernels.problem import Problem
from assent.solvers.base.memo import remembered

# An iteration of AD3 takes so much, and so much per link and entry of tables.
AD3_ITERATION, AD3_ENTRY = 20.0, 0.01
# A round of DepthFirst: so much per link, and per entry for every time it is read.
ROUND_LINK, ROUND_READ = 0.1, 0.002
# A linear program: so much for HiGHS to begin, and per link and entry of its rows.
PROGRAM, PROGRAM_ENTRY = 1000.0, 5.0
# Elimination: per entry of a join.
JOINED_ENTRY = 0.002
# What a solver takes before its first iteration, to lay out its arrays.
LAYOUT = 500.0

# Elimination of so many entries per link is quicker than anything else, if an order is found while
# looking at no more than so many pairs of neighbours per variable and link.
NARROW, NARROW_EFFORT = 50, 20
# Beyond so many links a flow takes longer and more memory than a decoder's first bounds.
MOST_FLOW = 4_000_000
# Larger programs (links and entries) and tables take more memory than there may be.
MOST_ENTRIES = 1_000_000
# A node of a search takes this share of what its root does, as it begins where that ended.
SHARE_OF_NODE = 0.1
# Parts are worth it if none has more than this share of all coordinates: beginning anew costs more
# than what a small part takes off a large one.
LARGEST_PART = 0.8


@dataclass(frozen=True)
class Step:
    """A solver that has a turn, why, and what it takes.

    Attributes:
        solver: its settings.
        why: what `result.plan` says of it.
        start: what it takes until its first iteration is done.
        pace: what every further iteration takes; infinite if there is only one.
    """

    solver: Any
    why: str
    start: float = 0.0
    pace: float = np.inf


def plan(compiled: Compiled, exact: bool, tolerance: float, presolved: bool = False) -> list[Step]:
    """What takes turns on a model, in this order."""
    problem = compiled.problem
    direct = _direct(problem, tolerance)
    if direct is not None:
        return [direct]
    is_flow = _is_binary_pairwise(problem)
    steps = [_flow(tolerance)] if is_flow else _contenders(problem, tolerance)
    if exact:
        if is_flow:
            steps += _depth_first(problem, tolerance)
        steps += _wide_elimination(problem, tolerance)
        return [*steps, last_step(compiled, tolerance) if presolved else _presolving(problem, tolerance)]
    if not is_flow and not problem.models and size(problem) <= MOST_ENTRIES:
        steps.append(_program(problem, tolerance))
    return steps


def last_step(compiled: Compiled, tolerance: float) -> Step:
    """What ends with a proof, however long it takes."""
    return _parts(compiled, tolerance) or _search(compiled.problem, tolerance)


# ---------------------------------------------------------------- features


def size(problem: Problem) -> int:
    """Links and entries of tables: what an iteration goes over, and a linear program has."""
    return problem.n_links + int(problem.tables.entry[-1])


@remembered
def _is_binary_pairwise(problem: Problem) -> bool:
    from assent.solvers.direct.posiform import what_is_larger

    return problem.n_links <= MOST_FLOW and not what_is_larger(problem)


@remembered
def _shares_nothing(problem: Problem) -> bool:
    from assent.solvers.direct.independent_factors import shares_nothing

    return len(problem.tables.kind) > 0 and not problem.n_pairs and shares_nothing(problem)


def has_program(problem: Problem) -> bool:
    """Whether a linear program fits, and all factors have rows in it."""
    from assent.solvers.programs.structure_rows import formulation

    if size(problem) > MOST_ENTRIES:
        return False
    return all(formulation(model.structure, integer=False) for model in problem.models)


# ---------------------------------------------------------------- steps


def _direct(problem: Problem, tolerance: float) -> Step | None:
    """What has the answer at once."""
    from assent.solvers.ad3.ad3 import AD3
    from assent.solvers.direct.independent_factors import Unshared

    if not problem.n_links:
        return Step(AD3(gap_tolerance=tolerance), "Every variable by itself, as no factor is left.")
    if _shares_nothing(problem):
        why = "Every structure by itself, as no two share a variable: the best of each."
        return Step(Unshared(gap_tolerance=tolerance), why)
    return _elimination(problem, tolerance, NARROW_EFFORT, NARROW * problem.n_links)


def _elimination(problem: Problem, tolerance: float, effort: int, most: int) -> Step | None:
    """Elimination, if an order is found by which it reads so many entries at ``most``."""
    from assent.solvers.direct.variable_elimination import Elimination, way_for

    way = "structures have no tables" if problem.models else way_for(problem, effort, most)
    if isinstance(way, str):
        return None
    beside = f"{way.width} variable" + "s" * (way.width != 1)
    why = f"Elimination, as the graph is narrow: at most {beside} beside each."
    return Step(Elimination(gap_tolerance=tolerance), why, JOINED_ENTRY * way.work)


def _flow(tolerance: float) -> Step:
    from assent.solvers.direct.roof_duality import RoofDuality

    why = "RoofDuality, as all factors are over two binary variables: one flow."
    return Step(RoofDuality(gap_tolerance=tolerance), why)


def _contenders(problem: Problem, tolerance: float) -> list[Step]:
    """AD3, and a search where factors are small: first where there are tables."""
    from assent.solvers.ad3.ad3 import AD3

    pace = AD3_ITERATION + AD3_ENTRY * size(problem)
    why = "AD3, as many relaxations are tight."
    decoder = Step(AD3(gap_tolerance=tolerance), why, LAYOUT, pace)
    search = _depth_first(problem, tolerance)
    return [*search, decoder] if len(problem.tables.kind) else [decoder, *search]


def _depth_first(problem: Problem, tolerance: float) -> list[Step]:
    from assent.solvers.search.depth_first import DepthFirst
    from assent.solvers.search.table_network import layout_of

    if problem.models or size(problem) > MOST_ENTRIES:
        return []
    layout = layout_of(problem)
    if isinstance(layout, str):
        return []
    pace = ROUND_LINK * problem.n_links + ROUND_READ * layout.reads
    why = "DepthFirst, as factors are small: sweeps over them, then case by case."
    return [Step(DepthFirst(gap_tolerance=tolerance), why, LAYOUT, pace)]


def _program_cost(problem: Problem) -> float:
    return PROGRAM + PROGRAM_ENTRY * size(problem)


def _program(problem: Problem, tolerance: float) -> Step:
    from assent.solvers.programs.linear_program import LinearProgram

    why = "LinearProgram, as it is small and a gap remained."
    return Step(LinearProgram(gap_tolerance=tolerance), why, _program_cost(problem))


def _wide_elimination(problem: Problem, tolerance: float) -> list[Step]:
    from assent.solvers.direct.variable_elimination import EFFORT, MOST_WORK

    found = _elimination(problem, tolerance, EFFORT, MOST_WORK)
    return [] if found is None else [found]


def _presolving(problem: Problem, tolerance: float) -> Step:
    """A search on what presolving leaves; its result says what that is."""
    from assent.solvers.auto.presolving import Presolving

    return Step(Presolving(tolerance), "", _program_cost(problem), 1.0)


def _parts(compiled: Compiled, tolerance: float) -> Step | None:
    """Each part by itself, if none is nearly all."""
    from assent.solvers.search.independent_parts import ByParts, parts_of

    sizes = [len(part) for part in parts_of(compiled)]
    if max(sizes) > LARGEST_PART * compiled.problem.n:
        return None
    why = f"Part by part, as {len(sizes)} parts share no factor: each exactly."
    return Step(ByParts(gap_tolerance=tolerance), why)


def _search(problem: Problem, tolerance: float) -> Step:
    """On a linear program where it fits, else around a decoder."""
    from assent.solvers.cuts.branch_and_cut import BranchAndCut
    from assent.solvers.search.branch_and_bound import BranchAndBound

    cost = _program_cost(problem)
    if has_program(problem):
        why = "BranchAndCut, as the linear program fits: cycles are cut off, then case by case."
        return Step(BranchAndCut(gap_tolerance=tolerance), why, cost, SHARE_OF_NODE * cost)
    why = "BranchAndBound: decoders bound the whole, then case by case."
    return Step(BranchAndBound(gap_tolerance=tolerance), why, cost, SHARE_OF_NODE * cost)
