"""Results: the answers of many decodes, read together or one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from assent.arguments import is_whole
from assent.compile.compiled import Compiled
from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.model.graph import FactorGraph
from assent.result import (
    AnswerLookup,
    Result,
    Status,
    WarmStartPoint,
    codes_of,
    labels_at,
    values_of,
)

SHOWN_MISSING = 5  # numbers of problems named in a message


class BatchRun(Protocol):
    """A run that is over: what it has beside figures, for those who ask and for later runs."""

    def result(self, number: int) -> Result:
        """The result of a problem, made anew."""

    def assignments(self) -> NDArray[np.int8]:
        """The best ones, ``[B, N]``; all problems are of one graph."""

    def warm_start_point(self, number: int) -> WarmStartPoint:
        """Point and assignment at the end of a problem's run."""

    def place(self, number: int, compiled: Compiled) -> Any:
        """Where they stand in the arrays of a batch, if the problem is this one; else None."""


class Results(Sequence[Result]):
    """The results of `decode_many`, in the order the problems were given.

    ``results[i]`` is a `Result` as `decode` gives it, made when it is first asked for.  The
    figures of all are arrays ``[B]``: ``values``, ``bounds``, ``gaps``, ``statuses``,
    ``feasible``, ``iterations``.  Where all problems are one graph, ``results[x]`` stacks the
    values of a variable or of a name, ``[B, …]``, and so do ``labels[x]``, ``marginals[x]`` and
    ``least_violating[x]``.  Values and labels come as a masked array where some problems have no
    answer: the masked rows are theirs.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, name="x")
        >>> rule = g.add(at.AtMostOne(x))
        >>> results = at.decode_many(g, scores={x: [[1.0, 2.0, 0.5], [3.0, 1.0, 2.0]]})
        >>> results[x].tolist(), results.values.tolist()
        ([[0, 1, 0], [1, 0, 0]], [2.0, 3.0])
        >>> results[1].status.name
        'OPTIMAL'
    """

    def __init__(
        self,
        graph: FactorGraph | None,
        values: Float,
        bounds: Float,
        statuses: Sequence[Status],
        iterations: NDArray[np.int64],
        seconds: float,
        run: BatchRun,
    ) -> None:
        self._graph = graph
        self.values = values
        self.bounds = bounds
        self.statuses = tuple(statuses)
        self.iterations = iterations
        self.seconds = seconds
        self.run = run
        self._made: dict[int, Result] = {}
        for array in (self.values, self.bounds, self.iterations):
            array.flags.writeable = False

    @property
    def gaps(self) -> Float:
        """``bounds − values``; 0 for a proven infeasible model."""
        with np.errstate(invalid="ignore"):
            return np.where(self.bounds == self.values, 0.0, self.bounds - self.values)

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Whether a feasible assignment was found."""
        return self.values > -np.inf

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, key: int) -> Result: ...

    @overload
    def __getitem__(self, key: slice) -> list[Result]: ...

    @overload
    def __getitem__(self, key: Any) -> NDArray[Any]: ...

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(len(self)))]
        if is_whole(key):
            return self._one(int(key))
        return self._without_missing(self._values(key))

    def _values(self, key: Any) -> NDArray[Any]:
        """Values of variables in all assignments, ``[B, …]``, feasible or not."""
        key = self._readable(key)
        assignments = self.run.assignments()
        return values_of(key, codes_of(key, self._graph, assignments.shape[1]), assignments)

    def _without_missing(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values ``[B, …]``, masked where there is no answer."""
        if self.feasible.all():
            return values
        missing = np.zeros(values.shape, bool)
        missing[~self.feasible] = True
        return np.ma.array(values, mask=missing)

    def __iter__(self) -> Iterator[Result]:
        return (self._one(i) for i in range(len(self)))

    def _one(self, number: int) -> Result:
        if not -len(self) <= number < len(self):
            raise IndexError(f"result {number} of {len(self)}")
        number %= len(self)
        if number not in self._made:
            self._made[number] = self.run.result(number)
        return self._made[number]

    @property
    def least_violating(self) -> AnswerLookup:
        """The assignments that break the fewest constraints found, feasible or not."""
        return AnswerLookup(self._values, f"least violating assignments of {len(self)} problems")

    @property
    def labels(self) -> AnswerLookup:
        """Labels of categorical variables, masked where a problem has no answer."""
        return AnswerLookup(self._labels, f"labels of {len(self)} problems")

    def _labels(self, key: Any) -> NDArray[Any]:
        key = self._readable(key)
        return self._without_missing(labels_at(key, lambda: self._values(key)))

    @property
    def marginals(self) -> AnswerLookup:
        """The relaxed answers."""

        def read(key: Any) -> NDArray[Any]:
            key = self._readable(key)
            return self._stack(lambda result: result.marginals[key])

        return AnswerLookup(read, f"marginals of {len(self)} problems")

    def _stack(self, read: Callable[[Result], NDArray[Any]]) -> NDArray[Any]:
        return np.stack([read(result) for result in self])

    def _readable(self, key: Any) -> Any:
        """What a key stands for; only what all problems have can be stacked."""
        if isinstance(key, (float, tuple, list, np.ndarray, bool)) or key is None:
            raise TypeError(f"results are read by number, variable or handle, not {key!r}")
        if self._graph is None:
            raise ModelError(
                "these are results of different graphs: read them one by one, results[i][x]"
            )
        if not len(self):
            raise ModelError("there is no result: the batch was empty")
        return self._graph.named(key)

    def __repr__(self) -> str:
        counts = Counter(status.name for status in self.statuses)
        found = ", ".join(f"{counts[s.name]} {s.name}" for s in Status if counts[s.name])
        lines = [f"Results of {len(self)} problems in {self.seconds:.3g} s: {found or 'none'}"]
        missing = np.flatnonzero(~self.feasible)
        if len(missing):
            shown = ", ".join(map(str, missing[:SHOWN_MISSING]))
            more = ", …" if len(missing) > SHOWN_MISSING else ""
            lines.append(f"  no answer to {len(missing)}: {shown}{more}")
        open_gaps = self.gaps[self.feasible]
        if len(open_gaps):
            lines.append(
                f"  largest gap {open_gaps.max():.3g}, {int(self.iterations.sum())} iterations"
            )
        return "\n".join(lines)
