"""Product (RLT) cuts: products of one literal with several of which few can be true.

If at most ``k`` of the literals ``l`` are true, then for any literal ``b``

    sum over l of l b <= k b

which is the constraint times ``b`` (Sherali and Adams, 1990).  Cycles see two of the products at a
time: of ten heads for a word, each agreeable to ``b``, any two have their share of ``b`` between
them, and all ten have five times ``b``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import CAP, SUM, Float, Int64, Problem
from assent.solvers.cutting_planes.cut_rows import Cuts
from assent.solvers.cutting_planes.pair_disagreement import Differences
from assent.solvers.direct.tabulated_problem import group_lits

if TYPE_CHECKING:
    from scipy import sparse

# A row is worth adding if it is violated by this; products have the coefficient 1.
LEAST_VIOLATION = 1e-4
# All joint values of a group are listed when it is rechecked, unless at most one can be true.
MOST_COUNTED = 10
# Products times constraints: more would take more room than the program itself.
MOST_TERMS = 1 << 20


class ProductCuts:
    """Finds violated product cuts, each once."""

    def __init__(self, problem: Problem, given: Differences) -> None:
        self.given = given
        self.products = _product_groups(problem, given)
        self.rows, self.upper = _rows(problem, given, self.products)
        self.is_new = np.ones(len(self.upper), bool)

    def find(self, columns: Float) -> Cuts:
        """Rows that a point of the program violates, new ones only."""
        over = self.rows @ self.given.at(columns) - self.upper
        found = np.flatnonzero(self.is_new & (over > LEAST_VIOLATION))
        self.is_new[found] = False
        return Cuts(
            self.rows[found],
            self.upper[found],
            np.full(len(found), -1),
            self._rules(found),
        )

    def _rules(self, found: Int64) -> Int64:
        """The constraint of every row, and the literals of it that the row speaks of."""
        products = self.products
        first, last = products.start[found >> 1], products.start[(found >> 1) + 1]
        own = [np.arange(a, b) for a, b in zip(first, last, strict=True)]
        product = np.concatenate([np.zeros(0, np.int64), *own])
        row = np.repeat(np.arange(len(found)), last - first)
        return np.stack([row, products.rule[product], products.member[product]], axis=1)


class ProductGroups(NamedTuple):
    """Products of a literal of a constraint and a coordinate outside it, group by group.

    Attributes:
        start: ``[F + 1]`` the products of each group begin here.
        rule: ``[B]`` the constraint's number among the logic factors.
        member: ``[B]`` the coordinate of its literal, ``negated[B]`` or not.
        other: ``[B]`` the coordinate outside, the same for all products of a group.
        edge: ``[B]`` their difference.
    """

    start: Int64
    rule: Int64
    member: Int64
    negated: NDArray[np.bool_]
    other: Int64
    edge: Int64


class _Members(NamedTuple):
    """Literals of counts, sorted by coordinate; ``start[n + 1]``."""

    start: Int64
    rule: Int64
    negated: NDArray[np.bool_]


def _members(problem: Problem) -> _Members:
    own, rule, negated = ([np.zeros(0, t)] for t in (np.int64, np.int64, bool))
    for group, kind in enumerate(problem.group_kind.tolist()):
        if kind in (CAP, SUM):
            lits = group_lits(problem, group)
            own.append(np.where(lits < 0, ~lits, lits).ravel().astype(np.int64))
            number = int(problem.group_factor[group]) + np.arange(len(lits))
            rule.append(np.repeat(number, lits.shape[1]))
            negated.append(lits.ravel() < 0)
    every = np.concatenate(own)
    order = np.argsort(every, kind="stable")
    start = np.searchsorted(every[order], np.arange(problem.n + 1))
    return _Members(start, np.concatenate(rule)[order], np.concatenate(negated)[order])


def _product_groups(problem: Problem, given: Differences) -> ProductGroups:
    """All groups of which more products are known than can be true."""
    members = _members(problem)
    ends, edge = given.products()
    member, other = np.concatenate([ends, ends[:, ::-1]]).T
    edge = np.concatenate([edge, edge])
    times = np.diff(members.start)[member]
    if times.sum() > MOST_TERMS:
        member, other, edge, times = member[:0], other[:0], edge[:0], times[:0]
    which = np.repeat(np.arange(len(member)), times)
    place = np.arange(len(which)) - np.repeat(np.cumsum(times) - times, times)
    place += members.start[member[which]]
    rule, negated = members.rule[place], members.negated[place]
    member, other, edge = member[which], other[which], edge[which]
    # A constraint over the other coordinate too has no product of it.
    inside = np.repeat(np.arange(problem.n), np.diff(members.start))
    outside = ~np.isin(rule * problem.n + other, members.rule * problem.n + inside)
    order = np.flatnonzero(outside)
    order = order[np.lexsort((other[order], rule[order]))]
    _, first, count = np.unique(
        rule[order] * problem.n + other[order], return_index=True, return_counts=True
    )
    k = problem.k[rule[order][first]]
    kept = (k > 0) & (count > k) & ((k == 1) | (count <= MOST_COUNTED))
    order = order[np.repeat(kept, count)]
    start = np.concatenate([[0], np.cumsum(count[kept])])
    return ProductGroups(
        start, rule[order], member[order], negated[order], other[order], edge[order]
    )


def _rows(
    problem: Problem, given: Differences, products: ProductGroups
) -> tuple[sparse.csr_matrix, Float]:
    """Two rows ``[2 F]`` of each group over differences: times its coordinate, and its negation."""
    from scipy import sparse

    group = np.repeat(np.arange(len(products.start) - 1), np.diff(products.start))
    first = products.start[:-1]
    k, other = problem.k[products.rule[first]].astype(np.float64), products.other[first]
    sign = np.where(products.negated, -1.0, 1.0)
    parts, upper = [], np.zeros(2 * len(first))
    for side, way in enumerate((1.0, -1.0)):
        # l b = (sign x_l + way x_b - sign way d) / 2, and 1 more if both are negated.
        row = 2 * group + side
        half = np.full(len(group), 0.5)
        parts.append((row, products.member, half * sign))
        parts.append((row, products.other, half * way))
        parts.append((row, products.edge, -half * sign * way))
        parts.append((2 * np.arange(len(first)) + side, other, -k * way))
        if way < 0.0:
            upper[side::2] = k - np.bincount(group, products.negated, minlength=len(first))
    row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    rows = sparse.csr_matrix((value, (row, column)), (len(upper), len(given.ends)))
    rows.eliminate_zeros()
    return rows, upper
