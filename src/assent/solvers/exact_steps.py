"""Steps that end with a proof: depth first over tables, parts, a tightened relaxation, searches."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from assent.compiled import Compiled
from assent.problem import Problem
from assent.remembered import remembered
from assent.solvers import shortcuts
from assent.solvers.model_shape import entries_of, fits_a_program, has_small_tables, is_pairwise
from assent.solvers.step import Step

# A relaxation of so many links and entries is tightened before anything else, where elimination
# takes more than looking at it.
SOON_TIGHTENED = 50_000

# Parts are worth it if none has more than this share of all coordinates: what a small part takes
# off a large one is less than beginning anew costs.
LARGEST_PART = 0.8

# Up to so many variables, or where tables over two variables are large, a depth-first search comes
# first: it is given up once more rounds of sweeps are likely, and where reading tables takes long.
FEW_VARIABLES = 150
# ... and up to so many once a look has found an answer to compare with.
SOME_VARIABLES = 500
LIKELY_ROUNDS = 5000
MOST_SEARCHED = 1_000_000


def after_a_look(compiled: Compiled, tolerance: float) -> Iterator[Step]:
    """Whatever ends with a proof once a look has left a gap, on a smaller problem if possible.

    The words of the latter come with its result.
    """
    from assent.solvers.elimination import EFFORT, MOST_WORK
    from assent.solvers.presolving import Presolving

    problem = compiled.problem
    is_small = entries_of(problem) <= SOON_TIGHTENED
    if is_small and shortcuts.eliminated(problem, tolerance, EFFORT, MOST_WORK) is not None:
        yield _tightened(tolerance).first()
    yield Step(Presolving(tolerance), "")


def to_the_end(compiled: Compiled, tolerance: float, wide: bool) -> Iterator[Step]:
    """What ends with a proof, however long it takes; ``wide`` orders are sought if asked for."""
    problem = compiled.problem
    if not problem.n_links:
        yield shortcuts.unlinked(tolerance)
        return
    at_last = shortcuts.alone(problem, tolerance) or _eliminated(problem, tolerance, wide)
    if at_last is None:
        if may_be_searched(problem):
            yield from depth_first(problem, tolerance)
        at_last = _by_parts(compiled, tolerance) or _search(problem, tolerance)
    yield at_last


def _eliminated(problem: Problem, tolerance: float, wide: bool) -> Step | None:
    from assent.solvers.elimination import EFFORT, MOST_WORK

    if wide:
        return shortcuts.eliminated(problem, tolerance, EFFORT, MOST_WORK)
    return shortcuts.soon_eliminated(problem, tolerance)


def depth_first(problem: Problem, tolerance: float) -> Iterator[Step]:
    """A search whose nodes are cheap, given up once it is likely to take long."""
    from assent.solvers.depth_first import DepthFirst, layout_of

    if isinstance(layout_of(problem), str):
        return
    words = "DepthFirst, as tables are small: sweeps over them, then case by case."
    solver = DepthFirst(gap_tolerance=tolerance, likely_rounds=LIKELY_ROUNDS)
    yield Step(solver, words, is_last=False)


@remembered
def may_be_searched(problem: Problem) -> bool:
    """Whether few variables are likely to be left undecided by sweeps over all tables."""
    from assent.solvers.tabulated import find_variables

    if problem.models or entries_of(problem) > MOST_SEARCHED:
        return False
    if len(find_variables(problem).card) <= FEW_VARIABLES:
        return True
    return not has_small_tables(problem) and is_pairwise(problem)


def may_be_searched_with_an_answer(problem: Problem) -> bool:
    """Whether sweeps may decide most variables once an answer is known, and were not tried yet."""
    from assent.solvers.tabulated import find_variables

    if problem.models or may_be_searched(problem) or is_pairwise(problem):
        return False
    return len(find_variables(problem).card) <= SOME_VARIABLES


_parts: WeakKeyDictionary[Problem, int] = WeakKeyDictionary()


def _by_parts(compiled: Compiled, tolerance: float) -> Step | None:
    """Each part by itself, if none is nearly all."""
    from assent.solvers.by_parts import ByParts, parts_of

    problem = compiled.problem
    if problem not in _parts:
        sizes = [len(part) for part in parts_of(compiled)]
        _parts[problem] = len(sizes) if max(sizes) <= LARGEST_PART * problem.n else 1
    count = _parts[problem]
    words = f"Part by part, as {count} parts share no factor: each exactly."
    return Step(ByParts(gap_tolerance=tolerance), words) if count > 1 else None


def _tightened(tolerance: float) -> Step:
    from assent.solvers.tightened import Tightened

    words = "Tightened, as its linear program is small: contradictions are cut off."
    return Step(Tightened(gap_tolerance=tolerance), words)


def _search(problem: Problem, tolerance: float) -> Step:
    """Case by case: on a linear program where it fits, else around a decoder."""
    from assent.solvers.branch_and_bound import BranchAndBound
    from assent.solvers.branch_and_cut import BranchAndCut

    if not fits_a_program(problem):
        words = "BranchAndBound: decoders bound the whole, then case by case."
        return Step(BranchAndBound(gap_tolerance=tolerance), words)
    words = "BranchAndCut, as the linear program fits: cycles are cut off, then case by case."
    return Step(BranchAndCut(gap_tolerance=tolerance), words)
