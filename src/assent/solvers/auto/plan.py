"""Auto's plan: from features of a model to the solvers that take turns on it, and why.

=====================================  ===========================================================
if                                     then, in turns
=====================================  ===========================================================
no factor is left                      every variable by itself
no two structures share a variable     `Unshared`: the best of each
an order of elimination is known       `Elimination`: the optimum, after work that is known
all factors are over two binary        `RoofDuality`: the relaxation, by one flow
otherwise, factors are small           `DepthFirst`: quick where few subproblems are enough
otherwise, always                      `AD3`: quick where the relaxation is tight
otherwise, no structure, rows fit      `LinearProgram`: the relaxation, tight or not
the optimum is asked for               instead of `LinearProgram`, a search on what presolving
                                       leaves (`Presolving`): part by part where parts share
                                       no factor, `BranchAndCut` where rows fit, or else
                                       `BranchAndBound`
=====================================  ===========================================================

Every solver goes on until it has spent what a turn allows, which doubles from turn to turn
(:mod:`assent.solvers.auto.turns`).  What an iteration takes is estimated from the size of the
model, not measured: a plan does the same whenever it is followed.  Estimates are microseconds of
the machine that they were measured on, and only their ratios matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.core.memo import remembered
from assent.kernels.problem import KNAPSACK, Problem
from assent.solvers.auto.presolving import Presolving
from assent.solvers.auto.turns import Step, Turns
from assent.solvers.base.protocol import Request

# An iteration of AD3 takes so much, and so much for every link and entry of a table.
AD3_ITERATION, AD3_ENTRY = 40.0, 0.01
# A round of DepthFirst, for every entry that it reads; it has a smaller share of the time, as
# searches that are not over soon are seldom the first to be.
ROUND_READ, SEARCH_SHARE = 0.003, 0.5
# A linear program takes so much to begin with, and so much for every link and entry.
PROGRAM, PROGRAM_ENTRY = 1000.0, 5.0
# Elimination, for every entry of a joined table.
JOINED_ENTRY = 0.01
# A node of a search beside its root, which it begins at.
NODE = 0.1

# The first turn, and no fewer iterations of AD3: about what models take that are easy.
FIRST_TURN, FIRST_ITERATIONS = 1500.0, 25

# A linear program, or a search on one, begins once the others may have spent this share of what it
# takes: most that are quicker have ended by then.
PROBE = 0.08

# Pairs of neighbours looked at for an order of elimination: per variable and link, or in all where
# that is more.  It takes less than a tenth of a flow.
ORDER_EFFORT, ORDER_PAIRS = 10, 70_000
# Beyond so many links a flow takes longer and more memory than a decoder's first bounds.
MOST_FLOW = 4_000_000
# A linear program of more links and entries takes too much memory, and with more entries per link
# its pivots take so long that AD3 has always been quicker.
MOST_PROGRAM, MOST_PER_LINK = 1_000_000, 3
# Parts are worth it if none has more than this share of all coordinates: what a small part takes
# off a large one is less than beginning anew costs.
LARGEST_PART = 0.8


def plan(
    compiled: Compiled, exact: bool, tolerance: float, each: Any, presolved: bool = False
) -> Iterator[Step]:
    """The solvers that take turns on a model, in this order; the optimum is asked for if ``exact``.

    What is costly to find out is left until a step is asked for.  ``each`` solves parts that share
    no factor, exactly.
    """
    problem = compiled.problem
    if not problem.n_links or _shares_nothing(problem):
        yield _independent(problem, tolerance)
        return
    yield from _elimination(problem, tolerance, thorough=presolved)
    is_flow = _is_binary_pairwise(problem)
    if is_flow:
        yield _flow(tolerance)
    contenders = [_depth_first, _decoder] if len(problem.tables.kind) else [_decoder, _depth_first]
    for contender in contenders if exact or not (is_flow or _is_rather_a_program(problem)) else []:
        yield from contender(problem, tolerance)
    if exact:
        last = last_step(compiled, tolerance, each) if presolved else None
        yield last or _presolving(problem, tolerance, each)
    elif not is_flow and _has_quick_program(problem):
        yield _program(problem, tolerance)


def last_step(compiled: Compiled, tolerance: float, each: Any) -> Step:
    """What ends with a proof, however long it takes."""
    return _parts(compiled, tolerance, each) or _search(compiled.problem, tolerance)


# ---------------------------------------------------------------- features


def size(problem: Problem) -> int:
    """Links and entries of tables: what an iteration goes over, and a linear program has."""
    return problem.n_links + int(problem.tables.entry[-1])


def iteration_cost(problem: Problem) -> float:
    """What an iteration of AD3 takes."""
    return AD3_ITERATION + AD3_ENTRY * size(problem)


def program_cost(problem: Problem) -> float:
    """What a linear program takes."""
    return PROGRAM + PROGRAM_ENTRY * size(problem)


def first_turn(problem: Problem) -> float:
    """What the first turn takes."""
    return max(FIRST_TURN, FIRST_ITERATIONS * iteration_cost(problem))


@remembered
def _is_binary_pairwise(problem: Problem) -> bool:
    from assent.solvers.direct.posiform import what_is_larger

    return problem.n_links <= MOST_FLOW and not what_is_larger(problem)


@remembered
def _shares_nothing(problem: Problem) -> bool:
    from assent.solvers.direct.independent_factors import shares_nothing

    return len(problem.tables.kind) > 0 and not problem.n_pairs and shares_nothing(problem)


def _has_quick_program(problem: Problem) -> bool:
    """Whether a linear program may be quicker than AD3."""
    entries = int(problem.tables.entry[-1])
    fits = size(problem) <= MOST_PROGRAM and entries <= MOST_PER_LINK * problem.n_links
    return fits and not problem.models


def _is_rather_a_program(problem: Problem) -> bool:
    """Whether a relaxation is hardly ever tight: there is a knapsack, which is one row."""
    return _has_quick_program(problem) and bool((problem.group_kind == KNAPSACK).any())


def _has_rows(problem: Problem) -> bool:
    """Whether a linear program fits, and all factors have rows in it."""
    from assent.solvers.programs.structure_rows import formulation

    if size(problem) > MOST_PROGRAM:
        return False
    return all(formulation(model.structure, integer=False) for model in problem.models)


# ---------------------------------------------------------------- steps


def _independent(problem: Problem, tolerance: float) -> Step:
    """What has the answer at once."""
    if not problem.n_links:
        from assent.solvers.ad3.ad3 import AD3

        return Step(AD3(gap_tolerance=tolerance), "Every variable by itself, as no factor is left.")
    from assent.solvers.direct.independent_factors import Unshared

    why = "Every structure by itself, as no two share a variable: the best of each."
    return Step(Unshared(gap_tolerance=tolerance), why)


def _elimination(problem: Problem, tolerance: float, thorough: bool) -> Iterator[Step]:
    """Elimination, if an order is found that takes no longer than a linear program."""
    from assent.solvers.direct.variable_elimination import EFFORT, MOST_WORK, Elimination, way_for

    effort, most = max(ORDER_EFFORT, ORDER_PAIRS // problem.n_links), program_cost(problem)
    if thorough:
        effort, most = EFFORT, JOINED_ENTRY * MOST_WORK
    way = "" if problem.models else way_for(problem, effort, int(most / JOINED_ENTRY))
    if isinstance(way, str):
        return
    beside = f"{way.width} variable" + "s" * (way.width != 1)
    why = f"Elimination, as the graph is narrow: at most {beside} beside each."
    cost = JOINED_ENTRY * way.work
    yield Step(Elimination(gap_tolerance=tolerance), why, cost, cost)


def _flow(tolerance: float) -> Step:
    from assent.solvers.direct.roof_duality import RoofDuality

    why = "RoofDuality, as all factors are over two binary variables: one flow."
    return Step(RoofDuality(gap_tolerance=tolerance), why)


def _decoder(problem: Problem, tolerance: float) -> Iterator[Step]:
    from assent.solvers.ad3.ad3 import AD3

    pace = iteration_cost(problem)
    yield Step(AD3(gap_tolerance=tolerance), "AD3, as many relaxations are tight.", 0.0, pace, pace)


def _depth_first(problem: Problem, tolerance: float) -> Iterator[Step]:
    from assent.solvers.search.depth_first import DepthFirst
    from assent.solvers.search.table_network import layout_of

    layout = "" if problem.models else layout_of(problem)
    if isinstance(layout, str):
        return
    pace = ROUND_READ * layout.round_reads() / SEARCH_SHARE
    why = "DepthFirst, as factors are small: sweeps over them, then case by case."
    yield Step(DepthFirst(gap_tolerance=tolerance), why, 0.0, pace, pace)


def _program(problem: Problem, tolerance: float) -> Step:
    from assent.solvers.programs.linear_program import LinearProgram

    why = "LinearProgram, as it is small and a gap remained."
    cost = program_cost(problem)
    return Step(LinearProgram(gap_tolerance=tolerance), why, PROBE * cost, cost)


def _presolving(problem: Problem, tolerance: float, each: Any) -> Step:
    """On what presolving leaves; the last step at once where that is hardly less."""

    def rest(left: Compiled, scores: GraphScores, request: Request, is_smaller: bool) -> Turns:
        steps = iter([last_step(left, tolerance, each)])
        if is_smaller:
            steps = plan(left, True, tolerance, each, presolved=True)
        return Turns(steps, left, scores, request, tolerance, True, first_turn(left.problem))

    cost = program_cost(problem)
    return Step(Presolving(rest, tolerance), "", PROBE * cost, cost, 1.0)


def _parts(compiled: Compiled, tolerance: float, each: Any) -> Step | None:
    """Each part by itself, if none is nearly all."""
    from assent.solvers.search.independent_parts import ByParts, parts_of

    sizes = [len(part) for part in parts_of(compiled)]
    if max(sizes) > LARGEST_PART * compiled.problem.n:
        return None
    why = f"Part by part, as {len(sizes)} parts share no factor: each exactly."
    return Step(ByParts(each, tolerance), why)


def _search(problem: Problem, tolerance: float) -> Step:
    """On a linear program where it fits, else around a decoder."""
    from assent.solvers.cuts.branch_and_cut import BranchAndCut
    from assent.solvers.search.branch_and_bound import BranchAndBound

    cost = program_cost(problem)
    if _has_rows(problem):
        why = "BranchAndCut, as the linear program fits: cycles are cut off, then case by case."
        return Step(BranchAndCut(gap_tolerance=tolerance), why, PROBE * cost, cost, NODE * cost)
    why = "BranchAndBound: decoders bound the whole, then case by case."
    return Step(BranchAndBound(gap_tolerance=tolerance), why, PROBE * cost, cost, NODE * cost)
