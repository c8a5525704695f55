"""What Auto looks at: is the graph narrow, are its factors pairs, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from assent.compiled import Compiled
from assent.problem import KNAPSACK, Problem
from assent.solvers.repulsions import what_is_larger

# Where an answer is wanted soon, elimination may look at so many entries at most, plus some for
# every link: about as long as a decoder takes for its first bounds.
SOON, SOON_PER_LINK = 1 << 20, 500

# Pairs of variables looked at per variable and link while an order of elimination is sought.
SOON_EFFORT = 100

# Elimination that looks at this many entries per link at most is quicker than any decoder.
AT_ONCE_PER_LINK = 50

# Sweeps in which TRWS closes the gap of most pairwise models whose relaxation is tight.
FIRST_SWEEPS = 100

# A relaxation with knapsacks is solved as a linear program up to so many links.
MOST_KNAPSACK_LINKS = 20_000

# Beyond so many links a flow takes longer and more memory than a decoder's first bounds.
MOST_FLOW_LINKS = 4_000_000

# Iterations of AD3 after which a relaxation that is tight has shown it, as a rule.  Rules take
# longer than tables to settle, and less time to ask.  A search is not much slower than a look.
FIRST_LOOK = 100
FIRST_LOOK_AT_RULES = 400

# A relaxation of so many links and entries is tightened before anything else, where elimination
# takes more than looking at it.
SOON_TIGHTENED = 50_000

# Parts are worth it if none has more than this share of all coordinates: what a small part takes
# off a large one is less than beginning anew costs.
LARGEST_PART = 0.8

# A linear program has to fit: so many links and entries of tables.
MOST_PROGRAM = 1_000_000


@dataclass(frozen=True)
class Step:
    """A solver, in words why it was chosen, and whether nothing is tried after it."""

    solver: Any
    words: str
    is_last: bool = True


_unshared: WeakKeyDictionary[Problem, bool] = WeakKeyDictionary()
_parts: WeakKeyDictionary[Problem, int] = WeakKeyDictionary()
_pairwise: WeakKeyDictionary[Problem, bool] = WeakKeyDictionary()
_larger: WeakKeyDictionary[Problem, str] = WeakKeyDictionary()


def steps_for(compiled: Compiled, exact: bool, tolerance: float) -> Iterator[Step]:
    """What to try, one after the other, until the answer is there.

    What is costly to find out (is there a wide order of elimination?) is left until it matters.
    """
    problem = compiled.problem
    if not problem.n_links:
        yield _unlinked(tolerance)
        return
    most = SOON + SOON_PER_LINK * problem.n_links
    shortcut = _alone(problem, tolerance) or _elimination(problem, tolerance, SOON_EFFORT, most)
    if shortcut is not None:
        yield from _before(problem, shortcut, tolerance)
        yield shortcut
    elif exact:
        yield from _exact_steps(compiled, tolerance)
    elif _takes_flow(problem):
        yield _roof(tolerance)
    else:
        yield from _decoders(problem, tolerance)


def _exact_steps(compiled: Compiled, tolerance: float) -> Iterator[Step]:
    """A look at the relaxation, then whatever ends with a proof, on a smaller problem if possible.

    The words of the latter come with its result.
    """
    from assent.solvers.elimination import EFFORT, MOST_WORK
    from assent.solvers.presolving import Presolving

    problem = compiled.problem
    yield _first(_roof(tolerance) if _takes_flow(problem) else _look(problem, tolerance))
    is_small = entries_of(problem) <= SOON_TIGHTENED
    if is_small and _elimination(problem, tolerance, EFFORT, MOST_WORK) is not None:
        yield _first(_tightened(tolerance))
    yield Step(Presolving(tolerance), "")


def exact_step(compiled: Compiled, tolerance: float, wide: bool) -> Step:
    """What ends with a proof, however long it takes; ``wide`` orders are sought if asked for."""
    from assent.solvers.elimination import EFFORT, MOST_WORK

    problem = compiled.problem
    if not problem.n_links:
        return _unlinked(tolerance)
    soon = SOON_EFFORT, SOON + SOON_PER_LINK * problem.n_links
    return (
        _alone(problem, tolerance)
        or _elimination(problem, tolerance, *((EFFORT, MOST_WORK) if wide else soon))
        or _by_parts(compiled, tolerance)
        or _search(problem, tolerance)
    )


def _first(step: Step) -> Step:
    """The step, with others behind it."""
    return replace(step, is_last=False)


def _unlinked(tolerance: float) -> Step:
    from assent.solvers.ad3 import AD3

    return Step(AD3(gap_tolerance=tolerance), "Every variable by itself, as no factor is left.")


def _alone(problem: Problem, tolerance: float) -> Step | None:
    if not len(problem.tables.kind) or problem.n_pairs:
        return None
    from assent.solvers.unshared import Unshared, shares_nothing

    if problem not in _unshared:
        _unshared[problem] = shares_nothing(problem)
    if not _unshared[problem]:
        return None
    words = "Every structure by itself, as no two share a variable: the best of each."
    return Step(Unshared(gap_tolerance=tolerance), words)


def _elimination(problem: Problem, tolerance: float, effort: int, most: int) -> Step | None:
    if problem.models:
        return None
    from assent.solvers.elimination import Elimination, way_for

    way = way_for(problem, effort, most)
    if isinstance(way, str):
        return None
    beside = f"{way.width} variable" + "s" * (way.width != 1)
    words = f"Elimination, as the graph is narrow: at most {beside} beside each."
    return Step(Elimination(gap_tolerance=tolerance), words)


def _takes_flow(problem: Problem) -> bool:
    if problem not in _larger:
        _larger[problem] = what_is_larger(problem)
    return not _larger[problem] and problem.n_links <= MOST_FLOW_LINKS


def _roof(tolerance: float) -> Step:
    from assent.solvers.roof_duality import RoofDuality

    words = "RoofDuality, as all factors are over two binary variables: one flow."
    return Step(RoofDuality(gap_tolerance=tolerance), words)


def _look(problem: Problem, tolerance: float) -> Step:
    from assent.solvers.ad3 import AD3

    most = FIRST_LOOK if len(problem.tables.kind) else FIRST_LOOK_AT_RULES
    words = "AD3 for a moment, as many relaxations are tight."
    return Step(AD3(gap_tolerance=tolerance, max_iterations=most), words)


def _decoders(problem: Problem, tolerance: float) -> list[Step]:
    from assent.solvers.ad3 import AD3

    loose = KNAPSACK in problem.group_kind and not problem.models
    if loose and problem.n_links <= MOST_KNAPSACK_LINKS:
        from assent.solvers.linear_program import LinearProgram

        words = "LinearProgram, as a knapsack is one row there."
        return [Step(LinearProgram(gap_tolerance=tolerance), words)]
    if is_pairwise(problem):
        rest = Step(AD3(gap_tolerance=tolerance), "AD3, as a gap remained.")
        return [_first(_sweeps(tolerance)), rest]
    return [Step(AD3(gap_tolerance=tolerance), "AD3: no shortcut applies.")]


def _sweeps(tolerance: float) -> Step:
    from assent.solvers.trws import TRWS

    words = "TRWS for some sweeps, as all factors are over two variables."
    return Step(TRWS(gap_tolerance=tolerance, max_iterations=FIRST_SWEEPS), words)


def _before(problem: Problem, shortcut: Step, tolerance: float) -> list[Step]:
    """A flow or sweeps first, where they are likely to be quicker than large joins."""
    from assent.solvers.elimination import Elimination, Way, way_for

    if not isinstance(shortcut.solver, Elimination):
        return []
    way = way_for(problem)
    if isinstance(way, Way) and way.work <= AT_ONCE_PER_LINK * problem.n_links:
        return []
    if _takes_flow(problem):
        return [_first(_roof(tolerance))]
    return [_first(_sweeps(tolerance))] if is_pairwise(problem) else []


def is_pairwise(problem: Problem) -> bool:
    """Whether all factors are tables over two variables, beside what makes variables whole."""
    if problem not in _pairwise:
        _pairwise[problem] = _all_pairwise(problem)
    return _pairwise[problem]


def _all_pairwise(problem: Problem) -> bool:
    from assent.solvers.tabulated import find_variables

    tables = problem.tables
    if problem.n_pairs or problem.models or not len(tables.kind):
        return False
    return bool((np.diff(tables.slot) == 2).all()) and bool(find_variables(problem).is_block.all())


def _by_parts(compiled: Compiled, tolerance: float) -> Step | None:
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


def fits_a_program(problem: Problem) -> bool:
    """Whether a linear program of the problem fits, and all of its factors have rows."""
    from assent.solvers.structure_rows import formulation

    if entries_of(problem) > MOST_PROGRAM:
        return False
    return all(formulation(model.structure, integer=False) for model in problem.models)


def entries_of(problem: Problem) -> int:
    """Links and entries of tables: the size of a linear program."""
    return problem.n_links + int(problem.tables.entry[-1])
