"""Steps that end with a proof: parts, a tightened relaxation, searches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.problem import Problem
from assent.result import Result
from assent.solvers.auto import search_steps, shortcuts
from assent.solvers.auto.features import entries_of, fits_a_program
from assent.solvers.auto.step import Step
from assent.solvers.base.driver import drive
from assent.solvers.base.protocol import Request, in_time

# A relaxation of so many links and entries is tightened before anything else, where elimination
# takes more than looking at it.
SOON_TIGHTENED = 50_000

# Parts are worth it if none has more than this share of all coordinates: what a small part takes
# off a large one is less than beginning anew costs.
LARGEST_PART = 0.8


def after_a_look(compiled: Compiled, tolerance: float, each: Any) -> Iterator[Step]:
    """Whatever ends with a proof once a look has left a gap, on a smaller problem if possible.

    The words of the latter come with its result.  ``each`` solves parts that share no factor.
    """
    from assent.solvers.direct.variable_elimination import EFFORT, MOST_WORK
    from assent.solvers.presolve.presolved_search import Presolving

    problem = compiled.problem
    is_small = entries_of(problem) <= SOON_TIGHTENED
    if is_small and shortcuts.eliminated(problem, tolerance, EFFORT, MOST_WORK) is not None:
        yield _tightened(tolerance).first()
    yield Step(Presolving(ToTheEnd(each, wide=False), ToTheEnd(each, wide=True), tolerance), "")


@dataclass(frozen=True)
class ToTheEnd:
    """Whatever is exact, however long it takes.

    Attributes:
        each: solves parts that share no factor.
        wide: whether wide orders of elimination are sought.
        gap_tolerance: relative gap at which an answer counts as optimal.
    """

    each: Any
    wide: bool
    gap_tolerance: float = 1e-6

    def drive(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Result:
        """Step after step until one does not give up."""
        from assent.solvers.search.depth_first import gave_up

        for step in to_the_end(compiled, self.gap_tolerance, self.wide, self.each):
            solver = in_time(step.solver, request.deadline)
            found = drive(compiled, graph_scores, solver, request)
            found = replace(found, plan=step.words)
            if not gave_up(found):
                break
            if found.feasible:
                request = replace(request, known=found.certificate.assignment)
        return found


def to_the_end(compiled: Compiled, tolerance: float, wide: bool, each: Any) -> Iterator[Step]:
    """What ends with a proof, however long it takes; ``wide`` orders are sought if asked for."""
    problem = compiled.problem
    if not problem.n_links:
        yield shortcuts.unlinked(tolerance)
        return
    at_last = shortcuts.alone(problem, tolerance) or _eliminated(problem, tolerance, wide)
    if at_last is None:
        if search_steps.may_be_searched(problem):
            yield from search_steps.depth_first(problem, tolerance)
        at_last = _by_parts(compiled, tolerance, each) or _search(problem, tolerance)
    yield at_last


def _eliminated(problem: Problem, tolerance: float, wide: bool) -> Step | None:
    from assent.solvers.direct.variable_elimination import EFFORT, MOST_WORK

    if wide:
        return shortcuts.eliminated(problem, tolerance, EFFORT, MOST_WORK)
    return shortcuts.soon_eliminated(problem, tolerance)


_parts: WeakKeyDictionary[Problem, int] = WeakKeyDictionary()


def _by_parts(compiled: Compiled, tolerance: float, each: Any) -> Step | None:
    """Each part by itself, if none is nearly all."""
    from assent.solvers.search.independent_parts import ByParts, parts_of

    problem = compiled.problem
    if problem not in _parts:
        sizes = [len(part) for part in parts_of(compiled)]
        _parts[problem] = len(sizes) if max(sizes) <= LARGEST_PART * problem.n else 1
    count = _parts[problem]
    words = f"Part by part, as {count} parts share no factor: each exactly."
    return Step(ByParts(each, tolerance), words) if count > 1 else None


def _tightened(tolerance: float) -> Step:
    from assent.solvers.cuts.tightened import Tightened

    words = "Tightened, as its linear program is small: contradictions are cut off."
    return Step(Tightened(gap_tolerance=tolerance), words)


def _search(problem: Problem, tolerance: float) -> Step:
    """Case by case: on a linear program where it fits, else around a decoder."""
    from assent.solvers.cuts.branch_and_cut import BranchAndCut
    from assent.solvers.search.branch_and_bound import BranchAndBound

    if not fits_a_program(problem):
        words = "BranchAndBound: decoders bound the whole, then case by case."
        return Step(BranchAndBound(gap_tolerance=tolerance), words)
    words = "BranchAndCut, as the linear program fits: cycles are cut off, then case by case."
    return Step(BranchAndCut(gap_tolerance=tolerance), words)
