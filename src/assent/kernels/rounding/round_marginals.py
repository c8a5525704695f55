"""From marginals to an assignment: settle the surest coordinate, propagate, go on; then improve.

The answer satisfies every logic factor when the heuristic finds a way to, and breaks few
otherwise.  All steps are linear in the number of links, and the same input gives the same output.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.core.evaluate import count_violated, value
from assent.kernels.core.propagate import LogicIndex, build_links, coordinate, make_trail
from assent.kernels.core.table_links import TableLinks, build_table_links, table_field
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.random_numbers import RANDOM_RANGE, next_random_state
from assent.kernels.rounding.local_search import improve
from assent.kernels.rounding.pair_rounding import round_pairs
from assent.kernels.rounding.running_sums import Pairs, RoundedPoint, build_pairs, largest_finite
from assent.kernels.rounding.sequential_rounding import (
    DECIDED,
    Rounding,
    expected_field,
    settle_all,
)
from assent.kernels.rounding.table_rounding import settle_states

# Sweeps of the local search.  It usually stops by itself after three to six.
MAX_SWEEPS = 20

# Coordinates outside of structures are settled after those inside: they are less sure by this.
LEAST_SURE = 1e-3

# How far marginals are perturbed to find other answers: enough to reorder the undecided ones.
PERTURBATION = 0.1

# Inner scores of structures times this only break ties of the marginals.
SLIGHT = 1e-6

# Marginals and scores are read on grids this fine (scores relative to the largest): what differs
# by less is a tie, broken by order and not by rounding errors.  Ties stand at grid points as a
# rule (one half, whole numbers), and noise leaves them there.
MARGINAL_GRID = 2.0**-12
SCORE_GRID = 2.0**-36


advance_random_state = jit_internal_no_allocation(next_random_state)


class Adjacency(NamedTuple):
    """What rounding needs to know of a problem, computed once and used for every call."""

    logic: LogicIndex
    pairs: Pairs
    tables: TableLinks | None  # None where the problem has no tables


class Rounded(NamedTuple):
    """A rounded assignment ``x`` (``int8[n]``), its value, and how many factors it breaks.

    A table that the assignment meets at an entry of -inf counts as broken.
    """

    x: np.ndarray
    value: float
    violated: int


def build_tables(problem: Any) -> Adjacency:
    """Index the links, pairs and tables of a compiled problem by coordinate."""
    tables = build_table_links(problem) if len(problem.written.kind) else None
    return Adjacency(build_links(problem), build_pairs(problem), tables)


def round_marginals(
    problem: Any,
    scores: Any,
    marginals: np.ndarray,
    tables: Adjacency | None = None,
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
        >>> from assent.kernels.problem import SUM, Scores, make_problem
        >>> one_of = (SUM, np.array([[0, 1, 2]], np.int32), np.array([1], np.int32))
        >>> problem = make_problem(3, np.zeros((0, 2), np.int32), [one_of])
        >>> scores = Scores(np.array([3.0, 5.0, 1.0]), np.zeros(0))
        >>> round_marginals(problem, scores, np.array([0.9, 0.1, 0.0]), max_sweeps=0).value
        3.0
        >>> round_marginals(problem, scores, np.array([0.9, 0.1, 0.0])).value
        5.0
    """
    tables = build_tables(problem) if tables is None else tables
    p = np.empty(problem.n)
    tidy(np.asarray(marginals, np.float64), p)
    if not problem.models:
        return _round(problem, scores, p, None, tables, max_sweeps, thorough)
    from assent.kernels.ad3.structure_steps import searcher_of

    def follow(step: int, alone: np.ndarray) -> Rounded:
        # What structures choose is sure from then on; what they leave open is not.
        parts = problem.pair_var, problem.lits, scores.theta, scores.pair
        held = searcher_of(problem).settle(scores, *wish_by(step, *parts, p, alone))
        sure = np.where(held >= 0, held, np.clip(p, LEAST_SURE, 1.0 - LEAST_SURE))
        return _round(problem, scores, sure, held, tables, max_sweeps, thorough)

    nothing = np.zeros(0, np.int8)
    found = [follow(BY_MARGINALS, nothing), follow(BY_SCORES, nothing)]
    if min(answer.violated for answer in found) and len(problem.lits):
        alone = _round(problem, scores, p, None, tables, max_sweeps, thorough).x
        found.append(follow(BY_OTHERS, alone))
    return min(found, key=lambda answer: (answer.violated, -answer.value))


@jit
def on_grid(values, step):
    """Values ``[n]`` rounded to multiples of ``step`` (-inf stays); as they are if it is 0.

    Example:
        >>> on_grid(np.array([0.5 + 1e-9, 0.5 - 1e-9]), 2.0**-12).tolist()
        [0.5, 0.5]
    """
    out = np.empty(values.size)
    for i in range(values.size):
        out[i] = np.rint(values[i] / step) * step if step > 0.0 else values[i]
    return out


@jit
def score_step(theta, pair, table):
    """Step of the grid of scores, relative to the largest finite one; 0 where all are zero."""
    largest = max(largest_finite(theta), largest_finite(pair), largest_finite(table))
    return SCORE_GRID * 2.0 ** np.ceil(np.log2(largest)) if largest > 0.0 else 0.0


def tied_scores(scores: Any) -> Any:
    """Scores on a grid relative to the largest, by which near-ties are ties."""
    parts = scores.theta, scores.pair, scores.table
    step = score_step(*parts)
    theta, pair, table = (on_grid(values, step) for values in parts)
    return type(scores)(theta, pair, scores.constant, table)


# What structures choose by, one after the other: the marginals; what every coordinate would add to
# the score, where marginals are undecided.  If all these break something, what is right for the
# others (``ALONE``), and the structures as close to that as they can be.
BY_MARGINALS, BY_SCORES, ALONE, BY_OTHERS = 0, 1, 2, 3


@jit
def wish_by(step, pair_var, lits, theta, pair, p, alone):
    """What structures choose by, ``[n]``, and what their inner scores are multiplied by.

    ``alone[n]`` is an assignment without them, for BY_OTHERS, which keeps what ``lits`` name.
    """
    wish = np.empty(p.size)
    if step == BY_SCORES:
        expected_field(theta, pair_var, pair, p, wish)
    else:
        for v in range(p.size):
            wish[v] = p[v] - 0.5
    most = 1.0
    for v in range(p.size):
        most += abs(wish[v])
    if step == BY_SCORES:
        for v in range(p.size):
            if abs(p[v] - 0.5) > 0.5 - DECIDED:
                wish[v] = most if p[v] > 0.5 else -most
        return wish, 1.0
    if step == BY_OTHERS:
        for lit in lits:
            v = coordinate(lit)
            wish[v] = most if alone[v] == 1 else -most
    return wish, SLIGHT


def _round(
    problem: Any,
    scores: Any,
    p: np.ndarray,
    held: np.ndarray | None,
    tables: Adjacency,
    max_sweeps: int,
    thorough: bool,
) -> Rounded:
    """:func:`round_marginals` once structures have decided on ``held[n]`` (-1: open)."""
    logic, pairs, links = tables
    field = None if links is None else table_field(links, scores.table)
    if held is None:
        held = np.zeros(0, np.int8)
    found = []
    # The local search knows of a broken table no more than that it is broken; what it makes of
    # several may be worse than what it began with.
    for sweeps in (max_sweeps, 0):
        rest = scores.theta, scores.pair, p, held, sweeps, thorough
        only_pairs = field is None and not len(logic.k)  # the rest need not be compiled for them
        x = round_pairs(pairs, *rest) if only_pairs else round_point(logic, pairs, field, *rest)
        found.append(Rounded(x, value(problem, scores, x), count_violated(problem, scores, x)))
        if found[-1].violated == 0 or sweeps == 0:
            break
    return min(found, key=lambda answer: (answer.violated, -answer.value))


@jit
def tidy(marginals, out):
    """Marginals on their grid, cut to [0, 1], into ``out``."""
    for v in range(marginals.size):
        out[v] = min(max(np.rint(marginals[v] / MARGINAL_GRID) * MARGINAL_GRID, 0.0), 1.0)


@jit
def perturb(marginals, random_state):
    """Marginals moved by up to ``PERTURBATION``, and the next state of the random numbers."""
    out = np.empty(marginals.size)
    for v in range(marginals.size):
        random_state = advance_random_state(random_state)
        out[v] = marginals[v] + PERTURBATION * (2.0 * random_state / RANDOM_RANGE - 1.0)
    return out, random_state


@jit
def round_point(logic, pairs, tables, theta, pair, p, held, max_sweeps, thorough):
    """The assignment ``int8[n]`` that marginals ``p`` (0 to 1) are rounded and improved to.

    ``tables`` is ``None`` where there are none; coordinates with ``held >= 0`` are not moved by
    the local search (an empty ``held`` holds none).
    """
    trail, field = make_trail(p.size, logic.k.size), np.empty(p.size)
    frozen = np.empty(p.size, np.uint8)
    rounding = Rounding(pairs, theta, pair, p, trail, field, frozen)
    if tables is None:
        settle_all(logic, rounding)
    else:
        settle_states(logic, tables, rounding)
    for v in range(held.size):
        frozen[v] |= held[v] >= 0
    if max_sweeps > 0:
        point = RoundedPoint(trail.values, trail.true, trail.free, field, frozen)
        improve(logic, pairs, tables, theta, pair, point, max_sweeps, thorough)
    return trail.values
