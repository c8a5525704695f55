"""Loans: a proof by small regions of the graph that lend scores to it; imports no solver.

A region takes scores from itself and gives them to coordinates, pairs and joint states of tables:
what it lends is a function ``f`` of a few variables, added to the graph.  So for any loans

    optimum(graph) <= bound(graph with all loans) + sum over regions of max(-f)

where the first bound is that of link scores.  A region is small, or nearly a tree such as a cycle,
so that its own maximum is found exactly, by eliminating one variable after the other.  Frustrated
cycles, triplets and joined factors are all regions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent import certify
from assent.compiled import Compiled, GraphScores
from assent.elimination import Piece, maximum
from assent.factors.table import Table
from assent.placement.tables import joint_states
from assent.problem import DualPoint, Float, Int64, Problem, Scores, joint_places, split_links
from assent.variables import Categorical
from assent.written_out import write_out

if TYPE_CHECKING:
    from assent.proof import Known, Replay

# Digits to which loans of size one are told apart.
ALIKE = 13


@dataclass(frozen=True, eq=False)
class Regions:
    """A leaf of a proof: loans of regions, and link scores for the graph with all of them.

    Attributes:
        start: ``[R + 1]`` the loans of each region begin here.
        place: ``[T]`` what is lent to: coordinate ``v`` of the flat problem, pair ``n + p``, or
            joint state ``n + P + j`` of its tables (see `problem.joint_places`).
        amount: ``[T]`` how much.
        dual: link scores of the flat problem.
        is_ray: the loans and link scores belong to the all-zero objective, which they bound below
            zero: nothing is possible.

    Example:
        >>> import assent as at
        >>> from assent.compiled import graph_scores
        >>> from assent.proof import Replay
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=1.0)
        >>> rule = g.add(at.Pair(x, x[[1, 2, 0]], scores=-2.0))
        >>> links = DualPoint(np.zeros((3, 2)), np.zeros(0))
        >>> place, amount = np.arange(6), np.repeat([-1.0, 2.0], [3, 3])
        >>> proof = Regions(np.array([0, 6]), place, amount, links)
        >>> Replay(g.compile(), graph_scores(g)).bound(proof)
        1.0
    """

    start: Int64
    place: Int64
    amount: Float
    dual: DualPoint
    is_ray: bool = False

    def lent(self, problem: Problem, scores: Scores) -> tuple[Problem, Scores, DualPoint]:
        """The flat problem with all loans, and its link scores.

        The coordinates are the same; tables of common states that were lent to at others are
        written out.
        """
        first = problem.n + problem.n_pairs
        plain = write_out(problem, scores, np.zeros(int(problem.tables.factor[-1]), bool))
        unequal = np.setdiff1d(self.place, plain.place) - first
        starts = [part[:, 0] for part in joint_places(problem.tables) if part.size]
        chosen = np.zeros(len(plain.chosen), bool)
        if len(unequal):
            chosen[np.searchsorted(np.concatenate(starts), unequal, side="right") - 1] = True
        outer = write_out(problem, scores, chosen)
        own = np.zeros(1 + int(outer.place.max(initial=-1)), np.int64)
        own[outer.place] = np.arange(len(outer.place))
        total = np.zeros(len(outer.place))
        np.add.at(total, own[self.place], self.amount)
        theta, pair, table = np.split(total, [problem.n, first])
        changed = replace(
            outer.scores,
            theta=scores.theta + theta,
            pair=scores.pair + pair,
            table=outer.scores.table + table,
        )
        links = self.dual.joined()[outer.link]
        return outer.problem, changed, split_links(outer.problem, links)

    def bound(self, replay: Replay, known: Known) -> float:
        """The bound, from the graph as written."""
        if not self.is_ray:
            return self._bound(replay, replay.scores, known)
        size = float(np.abs(self.dual.joined()).sum() + np.abs(self.amount).sum())
        shown = self._bound(replay, replay.scores.zeroed(), known)
        return -np.inf if shown < -certify.RAY_MARGIN * size else np.inf

    def _bound(self, replay: Replay, scores: GraphScores, known: Known) -> float:
        compiled = replay.compiled
        loans = restate(compiled, self)
        lent = lend(compiled, scores, loans)
        dual = compiled.graph_dual(self.dual, lent)
        total = certify.upper_bound(compiled, lent, dual, known)
        total += _table_changes(compiled, lent, dual, loans, known)
        maxima = region_maxima(compiled, loans, len(self.start) - 1, known, replay.memory)
        return total + sum(maxima)


class Loans(NamedTuple):
    """Loans in the terms of the graph, ``T`` of them.

    Attributes:
        region: ``[T]`` who lends.
        block: ``[T]`` the batch of factors, -1 for a coordinate.
        row: ``[T]`` the factor's row in it, or the coordinate.
        joint: ``[T]`` the flat joint state of a table; 0 for pairs and coordinates.
        amount: ``[T]`` how much.
    """

    region: Int64
    block: Int64
    row: Int64
    joint: Int64
    amount: Float


# ---------------------------------------------------------------- from the flat problem


def restate(compiled: Compiled, regions: Regions) -> Loans:
    """Loans to the flat problem as loans to the graph; they differ by constants at most."""
    problem = compiled.problem
    region = np.repeat(np.arange(len(regions.start) - 1), np.diff(regions.start))
    first_entry = problem.n + problem.n_pairs
    place, amount = regions.place, regions.amount
    own = np.flatnonzero(place < problem.n)
    none = np.full(len(own), -1)
    parts = [
        Loans(region[own], none, compiled.free[place[own]], np.zeros_like(own), amount[own]),
        *_to_pairs(compiled, region, place - problem.n, amount),
        *_to_tables(compiled, region, place - first_entry, amount),
    ]
    return Loans(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _to_pairs(compiled: Compiled, region: Int64, pair: Int64, amount: Float) -> list[Loans]:
    """A pair with negated literals: ``x y = y - (1 - x) y``, and so on."""
    parts = []
    for placed in compiled.placed_pairs:
        chosen = np.flatnonzero((pair >= placed.first) & (pair < placed.first + placed.count))
        row = pair[chosen] - placed.first
        row = row if placed.kept is None else placed.kept[row]
        codes = compiled.blocks[placed.block].factor.codes[row]
        negated = codes < 0
        flip = negated[:, 0] ^ negated[:, 1]
        given, lender, zero = amount[chosen], region[chosen], np.zeros_like(row)
        signed = np.where(flip, -given, given)
        parts.append(Loans(lender, np.full_like(row, placed.block), row, zero, signed))
        for side in (0, 1):
            left = np.flatnonzero(negated[:, 1 - side])
            code = codes[left, side].astype(np.int64)
            coordinate = np.where(code < 0, ~code, code)
            # signed * literal * (1 - y) was added above: signed * literal is too much.
            too_much = np.where(code < 0, -signed[left], signed[left])
            parts.append(
                Loans(lender[left], np.full_like(left, -1), coordinate, zero[left], -too_much)
            )
    return parts


def _to_tables(compiled: Compiled, region: Int64, number: Int64, amount: Float) -> list[Loans]:
    """A joint state that evidence left over is one of the written table."""
    places = joint_places(compiled.problem.tables)
    parts = []
    for placed in compiled.placed_tables:
        factor = compiled.blocks[placed.block].factor
        if not isinstance(factor, Table):
            continue
        own = places[placed.group][placed.first : placed.first + placed.count]
        begin, end, width = own[0, 0], own[-1, -1], own.shape[1]
        chosen = np.flatnonzero((number >= begin) & (number <= end))
        row, left = np.divmod(number[chosen] - begin, width)
        joint = joint_states(placed, factor, compiled.fixed)[row, left]
        row = row if placed.rows is None else placed.rows[row]
        block = np.full_like(row, placed.block)
        parts.append(Loans(region[chosen], block, row, joint, amount[chosen]))
    return parts


# ---------------------------------------------------------------- the graph with all loans


def lend(compiled: Compiled, scores: GraphScores, loans: Loans) -> GraphScores:
    """The graph's scores with loans to coordinates and pairs; those to tables come apart."""
    theta = scores.theta.copy()
    own = loans.block < 0
    np.add.at(theta, loans.row[own], loans.amount[own])
    pairs = []
    for placed, values in zip(compiled.placed_pairs, scores.pairs, strict=True):
        own = loans.block == placed.block
        lent = np.bincount(loans.row[own], loans.amount[own], minlength=len(values))
        pairs.append(values + lent)
    return replace(scores, theta=theta, pairs=tuple(pairs))


def _table_changes(
    compiled: Compiled,
    scores: GraphScores,
    dual: tuple[Float, ...],
    loans: Loans,
    known: NDArray[np.int8],
) -> float:
    """By how much loans to joint states change the best values of tables."""
    total = 0.0
    own_scores = certify.by_block(compiled, scores)
    for number in np.unique(loans.block[loans.block >= 0]).tolist():
        factor = compiled.blocks[number].factor
        if not isinstance(factor, Table):
            continue
        own = loans.block == number
        rows, place = np.unique(loans.row[own], return_inverse=True)
        lent = np.zeros((len(rows), int(np.prod(factor.states, dtype=np.int64))))
        np.add.at(lent, (place, loans.joint[own]), loans.amount[own])
        allowed = [part[rows] for part in factor.allowed(known)]
        values = factor.joint_values(dual[number][rows], own_scores[number][rows], allowed)
        before = values.reshape(len(rows), -1)
        total += float(((before + lent).max(axis=1) - before.max(axis=1)).sum())
    return total


# ---------------------------------------------------------------- what regions can be worth


def region_maxima(
    compiled: Compiled,
    loans: Loans,
    count: int,
    known: NDArray[np.int8],
    memory: dict[Any, float],
) -> list[float]:
    """The most that every region can be worth after its loans, ``max(-f)``.

    A cycle is lent more in one case and less in another: ``memory`` holds the maxima of loans of
    size one.
    """
    owner, size = _owners(compiled)
    literals = _literals(compiled, loans)
    order = np.argsort(loans.region, kind="stable")
    ends = np.searchsorted(loans.region[order], np.arange(count + 1))
    maxima = []
    for begin, end in pairwise(ends):
        own = order[begin:end]
        terms, amounts = tuple(literals[t] for t in own), -loans.amount[own]
        largest = float(np.abs(amounts).max(initial=0.0)) or 1.0
        unit = np.round(amounts / largest, ALIKE)
        names = {int(owner[max(code, ~code)]) for term in terms for code in term}
        values = tuple(known[name : name + size[name]].tobytes() for name in sorted(names))
        key = (id(compiled), terms, unit.tobytes(), values)
        if key not in memory:
            memory[key] = _region_maximum(terms, amounts / largest, owner, size, known)
        maxima.append(memory[key] * largest)
    return maxima


def _owners(compiled: Compiled) -> tuple[Int64, Int64]:
    """The variable of every coordinate, told by its first one, and how many it has."""
    owner = np.arange(len(compiled.fixed))
    size = np.ones(len(compiled.fixed), np.int64)
    for variable in compiled.graph.variables:
        codes = variable.symbol.codes
        if isinstance(variable.symbol, Categorical) and codes.size:
            owner[codes] = codes[..., :1]
            size[codes] = codes.shape[-1]
    return owner, size


def _literals(compiled: Compiled, loans: Loans) -> list[tuple[int, ...]]:
    """The literals that are true together where a loan counts."""
    out: list[tuple[int, ...]] = [()] * len(loans.row)
    own = np.flatnonzero(loans.block < 0)
    for t, coordinate in zip(own.tolist(), loans.row[own].tolist(), strict=True):
        out[t] = (coordinate,)
    for number in np.unique(loans.block[loans.block >= 0]).tolist():
        factor = compiled.blocks[number].factor
        own = np.flatnonzero(loans.block == number)
        codes = factor.codes[loans.row[own]]
        if isinstance(factor, Table):
            codes = _state_codes(factor, codes, loans.joint[own])
        for t, together in zip(own.tolist(), codes.tolist(), strict=True):
            out[t] = tuple(together)
    return out


def _state_codes(factor: Table, codes: NDArray[np.int32], joint: Int64) -> NDArray[np.int32]:
    """Literals ``[T, slots]`` of joint states of tables over literals ``codes[T, links]``."""
    states = np.unravel_index(joint, factor.states)
    every, out = np.arange(len(codes)), []
    for place, first, state in zip(factor.slot_links(), factor.first, states, strict=True):
        if first:
            code = codes[:, place.start]
            out.append(np.where(state == 1, code, ~code))
        else:
            out.append(codes[every, place.start + state])
    return np.stack(out, axis=1)


def _region_maximum(
    terms: tuple[tuple[int, ...], ...],
    amounts: Float,
    owner: Int64,
    size: Int64,
    known: NDArray[np.int8],
) -> float:
    """The largest sum of amounts whose literals are all true, by elimination.

    A variable's states are the coordinates that are spoken of, and "none of these" if there are
    more; two states of one variable are never true together.
    """
    spoken: dict[int, list[int]] = {}
    for coordinate in sorted({c if c >= 0 else ~c for term in terms for c in term}):
        spoken.setdefault(int(owner[coordinate]), []).append(coordinate)
    names = sorted(spoken)
    place = {name: i for i, name in enumerate(names)}
    masks = [_possible(spoken[name], name, int(size[name]), known) for name in names]
    pieces: dict[tuple[int, ...], Float] = {
        (i,): np.where(mask, 0.0, -np.inf) for i, mask in enumerate(masks)
    }
    for term, amount in zip(terms, amounts.tolist(), strict=True):
        truth: dict[int, NDArray[np.bool_]] = {}
        for code in term:
            coordinate = code if code >= 0 else ~code
            i = place[int(owner[coordinate])]
            own = np.zeros(len(masks[i]), bool)
            own[spoken[names[i]].index(coordinate)] = True
            truth[i] = truth.get(i, True) & (own if code >= 0 else ~own)
        scope = tuple(sorted(truth))
        table = pieces.setdefault(scope, np.zeros([len(masks[i]) for i in scope]))
        table[np.ix_(*(truth[i] for i in scope))] += amount
    return maximum([Piece(scope, table) for scope, table in pieces.items()])


def _possible(
    spoken: list[int], first: int, size: int, known: NDArray[np.int8]
) -> NDArray[np.bool_]:
    """Which states can be: those spoken of, and last "none of these"."""
    values = known[spoken]
    if (values == 1).any():
        return np.append(values == 1, False)
    others = set(range(first, first + size)) - set(spoken)
    return np.append(values != 0, size == 1 or any(known[other] != 0 for other in others))
