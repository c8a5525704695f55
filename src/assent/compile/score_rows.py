"""One graph under many scores: arrays with a leading batch axis, taken apart and made flat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, overload
from weakref import WeakKeyDictionary

import numpy as np

from assent.compile.compiled import (
    Compiled,
    Forbids,
    GraphScores,
    check_unary_key,
    graph_scores,
    written_scores,
)
from assent.compile.score_scale import score_scales
from assent.errors import ModelError
from assent.factors.pair import Pair
from assent.factors.scored import Scored
from assent.factors.soft import SoftKnapsack
from assent.kernels.problem import Float, Int64, Problem, Scores
from assent.model.graph import FactorGraph, GroupedHandle, Handle
from assent.model.scores import broadcast_scores, clean_scores
from assent.model.variables import Categorical, Literals

Symbols = (Literals, Categorical)


@dataclass(frozen=True, eq=False)
class ScoreRows(Sequence[GraphScores]):
    """The scores of one graph in many problems; those of a problem are put together when asked for.

    Attributes:
        theta: ``[B, N]`` scores of coordinates.
        own: the graph's scores as written.
        factors: per batch of factors with new scores, those of every problem.
        forbids_more: whether some of the new scores are ``-inf``.
    """

    theta: Float
    own: GraphScores
    factors: Mapping[Handle, list[Float]]
    graph: FactorGraph
    forbids_more: bool

    def __len__(self) -> int:
        return len(self.theta)

    @overload
    def __getitem__(self, b: int) -> GraphScores: ...

    @overload
    def __getitem__(self, b: slice) -> list[GraphScores]: ...

    def __getitem__(self, b: Any) -> Any:
        if isinstance(b, slice):
            return [self[number] for number in range(*b.indices(len(self)))]
        return self._row(b, None if self.factors else self.scales[b])

    def forbids(self) -> Forbids:
        """Where the first problem's scores are ``-inf``: those of all, if they forbid no more."""
        return self._row(0, None).forbids()

    @cached_property
    def scales(self) -> list[float]:
        """The scale of every problem's scores, where those of factors are as written."""
        return score_scales(self.theta, written_scores(self.graph).median_of_factors).tolist()

    def _row(self, b: int, scale: float | None) -> GraphScores:
        own = self.own
        factors, new = own.factors, self.factors
        if new:
            pairs = zip(self.graph.handles, factors, strict=True)
            factors = tuple(new[h][b] if h in new else scores for h, scores in pairs)
        return GraphScores(self.theta[b], factors, own.constant, scale)


def score_rows(graph: FactorGraph, scores: Mapping[Any, Any]) -> ScoreRows:
    """The graph's scores with the ``b``-th of each array put in place, for every ``b``."""
    named = {graph.named(key): clean_scores(value, key) for key, value in scores.items()}
    arrays: dict[Any, Float] = {}
    for key, array in named.items():
        arrays |= key.split(array, axis=1) if isinstance(key, GroupedHandle) else {key: array}
    count = _batch_size(arrays)
    own = graph_scores(graph)
    theta = np.empty((count, len(own.theta)))
    if not any(isinstance(key, Symbols) and key.codes.size == theta.shape[1] for key in arrays):
        theta[:] = own.theta  # what nothing below replaces
    factors: dict[Handle, list[Float]] = {}
    for key, array in arrays.items():
        if isinstance(key, Symbols):
            check_unary_key(graph, key)
            _put_rows(theta, key, array)
        elif isinstance(key, Handle):
            fitted = _fit_factor(graph, key, array)
            if isinstance(key.factor, SoftKnapsack):
                theta[:, key.factor.paid] = np.reshape(fitted, (count, len(key.factor)))
            else:
                factors[key] = fitted
        else:
            raise TypeError(f"scores are given for variables or handles, not {key!r}")
    forbids_more = any(np.min(array, initial=0.0) == -np.inf for array in arrays.values())
    return ScoreRows(theta, own, factors, graph, forbids_more)


def _put_rows(theta: Float, key: Literals | Categorical, array: Float) -> None:
    """Scores ``array[B, …]`` of variables into their columns of ``theta[B, N]``."""
    codes = key.codes.ravel()
    rows = _fit_rows(array, key.codes.shape, key)
    if len(codes) and codes[-1] - codes[0] == len(codes) - 1 and (np.diff(codes) == 1).all():
        theta[:, codes[0] : codes[-1] + 1] = rows  # quicker than column by column
    else:
        theta[:, codes] = rows


def _fit_factor(graph: FactorGraph, key: Handle, array: Float) -> list[Float]:
    """Scores of a batch of factors in every problem."""
    factor = key.factor
    if not isinstance(factor, (Pair, Scored, SoftKnapsack)) or factor.graph is not graph:
        raise ModelError(f"{key!r} has no scores in this graph to change")
    if len(array):  # says what else may be wrong with the key
        graph_scores(graph, {key: array[0]})
    return [factor.fit(row) for row in array]


def _batch_size(arrays: Mapping[Any, Float]) -> int:
    """Length of the leading axis that all arrays share."""
    sizes = {key: array.shape[0] if array.ndim else None for key, array in arrays.items()}
    for key, size in sizes.items():
        if size is None:
            raise ModelError(
                f"scores for {key!r}: a single number; the leading axis counts the problems"
            )
    first, *others = sizes
    for key in others:
        if sizes[key] != sizes[first]:
            raise ModelError(
                f"scores for {key!r} are for {sizes[key]} problems, those for {first!r} for "
                f"{sizes[first]}: the leading axis counts the problems"
            )
    return sizes[first] or 0


def _fit_rows(array: Float, shape: tuple[int, ...], name: Any) -> Float:
    """``array[B, …]`` with every row broadcast to ``shape``, flat ``[B, size]``."""
    count, *rest = array.shape
    padded = array.reshape(count, *[1] * (len(shape) - len(rest)), *rest)
    axes = ": the problems, then the variables (or something that broadcasts to it)"
    full = padded
    if padded.shape != (count, *shape):
        full = broadcast_scores(padded, (count, *shape), name, axes)
    return full.reshape(count, int(np.prod(shape, dtype=np.int64)))


def flat_row(compiled: Compiled, row: GraphScores) -> Scores:
    """The scores of the flat problem; quick where pairs and tables are scored as written."""
    written = _base(compiled)
    if not written.same_as(row):
        return compiled.flat_scores(row)
    theta = row.theta if len(written.free) == len(row.theta) else row.theta[written.free]
    constant = row.constant + written.scores.constant
    if written.adds:
        theta = theta + written.scores.theta
    if len(written.true):
        constant += float(row.theta[written.true].sum())
    return Scores(theta, written.scores.pair, constant, written.scores.table, row.scale)


class FlatRows(NamedTuple):
    """Scores of one flat problem in many instances that differ in their variables alone."""

    theta: Float  # [B, n]
    constant: Float  # [B]
    pair: Float
    table: Float


def flat_rows(compiled: Compiled, rows: ScoreRows) -> FlatRows:
    """As :func:`flat_row`, of all rows at once; none has new scores of factors."""
    written = _base(compiled)
    theta = rows.theta
    if len(written.free) < theta.shape[1]:
        theta = np.take(theta, written.free, axis=1)
    if written.adds:
        theta = theta + written.scores.theta
    constant = np.full(len(rows), rows.own.constant + written.scores.constant)
    constant += rows.theta[:, written.true].sum(axis=1)
    return FlatRows(theta, constant, written.scores.pair, written.scores.table)


def _base(compiled: Compiled) -> _Base:
    """The flat scores of the graph as written, without those of its variables."""
    written = _bases.get(compiled.problem)
    if written is None:
        own = graph_scores(compiled.graph)
        base = compiled.flat_scores(replace(own, theta=np.zeros_like(own.theta), constant=0.0))
        true = np.flatnonzero(compiled.fixed == 1)
        written = _Base(base, own.factors, compiled.free, true, bool(base.theta.any()))
        _bases[compiled.problem] = written
    return written


@dataclass(frozen=True, eq=False)
class _Base:
    """The flat scores of a graph whose variables score nothing themselves, nor its constant."""

    scores: Scores
    factors: tuple[Float, ...]  # as they were
    free: Int64
    true: Int64
    adds: bool  # whether pairs and tables add to the scores of variables

    def same_as(self, row: GraphScores) -> bool:
        """Whether pairs and tables are scored as they were."""
        if self.factors is row.factors:
            return True
        return all(a is b for a, b in zip(self.factors, row.factors, strict=True))


# For the graphs as written; kept as long as their problems are.
_bases: WeakKeyDictionary[Problem, _Base] = WeakKeyDictionary()
