"""One graph under many scores: arrays with a leading batch axis, taken apart and made flat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from assent.compile.compiled import Compiled, GraphScores, check_unary_key, graph_scores
from assent.compile.typical_size import typical_sizes
from assent.errors import ModelError
from assent.factors.pair import Pair
from assent.factors.scored import Scored
from assent.factors.soft import PaidKnapsack
from assent.kernels.problem import Float, Int64, Problem, Scores
from assent.model.graph import FactorGraph, Handle
from assent.model.scores import broadcast_scores, clean_scores
from assent.model.variables import Categorical, Literals


def score_rows(graph: FactorGraph, scores: Mapping[Any, Any]) -> list[GraphScores]:
    """The graph's scores with the ``b``-th of each array put in place, for every ``b``.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(2, scores=[5.0, 6.0])
        >>> [row.theta.tolist() for row in score_rows(g, {x[1]: [1.0, 2.0, 3.0]})]
        [[5.0, 1.0], [5.0, 2.0], [5.0, 3.0]]
    """
    arrays = {graph.named(key): clean_scores(value, key) for key, value in scores.items()}
    count = _batch_size(arrays)
    own = graph_scores(graph)
    theta = np.tile(own.theta, (count, 1))
    handles: dict[Handle, list[Float]] = {}
    for key, array in arrays.items():
        if isinstance(key, (Literals, Categorical)):
            check_unary_key(graph, key)
            theta[:, key.codes.ravel()] = _fit_rows(array, key.codes.shape, key)
        elif isinstance(key, Handle):
            scored = isinstance(key.factor, (Pair, Scored, PaidKnapsack))
            if not scored or key.factor.graph is not graph:
                raise ModelError(f"{key!r} has no scores in this graph to change")
            if count:  # says what else may be wrong with the key
                graph_scores(graph, {key: array[0]})
            assert isinstance(key.factor, (Pair, Scored, PaidKnapsack))
            fitted = [key.factor.fit(row) for row in array]
            if isinstance(key.factor, PaidKnapsack):
                theta[:, key.factor.paid] = np.reshape(fitted, (count, len(key.factor)))
            else:
                handles[key] = fitted
        else:
            raise TypeError(f"scores are given for variables or handles, not {key!r}")
    if not handles:
        scales = typical_sizes(theta, own.pairs, own.tables).tolist()
        return [
            GraphScores(row, own.pairs, own.tables, own.constant, scale)
            for row, scale in zip(theta, scales, strict=True)
        ]
    rows = [GraphScores(row, own.pairs, own.tables, own.constant) for row in theta]

    def changed(kind: type, written: tuple[Float, ...], b: int) -> tuple[Float, ...]:
        """Scores of the batches of one kind in problem ``b``."""
        batches = [h for h in graph.handles if isinstance(h.factor, kind)]
        pairs = zip(batches, written, strict=True)
        return tuple(handles[h][b] if h in handles else scores for h, scores in pairs)

    return [
        replace(row, pairs=changed(Pair, own.pairs, b), tables=changed(Scored, own.tables, b))
        for b, row in enumerate(rows)
    ]


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
    full = broadcast_scores(padded, (count, *shape), name, axes)
    return full.reshape(count, int(np.prod(shape, dtype=np.int64)))


def flat_row(compiled: Compiled, row: GraphScores) -> Scores:
    """The scores of the flat problem; quick where pairs and tables are scored as written."""
    written = _bases.get(compiled.problem)
    if written is None:
        own = graph_scores(compiled.graph)
        base = compiled.flat_scores(replace(own, theta=np.zeros_like(own.theta), constant=0.0))
        true = np.flatnonzero(compiled.fixed == 1)
        written = _Base(base, own.pairs, own.tables, compiled.free, true, bool(base.theta.any()))
        _bases[compiled.problem] = written
    if not written.same_as(row):
        return compiled.flat_scores(row)
    theta = row.theta if len(written.free) == len(row.theta) else row.theta[written.free]
    constant = row.constant + written.scores.constant
    if written.adds:
        theta = theta + written.scores.theta
    if len(written.true):
        constant += float(row.theta[written.true].sum())
    return Scores(theta, written.scores.pair, constant, written.scores.table, row.scale)


@dataclass(frozen=True, eq=False)
class _Base:
    """The flat scores of a graph whose variables score nothing themselves, nor its constant."""

    scores: Scores
    pairs: tuple[Float, ...]  # as they were
    tables: tuple[Float, ...]
    free: Int64
    true: Int64
    adds: bool  # whether pairs and tables add to the scores of variables

    def same_as(self, row: GraphScores) -> bool:
        """Whether pairs and tables are scored as they were."""
        if self.pairs is row.pairs and self.tables is row.tables:
            return True
        mine, its = (*self.pairs, *self.tables), (*row.pairs, *row.tables)
        return all(a is b for a, b in zip(mine, its, strict=True))


# For the graphs as written; kept as long as their problems are.
_bases: WeakKeyDictionary[Problem, _Base] = WeakKeyDictionary()
