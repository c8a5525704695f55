"""What Auto tries, and in which order: shortcuts, relaxations, and what ends with a proof."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from assent.compile.compiled import Compiled
from assent.kernels.core.memo import remembered
from assent.kernels.problem import Problem
from assent.solvers.auto import exact_steps, relaxed_steps, search_steps, shortcuts
from assent.solvers.auto.features import entries_of, has_small_tables, is_pairwise
from assent.solvers.auto.step import Step

# A flow takes no longer than a thorough search for orders.  None is sought before it where
# variables have more links on average than strips of width 4 have, and none at all where they have
# more than strips of width 8, unless there are so few variables that most orders will do.
FLOW_EFFORT = 30
NARROW_LINKS, WIDE_LINKS = 3.5, 3.75
FEW_BESIDE_FLOWS = 50
# With fewer variables than these one is sought before a flow in any case, and followed up to so
# many entries per link.
FEW_BEFORE_FLOWS, PER_LINK_OF_FEW = 40, 200

# Where an order of elimination is known that looks at fewer entries per link than these, it is
# sooner than a search over tables of two variables, or of more; with large tables over more, if it
# looks at fewer per link and entry.
SEARCHED_PER_LINK, SEARCHED_PER_LINK_OF_MORE, SEARCHED_PER_ENTRY = 600, 120, 30


def steps_for(compiled: Compiled, exact: bool, tolerance: float, each: Any) -> Iterator[Step]:
    """What to try, one after the other, until the answer is there.

    What is costly to find out (is there a wide order of elimination?) is left until it matters.
    ``each`` solves parts that share no factor, exactly.
    """
    problem = compiled.problem
    if not problem.n_links:
        yield shortcuts.unlinked(tolerance)
        return
    alone = shortcuts.alone(problem, tolerance)
    if alone is not None:
        yield alone
    elif shortcuts.takes_flow(problem):
        yield from _flow_steps(compiled, exact, tolerance, each)
    elif exact:
        yield from _steps_to_a_proof(compiled, tolerance, each)
    else:
        yield from _plain_steps(problem, tolerance)


def _plain_steps(problem: Problem, tolerance: float) -> Iterator[Step]:
    """A search where tables over two variables are large, elimination, or what decodes."""
    is_searched = is_pairwise(problem) and not has_small_tables(problem)
    if is_searched:
        yield from search_steps.soon_searched(problem, tolerance)
    effort = shortcuts.effort_before_a_look(problem)
    narrow = shortcuts.eliminated_as_a_program(problem, tolerance, effort)
    if not is_searched and not _is_sooner(narrow, problem):
        yield from search_steps.soon_searched(problem, tolerance)
    if narrow is None:
        yield from relaxed_steps.decoder_steps(problem, tolerance)
    else:
        yield narrow


def _is_sooner(narrow: Step | None, problem: Problem) -> bool:
    """Whether an order of elimination was found that is quicker than a search over tables."""
    per_link: float = SEARCHED_PER_LINK
    if not is_pairwise(problem):
        per_entry = SEARCHED_PER_ENTRY * entries_of(problem) / problem.n_links
        per_link = max(SEARCHED_PER_LINK_OF_MORE, per_entry)
    return narrow is not None and shortcuts.is_at_once(problem, per_link)


def _steps_to_a_proof(compiled: Compiled, tolerance: float, each: Any) -> Iterator[Step]:
    """Elimination where that is quick, or a search; one over tables first if few are undecided."""
    problem = compiled.problem
    is_searched = search_steps.may_be_searched(problem)
    if is_searched:
        yield from search_steps.glance(problem, tolerance)
        yield from search_steps.depth_first(problem, tolerance)
    narrow = shortcuts.soon_eliminated(problem, tolerance)
    if not is_searched and not _is_sooner(narrow, problem):
        yield from search_steps.soon_searched(problem, tolerance)
    if narrow is not None:
        yield narrow
        return
    yield relaxed_steps.first_look(problem, tolerance)
    if search_steps.may_be_searched_with_an_answer(problem):
        yield from search_steps.depth_first(problem, tolerance)
    yield from exact_steps.after_a_look(compiled, tolerance, each)


def _flow_steps(compiled: Compiled, exact: bool, tolerance: float, each: Any) -> Iterator[Step]:
    """One flow, unless elimination is quicker, or follows."""
    problem = compiled.problem
    effort = max(FLOW_EFFORT, shortcuts.QUICK_LOOKS // problem.n_links)
    narrow = None
    has_few = problem.n <= FEW_BEFORE_FLOWS
    if has_few or problem.n_links <= NARROW_LINKS * problem.n:
        narrow = shortcuts.soon_eliminated(problem, tolerance, effort)
    per_link = PER_LINK_OF_FEW if has_few else shortcuts.AT_ONCE_PER_LINK
    if narrow is None or not shortcuts.is_at_once(problem, per_link):
        yield shortcuts.one_flow(tolerance).first()
        if narrow is None and (exact or not _is_wide(problem)):
            narrow = shortcuts.soon_eliminated(problem, tolerance, effort)
    if narrow is not None:
        yield narrow
    elif exact:
        yield from exact_steps.after_a_look(compiled, tolerance, each)


@remembered
def _is_wide(problem: Problem) -> bool:
    """Whether variables have too many neighbours for an order to be likely."""
    if problem.n <= FEW_BESIDE_FLOWS or problem.n_links <= WIDE_LINKS * problem.n:
        return False
    one, other = problem.pair_var[:, 0].astype(np.int64), problem.pair_var[:, 1]
    low, high = np.minimum(one, other), np.maximum(one, other)
    near = (low * problem.n + high)[low < FEW_BESIDE_FLOWS]
    parallel = 1.0 - len(set(near.tolist())) / max(1, len(near))  # of pairs, by some
    return problem.n_links - 2 * parallel * problem.n_pairs > WIDE_LINKS * problem.n
