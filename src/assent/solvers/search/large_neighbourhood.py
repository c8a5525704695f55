"""Large-neighbourhood search: an answer is improved by deciding some of its variables anew.

Variables near each other are opened, all others stay as they are, and what is open is searched
depth first for something better (Shaw, 1998).  A search that ends in time makes the next
neighbourhood larger, one that does not makes it smaller.  An answer that breaks constraints is
improved in the same way: what is forbidden counts as worse than anything that is not.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.errors import ModelError
from assent.kernels.core.schedule import is_better
from assent.kernels.problem import Int64
from assent.kernels.random_numbers import first_random_state
from assent.kernels.search import depth_first_search as kernel
from assent.kernels.search import neighbourhood as part_kernel
from assent.kernels.search.table_answers import worth
from assent.kernels.search.table_sweeps import Domains, Net, SweepWork
from assent.result import Result, Status
from assent.solvers.base.protocol import GraphSolver, Request
from assent.solvers.base.settings import check_tolerance
from assent.solvers.base.stop_reasons import CALLED_OFF, TIME_LIMIT
from assent.solvers.search.depth_first_run import (
    ENTRIES_PER_CALL,
    TableRun,
    all_states,
    deepened,
    start_at,
)
from assent.solvers.search.independent_parts import INTEGRALITY_TOLERANCE
from assent.solvers.search.table_network import SLOT_READS, TableNet, layout_of

# Variables that are open first, and by how much more or fewer are next time.
FIRST, CHANGE = 20, 1.2
# Rounds after which a search is given up; from 10 to 100 do equally well.
MOST_ROUNDS = 20

SEARCHED = f"All variables together have no better answer. {Status.STOPPED.value}"


@dataclass(frozen=True)
class LargeNeighbourhood(GraphSolver):
    """Improve an answer by deciding neighbourhoods of variables anew; it gives no bound.

    It ends only once all variables together were searched.  Where a relaxed answer is known,
    neighbourhoods are grown from the variables in which the answer differs from it.

    Attributes:
        gap_tolerance: relative gap at which an answer counts as optimal.
    """

    gap_tolerance: float = 1e-6

    def __post_init__(self) -> None:
        check_tolerance("gap_tolerance", self.gap_tolerance)

    def begin(
        self, compiled: Compiled, graph_scores: GraphScores, request: Request
    ) -> NeighbourhoodSearch:
        """A search before its first neighbourhood."""
        layout = layout_of(compiled.problem)
        if isinstance(layout, str):
            raise ModelError(f"neighbourhoods of this graph cannot be searched: {layout}")
        return NeighbourhoodSearch(self, compiled, graph_scores, layout, request)


class NeighbourhoodSearch(TableRun):
    """One such search in progress; `Resumable`.

    What is ``done`` counts in rounds over as many variables as neighbourhoods are grown from: the
    fewer there are, the less there is to do.
    """

    def _begin(self) -> None:
        layout, request = self.layout, self.request
        self.part = _room(self.tables.net)
        self.x = np.zeros(len(layout.card), np.int32)
        self.best = -np.inf  # what x is worth, without the constant
        self.random_state = first_random_state(request.seed)
        self.order = np.random.default_rng(request.seed).permutation(self._centres())
        share = len(self.order) / len(layout.card)
        self.round_reads = max(1.0, share * layout.round_reads())
        self.size = float(FIRST)
        self.reported = 0.0
        if request.known is not None:
            self.offer(request.known)
        else:
            self._take(_best_alone(self.tables.net))

    def _centres(self) -> Int64:
        """Variables that neighbourhoods are grown from (as Danna, Rothberg and Le Pape, 2005)."""
        relaxed, known = self.request.relaxed, self.request.known
        every = np.arange(len(self.layout.card), dtype=np.int64)
        if relaxed is None or known is None:
            return every
        differs = np.abs(relaxed - known)[self.compiled.free] > INTEGRALITY_TOLERANCE
        found = np.unique(self.layout.tabulation.variables.var_of[differs]).astype(np.int64)
        return found if len(found) else every

    # ------------------------------------------------------------ the loop

    def _step(self, until: float) -> None:
        """Search one neighbourhood, and see whether that is the last one."""
        before = self.best
        self._search(int(self.order[self.iterations % len(self.order)]))
        self.iterations += 1
        stop = False
        if self.best > before or self._reads(self.done - self.reported) > ENTRIES_PER_CALL:
            stop, self.reported = self.request.report(self._record()) is True, self.done
        if stop:
            self.message = CALLED_OFF
        elif time.perf_counter() >= self.request.deadline:
            self.message = TIME_LIMIT

    def _search(self, centre: int) -> None:
        """Decide the neighbourhood of a variable anew; the better answer stays."""
        most = min(int(self.size), len(self.x))
        count, self.random_state = part_kernel.grow(
            self.tables.net, self.part, centre, most, self.random_state
        )
        part_kernel.restrict(self.tables.net, self.x, self.part, count)
        net, domains = _written(self.part)
        members = self.part.variables[: len(net.card)]
        x = self.part.x[: len(net.card)]
        own = TableNet(net, -np.inf, self.tables.strengths[members])
        state = start_at(own, self.scores, self.settings.gap_tolerance)
        kernel.take_answer(net, state, x)
        before = state.figures[kernel.BEST]
        state.figures[kernel.CONSTANT] += self.best - before
        finished, state = self._search_rounds(net, domains, state)
        if finished and count == len(self.x):
            self.message = SEARCHED
        self.size = self.size * CHANGE if finished else max(self.size / CHANGE, 2.0)
        self.size = min(self.size, float(len(self.x)))
        if is_better(state.figures[kernel.BEST], before):
            states = self.x.copy()
            states[members] = state.best
            self._take(states)

    def _search_rounds(
        self, net: Net, domains: Domains, state: kernel.SearchState
    ) -> tuple[bool, kernel.SearchState]:
        """Search a neighbourhood; whether all of it was, and where the search stands."""
        sizes = self.part.sizes
        reads = SLOT_READS * sizes[part_kernel.SLOTS] + 3 * sizes[part_kernel.ENTRIES] + 1
        per_call = int(max(1, ENTRIES_PER_CALL // reads))
        log = kernel.Log(np.empty(4 * len(net.theta) + 1024, np.int64), np.empty((8, net.at[-1])))
        work = _narrowed(self.work, net, int(sizes[part_kernel.LITERALS]))
        finished = False
        while not finished and state.counts[kernel.PLAYED] < MOST_ROUNDS:
            most = min(per_call, MOST_ROUNDS - state.counts[kernel.PLAYED])
            code = kernel.search(net, domains, state, log, work, most)
            finished = code == kernel.DONE
            if code == kernel.LOG_FULL:  # nobody reads it
                state.counts[kernel.EVENTS] = state.counts[kernel.ROWS] = 0
            elif code == kernel.TOO_DEEP:
                state = deepened(state)
            elif time.perf_counter() >= self.request.deadline:
                break
        rounds = 1 + state.counts[kernel.PLAYED]  # it takes one to write it down
        self.done += float(rounds * reads) / self.round_reads
        return finished, state

    def _reads(self, done: float) -> float:
        return done * self.round_reads

    def _take(self, states: NDArray[np.int32]) -> None:
        """Take states ``[V]`` if they are worth more."""
        value = float(worth(self.tables.net, states))
        if value > self.best:
            self.best, self.x = value, states

    def offer(self, assignment: NDArray[np.int8]) -> None:
        """Take an answer ``[N]`` for the graph as written from elsewhere, if it is better."""
        self._take(self.layout.states_of(assignment[self.compiled.free]))

    # ------------------------------------------------------------ where it stands

    @property
    def _best(self) -> tuple[float, NDArray[np.int32]]:
        return self.best, self.x

    def result(self) -> Result:
        """The answer, for the graph as written."""
        return self._stated(self.message)


def _best_alone(net: Net) -> NDArray[np.int32]:
    """The states ``[V]`` that variables would have by their own scores."""
    best = np.repeat(np.maximum.reduceat(net.theta, net.first[:-1]), net.card)
    places = np.flatnonzero(net.theta == best)
    variable = np.searchsorted(net.first, places, side="right") - 1
    _, first = np.unique(variable, return_index=True)
    return np.asarray(places[first] - net.first[:-1], np.int32)


def _room(net: Net) -> part_kernel.NeighbourhoodPart:
    """Room for as much as the whole net; entries of tables stay where they are."""
    variables, factors = len(net.card), len(net.form)
    return part_kernel.NeighbourhoodPart(
        Net(*(np.empty_like(array) for array in net))._replace(table=net.table),
        all_states(net),
        np.zeros(variables, np.int32),
        np.zeros(variables, np.int32),
        np.zeros(variables, np.int32),
        np.zeros(variables, np.int8),
        np.zeros(variables, np.int32),
        np.zeros(factors, np.int32),
        np.zeros(factors, np.bool_),
        np.zeros(variables, np.int64),
        np.zeros(part_kernel.SIZES, np.int64),
    )


def _written(part: part_kernel.NeighbourhoodPart) -> tuple[Net, Domains]:
    """As much of the room as is written."""
    n, states, factors, slots = (int(size) for size in part.sizes[:4])
    lengths = (
        n, n + 1, states, factors + 1, slots, slots, slots, factors + 1, None, slots + 1, slots,
        slots, factors, factors, slots, slots, slots, n + 1, slots, n,
    )  # fmt: skip
    net = Net(*(array[:length] for array, length in zip(part.net, lengths, strict=True)))
    own = part.domains
    return net, Domains(own.states[:states], own.place[:states], own.size[:n], own.trail[:states])


def _narrowed(work: SweepWork, net: Net, literals: int) -> SweepWork:
    """The scratch that a smaller net uses; nothing of constraints where there are none."""
    slots, factors = (len(net.scope), len(net.form)) if literals else (0, 0)
    lengths = (None,) * 4 + (slots,) * 6 + (factors,) * 2 + (slots,) + (factors,) * 5
    own = SweepWork(*(array[:length] for array, length in zip(work, lengths, strict=True)))
    order = np.arange(slots, dtype=np.int32)
    return own._replace(order=order, rank=order.copy())
