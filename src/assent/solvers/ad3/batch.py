"""Many small problems through one compiled loop, shared out among threads.

What a problem needs beside its scores is worked out once and kept as long as the problem is.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from assent.kernels import random_numbers
from assent.kernels.ad3.state import Links, Settings
from assent.kernels.ad3.structure_steps import Models, searcher_of
from assent.kernels.ad3.table_steps import Layout, make_layout
from assent.kernels.batch import batch_loop as kernel
from assent.kernels.batch import instance
from assent.kernels.batch.searched_structures import StructureBatch
from assent.kernels.core import schedule
from assent.kernels.core.memo import remembered
from assent.kernels.core.structure_addresses import function_address
from assent.kernels.problem import STRUCTURE, DualPoint, Float, Int64, Problem, Scores, Tables
from assent.proof.gap_rule import least_and_relative
from assent.proof.rounding_error import is_never_rounded
from assent.solvers.ad3.ad3 import AD3
from assent.solvers.base.protocol import WarmStart
from assent.solvers.base.starting_point import (
    OUT_OF_PROPORTION,
    default_relaxation,
    first_consensus,
    in_proportion,
    link_weights,
)
from assent.solvers.base.thread_plan import all_common

# Links of the problems that stand end to end at a time: a gigabyte of arrays at most.
BUFFER_LINKS = 4_000_000

# Links solved in one compiled call, a few milliseconds: threads then end at about the same time.
CALL_LINKS = 8_000

# Where the penalty stands in an outcome.
PENALTY = instance.BatchOutcome._fields.index("penalty")

# How often the waiting thread looks at the clock, in seconds.
TICK = 0.05


class Job(NamedTuple):
    """A problem to solve: scores, perhaps a point to start from and an assignment ``[n]``.

    Both may stand in the arrays of an earlier run.
    """

    problem: Problem
    scores: Scores
    warm: WarmStart | None = None
    known: NDArray[np.int8] | None = None
    earlier: Place | None = None

    def with_start(self) -> Job:
        """The same with the point and the assignment of the earlier run."""
        if self.earlier is None:
            return self
        buffer, b = self.earlier
        warm = WarmStart(buffer.consensus(b), buffer.dual(b), float(buffer.penalties[b]))
        warm = in_proportion(warm, self.scores)
        return Job(self.problem, self.scores, warm, buffer.assignment(b))


def is_small(problem: Problem) -> bool:
    """Whether the compiled loop takes a problem: not where a structure is written in Python."""
    if not 0 < problem.n_links <= schedule.SMALL_LINKS:
        return False
    return not problem.models or all(is_compiled(model.structure) for model in problem.models)


def is_compiled(structure: Any) -> bool:
    """Whether all functions that the loop calls are compiled."""
    own = structure.kernels().parts
    plain = own is not None and not hasattr(own, "py_func") and not numba.config.DISABLE_JIT
    return structure.kind_code == STRUCTURE and not plain


@dataclass(frozen=True, eq=False)
class Prepared:
    """Arrays of a problem that do not depend on scores."""

    arrays: tuple[NDArray[Any], ...]  # of kernel.Batch: ``pair_var`` to ``capacity``, ``degree``
    weights: tuple[Float, ...]  # ``weight``, ``of_link`` and ``mass``
    tables: Tables  # without the structures
    layout: Layout
    structures: tuple[Any, ...]  # of StructureBatch, with sizes in place of ends
    sizes: tuple[int, ...]  # columns of kernel.Batch.ends
    consensus: Float
    total_weight: float
    alpha: float
    plain: bool  # whether the blockwise kernels take everything


@remembered
def prepare(problem: Problem) -> Prepared:
    """What a problem needs beside its scores; made once."""
    group, link, mass, total = link_weights(problem)
    tables, written = problem.tables, problem.written
    nothing = Scores(np.zeros(problem.n), np.zeros(problem.n_pairs))
    arrays = (
        problem.pair_var, problem.group_kind, problem.group_size, problem.group_count,
        problem.group_link, problem.group_factor, problem.lits, problem.k, problem.weights,
        problem.capacity, problem.degree,
    )  # fmt: skip
    sizes = (
        problem.n, problem.n_pairs, len(problem.group_kind), len(problem.lits), problem.n_logic,
        len(problem.weights), len(problem.capacity), len(written.kind), len(written.states),
        len(tables.lits), int(tables.entry[-1]), len(written.lits), int(written.entry[-1]),
    )  # fmt: skip
    return Prepared(
        arrays, (group, link, mass), written, make_layout(written), _structures_of(problem), sizes,
        first_consensus(problem, nothing), total, default_relaxation(problem), all_common(problem),
    )  # fmt: skip


def _structures_of(problem: Problem) -> tuple[Any, ...]:
    """The fields of a StructureBatch for one problem; sizes in place of ``ends``."""
    searcher, models = searcher_of(problem), problem.models
    own = searcher.models
    sizes = (
        len(models), len(searcher.tables.states), len(searcher.tables.lits), len(own.data),
        len(own.place), len(own.base),
    )  # fmt: skip
    parts, blend = (
        np.array([function_address(model.structure, name) for model in models], np.int64)
        for name in ("parts", "blend")
    )
    return sizes, searcher.tables, own, searcher.layout, searcher.order, parts, blend


@dataclass(frozen=True, eq=False)
class Buffer:
    """Problems that stand end to end, and what came out."""

    batch: kernel.Batch
    tables: Tables | None  # of all problems, if the blockwise kernels do not take everything
    layout: Layout | None
    structures: StructureBatch | None
    over_relaxation: float | None  # that of the solver
    outcomes: Float  # [B, fields of instance.BatchOutcome]
    seconds: Float  # [B] of a processor, the average of the problems in one call
    least_scale: float  # of the scores of a problem

    def __len__(self) -> int:
        return len(self.outcomes)

    @cached_property
    def is_never_rounded(self) -> bool:
        """Whether the bounds of all problems are clear of rounding."""
        return is_never_rounded(
            self.least_scale, self.batch.theta, self.batch.pair, self.batch.table
        )

    @property
    def least_gaps(self) -> Float:
        """``[B]`` by how much answers may fall short beside what is relative to their bounds."""
        return self.batch.numbers[:, kernel.LEAST_GAP]

    def outcome(self, b: int) -> instance.BatchOutcome:
        """How problem ``b`` ended."""
        return instance.BatchOutcome(*self.outcomes[b].tolist())

    @property
    def penalties(self) -> Float:
        """The last ones ``[B]``."""
        return self.outcomes[:, PENALTY]

    def _part(self, values: NDArray[Any], column: int, b: int) -> NDArray[Any]:
        begin, end = self.batch.ends[b : b + 2, column]
        return values[begin:end]

    def assignment(self, b: int) -> NDArray[np.int8]:
        """The best assignment ``[n]``."""
        return self._part(self.batch.x, kernel.COORDINATES, b)

    def consensus(self, b: int) -> Float:
        """The relaxed answer ``[n]``."""
        return self._part(self.batch.p, kernel.COORDINATES, b)

    def dual(self, b: int) -> DualPoint:
        """The dual point of the bound."""
        return DualPoint(
            self._part(self.batch.dual_pair, kernel.PAIRS, b),
            self._part(self.batch.dual_logic, kernel.LINKS, b),
            self._part(self.batch.dual_table, kernel.TABLE_LINKS, b),
        )

    def entry_weights(self, b: int) -> Float:
        """Weights of the table entries in the relaxed answer."""
        return self._part(self.batch.entry_weight, kernel.ENTRIES, b)

    def scores_of_tables(self, b: int) -> Float:
        """The entries of the tables."""
        return self._part(self.batch.table, kernel.ENTRIES, b)


class Place(NamedTuple):
    """Where the outcome of a job stands."""

    buffer: Buffer
    number: int


def solve_jobs(
    jobs: Sequence[Job],
    solver: AD3,
    *,
    threads: int,
    deadline: float,
    seed: int,
    report: Callable[[int], None],
) -> tuple[list[Place], bool]:
    """Solve every job; returns where the outcomes stand, and whether Ctrl-C ended the run.

    ``deadline`` is a time of ``time.perf_counter``; ``report`` receives how many are done.
    What is unfinished then, or when Ctrl-C is pressed, ends with its first report.
    """
    settings = solver.compiled_settings(random_numbers.first_random_state(seed))
    places: list[Place | None] = [None] * len(jobs)
    stop = np.zeros(1, np.int64)
    done = 0
    for numbers in _buffers(jobs):
        work = _Work([jobs[i] for i in numbers], solver, settings, stop)
        before = done
        supervise(work, threads, deadline, lambda more: report(before + more))  # noqa: B023
        for b, i in enumerate(numbers):
            places[i] = Place(work.buffer, b)
        done += len(numbers)
    return places, bool(stop[0] == instance.INTERRUPTED)  # type: ignore[return-value]


def _buffers(jobs: Sequence[Job]) -> Iterator[list[int]]:
    """Jobs that go together: with or without factors outside the fused loop, not too many."""
    plain = [prepare(job.problem).plain for job in jobs]
    for own in sorted(set(plain)):
        numbers: list[int] = []
        links = 0
        for i, job in enumerate(jobs):
            if plain[i] != own:
                continue
            if numbers and links + job.problem.n_links > BUFFER_LINKS:
                yield numbers
                numbers, links = [], 0
            numbers.append(i)
            links += job.problem.n_links
        if numbers:
            yield numbers


class _Work:
    """A buffer and the threads' way through it, a few problems at a time."""

    def __init__(self, jobs: list[Job], solver: AD3, settings: Settings, stop: Int64) -> None:
        before = _buffer_of(jobs)
        if before is None or before.over_relaxation != solver.over_relaxation:
            self.buffer = _lay_out([job.with_start() for job in jobs], solver)
        else:
            self.buffer = _continue(before, jobs, solver)
        self.settings, self.stop = settings, stop
        self.calls = _calls(self.buffer.batch.ends)
        self.number = itertools.count()  # next() is one step, whoever takes it
        self.solved: list[int] = []  # problems of the calls that are over
        self.failures: list[BaseException] = []
        self.over = threading.Event()

    @property
    def done(self) -> int:
        """How many problems are solved."""
        return sum(self.solved)

    def take(self) -> None:
        """Solve until nothing is left to take."""
        try:
            for number in self.number:
                if number >= len(self.calls):
                    return
                self._solve(*self.calls[number])
        except BaseException as error:
            self.failures.append(error)
            self.over.set()

    def _solve(self, first: int, last: int) -> None:
        begun = time.thread_time()
        kernel.solve_range(
            self.buffer.batch, self.buffer.tables, self.buffer.layout, self.buffer.structures,
            self.settings, first, last, self.stop, self.buffer.outcomes,
        )  # fmt: skip
        self.buffer.seconds[first:last] = (time.thread_time() - begun) / (last - first)
        self.solved.append(last - first)
        if len(self.solved) == len(self.calls):
            self.over.set()


def _calls(ends: Int64) -> list[tuple[int, int]]:
    """Ranges of problems with about as many links each."""
    links = 2 * ends[:, kernel.PAIRS] + ends[:, kernel.LINKS] + ends[:, kernel.TABLE_LINKS]
    cuts = np.flatnonzero(np.diff(links[:-1] // CALL_LINKS)) + 1
    return list(itertools.pairwise([0, *cuts.tolist(), len(ends) - 1]))


def supervise(work: _Work, threads: int, deadline: float, report: Callable[[int], None]) -> None:
    """Let threads work, and watch the clock and the keyboard for them."""
    count = 1 if numba.config.DISABLE_JIT else min(threads, len(work.calls))
    helpers = [threading.Thread(target=work.take, daemon=True) for _ in range(count)]
    try:
        for thread in helpers:
            thread.start()
    except KeyboardInterrupt:  # nobody knows who has begun: whatever is left is done here
        work.stop[0] = instance.INTERRUPTED
        work.take()
    # Waiting for an event may be interrupted at any moment; joining a thread may not.
    while not work.over.is_set():
        try:
            work.over.wait(max(0.0, min(TICK, deadline - time.perf_counter())) or TICK)
            report(work.done)
        except KeyboardInterrupt:
            work.stop[0] = instance.INTERRUPTED
        if time.perf_counter() > deadline and work.stop[0] == instance.RUNNING:
            work.stop[0] = instance.TIME_OVER
    if work.failures:
        raise work.failures[0]
    report(work.done)


def _columns(rows: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """Rows of arrays, column by column."""
    return list(zip(*rows, strict=True))


def _join_tables(tables: Sequence[Tables]) -> Tables:
    """The tables of all problems, end to end."""
    return Tables(*map(_joined, _columns(tables)))


def _join_layouts(layouts: Sequence[Layout]) -> Layout:
    """The layouts of all problems, end to end; only the first array is read-only in each."""
    start, *others, no_base, no_scratch = _columns(layouts)
    room, vertex, place, row, runs = map(np.concatenate, others)
    return Layout(_joined(start), room, vertex, place, row, runs, no_base[0], no_scratch[0])


def _join_structures(prepared: Sequence[Any]) -> StructureBatch:
    """The structures of all problems, end to end."""
    sizes, tables, models, layouts, *others = _columns(prepared)
    ends = np.zeros((len(sizes) + 1, len(sizes[0])), np.int64)
    np.cumsum(sizes, axis=0, out=ends[1:])
    columns = _columns(models)
    # As a problem's own: its constants are read-only, addresses and offsets are not.
    own = [
        (_joined if column[0].flags.writeable is False else np.concatenate)(column)
        for column in columns
    ]
    return StructureBatch(
        ends, _join_tables(tables), Models(*own), _join_layouts(layouts),
        *map(np.concatenate, others),
    )  # fmt: skip


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Arrays end to end, as kernels expect a problem's arrays: read-only."""
    out = np.concatenate(parts)
    out.flags.writeable = False
    return out


def _lay_out(jobs: list[Job], solver: AD3) -> Buffer:
    """A buffer of problems that are yet to be solved."""
    prepared = [prepare(job.problem) for job in jobs]
    tables, layout, structures = None, None, None
    if not prepared[0].plain:
        tables = _join_tables([q.tables for q in prepared])
        layout = _join_layouts([q.layout for q in prepared])
        structures = _join_structures([q.structures for q in prepared])
    batch = _assemble(jobs, prepared, solver)
    return _unsolved(batch, (tables, layout, structures), jobs, solver)


def _unsolved(batch: kernel.Batch, outside: Any, jobs: list[Job], solver: AD3) -> Buffer:
    """``outside`` are tables, layout and structures of all problems, or None."""
    count = len(jobs)
    outcomes = np.zeros((count, len(instance.BatchOutcome._fields)))
    least = min(job.scores.scale for job in jobs)
    tables, layout, structures = outside
    return Buffer(
        batch, tables, layout, structures, solver.over_relaxation, outcomes, np.zeros(count), least
    )


def _buffer_of(jobs: Sequence[Job]) -> Buffer | None:
    """The buffer of an earlier run whose problems these are, one after the other.

    Not where multipliers may be out of proportion to the scores, as the penalty tells in no time.
    """
    first = jobs[0].earlier
    if first is None or len(first.buffer) != len(jobs):
        return None
    least = np.array([job.scores.scale for job in jobs])
    if (first.buffer.penalties > OUT_OF_PROPORTION * least).any():
        return None
    for b, job in enumerate(jobs):
        if job.earlier is None or job.earlier.number != b or job.earlier.buffer is not first.buffer:
            return None
    return first.buffer


def _continue(before: Buffer, jobs: list[Job], solver: AD3) -> Buffer:
    """The same problems with new scores: what does not depend on them stays where it is."""
    batch = before.batch
    scores = _columns((job.scores.theta, job.scores.pair, job.scores.table) for job in jobs)
    theta, pair, table = map(np.concatenate, scores)
    table.flags.writeable = False
    numbers = batch.numbers.copy()
    numbers[:, kernel.CONSTANT] = [job.scores.constant for job in jobs]
    numbers[:, kernel.LEAST_GAP] = [
        least_and_relative(solver.gap_tolerance, job.scores.scale)[0] for job in jobs
    ]
    known = np.isfinite(before.penalties) & (before.penalties > 0.0)
    numbers[:, kernel.PENALTY] = solver.penalty or np.where(known, before.penalties, np.nan)
    after = _room(batch.ends)
    everyone = np.ones(len(jobs), np.bool_)
    following = batch._replace(
        numbers=numbers, theta=theta, pair=pair, table=table, warm=everyone, known=everyone,
        warm_pair=batch.dual_pair, warm_logic=batch.dual_logic, warm_table=batch.dual_table,
        p=_decided(batch.p.copy(), batch.degree, theta), x=batch.x.copy(), dual_pair=after.pair,
        dual_logic=after.logic, dual_table=after.table,
        entry_weight=np.zeros_like(batch.entry_weight),
    )  # fmt: skip
    outside = before.tables, before.layout, before.structures
    return _unsolved(following, outside, jobs, solver)


def _decided(p: Float, degree: NDArray[Any], theta: Float) -> Float:
    """Coordinates without links at their best value: nothing ever moves them."""
    alone = degree == 0
    p[alone] = theta[alone] > 0.0
    return p


def _assemble(jobs: list[Job], prepared: list[Prepared], solver: AD3) -> kernel.Batch:
    """All problems end to end."""
    ends = np.zeros((len(jobs) + 1, kernel.COLUMNS), np.int64)
    np.cumsum([q.sizes for q in prepared], axis=0, out=ends[1:])
    arrays = [_joined(column) for column in _columns(q.arrays for q in prepared)]
    group, link, mass = map(np.concatenate, _columns(q.weights for q in prepared))
    scores = _columns((job.scores.theta, job.scores.pair, job.scores.table) for job in jobs)
    theta, pair, table = map(np.concatenate, scores)
    degree = arrays.pop()
    warm = np.array([job.warm is not None for job in jobs])
    known = np.array([job.known is not None for job in jobs])
    p = np.concatenate(
        [
            q.consensus if job.warm is None else job.warm.marginals
            for job, q in zip(jobs, prepared, strict=True)
        ]
    )
    p = _decided(p, degree, theta)
    total = ends[-1]
    x = np.zeros(total[kernel.COORDINATES], np.int8)
    if known.any():
        x = np.concatenate(
            [np.zeros(job.problem.n, np.int8) if job.known is None else job.known for job in jobs]
        )
    numbers = np.array(
        [
            (
                job.scores.constant,
                q.total_weight,
                solver.over_relaxation or q.alpha,
                _penalty(job, solver),
                least_and_relative(solver.gap_tolerance, job.scores.scale)[0],
            )
            for job, q in zip(jobs, prepared, strict=True)
        ],
        np.float64,
    )
    before = _warm_links(jobs, ends) if warm.any() else _room(np.zeros_like(ends))
    after = _room(ends)
    table.flags.writeable = False
    return kernel.Batch(
        ends, numbers, *arrays, group, link, mass, degree, theta, pair, table,  # type: ignore
        _joined([job.problem.tables.lits for job in jobs]),
        warm, before.pair, before.logic, before.table, known, p, x,
        after.pair, after.logic, after.table, np.zeros(total[kernel.ENTRIES]),
    )  # fmt: skip


def _room(ends: Int64) -> Links:
    """Room for the link scores of all problems, end to end."""
    pairs, links, table_links = ends[-1, [kernel.PAIRS, kernel.LINKS, kernel.TABLE_LINKS]].tolist()
    return Links(np.zeros((pairs, 2)), np.zeros(links), np.zeros(table_links))


def _warm_links(jobs: list[Job], ends: Int64) -> Links:
    """Link scores to start from, end to end."""
    out = _room(ends)
    for b, job in enumerate(jobs):
        if job.warm is not None:
            begin, end = ends[b], ends[b + 1]
            out.pair[begin[kernel.PAIRS] : end[kernel.PAIRS]] = job.warm.dual.pair
            out.logic[begin[kernel.LINKS] : end[kernel.LINKS]] = job.warm.dual.logic
            first, last = begin[kernel.TABLE_LINKS], end[kernel.TABLE_LINKS]
            out.table[first:last] = job.warm.dual.table
    return out


def _penalty(job: Job, solver: AD3) -> float:
    """The penalty to start with; NaN where the scores decide."""
    if solver.penalty:
        return solver.penalty
    if job.warm is not None and np.isfinite(job.warm.penalty) and job.warm.penalty > 0.0:
        return job.warm.penalty
    return np.nan
