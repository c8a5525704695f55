"""Rows that cut off contradictions between factors that overlap: local cuts.

A region is a constraint's literals as far as they matter to a relaxed answer, or coordinates that
it leaves undecided and that have to do with each other, with everything that is known among them:
products, constraints, states of one variable.  All its joint values are listed.  If the relaxed
answer is no mixture of them, a small linear program finds the row that all of them obey and the
answer violates most (a local cut; Applegate, Bixby, Chvatal and Cook, 2001).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Float, Int64, Problem
from assent.solvers.cutting_planes.cut_rows import Cuts
from assent.solvers.cutting_planes.cycle_cuts import INTEGRAL
from assent.solvers.cutting_planes.local_constraints import LocalConstraints, states_of_tables
from assent.solvers.cutting_planes.pair_disagreement import Differences
from assent.solvers.programs.highs import import_highspy, new_highs

# Coordinates of a region: all their joint values are listed.
MOST_SPOKEN = 9
# Regions looked at in one round, the least decided first: each takes a millisecond or so.
MOST_REGIONS = 300
# Undecided coordinates of a region that is grown from one of them, and how many are grown.
MOST_GROWN = 7
MOST_SEEDS = 50
# A row is worth adding if it is violated by this; its largest coefficient is 1.
LEAST_VIOLATION = 1e-3
# Coefficients are rounded to this many digits: rows look the same when found again.
DIGITS = 9


class Region(NamedTuple):
    """Coordinates ``[m]``, differences of two of them ``[E]``, and logic factors."""

    coordinates: Int64
    edges: Int64
    rules: tuple[int, ...]


class Row(NamedTuple):
    """A row ``coefficients . d <= upper`` over a region's differences."""

    region: Region
    coefficients: Float
    upper: float


class LocalCuts:
    """Finds rows that factors obey together and a relaxed answer does not."""

    def __init__(self, problem: Problem, given: Differences) -> None:
        self.problem, self.given = problem, given
        self.n = given.n_single
        self.rules = LocalConstraints(problem)
        self.variable, self.size = states_of_tables(problem)
        two = np.arange(self.n, self.n + given.n_two)
        self.products = two[given.rule[two] < 0]

    def find(self, columns: Float) -> Cuts:
        """Rows that a point of the program violates."""
        d = self.given.at(columns)
        x = d[: self.n]
        undecided = (x > INTEGRAL) & (x < 1.0 - INTEGRAL)
        found = []
        if undecided.any():
            inside = _Inside(self.given, self.products, x)
            dispute = np.minimum(x, 1.0 - x)
            counts = self.rules.binding(x, undecided, MOST_SPOKEN)
            counts.sort(key=lambda coordinates: -dispute[coordinates].sum())
            found = self._rows(counts, inside, d) or self._rows(
                self._disputed(x, undecided, inside), inside, d
            )
        return self._as_cuts(found)

    # ------------------------------------------------------------ regions

    def _rows(self, sets: Iterable[Int64], inside: _Inside, d: Float) -> list[Row]:
        """Violated rows of regions over some sets of coordinates."""
        found: list[Row] = []
        seen: set[bytes] = set()
        for coordinates in sets:
            edges, key = inside.edges(coordinates), coordinates.tobytes()
            if not len(edges) or key in seen:
                continue
            if len(seen) == MOST_REGIONS:
                break
            seen.add(key)
            row = self._separate(Region(coordinates, edges, self.rules.over(coordinates)), d)
            if row is not None:
                found.append(row)
        return found

    def _disputed(self, x: Float, undecided: NDArray[np.bool_], inside: _Inside) -> Iterator[Int64]:
        """Undecided coordinates, with those that have most to do with them."""
        beside = self.rules.beside(undecided)
        for u, v in inside.edge:
            if undecided[u] and undecided[v]:
                beside.setdefault(u, Counter())[v] += 1
                beside.setdefault(v, Counter())[u] += 1
        seeds = np.flatnonzero(undecided)
        order = np.argsort(-np.minimum(x, 1.0 - x)[seeds], kind="stable")
        for seed in seeds[order][:MOST_SEEDS].tolist():
            yield self.rules.with_support(_grown(seed, beside), x, MOST_SPOKEN)

    def _states(self, region: Region) -> NDArray[np.bool_]:
        """Joint values ``[S, m]`` that all constraints of a region allow."""
        m = len(region.coordinates)
        states = (np.arange(1 << m)[:, None] >> np.arange(m)) & 1 == 1
        for number in region.rules:
            states = states[self.rules.allow(number, region.coordinates, states)]
        variable = self.variable[region.coordinates]
        for name in np.unique(variable[variable >= 0]):
            own = variable == name
            count = states[:, own].sum(axis=1)
            states = states[(count <= 1) & ((count == 1) | (own.sum() < self.size[name]))]
        return states

    # ------------------------------------------------------------ rows

    def _separate(self, region: Region, d: Float) -> Row | None:
        """The row of a region that is violated most, if one is."""
        states = self._states(region)
        place = {int(v): i for i, v in enumerate(region.coordinates)}
        ends = np.array([[place[int(v)] for v in pair] for pair in self.given.ends[region.edges]])
        differ = states[:, ends[:, 0]] ^ states[:, ends[:, 1]]
        corners = np.hstack([states, differ]).astype(np.float64)
        point = d[np.concatenate([region.coordinates, region.edges])]
        if not len(corners):
            return None
        coefficients = np.round(_most_violated(corners, point), DIGITS)
        upper = float((corners @ coefficients).max())
        if coefficients @ point - upper <= LEAST_VIOLATION:
            return None
        return Row(region, coefficients, upper)

    def _as_cuts(self, found: list[Row]) -> Cuts:
        from scipy import sparse

        index = [np.concatenate([row.region.coordinates, row.region.edges]) for row in found]
        start = np.cumsum([0, *map(len, index)])
        signs = sparse.csr_matrix(
            (
                np.concatenate([np.zeros(0), *(row.coefficients for row in found)]),
                np.concatenate([np.zeros(0, np.int64), *index]),
                start,
            ),
            (len(found), len(self.given.ends)),
        )
        signs.eliminate_zeros()
        rules = [
            (r, number, coordinate)
            for r, row in enumerate(found)
            for number in row.region.rules
            for coordinate in self.rules.shared(number, row.region.coordinates)
        ]
        return Cuts(
            signs,
            np.array([row.upper for row in found]),
            np.full(len(found), -1),
            np.array(rules, np.int64).reshape(-1, 3),
        )


class _Inside:
    """Differences of two coordinates that are not zero at a point, by their ends."""

    def __init__(self, given: Differences, products: Int64, x: Float) -> None:
        ends = given.ends[products]
        kept = (x[ends] > INTEGRAL).all(axis=1)
        self.edge: dict[tuple[int, int], int] = {}
        for (u, v), e in zip(ends[kept].tolist(), products[kept].tolist(), strict=True):
            self.edge.setdefault((min(u, v), max(u, v)), e)

    def edges(self, coordinates: Int64) -> Int64:
        """Those within some coordinates."""
        pairs = combinations(sorted(coordinates.tolist()), 2)
        return np.array([self.edge[pair] for pair in pairs if pair in self.edge], np.int64)


def _grown(seed: int, beside: dict[int, Counter[int]]) -> set[int]:
    """A coordinate and, one after the other, the one with most ties to those taken."""
    taken, ties = {seed}, Counter(beside.get(seed, Counter()))
    while ties and len(taken) < MOST_GROWN:
        nearest = min(ties, key=lambda v: (-ties[v], v))
        taken.add(nearest)
        ties.update(beside.get(nearest, Counter()))
        for v in taken:
            ties.pop(v, None)
    return taken


def _most_violated(corners: Float, point: Float) -> Float:
    """Coefficients within [-1, 1] whose row all ``corners[S, m]`` obey, farthest from ``point``."""
    highspy = import_highspy()
    count, m = corners.shape
    model: Any = highspy.HighsLp()
    model.num_col_, model.num_row_ = m + 1, count
    model.col_cost_ = np.append(-point, 1.0)
    model.col_lower_, model.col_upper_ = np.append(-np.ones(m), -m), np.append(np.ones(m), m)
    model.row_lower_, model.row_upper_ = np.full(count, -np.inf), np.zeros(count)
    matrix = np.hstack([corners, -np.ones((count, 1))])
    row, column = np.nonzero(matrix)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.searchsorted(row, np.arange(count + 1)).astype(np.int32)
    model.a_matrix_.index_ = column.astype(np.int32)
    model.a_matrix_.value_ = matrix[row, column]
    highs = new_highs({"presolve": "off"})
    highs.passModel(model)
    highs.run()
    return np.array(highs.getSolution().col_value)[:m]
