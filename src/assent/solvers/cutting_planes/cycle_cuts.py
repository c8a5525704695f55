"""Rows that cut off contradictions between differences: odd cycles (Barahona and Mahjoub, 1986).

All rows have one form: differences ``d`` and a choice ``F`` of some of them, with

    sum over F of d - sum over the others of d <= |F| - 1

They come from cycles of coordinates (``F`` of odd size), from cycles of variables (``F`` a single
edge: if it differs, some other does; Chopra and Rao, 1993), and from what products of two literals
and comparisons of two variables must obey by themselves, which the compact program leaves out where
the scores take care of it.  Where no such row is violated, local cuts are sought
(`assent.solvers.cutting_planes.local_cuts`), whose rows have other coefficients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Float, Int64
from assent.kernels.search.odd_cycles import CycleNetwork, network_of, odd_cycles
from assent.solvers.cutting_planes.cut_rows import Cuts
from assent.solvers.cutting_planes.pair_disagreement import Differences

if TYPE_CHECKING:
    from scipy import sparse

# A row is worth adding if it is violated by this.
LEAST_VIOLATION = 1e-5
# Coordinates that are nearer to 0 or 1 take part in no violated cycle to speak of.
INTEGRAL = 1e-6


class CycleCuts:
    """Finds violated rows, each once."""

    def __init__(self, given: Differences) -> None:
        self.given = given
        self.n = given.n_single
        self.seen: set[bytes] = set()

    def find(self, columns: Float) -> Cuts:
        """Rows that a point of the program violates, new ones only."""
        d = self.given.at(columns)
        alone = [codes for codes in self._by_themselves(d) if self._is_new(codes)]
        cycles = [codes for codes in self._cycles(np.clip(d, 0.0, 1.0)) if self._is_new(codes)]
        product = np.array([codes[0] >> 1 for codes in alone] + [-1] * len(cycles), np.int64)
        found = [*alone, *cycles]
        upper = np.array([float((codes & 1).sum() - 1) for codes in found])
        return Cuts(self._rows(found), upper, product, self._rules(found))

    def _rules(self, found: list[Int64]) -> Int64:
        """What keeps literals of cycles from being both true."""
        row = np.repeat(np.arange(len(found)), [len(codes) for codes in found])
        edge = np.concatenate([np.zeros(0, np.int64), *found]) >> 1
        excluded = self.given.rule[edge] >= 0
        row, edge = row[excluded], edge[excluded]
        rule, ends = self.given.rule[edge], self.given.ends[edge]
        return np.concatenate([np.stack([row, rule, ends[:, i]], axis=1) for i in (0, 1)])

    def _is_new(self, codes: Int64) -> bool:
        key = np.sort(codes).tobytes()
        if key in self.seen:
            return False
        self.seen.add(key)
        return True

    def _rows(self, found: list[Int64]) -> sparse.csr_matrix:
        from scipy import sparse

        start = np.cumsum([0, *(len(codes) for codes in found)])
        codes = np.concatenate([np.zeros(0, np.int64), *found])
        values = np.where(codes & 1, 1.0, -1.0)
        shape = (len(found), len(self.given.ends))
        return sparse.csr_matrix((values, codes >> 1, start), shape)

    # ------------------------------------------------------------ what differences must obey

    def _by_themselves(self, d: Float) -> list[Int64]:
        """Of two literals and their difference an even number are true; states are `within`."""
        two = self.n + np.flatnonzero(self.given.links[self.n :, 0] >= 0)
        u, v = self.given.ends[two].T
        triples = np.stack([two, u, v], axis=1)
        found = []
        for chosen in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)):
            found.append(_violated(d, triples, np.array(chosen)))
        inside = two[self.given.within[two] >= 0]
        pairs = np.stack([inside, self.given.within[inside]], axis=1)
        found.append(_violated(d, pairs, np.array((1, 0))))
        return [row for part in found for row in part]

    # ------------------------------------------------------------ cycles

    def _cycles(self, d: Float) -> list[Int64]:
        given, n = self.given, self.n
        fraction = (d[:n] > INTEGRAL) & (d[:n] < 1.0 - INTEGRAL)
        two = np.arange(n, n + given.n_two)
        two = two[fraction[given.ends[two]].all(axis=1)]
        unruled = two[given.rule[two] < 0]
        variables = np.arange(n + given.n_two, len(given.ends))
        found = [*self._odd(d, unruled, once=False), *self._odd(d, variables, once=True)]
        # Through constraints only where no other cycle is left: those say more.
        return found or ([] if len(unruled) == len(two) else self._odd(d, two, once=False))

    def _odd(self, d: Float, edges: Int64, once: bool) -> list[Int64]:
        """Cheap odd cycles among some differences; ``once``: with a single one in F."""
        if len(edges) < 2:
            return []
        nodes, ends = np.unique(self.given.ends[edges], return_inverse=True)
        ends = ends.reshape(-1, 2)
        network, own = network_of(len(nodes), ends), d[edges]
        start, codes = _search(network, own, once)
        return [
            2 * edges[part >> 1] + (part & 1) for part in np.split(codes, start[1:-1]) if len(part)
        ]


def _violated(d: Float, sets: Int64, chosen: NDArray[np.int64]) -> list[Int64]:
    """Sets of differences ``[m, size]`` whose row with the ``chosen`` ones in F is violated."""
    value = d[sets] @ np.where(chosen, 1.0, -1.0)
    bad = np.flatnonzero(value > chosen.sum() - 1.0 + LEAST_VIOLATION)
    return list(2 * sets[bad] + chosen)


def _search(network: CycleNetwork, d: Float, once: bool) -> tuple[Int64, Int64]:
    """The cheapest odd cycle through every node, as `odd_cycles` lists them."""
    n = len(network.start) - 1
    start = np.zeros(n + 1, np.int64)
    codes = np.zeros(max(1 << 16, 32 * n), np.int64)
    count = odd_cycles(network, d, np.arange(n), once, 1.0 - LEAST_VIOLATION, start, codes)
    start = start[: count + 1]
    return start, codes[: start[-1]]
