"""A proof by cut multipliers of small regions of the graph; imports no solver.

The multipliers of a region's cuts reparametrise the graph: they add a function ``f`` of a few
variables to the scores of coordinates, pairs and joint states of tables, and take it from the
region.  So for any multipliers

    optimum(graph) <= bound(reparametrised graph) + sum over regions of max(-f)

where the first bound is that of link scores.  A region is small, or nearly a tree such as a cycle,
so that its own maximum is found exactly, by eliminating one variable after the other.  It may name
constraints of the graph: its maximum is then over values that they allow.  Frustrated cycles,
triplets and local cuts over several factors are all regions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.compile.potts_as_dense import tabulate_potts
from assent.compile.table_placement import joint_states
from assent.factors.table import Table
from assent.kernels.problem import (
    DualPoint,
    Float,
    Int64,
    Problem,
    Scores,
    joint_places,
    split_links,
)
from assent.model.variables import coordinates_of
from assent.proof import certify
from assent.proof.field_checks import are_places, fits
from assent.proof.projected_constraints import region_rules
from assent.proof.region_bounds import CutMultipliers, region_maxima

if TYPE_CHECKING:
    from assent.proof.field_checks import Known
    from assent.proof.replay import Replay


@dataclass(frozen=True, eq=False)
class Regions:
    """A leaf of a proof: cut multipliers of regions, and link scores of the reparametrised graph.

    Attributes:
        start: ``[R + 1]`` the multipliers of each region begin here.
        place: ``[T]`` the score that each adds to: coordinate ``v`` of the flat problem, pair
            ``n + p``, or joint state ``n + P + j`` of its tables (see `problem.joint_places`).
        amount: ``[T]`` what is added.
        dual: link scores of the flat problem.
        is_ray: multipliers and link scores are a Farkas ray: they bound the all-zero objective
            below zero, so nothing is feasible.
        rules: ``[Q, 3]`` constraints that hold in regions: the region, the logic factor's number
            in the flat problem, and one of its coordinates there that the region mentions.
    """

    start: Int64
    place: Int64
    amount: Float
    dual: DualPoint
    is_ray: bool = False
    rules: Int64 = field(default_factory=lambda: np.zeros((0, 3), np.int64))

    def reparametrised(self, problem: Problem, scores: Scores) -> tuple[Problem, Scores, DualPoint]:
        """The reparametrised flat problem, and its link scores.

        The coordinates are the same; Potts tables whose unequal states were added to are
        tabulated.
        """
        first = problem.n + problem.n_pairs
        plain = tabulate_potts(problem, scores, np.zeros(int(problem.tables.factor[-1]), bool))
        unequal = np.setdiff1d(self.place, plain.place) - first
        starts = [part[:, 0] for part in joint_places(problem.tables) if part.size]
        chosen = np.zeros(len(plain.chosen), bool)
        if len(unequal):
            chosen[np.searchsorted(np.concatenate(starts), unequal, side="right") - 1] = True
        outer = tabulate_potts(problem, scores, chosen)
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
        """The bound, from the graph as written; ``inf`` for multipliers of scores it lacks."""
        if not self._fits(replay.compiled.problem):
            return np.inf
        size = float(np.abs(self.dual.joined()).sum() + np.abs(self.amount).sum())
        if not self.is_ray:  # multipliers that cancel each other must not absorb scores
            return self._bound(replay, replay.scores, known) + float(np.finfo(float).eps) * size
        shown = self._bound(replay, replay.scores.zeroed(), known)
        return -np.inf if shown < -certify.FARKAS_MARGIN * size else np.inf

    def _fits(self, problem: Problem) -> bool:
        """Whether all arrays have the shapes and ranges of the problem."""
        count = len(self.place)
        return (
            fits(self.dual, problem)
            and self.place.shape == self.amount.shape == (count,)
            and self.place.min(initial=0) >= 0
            and bool(np.isfinite(self.amount).all())
            and self.start.ndim == 1 <= len(self.start)
            and self.start[[0, -1]].tolist() == [0, count]
            and bool((np.diff(self.start) >= 0).all())
            and self.rules.shape == (len(self.rules), 3)
            and are_places(self.rules[:, 2], problem.n)
        )

    def _bound(self, replay: Replay, scores: GraphScores, known: Known) -> float:
        compiled = replay.compiled
        multipliers = graph_multipliers(compiled, self)
        changed = _reparametrise(compiled, scores, multipliers)
        dual = compiled.graph_dual(self.dual, changed)
        total = certify.upper_bound(compiled, changed, dual, known)
        total += _table_changes(compiled, changed, dual, multipliers, known)
        rules = region_rules(compiled, scores, self.rules)
        count = len(self.start) - 1
        return total + sum(region_maxima(compiled, multipliers, count, known, replay.memory, rules))


# ---------------------------------------------------------------- from the flat problem


def graph_multipliers(compiled: Compiled, regions: Regions) -> CutMultipliers:
    """Multipliers for the flat problem as ones for the graph; equal up to constants."""
    problem = compiled.problem
    region = np.repeat(np.arange(len(regions.start) - 1), np.diff(regions.start))
    first_entry = problem.n + problem.n_pairs
    place, amount = regions.place, regions.amount
    own = np.flatnonzero(place < problem.n)
    none = np.full(len(own), -1)
    parts = [
        CutMultipliers(
            region[own], none, compiled.free[place[own]], np.zeros_like(own), amount[own]
        ),
        *_to_pairs(compiled, region, place - problem.n, amount),
        *_to_tables(compiled, region, place - first_entry, amount),
    ]
    return CutMultipliers(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _to_pairs(
    compiled: Compiled, region: Int64, pair: Int64, amount: Float
) -> list[CutMultipliers]:
    """A pair with negated literals: ``x y = y - (1 - x) y``, and so on."""
    parts = []
    for placed in compiled.placed_pairs:
        chosen = np.flatnonzero((pair >= placed.first) & (pair < placed.first + placed.members))
        row = pair[chosen] - placed.first
        row = row if placed.kept is None else placed.kept[row]
        codes = compiled.blocks[placed.block].factor.codes[row]
        negated = codes < 0
        flip = negated[:, 0] ^ negated[:, 1]
        given, owner, zero = amount[chosen], region[chosen], np.zeros_like(row)
        signed = np.where(flip, -given, given)
        parts.append(CutMultipliers(owner, np.full_like(row, placed.block), row, zero, signed))
        for side in (0, 1):
            left = np.flatnonzero(negated[:, 1 - side])
            code = codes[left, side].astype(np.int64)
            coordinate = coordinates_of(code)
            # signed * literal * (1 - y) was added above: signed * literal is the excess.
            excess = np.where(code < 0, -signed[left], signed[left])
            parts.append(
                CutMultipliers(owner[left], np.full_like(left, -1), coordinate, zero[left], -excess)
            )
    return parts


def _to_tables(
    compiled: Compiled, region: Int64, number: Int64, amount: Float
) -> list[CutMultipliers]:
    """A joint state that evidence left over is one of the written table."""
    places = joint_places(compiled.problem.tables)
    parts = []
    for placed in compiled.placed_tables:
        factor = compiled.blocks[placed.block].factor
        if not isinstance(factor, Table):
            continue
        own = places[placed.group][placed.first : placed.first + placed.members]
        begin, end, width = own[0, 0], own[-1, -1], own.shape[1]
        chosen = np.flatnonzero((number >= begin) & (number <= end))
        row, left = np.divmod(number[chosen] - begin, width)
        joint = joint_states(placed, factor, compiled.fixed)[row, left]
        row = row if placed.rows is None else placed.rows[row]
        block = np.full_like(row, placed.block)
        parts.append(CutMultipliers(region[chosen], block, row, joint, amount[chosen]))
    return parts


# ---------------------------------------------------------------- the reparametrised graph


def _reparametrise(
    compiled: Compiled, scores: GraphScores, multipliers: CutMultipliers
) -> GraphScores:
    """The graph's reparametrised scores, but for those of tables (see `_table_changes`)."""
    theta = scores.theta.copy()
    own = multipliers.block < 0
    np.add.at(theta, multipliers.row[own], multipliers.amount[own])
    factors = list(scores.factors)
    for placed in compiled.placed_pairs:
        own, values = multipliers.block == placed.block, factors[placed.block]
        added = np.bincount(multipliers.row[own], multipliers.amount[own], minlength=len(values))
        factors[placed.block] = values + added
    return replace(scores, theta=theta, factors=tuple(factors))


def _table_changes(
    compiled: Compiled,
    scores: GraphScores,
    dual: tuple[Float, ...],
    multipliers: CutMultipliers,
    known: NDArray[np.int8],
) -> float:
    """By how much multipliers of joint states change the best values of tables."""
    total = 0.0
    own_scores = compiled.by_block(scores)
    for number in np.unique(multipliers.block[multipliers.block >= 0]).tolist():
        factor = compiled.blocks[number].factor
        if not isinstance(factor, Table):
            continue
        own = multipliers.block == number
        rows, place = np.unique(multipliers.row[own], return_inverse=True)
        added = np.zeros((len(rows), int(np.prod(factor.states, dtype=np.int64))))
        np.add.at(added, (place, multipliers.joint[own]), multipliers.amount[own])
        allowed = [part[rows] for part in factor.allowed(known)]
        values = factor.joint_values(dual[number][rows], own_scores[number][rows], allowed)
        before = values.reshape(len(rows), -1)
        total += float(((before + added).max(axis=1) - before.max(axis=1)).sum())
    return total
