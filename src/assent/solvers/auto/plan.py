"""Auto's plan: from features of a model to the solvers that take turns on it, and why.

=====================================  ===========================================================
if                                     then, in turns
=====================================  ===========================================================
no factor is left                      every variable by itself
no two structures share a variable     `IndependentFactors`: the best of each
an order of elimination is known       `Elimination`: the optimum, after work that is known
all factors are over two binary        `RoofDuality`: the relaxation, by one flow
otherwise, factors are small           `DepthFirst`: quick where few subproblems are enough
otherwise, always                      `AD3`: quick where the relaxation is tight
otherwise, no structure, rows fit      `LinearProgram`: the relaxation, tight or not
a gap remains, factors are small       `LargeNeighbourhood`: a better answer, the longer the more
                                       it differs from the relaxed one, and as long as that
                                       helps; in turns where relaxation or proof take long
the optimum is asked for, or there     all of them at once; instead of `LinearProgram`, a search
is time for it                         on what presolving leaves (`Presolving`): `Elimination` if
                                       a longer look finds an order; part by part where parts
                                       share no factor, `BranchAndCut` where rows fit, or else
                                       `BranchAndBound`; `DepthFirst` anew if that is less
=====================================  ===========================================================

Every solver goes on until it has spent what a turn allows, which doubles from turn to turn
(:mod:`assent.solvers.auto.turns`).  What an iteration takes is estimated from the size of the
model, not measured: a plan does the same whenever it is followed.  Estimates are microseconds of
the machine that they were measured on, and only their ratios matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.compile_clock import CompileTimeout
from assent.kernels.core.memo import remembered
from assent.kernels.problem import KNAPSACK, Problem
from assent.solvers.auto.presolving import WORTH, Presolving
from assent.solvers.auto.turns import Goal, PlanStep, Turns
from assent.solvers.base.protocol import Request

# Microseconds of an iteration of AD3, and of every link and entry of a table in it.
ITERATION, ENTRY = 60.0, 0.01
# Microseconds of every entry that a search reads in a round, or elimination in a table.  AD3 and
# searches take about half of what they are charged: elimination and linear programs, which are
# surer to end a proof, have twice their time.
READ = 0.004
# A linear program without cuts has a larger share of the time, as it is sure to end: most that are
# the quickest end in the second turn.
PROGRAM_SHARE = 7.0
# Microseconds until a search on a linear program begins (presolving, rows, what cuts are made of),
# and of every link and entry: twice what it takes on most of thirty models, as AD3 is charged.
PROGRAM, PROGRAM_ENTRY = 4000.0, 2.5

# Iterations of AD3 in the first turn: half of the relaxations that are tight have shown it by then,
# and a linear program takes several times as long.
FIRST = 40
# First turns after which an answer is improved though no relaxation is solved, or no proof found:
# most relaxations are within a fifth of that, and whoever waits longer should have a good answer.
LONG = 100

# Pairs of neighbours that are read for an order of elimination: per variable and link, or in all
# where that is more.  Enough for strips of five binary variables; a tenth of what a flow takes.
ORDER_EFFORT, ORDER_PAIRS = 30, 70_000
# Beyond this many links a flow takes longer and more memory than a decoder's first bounds.
MOST_FLOW = 4_000_000
# Linear programs of more links are too large; those of more links and entries have pivots so slow
# that AD3 has always been quicker.
MOST_LINKS = 50_000


def plan(
    compiled: Compiled, goal: Goal, tolerance: float, each: Any, presolved: bool = False
) -> Iterator[PlanStep]:
    """The solvers that take turns on a model, in this order, towards a goal.

    What is costly to find out is left until a step is asked for.  ``each`` solves parts that share
    no factor, exactly.
    """
    problem, exact = compiled.problem, goal is not Goal.RELAXATION
    if not problem.n_links or _shares_nothing(problem):
        yield _independent(problem, tolerance)
        return
    elimination = _elimination(problem, tolerance, thorough=presolved)
    # Alone only where it is surely quick: with its entries charged as AD3's.
    if elimination is not None and elimination.start / READ * ENTRY <= first_turn(problem):
        yield elimination
        return
    is_flow, has_tables = _is_binary_pairwise(problem), len(problem.tables.kind) > 0
    contenders = [_depth_first, _decoder] if has_tables else [_decoder, _depth_first]
    if is_flow:
        yield _flow(problem, tolerance)
        contenders = [_depth_first]
    elif presolved and _round_reads(problem) is not None:
        contenders = [_depth_first]  # presolving hardly makes a relaxation tight
    for contender in contenders if exact or not (is_flow or _has_knapsack(problem)) else []:
        yield from contender(problem, tolerance)
    if goal is Goal.ANSWER:
        yield from improvement(problem, tolerance)
    if exact:
        last = None if presolved else _presolving(problem, tolerance, each)
        yield from _ends(elimination, last or last_step(compiled, tolerance, each))
    elif not is_flow and elimination is not None:
        yield elimination
    elif not is_flow and _has_quick_program(problem) and _has_highs():
        yield _program(problem, tolerance)
    if goal is not Goal.ANSWER and not presolved and (exact or not is_flow):
        yield from improvement(problem, tolerance, LONG * first_turn(problem))


def improvement(problem: Problem, tolerance: float, wait: float = 0.0) -> Iterator[PlanStep]:
    """What improves an answer, where factors are small; others spend ``wait`` before."""
    from assent.solvers.search.large_neighbourhood import LargeNeighbourhood

    reads = _round_reads(problem)
    if reads is None:
        return
    pace = READ * reads
    why = "LargeNeighbourhood, as factors are small: parts of the answer are decided anew."
    yield PlanStep(LargeNeighbourhood(tolerance), why, max(pace, wait), pace, bounds=False)


def _ends(elimination: PlanStep | None, last: PlanStep) -> Iterator[PlanStep]:
    """What is sure to end, the shorter one first."""
    yield from sorted(filter(None, [elimination, last]), key=lambda step: step.start)


def last_step(compiled: Compiled, tolerance: float, each: Any) -> PlanStep:
    """What ends with a proof, however long it takes."""
    return _parts(compiled, tolerance, each) or _search(compiled.problem, tolerance)


# ---------------------------------------------------------------- features


def size(problem: Problem) -> int:
    """Links and entries of tables: what an iteration goes over, and a linear program has."""
    return problem.n_links + int(problem.tables.entry[-1])


def iteration_cost(problem: Problem) -> float:
    """What an iteration of AD3 takes."""
    return ITERATION + ENTRY * size(problem)


def program_cost(problem: Problem) -> float:
    """What it takes until a search on a linear program begins."""
    return PROGRAM + PROGRAM_ENTRY * size(problem)


def first_turn(problem: Problem) -> float:
    """What the first turn takes."""
    return FIRST * iteration_cost(problem)


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
    return size(problem) <= MOST_LINKS and not problem.models


def _has_highs() -> bool:
    """Whether linear programs can be solved at all; asked where one would be next."""
    from assent.solvers.programs.highs import has_highs

    return has_highs()


def _has_knapsack(problem: Problem) -> bool:
    """Whether a knapsack is one row of a quick program: such a relaxation is hardly ever tight."""
    is_sack = bool((problem.group_kind == KNAPSACK).any())
    return is_sack and _has_quick_program(problem) and _has_highs()


def _has_rows(problem: Problem) -> bool:
    """Whether a linear program is not too large, and all factors have rows in it."""
    from assent.solvers.programs.structure_rows import has_rows

    if problem.n_links > MOST_LINKS:
        return False
    return all(has_rows(model.structure) for model in problem.models)


def _round_reads(problem: Problem) -> float | None:
    """Entries that a round over all factors as tables reads; None where they cannot be tables."""
    from assent.solvers.search.table_network import layout_of

    if problem.models:
        return None
    with suppress(CompileTimeout):
        layout = layout_of(problem)
        return None if isinstance(layout, str) else max(1.0, layout.round_reads())
    return None


# ---------------------------------------------------------------- steps


def _independent(problem: Problem, tolerance: float) -> PlanStep:
    """What has the answer at once."""
    if not problem.n_links:
        from assent.solvers.ad3.ad3 import AD3

        return PlanStep(
            AD3(gap_tolerance=tolerance), "Every variable by itself, as no factor is left."
        )
    from assent.solvers.direct.independent_factors import IndependentFactors

    why = "Every structure by itself, as no two share a variable: the best of each."
    return PlanStep(IndependentFactors(gap_tolerance=tolerance), why)


def _elimination(problem: Problem, tolerance: float, thorough: bool) -> PlanStep | None:
    """Elimination, if an order is found that takes no longer than a search needs to begin."""
    from assent.solvers.direct.variable_elimination import (
        EFFORT,
        MOST_WORK,
        Elimination,
        elimination_for,
    )

    effort = max(ORDER_EFFORT, ORDER_PAIRS // problem.n_links)
    most = int(PROGRAM_ENTRY * size(problem) / READ)
    if thorough:
        effort, most = EFFORT, MOST_WORK
    found: Any = ""
    with suppress(CompileTimeout):
        found = "" if problem.models else elimination_for(problem, effort, most)
    if isinstance(found, str):
        return None
    beside = f"{found.width} variable" + "s" * (found.width != 1)
    why = f"Elimination, as the graph is narrow: at most {beside} beside each."
    return PlanStep(Elimination(gap_tolerance=tolerance), why, READ * found.work)


def _flow(problem: Problem, tolerance: float) -> PlanStep:
    """One flow, which takes about as long as a first turn."""
    from assent.solvers.direct.roof_duality import RoofDuality

    why = "RoofDuality, as all factors are over two binary variables: one flow."
    return PlanStep(RoofDuality(gap_tolerance=tolerance), why, first_turn(problem))


def _decoder(problem: Problem, tolerance: float) -> Iterator[PlanStep]:
    from assent.solvers.ad3.ad3 import AD3

    pace, rounds = iteration_cost(problem), _round_reads(problem) is None
    why = "AD3, as many relaxations are tight."
    yield PlanStep(AD3(gap_tolerance=tolerance), why, pace, pace, rounds=rounds)


def _depth_first(problem: Problem, tolerance: float) -> Iterator[PlanStep]:
    from assent.solvers.search.depth_first import DepthFirst

    reads = _round_reads(problem)
    if reads is None:
        return
    pace = READ * reads
    why = "DepthFirst, as factors are small: sweeps, then branching."
    yield PlanStep(DepthFirst(gap_tolerance=tolerance), why, pace, pace)


def _program(problem: Problem, tolerance: float) -> PlanStep:
    """A linear program, which is written down in about a first turn."""
    from assent.solvers.programs.linear_program import LinearProgram

    why = "LinearProgram, as it is small and a gap remained."
    return PlanStep(
        LinearProgram(gap_tolerance=tolerance), why, first_turn(problem), 1.0 / PROGRAM_SHARE
    )


def _presolving(problem: Problem, tolerance: float, each: Any) -> PlanStep:
    """On what presolving leaves; the last step at once where that is hardly less."""

    def rest(left: Compiled, scores: GraphScores, request: Request, is_smaller: bool) -> Turns:
        if is_smaller:
            steps = plan(left, Goal.PROOF, tolerance, each, presolved=True)
        else:  # the others have begun
            order = _elimination(left.problem, tolerance, thorough=True)
            steps = _ends(order, last_step(left, tolerance, each))
        first = first_turn(left.problem)
        return Turns(steps, left, scores, request, tolerance, Goal.PROOF, first, before=cost)

    cost = program_cost(problem)
    return PlanStep(Presolving(rest, tolerance), "", cost, 1.0)


def _parts(compiled: Compiled, tolerance: float, each: Any) -> PlanStep | None:
    """Each part by itself, if none is nearly all."""
    from assent.solvers.search.independent_parts import ByParts, parts_of

    sizes = [len(part) for part in parts_of(compiled)]
    if max(sizes) > (1.0 - WORTH) * compiled.problem.n:
        return None
    why = f"Part by part, as {len(sizes)} parts share no factor: each exactly."
    return PlanStep(ByParts(each, tolerance), why)


def _search(problem: Problem, tolerance: float) -> PlanStep:
    """On a linear program where it fits, else around a decoder."""
    from assent.solvers.cutting_planes.branch_and_cut import BranchAndCut
    from assent.solvers.search.branch_and_bound import BranchAndBound

    if _has_highs() and _has_rows(problem):
        why = "BranchAndCut, as the linear program fits: cuts, then branching."
        return PlanStep(BranchAndCut(gap_tolerance=tolerance), why, program_cost(problem), 1.0)
    lack = "no linear program fits" if _has_highs() else "HiGHS cannot be loaded here"
    why = f"BranchAndBound, as {lack}: decoders bound its nodes."
    pace = iteration_cost(problem)
    return PlanStep(BranchAndBound(gap_tolerance=tolerance), why, pace, pace)
