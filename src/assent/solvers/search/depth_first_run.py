"""One depth-first search in progress: calls of the compiled loop, its bound, answer and proof."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.compile_clock import solving_seconds
from assent.kernels.direct.table_scopes import TABULATED
from assent.kernels.problem import DualPoint, Float, Scores
from assent.kernels.search import depth_first_search as kernel
from assent.kernels.search.table_sweeps import Domains, Net, SweepWork
from assent.proof.depth_first_proof import CLOSED, DepthFirstProof, link_scores
from assent.proof.gap_rule import least_and_relative
from assent.result import Result, Status
from assent.solvers.base.outcome import Outcome
from assent.solvers.base.protocol import Request
from assent.solvers.base.stop_reasons import CALLED_OFF, INTERRUPTED, ROUNDING_ONLY, TIME_LIMIT
from assent.solvers.search.table_network import TableLayout, TableNet
from assent.trace import Progress, Trace

# Entries looked at in one call of the kernel, about some milliseconds' worth.
ENTRIES_PER_CALL = 2_000_000
ROUNDS_PER_CALL = 100

# Bytes of messages that are written down at most: a proof is read from them.
MOST_BYTES = 1 << 28

# A bound this close to the value of an answer is no more than rounding, relative to it.
ROUNDING = 1e-11

ROUND_LIMIT = f"Round limit. {Status.STOPPED.value}"
PROOF_TOO_LARGE = f"The proof grew too large. {Status.STOPPED.value}"


class TableRun:
    """What every search over factors as tables has; `Resumable` with what subclasses add.

    Attributes:
        done: work in rounds over all states; rounds over part of them are less than one.
        iterations: how many rounds, or neighbourhoods.
        message: why it is over, or nothing.
    """

    dual = None  # sweeps that were given up are no place to begin at

    def __init__(
        self,
        settings: Any,
        compiled: Compiled,
        scores: GraphScores,
        layout: TableLayout,
        request: Request,
    ) -> None:
        self.settings, self.compiled, self.graph_scores = settings, compiled, scores
        self.layout, self.request = layout, request
        self.scores = compiled.flat_scores(scores)
        self.tables = layout.net(self.scores)
        self.work = scratch(self.tables.net)
        self.trace, self.done, self.iterations, self.message = Trace(), 0.0, 0, ""
        self._begin()

    @abstractmethod
    def _begin(self) -> None:
        """Where the search starts."""

    def go_on(self, until: float = np.inf) -> None:
        """Search until the end, a limit, or ``until`` rounds over all states are done."""
        try:
            while not self.message and self.done < until:
                self._step(until)
        except KeyboardInterrupt:
            self.message = INTERRUPTED

    @abstractmethod
    def _step(self, until: float) -> None:
        """Search a little, and see whether that is the end."""

    @property
    @abstractmethod
    def _best(self) -> tuple[float, NDArray[np.int32]]:
        """The best states ``[V]``, and what they are worth without the constant."""

    @property
    def bound(self) -> float:
        """No assignment is worth more."""
        return np.inf

    @property
    def value(self) -> float:
        """What the best answer is worth."""
        best = self._best[0]
        return best + self.scores.constant if best > self.tables.least else -np.inf

    @property
    def assignment(self) -> NDArray[np.int8] | None:
        """The best answer ``[N]`` for the graph as written, if there is one."""
        return self._assignment() if self.value > -np.inf else None

    def _assignment(self) -> NDArray[np.int8]:
        variables = self.layout.tabulation.variables
        return self.compiled.full(variables.assignment(self._best[1].astype(np.int64)))

    def _record(self) -> Progress:
        seconds, bound = solving_seconds(self.request.started), self.bound
        report = Progress(self.iterations, seconds, bound, max(bound, self.value), self.value)
        return self.trace.add(report)

    def _stated(self, message: str, **more: Any) -> Result:
        """Where the search stands, for the graph as written."""
        return Outcome(
            compiled=self.compiled,
            scores=self.graph_scores,
            assignment=self._assignment(),
            bound=self.bound,
            gap_tolerance=self.settings.gap_tolerance,
            message=message,
            trace=self.trace,
            iterations=self.iterations,
            seconds=solving_seconds(self.request.started),
            **more,
        ).result()


class TableSearch(TableRun):
    """One search in progress."""

    def _begin(self) -> None:
        layout, request = self.layout, self.request
        self.domains = all_states(self.tables.net)
        self.state = start_at(self.tables, self.scores, self.settings.gap_tolerance)
        messages, states = layout.messages, layout.states
        self.log = kernel.Log(np.empty(4 * states + 1024, np.int64), np.empty((8, messages)))
        self.per_call = min(
            max(1.0, ENTRIES_PER_CALL // (layout.round_reads() + 1)), ROUNDS_PER_CALL
        )
        if request.known is not None:
            self.offer(request.known)
        warm = request.warm_start
        self._begin_at(warm.dual if request.dual is None and warm is not None else request.dual)

    # ------------------------------------------------------------ the loop

    def _step(self, until: float) -> None:
        """One call of the kernel, and whether it is the last one."""
        most = np.inf if self.settings.max_rounds is None else self.settings.max_rounds
        share = self._round_share()
        step = int(max(1, min(self.per_call, most - self.iterations, (until - self.done) / share)))
        code = kernel.search(self.tables.net, self.domains, self.state, self.log, self.work, step)
        self.done += share * (self.state.counts[kernel.PLAYED] - self.iterations)
        self.iterations = int(self.state.counts[kernel.PLAYED])
        stop = self.request.report(self._record()) is True
        if self.finished:
            self.message = ROUNDING_ONLY  # if not closed
        elif stop:
            self.message = CALLED_OFF
        elif code != kernel.PAUSED and not self._make_room(code):
            self.message = PROOF_TOO_LARGE
        elif self.iterations >= most:
            self.message = ROUND_LIMIT
        elif time.perf_counter() >= self.request.deadline:
            self.message = TIME_LIMIT

    def _round_share(self) -> float:
        """What a round takes where the search stands, beside one over all states."""
        left = float(self.domains.size.sum()) / self.layout.states
        return self.layout.round_reads(left) / max(1.0, self.layout.round_reads()) or 1.0

    def _make_room(self, code: int) -> bool:
        """Twice as much room for what is short; whether there may be as much."""
        log, state = self.log, self.state
        if code == kernel.TOO_DEEP:
            self.state = deepened(state)
        else:
            self.log = kernel.Log(doubled(log.events), doubled(log.rows))
        return self.state.levels.nbytes + self.log.rows.nbytes <= MOST_BYTES

    def _begin_at(self, dual: DualPoint | None) -> None:
        """Begin with the messages of link scores: any do, and good ones spare rounds."""
        if dual is not None and np.isfinite(dual.joined()).all():
            messages, own = self.layout.messages_of(dual, self.tables.net.theta)
            until = len(messages)
            self.state.point[:until], self.state.point[until : until + len(own)] = messages, own

    def offer(self, assignment: NDArray[np.int8]) -> None:
        """Take an answer ``[N]`` for the graph as written from elsewhere, if it is one."""
        states = self.layout.states_of(assignment[self.compiled.free])
        kernel.take_answer(self.tables.net, self.state, states)

    # ------------------------------------------------------------ where it stands

    @property
    def finished(self) -> bool:
        """Whether all subproblems are closed; noted, as an interrupt may lose the return value."""
        return bool(self.state.counts[kernel.FINISHED])

    @property
    def _best(self) -> tuple[float, NDArray[np.int32]]:
        return float(self.state.figures[kernel.BEST]), self.state.best

    @property
    def bound(self) -> float:
        """No assignment is worth more: the largest of what is closed and of what is open."""
        if self.finished and self.value == -np.inf:
            return -np.inf  # nothing is possible
        open_ = -np.inf if self.finished else self._open_bound
        closed = float(self.state.figures[kernel.CLOSED_BOUND])
        return max(open_, closed) + self.scores.constant

    @property
    def _open_level(self) -> int:
        """The highest node whose second case is still to come; the present one if none is."""
        depth = int(self.state.counts[kernel.DEPTH])
        waiting = np.flatnonzero(self.state.chosen[:depth, kernel.STATE] >= 0)
        return int(waiting[0]) if len(waiting) else depth

    @property
    def _open_bound(self) -> float:
        """That of the highest node with something open: all others are below it."""
        state, level = self.state, self._open_level
        if level < state.counts[kernel.DEPTH]:
            return float(state.bounds[level])
        own = float(state.figures[kernel.BOUND])
        return float(state.bounds[level - 1]) if level and own == np.inf else own

    # ------------------------------------------------------------ the end

    def result(self) -> Result:
        """Where the search stands, for the graph as written."""
        own = {"dual": self._root_dual(), "searched": True, "proof": self._proof()}
        message = self.message or ROUNDING_ONLY
        return self._stated(message, **own)

    @property
    def _root_messages(self) -> Float:
        """Those of the root, when it was branched on."""
        begun = self.state.counts[kernel.NODES] > 0
        point = self.state.levels[0] if begun else self.state.point
        return point[: self.layout.messages]

    def _root_dual(self) -> DualPoint:
        layout, problem = self.layout, self.compiled.problem
        return link_scores(
            problem, self.scores.theta, layout.places, layout.blocks, self._root_messages
        )

    def _proof(self) -> DepthFirstProof:
        """All subproblems; before the end those above the highest node with something open."""
        state, log, layout = self.state, self.log, self.layout
        events = log.events[: state.counts[kernel.EVENTS]]
        rows = log.rows[: state.counts[kernel.ROWS]]
        if not self.finished:
            level, point = self._open_level, state.point
            if level < state.counts[kernel.DEPTH]:
                before, point = state.chosen[level], state.levels[level]
                events = events[: before[kernel.EVENTS_BEFORE]]
                rows = rows[: before[kernel.ROWS_BEFORE]]
            events = np.append(events, [CLOSED, len(rows)])
            rows = np.concatenate([rows, point[None, : layout.messages]])
        return DepthFirstProof(
            self._literals(), layout.places, layout.blocks, events.copy(), rows.copy()
        )

    def _literals(self) -> NDArray[np.int64]:
        """What is true where a variable has some state, ``[S]``."""
        own, free = self.layout.tabulation.variables, self.compiled.free
        place = self.layout.first[own.var_of] + own.state_of
        out = np.empty(self.layout.states, np.int64)
        lone = self.layout.alone[own.var_of]
        out[place] = free
        out[place[lone] - 1] = ~free[lone].astype(np.int64)
        return out


def all_states(net: Net) -> Domains:
    """All states of all variables."""
    states = len(net.theta)
    numbers = (np.arange(states) - np.repeat(net.first[:-1], net.card)).astype(np.int32)
    return Domains(numbers, numbers.copy(), net.card.copy(), np.zeros(states, np.int32))


def scratch(net: Net) -> SweepWork:
    """Scratch for the largest of everything."""
    around = max(1, int(np.diff(net.around_start).max(initial=1)))
    states, slots = int(net.card.max()), int(np.diff(net.start).max(initial=1))
    literals, factors = len(net.scope), len(net.form)
    if (net.form == TABULATED).all():
        literals = factors = 0
    order = np.arange(literals, dtype=np.int32)
    return SweepWork(
        np.zeros((around + 1, states)), np.zeros(states), np.zeros(slots, np.int32),
        np.zeros(around, np.bool_), np.zeros(literals, np.int8), np.zeros(literals),
        np.zeros(literals), np.zeros(literals), order, order.copy(), np.zeros(factors),
        np.zeros(factors), np.zeros(literals, np.int8), np.zeros(factors), np.zeros(factors),
        np.zeros(factors, np.int32), np.zeros(factors, np.int32), np.zeros(factors),
    )  # fmt: skip


def start_at(tables: TableNet, scores: Scores, tolerance: float) -> kernel.SearchState:
    """The root, with no message passed."""
    net = tables.net
    variables, states = len(net.card), len(net.theta)
    point = np.concatenate([np.zeros(int(net.at[-1])), net.theta, np.zeros(variables + 1)])
    figures = np.empty(kernel.FIGURES)
    figures[kernel.BEST] = figures[kernel.LEAST] = tables.least
    least, relative = least_and_relative(0.5 * tolerance, scores.scale)
    figures[kernel.TOLERANCE] = max(relative, ROUNDING)
    figures[kernel.LEAST_GAP] = max(least, ROUNDING * scores.scale)
    figures[kernel.CONSTANT] = scores.constant
    figures[kernel.CLOSED_BOUND], figures[kernel.PROGRESS] = -np.inf, 0.0
    figures[kernel.BOUND] = np.inf
    return kernel.SearchState(
        point, np.empty((4, len(point))), np.empty(4), np.empty((4, kernel.CHOSEN), np.int64),
        np.zeros(states), np.zeros(variables, np.int32), np.zeros(variables, np.int32),
        tables.strengths.copy(), np.zeros(kernel.COUNTS, np.int64), figures,
    )  # fmt: skip


def deepened(state: kernel.SearchState) -> kernel.SearchState:
    """The same with room for nodes twice as deep."""
    levels, bounds, chosen = map(doubled, (state.levels, state.bounds, state.chosen))
    return state._replace(levels=levels, bounds=bounds, chosen=chosen)


def doubled(array: NDArray) -> NDArray:
    """The same with room for as much again."""
    out = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    out[: len(array)] = array
    return out
