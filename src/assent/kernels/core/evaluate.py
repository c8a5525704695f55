"""What an assignment is worth, which logic factors it breaks and which tables forbid it."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.kernels.jit import jit, jit_internal, jit_internal_no_allocation, jit_no_allocation
from assent.kernels.problem import ANYOF, CAP, KNAPSACK, PARITY, POTTS


def violated(problem: Any, x: np.ndarray) -> np.ndarray:
    """Flags ``uint8[F]`` of the logic factors that the 0/1 vector ``x[n]`` breaks.

    Example:
        >>> import numpy as np
        >>> from assent.kernels.problem import SUM, make_problem
        >>> one_of = (SUM, np.array([[0, 1], [1, ~2]], np.int32), np.ones(2, np.int32))
        >>> problem = make_problem(3, np.zeros((0, 2), np.int32), [one_of])
        >>> violated(problem, np.array([1, 0, 1])).tolist()
        [0, 1]
    """
    broken = np.zeros(len(problem.k), np.uint8)
    _mark_violated(problem.groups, np.ascontiguousarray(x, np.int8), broken)
    return broken


def forbidden(problem: Any, scores: Any, x: np.ndarray) -> np.ndarray:
    """Flags ``uint8`` of the tables in which the 0/1 vector ``x[n]`` meets an entry of -inf."""
    return np.isneginf(table_entries(problem, scores, x)).astype(np.uint8)


def count_violated(problem: Any, scores: Any, x: np.ndarray) -> int:
    """Number of logic factors that ``x[n]`` breaks and of tables that forbid it."""
    broken = np.count_nonzero(violated(problem, x))
    if len(problem.tables.kind):
        broken += np.count_nonzero(forbidden(problem, scores, x))
    return int(broken)


def table_entries(problem: Any, scores: Any, x: np.ndarray) -> np.ndarray:
    """The entry ``x[n]`` takes in every table, the inner score it has in every structure.

    A categorical slot is in the first state whose coordinate is 1, or in state 0 without one.

    Example:
        >>> import numpy as np
        >>> from assent.kernels.problem import DENSE, Scores, make_problem, make_tables
        >>> tables = make_tables([(DENSE, (2, 2), (1, 1), np.array([[0, ~1]], np.int32))])
        >>> problem = make_problem(2, np.zeros((0, 2), np.int32), [], tables)
        >>> scores = Scores(np.zeros(2), np.zeros(0), table=np.array([1.0, 2.0, 3.0, 4.0]))
        >>> table_entries(problem, scores, np.array([1, 1])).tolist()
        [3.0]
    """
    tables = problem.written
    entries = np.empty(int(tables.factor[-1]))
    x = np.ascontiguousarray(x, np.int8)
    if len(entries):
        _pick_entries(tables, scores.table, x, entries)
    if problem.models:
        from assent.kernels.ad3.structure_steps import searcher_of

        entries = np.append(entries, searcher_of(problem).values(scores, x))
    return entries


def value(problem: Any, scores: Any, x: np.ndarray) -> float:
    """Score of the 0/1 vector ``x[n]``, logic disregarded; -inf where a table forbids it.

    Example:
        >>> import numpy as np
        >>> from assent.kernels.problem import Scores, make_problem
        >>> problem = make_problem(2, np.array([[0, 1]], np.int32), [])
        >>> value(problem, Scores(np.array([1.0, 2.0]), np.array([-4.0])), np.array([1, 1]))
        -1.0
    """
    x = np.ascontiguousarray(x, np.int8)
    entries = table_entries(problem, scores, x)
    if len(entries) and np.isneginf(entries).any():
        return -np.inf
    return float(
        scores.constant + _summed_scores(scores.theta, problem.pair_var, scores.pair, entries, x)
    )


@jit_internal
def assess(problem, tables, table, x):
    """Value of ``x`` (see :func:`value`) and how many factors it breaks, structures apart.

    ``problem`` is a ``ScoredProblem``; ``tables`` is ``None`` where there are none, ``table`` has
    their entries.
    """
    broken = np.zeros(problem.groups.k.size, np.uint8)
    _mark_violated(problem.groups, x, broken)
    violations = np.int64(0)
    for flag in broken:
        violations += flag
    entries = np.zeros(0)
    if tables is not None:
        entries = np.empty(tables.factor[-1])
        _pick_entries(tables, table, x, entries)
    forbidden = 0
    for entry in entries:
        forbidden += entry == -np.inf
    if forbidden:
        return -np.inf, violations + forbidden
    total = _summed_scores(problem.theta, problem.pair_var, problem.pair, entries, x)
    return problem.constant + total, violations


@jit_no_allocation
def _mark_violated(groups, x, broken):
    """Flags ``broken[F]`` of the factors that do not hold."""
    kind, size, lits, k = groups.kind, groups.size, groups.lits, groups.k
    for g in range(kind.size):
        if kind[g] == KNAPSACK:
            _mark_overloaded(groups, g, x, broken)
            continue
        m, first_link = groups.members[g], groups.link[g]
        inputs = size[g] - 1 if kind[g] == ANYOF else size[g]
        for f in range(m):
            true = 0
            for j in range(inputs):
                literal = lits[first_link + j * m + f]
                true += x[literal] if literal >= 0 else 1 - x[~literal]
            factor = groups.factor[g] + f
            if kind[g] == ANYOF:
                literal = lits[first_link + inputs * m + f]
                output = x[literal] if literal >= 0 else 1 - x[~literal]
                broken[factor] = (true > 0) != (output == 1)
            elif kind[g] == PARITY:
                broken[factor] = true & 1
            elif kind[g] == CAP:
                broken[factor] = true > k[factor]
            else:
                broken[factor] = true != k[factor]


@jit_internal_no_allocation
def _mark_overloaded(groups, g, x, broken):
    """The same for a group of KNAPSACK factors."""
    first_weight = groups.lits.size - groups.weights.size
    first_capacity = groups.k.size - groups.capacity.size
    for f in range(groups.members[g]):
        carried = 0.0
        for j in range(groups.size[g]):
            link = groups.link[g] + j * groups.members[g] + f
            literal = groups.lits[link]
            holds = x[literal] if literal >= 0 else 1 - x[~literal]
            carried += holds * groups.weights[link - first_weight]
        factor = groups.factor[g] + f
        capacity = groups.capacity[factor - first_capacity]
        broken[factor] = carried > capacity


@jit
def _pick_entries(tables, table, x, out):
    """The entry of each table at an assignment."""
    places = np.empty(out.size, np.int64)
    _pick_places(tables, x, places)
    for f in range(out.size):
        out[f] = table[places[f]] if places[f] >= 0 else 0.0


@jit
def weigh_entries(tables, x, out):
    """Weights of all entries where tables are at an assignment: 1 for the one taken in each."""
    places = np.empty(tables.factor[-1], np.int64)
    _pick_places(tables, x, places)
    out[:] = 0.0
    for place in places:
        if place >= 0:
            out[place] = 1.0


@jit_internal_no_allocation
def _pick_places(tables, x, out):
    """Where the entry of each table at an assignment stands; -1 for unequal labels of a Potts."""
    kind, states, first, lits = tables.kind, tables.states, tables.first, tables.lits
    for t in range(kind.size):
        place, begin = tables.link[t], tables.factor[t]
        members = tables.factor[t + 1] - begin
        entries = (tables.entry[t + 1] - tables.entry[t]) // max(members, 1)
        for row in range(members):
            at, unequal, before = 0, False, 0
            for s in range(tables.slot[t], tables.slot[t + 1]):
                state = 0
                if first[s] == 1:
                    literal = lits[place]
                    state = x[literal] if literal >= 0 else 1 - x[~literal]
                else:
                    while state < states[s] and x[lits[place + state]] == 0:
                        state += 1
                    state = state if state < states[s] else 0
                at = at * states[s] + state
                unequal |= s > tables.slot[t] and state != before
                before = state
                place += states[s] - first[s]
            here = tables.entry[t] + row * entries
            if kind[t] == POTTS:
                out[begin + row] = -1 if unequal else here + before
            else:
                out[begin + row] = here + at


@jit_no_allocation
def _summed_scores(theta, pair_var, pair, entries, x):
    """Neumaier's compensated sum: values are compared with bounds to the last digits."""
    total = 0.0
    lost = 0.0
    for v in range(theta.size + pair.size + entries.size):
        e = v - theta.size
        if e < 0:
            term = theta[v] * x[v]
        elif e >= pair.size:
            term = entries[e - pair.size]
        else:
            term = pair[e] * (x[pair_var[e, 0]] * x[pair_var[e, 1]])
        raised = total + term
        if abs(total) >= abs(term):
            lost += (total - raised) + term
        else:
            lost += (term - raised) + total
        total = raised
    return total + lost
