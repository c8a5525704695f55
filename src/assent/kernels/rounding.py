"""From marginals to an assignment: round the surest coordinate, propagate, go on; then improve.

The answer satisfies every logic factor when the heuristic finds a way to, and breaks few
otherwise.  All steps are linear in the number of links, and the same input gives the same output.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.evaluate import value, violated
from assent.kernels.jit import jit
from assent.kernels.local_search import Pairs, Point, build_pairs, improve
from assent.kernels.propagate import (
    FREE,
    Logic,
    build_links,
    propagate,
    reset_counters,
    retreat,
    start_units,
    workspace,
)

# Links that may be undone after conflicts, as a multiple of all links.  Beyond it rounding no
# longer tries the opposite value, so that hopeless inputs stay linear.
UNDO_EFFORT = 8

# Sweeps of the local search.  It usually stops by itself after three to six.
MAX_SWEEPS = 20

# Sureness is compared in steps of 1 / 65535: finer differences are noise of an unfinished solve,
# and 16-bit keys sort in linear time.
SURENESS_STEPS = np.iinfo(np.uint16).max


class Tables(NamedTuple):
    """What rounding needs to know of a problem, computed once and used for every call."""

    logic: Logic
    pairs: Pairs


class Rounded(NamedTuple):
    """A rounded assignment ``x`` (``int8[n]``), its value, and how many factors it breaks."""

    x: np.ndarray
    value: float
    violated: int


def build_tables(problem: Any) -> Tables:
    """Index the links and pairs of a compiled problem by coordinate."""
    return Tables(build_links(problem), build_pairs(problem))


def round_marginals(
    problem: Any,
    scores: Any,
    marginals: np.ndarray,
    tables: Tables | None = None,
    max_sweeps: int = MAX_SWEEPS,
) -> Rounded:
    """Round marginals to an assignment, feasible if possible, and improve it by local search.

    Args:
        problem: a compiled problem.
        scores: its scores.
        marginals: ``float64[n]``, the consensus of a relaxation; need not be feasible.
        tables: from :func:`build_tables`; built here if absent.
        max_sweeps: limit of the local search, 0 for none.

    Example:
        >>> import numpy as np
        >>> from assent.problem import SUM, Scores, make_problem
        >>> one_of = (SUM, np.array([[0, 1, 2]], np.int32), np.array([1], np.int32))
        >>> problem = make_problem(3, np.zeros((0, 2), np.int32), [one_of])
        >>> scores = Scores(np.array([3.0, 5.0, 1.0]), np.zeros(0))
        >>> round_marginals(problem, scores, np.array([0.9, 0.1, 0.0]), max_sweeps=0).value
        3.0
        >>> round_marginals(problem, scores, np.array([0.9, 0.1, 0.0])).value
        5.0
    """
    if tables is None:
        tables = build_tables(problem)
    wanted = preferred_values(problem, scores, marginals)
    x, frozen = wanted, np.zeros(problem.n, np.uint8)
    if len(problem.k):
        x = np.full(problem.n, FREE, np.int8)
        order = visiting_order(tables.logic, marginals)
        decide(tables.logic, order, wanted, x, frozen, *workspace(problem))
    if max_sweeps > 0:
        true, scratch, _ = workspace(problem)
        point = Point(x, true, scratch, np.empty(problem.n), frozen)
        improve(tables.logic, tables.pairs, scores.theta, scores.pair, point, max_sweeps)
    return Rounded(x, value(problem, scores, x), int(violated(problem, x).sum()))


def preferred_values(problem: Any, scores: Any, marginals: np.ndarray) -> np.ndarray:
    """Nearest 0/1 values ``int8[n]``; at exactly one half the score decides.

    The score of a coordinate is its own plus half of its pairs', and a zero score means 0.
    """
    wanted = (marginals > 0.5).astype(np.int8)
    ties = marginals == 0.5
    if ties.any():
        lean = scores.theta.copy()
        for side in range(2):
            lean += np.bincount(problem.pair_var[:, side], scores.pair / 2, minlength=problem.n)
        wanted[ties] = lean[ties] > 0
    return wanted


def visiting_order(logic: Logic, marginals: np.ndarray) -> np.ndarray:
    """Coordinates by decreasing distance from one half, ties by index; unlinked ones last."""
    doubt = 1 - 2 * np.abs(np.clip(marginals, 0, 1) - 0.5)
    keys = (doubt * SURENESS_STEPS).astype(np.uint16)
    keys[logic.start[1:] == logic.start[:-1]] = SURENESS_STEPS
    return np.argsort(keys, kind="stable").astype(np.int32)


@jit
def decide(logic, order, wanted, values, frozen, true, free, trail):
    """Sequential rounding into ``values``; ``frozen`` flags the coordinates never in question.

    1. Propagate what holds in every feasible assignment.
    2. Give the next coordinate its wanted value; on a conflict the opposite one.
    3. If both fail, give up the factors in the way and go on with the wanted value.
    """
    reset_counters(logic, true, free)
    halt, go_on = np.bool_(True), np.bool_(False)
    _, tail = start_units(logic, values, true, free, trail, np.int64(0))
    _, head, tail = propagate(logic, values, true, free, trail, np.int64(0), tail, go_on)
    for at in range(tail):
        frozen[trail[at]] = 1
    effort = UNDO_EFFORT * logic.uses.size
    for v in order:
        if values[v] != FREE:
            continue
        conflict = 0
        for attempt in range(2):
            if effort < 0 or conflict < 0:
                break
            mark = tail
            values[v] = wanted[v] if attempt == 0 else 1 - wanted[v]
            trail[tail] = v
            conflict, head, tail = propagate(logic, values, true, free, trail, mark, mark + 1, halt)
            if conflict >= 0:
                effort -= retreat(
                    logic.start, logic.uses, values, true, free, trail, mark, head, tail
                )
                tail = mark
        if conflict >= 0:
            values[v] = wanted[v]
            trail[tail] = v
            _, head, tail = propagate(logic, values, true, free, trail, tail, tail + 1, go_on)
