"""What Auto looks at: is the graph narrow, are its factors pairs, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from assent.compiled import Compiled
from assent.problem import KNAPSACK, POTTS, Problem
from assent.remembered import remembered
from assent.solvers.patience import Patience
from assent.solvers.repulsions import what_is_larger

# Where an answer is wanted soon, elimination may look at so many entries at most, plus some for
# every link: about as long as a decoder takes for its first bounds.
SOON, SOON_PER_LINK = 1 << 20, 500

# Pairs of variables looked at per variable and link while an order of elimination is sought.
# Before a first look at a small problem it is so many, and so many in all if that is more, where
# variables have more factors on average than narrow graphs have.
SOON_EFFORT = 1000
QUICK_EFFORT, QUICK_LOOKS = 12, 30_000
NARROW_FACTORS = 3.0

# A flow takes no longer than a thorough search for orders.  None is sought before it where
# variables have more links on average than strips of width 4 have, and none at all where they have
# more than strips of width 8, unless there are so few variables that most orders will do.
FLOW_EFFORT = 30
NARROW_LINKS, WIDE_LINKS = 3.5, 3.75
FEW_BESIDE_FLOWS = 50

# Elimination that looks at this many entries per link at most is quicker than a flow, or than AD3's
# first iterations on tables.
AT_ONCE_PER_LINK, BEFORE_TABLES_PER_LINK = 50, 600

# Sweeps in which TRWS closes the gap of most models whose relaxation is tight.  It is quicker than
# AD3 where tables have few entries, at most so many per link.
FIRST_SWEEPS = 50
FEW_ENTRIES = 2.5
# Between Potts factors it solves those that are tight in as many as these, where its first answers
# are close; AD3 takes longer than a linear program.
POTTS_SWEEPS, CLOSE_POTTS = 60, 0.015

# Iterations in which AD3 solves most relaxations of tables that are tight.
FIRST_TABLES = 100
# ... and those that elimination would solve nearly as soon.
BEFORE_ELIMINATION = 20

# Iterations of AD3 that take about half as long as a linear program: some, and one more for so
# many links.
FIRST_RULES, LINKS_PER_ITERATION = 40, 60
# ... and with a knapsack, of which something is left over as a rule: the first answers show it.
# Where pairs are as many as coordinates as well, nothing is tight.
FIRST_KNAPSACK, CLOSE_KNAPSACK = 20, 1e-3

# Up to so many links and entries of tables a linear program takes less time than AD3 does for the
# last digits of a relaxation that is not tight.
SOON_PROGRAM = 25_000

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

# Up to so many variables, or where tables over two variables are large, a depth-first search comes
# first: it is given up once more rounds of sweeps are likely, and where reading tables takes long.
FEW_VARIABLES = 150
# ... and up to so many once a look has found an answer to compare with.
SOME_VARIABLES = 500
LIKELY_ROUNDS = 5000
MOST_SEARCHED = 1_000_000

# A linear program has to fit: so many links and entries of tables.
MOST_PROGRAM = 1_000_000

# The words of a look.
LOOK = "AD3 for a moment, as many relaxations are tight."


@dataclass(frozen=True)
class Step:
    """A solver, in words why it was chosen, and whether nothing is tried after it.

    It is given up after so ``many`` iterations, or when its answer does not become clear
    (`Patience`): the next step has one.
    """

    solver: Any
    words: str
    is_last: bool = True
    many: int | None = None
    settles: bool = True
    close: float = np.inf

    def patience(self, links: int) -> Patience | None:
        """How long to go on with a problem of so many links; None for as long as it takes."""
        return None if self.many is None else Patience(self.many, self.settles, self.close, links)


_parts: WeakKeyDictionary[Problem, int] = WeakKeyDictionary()


def steps_for(compiled: Compiled, exact: bool, tolerance: float) -> Iterator[Step]:
    """What to try, one after the other, until the answer is there.

    What is costly to find out (is there a wide order of elimination?) is left until it matters.
    """
    problem = compiled.problem
    if not problem.n_links:
        yield _unlinked(tolerance)
        return
    alone = _alone(problem, tolerance)
    if alone is not None:
        yield alone
    elif _takes_flow(problem):
        yield from _flow_steps(compiled, exact, tolerance)
    else:
        if exact and _may_be_searched(problem):
            yield from _quick_search(problem, tolerance)
        narrow = _narrow(problem, tolerance, SOON_EFFORT if exact else _effort(problem))
        if narrow is not None:
            yield from _before(problem, tolerance, exact)
            yield narrow
        elif exact:
            yield _first(_look(problem, tolerance))
            if _may_be_searched_with_an_answer(problem):
                yield from _quick_search(problem, tolerance)
            yield from _proof_steps(compiled, tolerance)
        else:
            yield from _decoders(problem, tolerance)


def _narrow(problem: Problem, tolerance: float, effort: int) -> Step | None:
    """Elimination, if an order of little work is found."""
    return _elimination(problem, tolerance, effort, soon(problem))


def _effort(problem: Problem) -> int:
    """How thoroughly an order is sought before a first look."""
    from assent.solvers.tabulated import tabulation

    tables = tabulation(problem)
    if isinstance(tables, str) or not _takes_program(problem):
        return SOON_EFFORT
    ends = sum(int(batch.arity.sum()) for batch in tables.batches)
    if ends <= NARROW_FACTORS * len(tables.variables.card):
        return SOON_EFFORT
    return max(QUICK_EFFORT, QUICK_LOOKS // problem.n_links)


def soon(problem: Problem) -> int:
    """Entries that elimination may look at where an answer is wanted soon."""
    return SOON + SOON_PER_LINK * problem.n_links


def _flow_steps(compiled: Compiled, exact: bool, tolerance: float) -> Iterator[Step]:
    """One flow, unless elimination is quicker, or follows."""
    problem = compiled.problem
    effort = max(FLOW_EFFORT, QUICK_LOOKS // problem.n_links)
    narrow = None
    if problem.n_links <= NARROW_LINKS * problem.n:
        narrow = _narrow(problem, tolerance, effort)
    if narrow is None or not is_at_once(problem):
        yield _first(_roof(tolerance))
        if narrow is None and (exact or not _is_wide(problem)):
            narrow = _narrow(problem, tolerance, effort)
    if narrow is not None:
        yield narrow
    elif exact:
        yield from _proof_steps(compiled, tolerance)


@remembered
def _is_wide(problem: Problem) -> bool:
    """Whether variables have too many neighbours for an order to be likely."""
    if problem.n <= FEW_BESIDE_FLOWS or problem.n_links <= WIDE_LINKS * problem.n:
        return False
    near = np.sort(problem.pair_var[(problem.pair_var < FEW_BESIDE_FLOWS).any(axis=1)], axis=1)
    parallel = 1.0 - len(np.unique(near, axis=0)) / max(1, len(near))  # of pairs, by some
    return problem.n_links - 2 * parallel * problem.n_pairs > WIDE_LINKS * problem.n


def is_at_once(problem: Problem, per_link: int = AT_ONCE_PER_LINK) -> bool:
    """Whether an order of elimination is known that looks at few entries per link."""
    from assent.solvers.elimination import Way, way_for

    way = way_for(problem)
    return isinstance(way, Way) and way.work <= per_link * problem.n_links


def _proof_steps(compiled: Compiled, tolerance: float) -> Iterator[Step]:
    """Whatever ends with a proof once a look has left a gap, on a smaller problem if possible.

    The words of the latter come with its result.
    """
    from assent.solvers.elimination import EFFORT, MOST_WORK
    from assent.solvers.presolving import Presolving

    problem = compiled.problem
    is_small = entries_of(problem) <= SOON_TIGHTENED
    if is_small and _elimination(problem, tolerance, EFFORT, MOST_WORK) is not None:
        yield _first(_tightened(tolerance))
    yield Step(Presolving(tolerance), "")


def exact_steps(compiled: Compiled, tolerance: float, wide: bool) -> Iterator[Step]:
    """What ends with a proof, however long it takes; ``wide`` orders are sought if asked for."""
    from assent.solvers.elimination import EFFORT, MOST_WORK

    problem = compiled.problem
    if not problem.n_links:
        yield _unlinked(tolerance)
        return
    narrow = SOON_EFFORT, soon(problem)
    at_last = _alone(problem, tolerance) or _elimination(
        problem, tolerance, *((EFFORT, MOST_WORK) if wide else narrow)
    )
    if at_last is None:
        if _may_be_searched(problem):
            yield from _quick_search(problem, tolerance)
        at_last = _by_parts(compiled, tolerance) or _search(problem, tolerance)
    yield at_last


def _quick_search(problem: Problem, tolerance: float) -> Iterator[Step]:
    """A search whose nodes are cheap, given up once it is likely to take long."""
    from assent.solvers.depth_first import DepthFirst, layout_of

    if isinstance(layout_of(problem), str):
        return
    words = "DepthFirst, as tables are small: sweeps over them, then case by case."
    solver = DepthFirst(gap_tolerance=tolerance, likely_rounds=LIKELY_ROUNDS)
    yield _first(Step(solver, words))


@remembered
def _may_be_searched(problem: Problem) -> bool:
    """Whether few variables are likely to be left undecided by sweeps over all tables."""
    from assent.solvers.tabulated import find_variables

    if problem.models or entries_of(problem) > MOST_SEARCHED:
        return False
    if len(find_variables(problem).card) <= FEW_VARIABLES:
        return True
    large = int(problem.tables.entry[-1]) > FEW_ENTRIES * problem.n_links
    return large and is_pairwise(problem)


def _may_be_searched_with_an_answer(problem: Problem) -> bool:
    """Whether sweeps may decide most variables once an answer is known, and were not tried yet."""
    from assent.solvers.tabulated import find_variables

    if problem.models or _may_be_searched(problem) or is_pairwise(problem):
        return False
    return len(find_variables(problem).card) <= SOME_VARIABLES


def _first(step: Step) -> Step:
    """The step, with others behind it."""
    return replace(step, is_last=False)


def _unlinked(tolerance: float) -> Step:
    from assent.solvers.ad3 import AD3

    return Step(AD3(gap_tolerance=tolerance), "Every variable by itself, as no factor is left.")


def _alone(problem: Problem, tolerance: float) -> Step | None:
    if not len(problem.tables.kind) or problem.n_pairs:
        return None
    from assent.solvers.unshared import Unshared

    if not _shares_nothing(problem):
        return None
    words = "Every structure by itself, as no two share a variable: the best of each."
    return Step(Unshared(gap_tolerance=tolerance), words)


@remembered
def _shares_nothing(problem: Problem) -> bool:
    from assent.solvers.unshared import shares_nothing

    return shares_nothing(problem)


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


@remembered
def _takes_flow(problem: Problem) -> bool:
    return not what_is_larger(problem) and problem.n_links <= MOST_FLOW_LINKS


def _roof(tolerance: float) -> Step:
    from assent.solvers.roof_duality import RoofDuality

    words = "RoofDuality, as all factors are over two binary variables: one flow."
    return Step(RoofDuality(gap_tolerance=tolerance), words)


def _look(problem: Problem, tolerance: float) -> Step:
    from assent.solvers.ad3 import AD3

    most = FIRST_LOOK if len(problem.tables.kind) else FIRST_LOOK_AT_RULES
    return Step(AD3(gap_tolerance=tolerance, max_iterations=most), LOOK)


def _decoders(problem: Problem, tolerance: float) -> Iterator[Step]:
    """AD3, and a linear program for the last digits where it is quick."""
    from assent.solvers.ad3 import AD3

    if not _takes_program(problem):
        yield Step(AD3(gap_tolerance=tolerance), "AD3: no shortcut applies.")
        return
    has_knapsack = KNAPSACK in problem.group_kind
    if has_knapsack and problem.n_pairs >= problem.n:
        yield _program(tolerance, "LinearProgram, as a knapsack is one row there.")
        return
    if POTTS in problem.tables.kind and is_pairwise(problem):
        yield _sweeps(tolerance, POTTS_SWEEPS, CLOSE_POTTS)
    elif is_pairwise(problem):
        if _sweeps_are_quick(problem):
            yield _sweeps(tolerance, FIRST_SWEEPS)
        yield _given_up(AD3(gap_tolerance=tolerance), LOOK, FIRST_TABLES)
    elif has_knapsack:
        look = _given_up(AD3(gap_tolerance=tolerance), LOOK, FIRST_KNAPSACK)
        yield replace(look, close=CLOSE_KNAPSACK)
    else:
        many = FIRST_RULES + problem.n_links // LINKS_PER_ITERATION
        yield _given_up(AD3(gap_tolerance=tolerance), LOOK, many)
    narrow = _narrow(problem, tolerance, SOON_EFFORT)
    yield narrow or _program(tolerance, "LinearProgram, as it is small and a gap remained.")


def _takes_program(problem: Problem) -> bool:
    """Whether a linear program is quick."""
    return not problem.models and entries_of(problem) <= SOON_PROGRAM


def _program(tolerance: float, words: str) -> Step:
    from assent.solvers.linear_program import LinearProgram

    return Step(LinearProgram(gap_tolerance=tolerance), words)


def _given_up(solver: Any, words: str, many: int) -> Step:
    return Step(solver, words, is_last=False, many=many)


def _sweeps_are_quick(problem: Problem) -> bool:
    return int(problem.tables.entry[-1]) <= FEW_ENTRIES * problem.n_links


def _sweeps(tolerance: float, many: int, close: float = np.inf) -> Step:
    from assent.solvers.trws import TRWS

    words = "TRWS for some sweeps, as all factors are over two variables."
    step = _given_up(TRWS(gap_tolerance=tolerance), words, many)
    return replace(step, settles=False, close=close)


def _before(problem: Problem, tolerance: float, exact: bool) -> Iterator[Step]:
    """Something else first, where it is likely to be quicker than large joins."""
    from assent.solvers.ad3 import AD3

    is_searched = exact and _may_be_searched(problem)
    quick = is_searched or is_at_once(problem, BEFORE_TABLES_PER_LINK)
    if is_pairwise(problem) and not quick:
        yield _given_up(AD3(gap_tolerance=tolerance), LOOK, BEFORE_ELIMINATION)


@remembered
def is_pairwise(problem: Problem) -> bool:
    """Whether all factors are tables over two variables, beside what makes variables whole."""
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
