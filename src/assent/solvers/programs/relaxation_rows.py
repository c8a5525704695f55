"""The linear relaxation as rows over links: the hull of every factor in its most compact form.

Rows read ``lower <= A l + B w <= upper``: literals ``l`` of links (see ``Problem.all_lits``) and
further columns ``w >= 0``.  Whatever the multipliers ``y`` of a factor's rows, the link scores
``A' y`` give it a best value of at most ``y . upper``; so multipliers of the optimum make link
scores whose bound is the optimum of the relaxation.

    CAP, SUM   sum l <= k, sum l == k
    ANYOF      l_j - z <= 0 for every input, z - sum l_j <= 0
    PARITY     a chain of parities of three literals, four rows each
    KNAPSACK   weights . l <= capacity
    product    c > 0: w = min(u, v) = u - t, t >= u - v;  c < 0: w = t, t >= u + v - 1;  t >= 0
    DENSE      a column per allowed joint state, a row per slot and state
    POTTS      products if all scores have one sign, else the rows of the full hull
    structures see :mod:`assent.solvers.programs.structure_rows`

A product of two literals (a pair, a common state of POTTS) takes one row and one column ``t`` of
cost ``|c|``; for ``c > 0`` the literal ``u`` earns ``c`` itself, and its link gives that back.
"""

from __future__ import annotations

import numpy as np

from assent.compile.table_groups import FlatTableGroup, table_groups
from assent.kernels.problem import (
    ANYOF,
    DENSE,
    KNAPSACK,
    PARITY,
    SUM,
    Float,
    Int64,
    Problem,
    Scores,
)
from assent.solvers.programs.row_builder import LinkStates, ProgramRows, RowBuilder
from assent.solvers.programs.structure_rows import add_structures

# Even parity of three literals: signs and right-hand sides of the four facets.
PARITY_SIGNS = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
PARITY_UPPER = np.array([0.0, 0.0, 0.0, 2.0])


def relaxation_rows(problem: Problem, scores: Scores, integer: bool = False) -> ProgramRows:
    """Rows of all factors: pairs, logic factors, tables, structures.

    For an ``integer`` program they need to be right at integral points only.
    """
    builder = RowBuilder()
    ends = np.arange(2 * problem.n_pairs).reshape(-1, 2)
    pairs = np.arange(problem.n_pairs)
    add_products(builder, LinkStates(ends[:, 0]), LinkStates(ends[:, 1]), scores.pair, pairs)
    _add_logic(builder, problem, first_link=2 * problem.n_pairs)
    _add_tables(builder, problem, scores.table)
    add_structures(builder, problem, scores.table, integer)
    return builder.finish(len(scores.table))


def add_products(builder: RowBuilder, u: LinkStates, v: LinkStates, c: Float, place: Int64) -> None:
    """Rows of ``c * u * v``, element by element; ``-inf`` forbids both, 0 needs nothing.

    ``place`` says which scores they are, as in `Products`.
    """
    gain, loss, never = map(np.nonzero, (c > 0, (c < 0) & np.isfinite(c), np.isneginf(c)))
    rows = builder.rows(np.zeros(len(gain[0])), limit=c[gain])
    builder.put(rows, u[gain], 1.0)
    builder.put(rows, v[gain], -1.0)
    columns = builder.columns(c[gain])
    builder.put_column(rows, columns, -1.0)
    builder.product(place[gain], u[gain], v[gain], columns, gains=True)
    builder.add_scores(u[gain], c[gain])
    for chosen, limit in ((loss, -c[loss]), (never, np.inf)):
        rows = builder.rows(np.ones(len(chosen[0])), limit=limit)
        builder.put(rows, u[chosen], 1.0)
        builder.put(rows, v[chosen], 1.0)
        if chosen is loss:
            columns = builder.columns(-c[loss])
            builder.put_column(rows, columns, -1.0)
            builder.product(place[loss], u[loss], v[loss], columns, gains=False)


def _add_logic(builder: RowBuilder, problem: Problem, first_link: int) -> None:
    first_weight = len(problem.lits) - len(problem.weights)
    first_capacity = problem.n_logic - len(problem.capacity)
    for g, kind in enumerate(problem.group_kind):
        m, size = int(problem.group_count[g]), int(problem.group_size[g])
        first, factor = int(problem.group_link[g]), int(problem.group_factor[g])
        links = LinkStates(first_link + first + np.arange(m * size).reshape(size, m))
        if kind == ANYOF:
            _add_anyof(builder, links)
        elif kind == PARITY:
            _add_parity(builder, links)
        elif kind == KNAPSACK:
            weights = problem.weights[first - first_weight :][: m * size].reshape(size, m)
            capacity = problem.capacity[factor - first_capacity :][:m]
            builder.put(builder.rows(capacity), links, weights)
        else:
            k = problem.k[factor : factor + m].astype(float)
            builder.put(builder.rows(k, lower=k if kind == SUM else -np.inf), links, 1.0)


def _add_anyof(builder: RowBuilder, literals: LinkStates) -> None:
    """Row of an input: it implies the output.  Row of the output: it implies some input."""
    rows = builder.rows(np.zeros(literals.links.shape))
    inputs, output = literals[:-1], literals[-1]
    builder.put(rows[:-1], inputs, 1.0)
    builder.put(rows[:-1], output, -1.0)
    builder.put(rows[-1], inputs, -1.0)
    builder.put(rows[-1], output, 1.0)


def _add_parity(builder: RowBuilder, literals: LinkStates) -> None:
    """Running parities ``p``: each literal changes the one before it into the one after it.

    The triples share one binary column with the next, so the hulls of the triples together are
    the hull of all.
    """
    size, m = literals.links.shape
    if size < 3:  # a single literal is false, two are equal
        rows = builder.rows(np.zeros(m), lower=0.0)
        for literal, sign in zip(range(size), (1.0, -1.0), strict=False):
            builder.put(rows, literals[literal], sign)
        return
    p = builder.columns(np.zeros((size - 3, 1, m)))
    upper = np.broadcast_to(PARITY_UPPER[:, None], (size - 2, 4, m))
    rows = builder.rows(upper)
    before, own, after = PARITY_SIGNS.T[:, :, None]
    builder.put(rows[0], literals[0], before)
    builder.put_column(rows[1:], p, before)
    builder.put(rows, literals[1:-1, None], own)
    builder.put_column(rows[:-1], p, after)
    builder.put(rows[-1], literals[-1], after)


def _add_tables(builder: RowBuilder, problem: Problem, scores: Float) -> None:
    for group in table_groups(problem):
        states, own, place = _slot_states(group), group.scores(scores), group.places
        if group.kind == DENSE:
            shape = (len(own), *group.states)
            _add_dense(builder, states, own.reshape(shape), place.reshape(shape))
        else:
            _add_potts(builder, states[0], states[1], own, problem.n_pairs + place)


def _slot_states(group: FlatTableGroup) -> list[LinkStates]:
    """``[m, K]`` states of every slot; state 0 of a binary slot is the opposite of state 1."""
    states, links = [], group.links
    for k, lowest, columns in zip(group.states, group.first, group.columns, strict=True):
        own = links[:, columns][:, np.maximum(np.arange(k) - lowest, 0)]
        states.append(LinkStates(own, np.broadcast_to(np.arange(k) < lowest, own.shape)))
    return states


def _add_dense(builder: RowBuilder, states: list[LinkStates], scores: Float, place: Int64) -> None:
    """Marginals of the allowed joint states are the slots' states.

    The states of a variable sum to one by a factor of its own, so of all slots but the first a
    state goes without a row.
    """
    allowed = np.nonzero(scores > -np.inf)
    columns = builder.columns(-scores[allowed])
    builder.entries(place[allowed], columns)
    factor, joint = allowed[0], allowed[1:]
    for slot, (state, own) in enumerate(zip(states, joint, strict=True)):
        left_out = min(slot, 1)
        rows = builder.rows(np.zeros(state[:, left_out:].links.shape), lower=0.0)
        builder.put(rows, state[:, left_out:], -1.0)
        kept = own >= left_out
        builder.put_column(rows[factor[kept], own[kept] - left_out], columns[kept], 1.0)


def _add_potts(
    builder: RowBuilder, u: LinkStates, v: LinkStates, scores: Float, place: Int64
) -> None:
    """Common states of two slots.

    If no score is negative ``min(u_k, v_k)`` for all states at once can be reached, if none is
    positive ``max(0, u_k + v_k - 1)`` can: then the states are products on their own.  With both
    signs the hull is ``0 <= w_k <= min(u_k, v_k), u_k + v_k - w_k + sum_{j != k} w_j <= 1``; the
    second row matters for losses and the sum of gains ``G`` in it only.  For, at an optimum,

    1. one loss at most is positive, as ``u_j + v_j + u_k + v_k + 2 G <= 2`` for any two;
    2. either all gains are at ``min(u_k, v_k)`` or, for some loss, ``G >= 1 - u_k - v_k``: below
       that gains are free.  Both imply the rows of gains, and of states without a score.
    """
    mixed = (scores > 0).any(axis=1) & (scores < 0).any(axis=1)
    add_products(builder, u[~mixed], v[~mixed], scores[~mixed], place[~mixed])
    u, v, scores, place = u[mixed], v[mixed], scores[mixed], place[mixed]
    gain, loss = np.nonzero(scores > 0), np.nonzero(scores < 0)
    w = np.full(scores.shape, -1)
    w[gain] = builder.columns(-scores[gain])
    builder.product(place[gain], u[gain], v[gain], w[gain], gains=False)
    for state in (u, v):
        rows = builder.rows(np.zeros(len(gain[0])))
        builder.put_column(rows, w[gain], 1.0)
        builder.put(rows, state[gain], -1.0)
    rows = builder.rows(np.ones(len(loss[0])))
    builder.put(rows, u[loss], 1.0)
    builder.put(rows, v[loss], 1.0)
    soft = scores[loss] > -np.inf
    columns = builder.columns(-scores[loss][soft])
    builder.put_column(rows[soft], columns, -1.0)
    builder.product(place[loss][soft], u[loss][soft], v[loss][soft], columns, gains=False)
    beside = w[loss[0]]  # the gains of a loss's factor
    at, _ = np.nonzero(beside >= 0)
    builder.put_column(rows[at], beside[beside >= 0], 1.0)
