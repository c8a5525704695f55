"""`decode_many`: many graphs, or one graph under many scores, in one call."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from assent.arguments import shown
from assent.compile.compiled import Compiled, GraphScores, compile_graph, graph_scores
from assent.compile.score_rows import ScoreRows, flat_row, flat_rows, score_rows
from assent.decode import (
    asked_for,
    check_changes,
    check_result,
    check_settings,
    check_solver,
    choose_solver,
    compiled_for,
    warm_start_of,
)
from assent.errors import ModelError, RecompileWarning
from assent.model.graph import FactorGraph
from assent.result import Result, Status, WarmStartPoint
from assent.result_list import Results

if TYPE_CHECKING:
    from assent.solvers.base.protocol import Solver, WarmStart
    from assent.solvers.direct.independent_factors_batch import IndependentAnswers


# What a problem has left of a time limit that is over, in seconds: a first report.
LEAST_TIME = 1e-9


def decode_many(
    graphs: FactorGraph | Iterable[FactorGraph],
    solver: Solver | None = None,
    *,
    exact: bool = False,
    scores: Mapping[Any, Any] | Sequence[Mapping[Any, Any] | None] | None = None,
    warm_start: Results | Result | Sequence[Result] | None = None,
    time_limit: float | None = None,
    threads: int = 1,
    progress: bool = False,
    seed: int = 0,
) -> Results:
    """The best consistent answers to many graphs, each with its bound, as `decode` gives them.

    Small problems (up to 20,000 links) go through one compiled loop of AD3, in which each stops for
    its own reason, and structures such as `Chain` that share no variable through another; a
    problem's answer does not depend on the others or on the number of threads.  What these leave
    open, large problems, and those with structures written in Python are decoded one after the
    other, as `decode` does it.

    Args:
        graphs: a list of graphs, of a `Template` for instance; or one graph, with ``scores``.
        solver: settings such as ``AD3(gap_tolerance=1e-4)``, for all problems; by default `Auto`.
        exact: go on until every answer is proven optimal, around the solver if one is given.
        scores: for one graph, new scores with a leading batch axis, ``{x: array[B, …]}``; for
            a list of graphs, a list of what `decode` takes, one item per graph.
        warm_start: earlier results to start from, one per problem; or a single result, for all.
        time_limit: seconds for all problems together; what is unfinished then is STOPPED with
            the best so far.  Ctrl-C does the same.
        threads: how many work at the same time.
        progress: show how many are done, as `decode` does.
        seed: for the perturbed roundings tried at the end while a gap remains.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, name="x")
        >>> rule = g.add(at.AtMost(2, x))
        >>> results = at.decode_many(g, scores={x: [[2.0, 1.0, 3.0], [-1.0, 1.0, 0.5]]})
        >>> results[x].tolist(), [s.name for s in results.statuses]
        ([[1, 0, 1], [0, 1, 1]], ['OPTIMAL', 'OPTIMAL'])
    """
    started = time.perf_counter()
    from assent.solvers.base.settings import check_count

    check_settings(time_limit, None, None, seed, progress)
    if solver is not None:  # scores in its place are told so, before their absence is
        check_solver(solver)
    check_count("threads", threads)
    tasks, one = _tasks(graphs, scores)
    _start_from(tasks, warm_start)
    run = _Run(
        tasks, solver, exact, int(threads), int(seed), started,
        np.inf if time_limit is None else started + float(time_limit),
    )  # fmt: skip
    display = _display(progress, len(tasks))
    with display or nullcontext():
        run.solve(display.show if display is not None else lambda done: None)
    return run.results(one)


def _seconds(started: float) -> float:
    """Time since then, without that spent compiling."""
    from assent.kernels.compile_clock import solving_seconds

    return solving_seconds(started)


@dataclass
class Task:
    """One problem of the batch."""

    compiled: Compiled
    own: GraphScores
    warm: WarmStart | None = None
    known: NDArray[np.int8] | None = None  # an assignment [N]
    earlier: Any = None  # in place of the last two: where an earlier run has left them


class RowTasks(Sequence[Task]):
    """The problems of one compiled graph under many scores, each made when it is asked for."""

    def __init__(self, compiled: Compiled, rows: ScoreRows) -> None:
        self.compiled, self.rows = compiled, rows
        self._made: dict[int, Task] = {}

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, number: int) -> Task: ...

    @overload
    def __getitem__(self, number: slice) -> list[Task]: ...

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        if number not in self._made:
            self._made[number] = Task(self.compiled, self.rows[number])
        return self._made[number]

    def __iter__(self) -> Iterator[Task]:
        return (self[number] for number in range(len(self)))


class IndependentAnswer(NamedTuple):
    """The optimum of a problem whose structures share no variable."""

    value: float
    x: NDArray[np.int8]  # [n]


# ---------------------------------------------------------------- what to decode


def _tasks(graphs: Any, scores: Any) -> tuple[Sequence[Task], FactorGraph | None]:
    """The problems, and their graph if it is one."""
    if isinstance(graphs, FactorGraph):
        if not isinstance(scores, Mapping) or not scores:
            raise TypeError(
                "one graph is decoded many times under scores={x: array[B, …]} with a leading "
                f"batch axis, got {shown(scores)}; decode(graph) decodes it once"
            )
        return _rows_of(graphs, scores), graphs
    try:
        listed = None if isinstance(graphs, (str, bytes, Mapping)) else list(graphs)
    except TypeError:
        listed = None
    if listed is None:
        raise TypeError(f"decode_many takes a FactorGraph or a list of them, got {shown(graphs)}")
    for number, graph in enumerate(listed):
        if not isinstance(graph, FactorGraph):
            raise TypeError(f"decode_many takes FactorGraphs; number {number} is {shown(graph)}")
    if scores is None:
        changes: list[Any] = [None] * len(listed)
    elif isinstance(scores, (Mapping, str)) or not isinstance(scores, Sequence):
        raise TypeError(
            "for a list of graphs, scores is a list of dicts, one per graph (or None), "
            f"got {type(scores).__name__}"
        )
    else:
        changes = list(scores)
    if len(changes) != len(listed):
        raise ModelError(f"there are {len(listed)} graphs, but scores for {len(changes)}")
    tasks = []
    for number, (graph, change) in enumerate(zip(listed, changes, strict=True)):
        try:
            check_changes(change)
            own = graph_scores(graph, change)
        except (KeyError, ModelError, TypeError) as error:
            error.add_note(f"in the scores of problem {number}")
            raise
        tasks.append(Task(compiled_for(graph, own), own))
    return tasks, None


def _rows_of(graph: FactorGraph, scores: Mapping[Any, Any]) -> Sequence[Task]:
    """One graph under many scores, compiled once per pattern of what they forbid."""
    rows = score_rows(graph, scores)
    by_pattern: dict[Any, list[int]] = {}
    if rows.forbids_more:
        for b, row in enumerate(rows):
            by_pattern.setdefault(_pattern(row), []).append(b)
    elif len(rows):
        if graph.compile().forbids.same_as(rows.forbids()):
            return RowTasks(graph.compile(), rows)
        by_pattern[()] = list(range(len(rows)))
    tasks: list[Task | None] = [None] * len(rows)
    warned = False
    for numbers in by_pattern.values():
        first = rows[numbers[0]]
        compiled = graph.compile()
        if not compiled.forbids.same_as(first.forbids()):
            if not warned:
                warnings.warn(
                    "some scores forbid (-inf) other values than the graph's own: compiled again",
                    RecompileWarning,
                    stacklevel=4,
                )
                warned = True
            compiled = compile_graph(graph, first)
        for b in numbers:
            tasks[b] = Task(compiled, rows[b])
    return tasks  # type: ignore[return-value]


def _pattern(row: GraphScores) -> Any:
    """A key for where scores are ``-inf``."""
    forbids = row.forbids()
    return tuple(places.tobytes() for places in (forbids.theta, *forbids.factors))


def _start_from(tasks: Sequence[Task], before: Any) -> None:
    """Give every problem the earlier result it starts from."""
    if before is None:
        return
    if isinstance(before, Results):
        _check_count(len(before), len(tasks))
        for number, task in enumerate(tasks):
            task.earlier = before.run.place(number, task.compiled)
            if task.earlier is None:
                _start_at(task, before.run.warm_start_point(number))
        return
    if isinstance(before, Result):
        points: list[WarmStartPoint | None] = [before.warm_start_point()] * len(tasks)
    elif isinstance(before, Sequence) and not isinstance(before, str):
        points = [None if r is None else check_result(r).warm_start_point() for r in before]
    else:
        raise TypeError(f"warm_start is earlier results, or a single one for all, got {before!r}")
    _check_count(len(points), len(tasks))
    for task, point in zip(tasks, points, strict=True):
        if point is not None:
            _start_at(task, point)


def _check_count(results: int, problems: int) -> None:
    if results != problems:
        raise ModelError(f"warm_start has {results} results for {problems} problems")


def _start_at(task: Task, point: WarmStartPoint) -> None:
    task.warm = warm_start_of(point, task.compiled)
    task.known = point.assignment


# ---------------------------------------------------------------- the run


class _Run:
    """A batch in progress."""

    def __init__(
        self, tasks: Sequence[Task], solver: Solver | None, exact: bool, threads: int, seed: int,
        started: float, deadline: float,
    ) -> None:  # fmt: skip
        self.tasks, self.threads, self.seed = tasks, threads, seed
        self.solver: Any = choose_solver(asked_for(solver, exact), None)
        self.batched = _batched(self.solver, solver)
        self.started, self.deadline = started, deadline
        self.places: dict[int, Any] = {}  # outcomes of the compiled loop
        self.independent: dict[int, IndependentAnswer] = {}  # optima of structures by themselves
        self.together: IndependentAnswers | None = None  # the same of all problems, of one graph
        self.finished: dict[int, Result] = {}  # of the driver
        self.seconds = 0.0
        self.stated: tuple[Any, Any, list[Status]]  # values, bounds and statuses, at the end

    def solve(self, report: Callable[[int], None]) -> None:
        """Small problems first, in one go, then the others one by one."""
        from assent.solvers.ad3.batch import Job, solve_jobs
        from assent.solvers.auto.auto import Auto
        from assent.solvers.base.stop_reasons import INTERRUPTED

        interrupted = self._solve_together(report)
        if self.together is not None:
            self.seconds = _seconds(self.started)
            return
        small = [] if interrupted else self._small()
        if small:
            jobs = [Job(*self._job(self.tasks[number])) for number in small]
            places, interrupted = solve_jobs(
                jobs, self.batched, threads=self.threads, deadline=self.deadline, seed=self.seed,
                report=report,
            )  # fmt: skip
            self.places = dict(zip(small, places, strict=True))
            for number in self._rounded():  # what is claimed of them has to be replayed
                del self.places[number]
            if self.solver is not self.batched:
                for number in self._open():
                    self.tasks[number].earlier = self.places.pop(number)
        if not interrupted and isinstance(self.solver, Auto):
            interrupted = self._solve_independent(report)
        for number, task in enumerate(self.tasks):
            if number not in self.places and number not in self.independent:
                try:
                    result = self._drive(task, interrupted)
                except KeyboardInterrupt:  # before there was anything to tell
                    interrupted = True
                    result = self._drive(task, interrupted)
                interrupted = interrupted or result.message == INTERRUPTED
                self.finished[number] = result
                report(len(self.places) + len(self.independent) + len(self.finished))
        for task in self.tasks:  # results of results of … would otherwise all be kept
            task.warm = task.known = task.earlier = None
        self.seconds = _seconds(self.started)

    def _solve_together(self, report: Callable[[int], None]) -> bool:
        """One graph whose structures share no variable, all at once; whether Ctrl-C ended that."""
        from assent.solvers.auto.auto import Auto
        from assent.solvers.direct.independent_factors_batch import (
            is_clear,
            solve_independent,
            takes_rows,
        )

        tasks = self.tasks
        if not isinstance(tasks, RowTasks) or tasks.rows.factors or tasks.compiled.conflict:
            return False
        problem = tasks.compiled.problem
        if not isinstance(self.solver, Auto) or not takes_rows(problem):
            return False
        rows = flat_rows(tasks.compiled, tasks.rows)
        try:
            found = solve_independent(problem, rows, self.threads, self.deadline)
        except KeyboardInterrupt:
            return True
        if len(found.values) < len(tasks) or not np.isfinite(found.values).all():
            return False
        least = float(np.abs(found.values).min())
        if is_clear(rows, least) or is_clear(rows, min(tasks.rows.scales)):
            self.together = found
            report(len(tasks))
        return False

    def _small(self) -> list[int]:
        """Problems that go through the compiled loop of AD3."""
        from assent.solvers.ad3.batch import is_small
        from assent.solvers.base.score_units import unit_of
        from assent.solvers.direct.independent_factors_batch import takes_rows

        found: list[int] = []
        if self.batched is None:
            return found
        is_only_loop = self.solver is self.batched
        for number, task in enumerate(self.tasks):
            problem = task.compiled.problem
            ready = task.compiled.conflict is None and unit_of(task.own) == 1.0
            if ready and is_small(problem) and (is_only_loop or not takes_rows(problem)):
                found.append(number)
        return found

    def _solve_independent(self, report: Callable[[int], None]) -> bool:
        """Structures that share no variable, in compiled rows; whether Ctrl-C ended that."""
        from assent.proof.rounding_error import rounding_matters
        from assent.solvers.direct.independent_factors_batch import (
            is_clear,
            solve_independent,
            stack_rows,
            takes_rows,
        )

        by_problem: dict[Any, list[int]] = {}
        for number, task in enumerate(self.tasks):
            if task.compiled.conflict is None and number not in self.places:
                by_problem.setdefault(task.compiled.problem, []).append(number)
        try:
            for problem, numbers in by_problem.items():
                if len(numbers) == 1 or not takes_rows(problem):
                    continue
                left = iter(numbers)
                scores = [flat_row(self.tasks[i].compiled, self.tasks[i].own) for i in numbers]
                least = min(own.scale for own in scores)
                for rows in stack_rows(scores):
                    found = solve_independent(problem, rows, self.threads, self.deadline)
                    clear = is_clear(rows, least)
                    same = [next(left) for _ in rows.theta]
                    for number, value, x in zip(same, *found, strict=False):
                        own = self.tasks[number].own
                        if np.isfinite(value) and (clear or not rounding_matters(value, own)):
                            self.independent[number] = IndependentAnswer(float(value), x)
                report(len(self.places) + len(self.independent))
        except KeyboardInterrupt:
            return True
        return False

    def _rounded(self) -> list[int]:
        """Problems in which large scores cancel each other."""
        from assent.proof.rounding_error import rounding_matters

        found = []
        for number, (buffer, b) in self.places.items():
            if not buffer.is_never_rounded:
                outcome = buffer.outcome(b)
                claim = min(abs(outcome.bound), abs(outcome.value))
                if rounding_matters(claim, self.tasks[number].own):
                    found.append(number)
        return found

    def _open(self) -> list[int]:
        """Problems that the compiled loop has not solved, though there was time."""
        from assent.kernels.batch.instance import INTERRUPTED, TIME_OVER
        from assent.solvers.ad3.batch_results import figures

        found, numbers = [], list(self.places)
        told = figures([self.places[number] for number in numbers], self.batched)
        for number, status in zip(numbers, told.statuses, strict=True):
            buffer, b = self.places[number]
            proven = status in (Status.OPTIMAL, Status.INFEASIBLE)
            if not proven and buffer.outcome(b).ending not in (TIME_OVER, INTERRUPTED):
                found.append(number)
        return found

    def _job(self, task: Task) -> tuple[Any, ...]:
        from assent.solvers.base.starting_point import in_proportion

        compiled = task.compiled
        known = None if task.known is None else task.known[compiled.free]
        flat = flat_row(compiled, task.own)
        warm = None if task.warm is None else in_proportion(task.warm, flat)
        return compiled.problem, flat, warm, known, task.earlier

    def _drive(self, task: Task, interrupted: bool) -> Result:
        """Decode one problem by itself; after an interrupt only its first report is waited for."""
        from assent.solvers.ad3.batch_results import warm_start_point
        from assent.solvers.base.driver import drive
        from assent.solvers.base.protocol import Request
        from assent.solvers.base.stop_reasons import CALLED_OFF, INTERRUPTED

        if task.earlier is not None:
            _start_at(task, warm_start_point(task.compiled, task.earlier, Status.STOPPED))
        begun = time.perf_counter()
        left = None if self.deadline == np.inf else max(LEAST_TIME, self.deadline - begun)
        request = Request(
            started=begun,
            time_limit=left,
            report=lambda step: interrupted,
            seed=self.seed,
            warm_start=task.warm,
            known=task.known,
        )
        result = drive(task.compiled, task.own, choose_solver(self.solver, left), request)
        if interrupted and result.message == CALLED_OFF:
            return replace(result, message=INTERRUPTED)
        return result

    def results(self, graph: FactorGraph | None) -> Results:
        """What came out, arrays first; a `Result` is made when somebody asks for it."""
        from assent.solvers.ad3.batch_results import figures

        count = len(self.tasks)
        values, bounds = np.empty(count), np.empty(count)
        iterations = np.empty(count, np.int64)
        statuses: list[Any] = [None] * count
        numbers = list(self.places)
        if numbers:
            told = figures([self.places[i] for i in numbers], self.batched)
            values[numbers], bounds[numbers] = told.values, told.bounds
            iterations[numbers] = told.iterations
            for i, status in zip(numbers, told.statuses, strict=True):
                statuses[i] = status
        if self.together is not None:
            values[:] = bounds[:] = self.together.values
            statuses, iterations = [Status.OPTIMAL] * count, np.ones(count, np.int64)
        for i, answer in self.independent.items():
            values[i] = bounds[i] = answer.value
            statuses[i], iterations[i] = Status.OPTIMAL, 1
        for i, result in self.finished.items():
            values[i], bounds[i], iterations[i] = result.value, result.bound, result.iterations
            statuses[i] = result.status
        self.stated = values, bounds, statuses
        return Results(graph, values, bounds, statuses, iterations, self.seconds, self)

    # ------------------------------------------------------------ what `Results` asks for

    def result(self, number: int) -> Result:
        """The result of a problem, made anew."""
        from assent.solvers.ad3.batch_results import restate

        # One step is quicker than to keep what a result has.
        if self._independent_x(number) is not None:
            self.finished.setdefault(number, self._drive(self.tasks[number], False))
        if number in self.finished:
            return self.finished[number]
        task, place = self.tasks[number], self.places[number]
        values, bounds, statuses = self.stated
        stated = values[number], bounds[number], statuses[number]
        return restate(task.compiled, task.own, self.batched, place, *stated)

    def warm_start_point(self, number: int) -> WarmStartPoint:
        """Point and assignment at the end of a problem's run."""
        from assent.solvers.ad3.batch_results import warm_start_point

        compiled, x = self.tasks[number].compiled, self._independent_x(number)
        if x is not None:  # the optimum has nothing to start from but itself
            return WarmStartPoint(compiled, x.astype(float), None, np.nan, compiled.full(x))
        if number in self.finished:
            return self.finished[number].warm_start_point()
        return warm_start_point(compiled, self.places[number], self.stated[2][number])

    def place(self, number: int, compiled: Compiled) -> Any:
        """Where they stand in the arrays of the batch, if the problem is this one; else None."""
        if compiled is not self.tasks[number].compiled:
            return None
        if self.stated[2][number] is Status.INFEASIBLE:
            return None  # what is left there proves that, and is no point to start from
        return self.places.get(number)

    def assignments(self) -> NDArray[np.int8]:
        """The best ones, ``[B, N]``; all problems are of one graph."""
        if self.together is not None:
            assert isinstance(self.tasks, RowTasks)
            return self.tasks.compiled.full(self.together.x)
        return np.stack([self._assignment(number) for number in range(len(self.tasks))])

    def _assignment(self, number: int) -> NDArray[np.int8]:
        if number in self.finished:
            return self.finished[number].certificate.assignment
        full, x = self.tasks[number].compiled.full, self._independent_x(number)
        if x is not None:
            return full(x)
        buffer, b = self.places[number]
        return full(buffer.assignment(b))

    def _independent_x(self, number: int) -> NDArray[np.int8] | None:
        """The optimum ``[n]`` of structures by themselves, if that is how it was found."""
        if self.together is not None:
            return self.together.x[number]
        return self.independent[number].x if number in self.independent else None


def _batched(asked: Any, given: Any) -> Any:
    """The AD3 whose compiled loop takes small problems first; None where another solver is asked.

    Where more is asked than AD3, what it has not solved while Anderson's acceleration lasts is left
    to that.
    """
    from assent.kernels.ad3.ad3_schedule import LAST_ACCELERATED
    from assent.solvers.ad3.ad3 import AD3
    from assent.solvers.auto.auto import Auto

    if isinstance(given, AD3):
        return given
    if isinstance(asked, Auto):
        return AD3(gap_tolerance=asked.gap_tolerance, max_iterations=LAST_ACCELERATED)
    return None


def _display(progress: bool, count: int) -> Any:
    if not progress:
        return None
    from assent.progress import live_display

    return live_display(lambda done: f"{done} of {count} problems")
