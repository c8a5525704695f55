"""From marginals to an assignment: settle the surest coordinate, propagate, go on; then improve.

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
    inner,
    propagate,
    reset_counters,
    retreat,
    start_units,
    workspace,
)

# A marginal this far from one half decides by itself; nearer ones leave the choice to the scores,
# given what is settled already.  On frustrated grids 0.1 to 0.5 do equally well, 0 worse.
DECIDED = 0.15

# Links that may be undone after conflicts, as a multiple of all links.  Beyond it rounding no
# longer tries the opposite value, so that hopeless inputs stay linear.
UNDO_EFFORT = 8

# Fresh starts after a dead end, the coordinate that met it going first.
RESTARTS = 4

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
    thorough: bool = False,
) -> Rounded:
    """Round marginals to an assignment, feasible if possible, and improve it by local search.

    Args:
        problem: a compiled problem.
        scores: its scores.
        marginals: ``float64[n]``, the consensus of a relaxation; need not be feasible.
        tables: from :func:`build_tables`; built here if absent.
        max_sweeps: limit of the local search, 0 for none.
        thorough: also flip clusters of coordinates that pairs tie together; several times
            slower, for the last call of a run.

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
    p = np.clip(np.ascontiguousarray(marginals, np.float64), 0.0, 1.0)
    x, frozen = settle_all(problem, scores, p, tables)
    if max_sweeps > 0:
        true, scratch, _ = workspace(problem)
        point = Point(x, true, scratch, np.empty(problem.n), frozen)
        improve(*tables, scores.theta, scores.pair, point, max_sweeps, thorough)
    return Rounded(x, value(problem, scores, x), int(violated(problem, x).sum()))


def settle_all(
    problem: Any, scores: Any, p: np.ndarray, tables: Tables
) -> tuple[np.ndarray, np.ndarray]:
    """Sequential rounding: the assignment, and flags of the coordinates never in question."""
    order = visiting_order(p)
    x, frozen, field = np.empty(problem.n, np.int8), np.empty(problem.n, np.uint8), np.empty_like(p)
    for _ in range(RESTARTS):
        stuck = settle(
            *tables, scores.theta, scores.pair, p, order, x, frozen, field, *workspace(problem)
        )
        if stuck < 0:
            break
        order = np.concatenate([order[stuck : stuck + 1], np.delete(order, stuck)])
    return x, frozen


def visiting_order(p: np.ndarray) -> np.ndarray:
    """Coordinates by decreasing distance of ``p[n]`` from one half, ties by index."""
    doubt = p - 0.5
    np.abs(doubt, out=doubt)
    doubt *= -2 * SURENESS_STEPS
    doubt += SURENESS_STEPS
    keys = doubt.astype(np.uint16)
    del doubt
    return np.argsort(keys, kind="stable").astype(np.int32)


@jit
def settle(
    logic, pairs, theta, pair, p, order, values, frozen, field, true, free, trail
):  # fmt: skip
    """Give every coordinate a value, in order, and propagate after each.

    Returns the place in ``order`` of the first coordinate that had no good value, or -1.

    1. Propagate what holds in every feasible assignment.
    2. Give the next coordinate the value its marginal asks for, or if that is undecided the one
       its score favours; on a conflict the opposite one.
    3. If both fail, give up the factors in the way and go on.
    """
    halt, go_on, mark = np.bool_(True), np.bool_(False), np.int64(0)
    for v in range(p.size):
        values[v] = FREE
    expected_field(theta, pairs.var, pair, p, field)
    reset_counters(logic, true, free)
    _, tail = start_units(logic, values, true, free, trail, mark)
    _, _, tail = propagate(logic, values, true, free, trail, mark, tail, go_on)
    for v in range(p.size):
        frozen[v] = values[v] != FREE
    settle_field(pairs, pair, p, values, field, trail, mark, tail)
    effort = UNDO_EFFORT * logic.uses.size
    stuck = -1
    for at in range(order.size):
        v = order[at]
        if values[v] != FREE:
            continue
        mark = tail
        wanted = preferred(p[v], field[v])
        if logic.start[v] == logic.start[v + 1]:  # in no logic factor
            values[v] = wanted
            trail[mark] = v
            tail = mark + 1
            settle_field(pairs, pair, p, values, field, trail, mark, tail)
            continue
        conflict, attempt = 0, 0
        while conflict >= 0 and attempt < 2 and effort >= 0:
            values[v] = wanted if attempt == 0 else 1 - wanted
            trail[mark] = v
            conflict, head, tail = propagate(logic, values, true, free, trail, mark, mark + 1, halt)
            if conflict >= 0:
                effort -= retreat(
                    logic.start, logic.uses, values, true, free, trail, mark, head, tail
                )
            attempt += 1
        if conflict >= 0:
            stuck = at if stuck < 0 else stuck
            values[v] = wanted
            trail[mark] = v
            _, _, tail = propagate(logic, values, true, free, trail, mark, mark + 1, go_on)
        settle_field(pairs, pair, p, values, field, trail, mark, tail)
    return stuck


@inner
def preferred(p, field):
    """The value a coordinate would like, from its marginal and the score of being 1."""
    if abs(p - 0.5) > DECIDED or field == 0.0:
        return 1 if p > 0.5 else 0
    return 1 if field > 0.0 else 0


@inner
def expected_field(theta, pair_var, pair, p, field):
    """What being 1 adds to each coordinate's score if the others equal their marginals."""
    for v in range(theta.size):
        field[v] = theta[v]
    for e in range(pair.size):
        i, j = pair_var[e, 0], pair_var[e, 1]
        field[i] += pair[e] * p[j]
        field[j] += pair[e] * p[i]


@inner
def settle_field(pairs, pair, p, values, field, trail, mark, tail):
    """Replace marginals by values in the fields around ``trail[mark:tail]``."""
    for at in range(mark, tail):
        v = trail[at]
        step = values[v] - p[v]
        for place in range(pairs.start[v], pairs.start[v + 1]):
            e = pairs.edges[place]
            field[pairs.var[e, 0] + pairs.var[e, 1] - v] += step * pair[e]
