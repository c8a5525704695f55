"""Answers in order of their value, by partitioning (Lawler 1972).

The best answer of a cell splits what else is in the cell: agree with it on the first variables,
differ on the next.  Every part is a cell whose best answer is found by a search of its own, from
where the search of the whole cell began, and only once no other cell can hold a better one.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assent.compile.closure import Closure
from assent.kernels.problem import Float, Int64
from assent.proof.field_checks import Known
from assent.proof.proof_tree import Listed, Refuted, Split
from assent.solvers.search.best_first import BestFirstSearch
from assent.solvers.search.search_node import Start


@dataclass(eq=False)
class Cell:
    """A part of all assignments: those that agree with ``known[N]``.

    ``bound`` is what ``fallback`` proves of it; once it is searched, ``search`` holds its answer
    and proof.  Once the answer is given, it has branches "this literal, or not" along it.
    """

    known: Known
    bound: float
    start: Start | None
    fallback: Any = None
    search: BestFirstSearch | None = None
    branches: list[tuple[int, Cell | None]] = field(default_factory=list)
    answer: Known | None = None

    def proof(self, coordinates: Int64) -> Any:
        """The bound of what is left of the cell."""
        if self.answer is None:
            if self.search is None or self.search.bound > self.bound:  # it stopped early
                return self.fallback
            return self.search.proof()
        proof: Any = Listed(coordinates, self.answer)
        for literal, cell in reversed(self.branches):
            other = Refuted() if cell is None else cell.proof(coordinates)
            proof = Split(((literal,), (~literal,)), (proof, other))
        return proof


class Partition:
    """Cells of a graph's assignments, best first.

    Args:
        closure: of the graph.
        coordinates: answers are different if they differ in these.
        search: makes a search of a cell, from its known values and where to start.
    """

    def __init__(
        self,
        closure: Closure,
        coordinates: Int64,
        search: Callable[[Known, Start | None], BestFirstSearch],
    ) -> None:
        self.closure, self.coordinates, self.new_search = closure, coordinates, search
        self._count = itertools.count()
        self._waiting: list[tuple[float, int, Cell]] = []
        self.latest: Cell | None = None  # the one searched last, perhaps not to its end
        known = closure.extend(closure.start, ())
        self.root = None if known is None else Cell(known, np.inf, None)
        if self.root is not None:
            self._add(self.root)

    def _add(self, cell: Cell) -> None:
        heapq.heappush(self._waiting, (-cell.bound, next(self._count), cell))

    @property
    def bound(self) -> float:
        """No answer that is not given yet is worth more."""
        return -self._waiting[0][0] if self._waiting else -np.inf

    def proof(self) -> Any:
        """The proof of the bound."""
        return Refuted() if self.root is None else self.root.proof(self.coordinates)

    def best(self) -> Cell | None:
        """The cell of the next answer, which stays where it is; None if there are no more.

        A search that was stopped ends it: its cell is returned as it is.
        """
        while self._waiting:
            cell = self._waiting[0][2]
            if cell.search is not None:
                return cell
            cell.search, self.latest = self.new_search(cell.known, cell.start), cell
            try:
                cell.search.run()
            finally:
                heapq.heappop(self._waiting)
                cell.bound = min(cell.bound, cell.search.bound)
                if cell.bound > -np.inf:
                    self._add(cell)
            if not cell.search.finished():
                return cell
        return None

    def give(self, cell: Cell) -> None:
        """Count the answer of the best cell as given: the rest of the cell is split along it."""
        heapq.heappop(self._waiting)
        assert cell.search is not None and cell.search.incumbent.assignment is not None
        answer = cell.search.incumbent.assignment
        losses = self._losses(cell.search)
        whole, known = cell.proof(self.coordinates), cell.known
        root = cell.search.root
        assert root is not None
        for place in self._order(answer, losses):
            if known[place] != -1:
                continue
            literal = place if answer[place] == 1 else ~place
            rest = self.closure.extend(known, (~literal,))
            part = None
            if rest is not None:
                without = root.bound - float(losses[place, 1 - answer[place]])
                bound, proof = min((cell.bound, whole), (without, root.leaf()), key=lambda b: b[0])
                part = Cell(rest, bound, root.start(), proof)
                self._add(part)
            cell.branches.append((literal, part))
            more = self.closure.extend(known, (literal,))
            assert more is not None, "an answer agrees with itself"
            known = more
        cell.answer = answer

    def _losses(self, search: BestFirstSearch) -> Float:
        """What the bound of a cell's root loses by each decision, ``[N, 2]``; 0 if not known."""
        out = np.zeros((len(self.closure.start), 2))
        assert search.root is not None
        own = search.root.losses() if search.root.problem.n_links else None
        if own is not None:
            out[search.root.compiled.free] = own
        return out

    def _order(self, answer: Known, losses: Float) -> list[int]:
        """Cheap decisions first: later cells are small then.  A chosen state before the others."""
        places = self.coordinates
        cost = losses[places, 1 - answer[places]]
        return places[np.lexsort((cost, answer[places] == 0))].tolist()
