"""GraphSpace: a factor graph, or its relaxation, as the space of an example's outputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from assent.binarize import Binarized, binarize
from assent.decode import decode
from assent.errors import ModelError
from assent.factors.pair import Pair
from assent.factors.table import Table
from assent.kernels.problem import Float, Scores
from assent.model.graph import FactorGraph, Handle
from assent.model.variables import Categorical, Literals, coordinates_of
from assent.models.equality_projection import nearest_with_equalities
from assent.models.space import Rows, Space
from assent.project import project
from assent.proof import certify
from assent.result import Result, Status
from assent.solvers.ad3.ad3 import AD3

# Coordinates up to which projections use dense equations: with some 60 of them Newton's method
# takes a fifth to the whole of AD3's time, beyond 100 up to five times as long.
DENSE_LIMIT = 100


class GraphSpace(Space):
    """A graph as a space over the entries of some variables and factors.

    ``maximize`` decodes.  Where no integral answer is proven optimal it returns the solution of
    the relaxation, possibly fractional, which scores at least as high: training on a relaxation
    needs that one (Taskar et al. 2006, section 3).  ``project`` is onto the local polytope.
    """

    def __init__(self, graph: FactorGraph, targets: Sequence[Any], solver: Any) -> None:
        self.graph, self.targets, self.solver = graph, list(targets), solver
        self.shapes = [(*t.shape, *entry_shape(t)) for t in self.targets]
        sizes = [int(np.prod(shape, dtype=np.int64)) for shape in self.shapes]
        self.ends = np.cumsum(sizes)
        self.size = int(self.ends[-1]) if sizes else 0
        # Entries that the graph forbids (-inf) stay forbidden under any scores.
        self._forbidden = np.concatenate([_own_scores(t).ravel() for t in self.targets])
        self._forbidden = np.where(np.isneginf(self._forbidden), -np.inf, 0.0)

    def split(self, values: Float) -> list[Float]:
        """Values ``[size]`` as one array per target."""
        parts = np.split(values, self.ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def decode(self, scores: Float) -> Result:
        """The result of decoding with these scores."""
        parts = self.split(scores + self._forbidden)
        solver = self.solver or AD3()  # learning needs the solution of the relaxation
        return decode(self.graph, solver, scores=dict(zip(self.targets, parts, strict=True)))

    def maximize(self, scores: Float) -> Float:
        result = self.decode(scores)
        if result.status is Status.OPTIMAL:
            return self.indicators(result.certificate.assignment)
        if result.status is Status.INFEASIBLE:
            raise ModelError(f"a graph has no output at all: {result.message}")
        return np.concatenate([np.ravel(result.marginals[t]) for t in self.targets])

    def project(self, point: Float) -> Float:
        rows = self._small_equalities
        near = None if rows is None else nearest_with_equalities(*rows, point)
        return self._project_by_ad3(point) if near is None else near

    def _project_by_ad3(self, point: Float) -> Float:
        """The nearest point by AD3 with a quadratic objective: for any factors and any size."""
        keys = [self._shared(t) for t in self.targets]
        near = project(self._binarized.graph, {
            key: part.reshape(key.shape)
            for key, part in zip(keys, self.split(point), strict=True)
        })  # fmt: skip
        return np.concatenate([near[key].ravel() for key in keys])

    def rows(self) -> Rows:
        """The local polytope: rows of the binarized graph, whose literals are the coordinates."""
        if self._rows is None:
            raise self.missing("rows")
        return self._rows

    @cached_property
    def abilities(self) -> tuple[str, ...]:  # type: ignore[override]
        """``rows`` too, where the coordinates are all variables and tables of the graph."""
        return ("maximize", "project") if self._rows is None else ("maximize", "project", "rows")

    @cached_property
    def _rows(self) -> Rows | None:
        if not all(_is_shared(t) for t in self.targets):
            return None
        codes = np.concatenate([self._shared(t).codes.ravel() for t in self.targets])
        return rows_over(self._binarized.graph, codes)

    @cached_property
    def _small_equalities(self) -> tuple[Float, Float] | None:
        """The equations as dense arrays; None where there are inequalities or it is too large."""
        if self.size > DENSE_LIMIT or self._rows is None:
            return None
        equal, right, below, limit = self._rows
        only_bounds = (np.diff(below.indptr) == 1).all() and (below.data == 1.0).all()
        return (equal.toarray(), right) if only_bounds and (limit == 1.0).all() else None

    def indicators(self, assignment: Any) -> Float:
        """Indicators ``[size]`` of the entries that an assignment ``[N]`` of the graph selects."""
        return np.concatenate([_entries(t, assignment).ravel() for t in self.targets])

    def _shared(self, target: Any) -> Literals:
        """The literals of the binarized graph that a target's entries are."""
        if isinstance(target, Handle):
            if not _is_shared(target):
                raise TypeError(
                    f"{target!r}: GraphSpace projects onto variables and Dense tables only"
                )
            return self._binarized.joint[target]
        return Literals(self._binarized.graph, target.codes)

    @cached_property
    def _binarized(self) -> Binarized:
        return binarize(self.graph)


def _is_shared(target: Any) -> bool:
    """Whether a target's entries are literals of the binarized graph."""
    return not isinstance(target, Handle) or target.factor.kind == "Dense"


def entry_shape(target: Any) -> tuple[int, ...]:
    """The shape of the weights per feature of one element of a target."""
    if isinstance(target, Handle):
        if isinstance(target.factor, Table):
            return target.factor.entry_shape()
        if isinstance(target.factor, Pair):
            return ()
        raise TypeError(
            f"{target!r}: features score variables, tables and pairs; express other structures "
            "by variables and tables, or write a Model of your own"
        )
    return (len(target.states),) if isinstance(target, Categorical) else ()


def _own_scores(target: Any) -> Float:
    """The scores that the graph itself gives to a target's entries."""
    if isinstance(target, Handle):
        return target.factor.scores  # type: ignore[attr-defined]
    theta = np.concatenate([v.scores for v in target.graph.variables])
    return theta[coordinates_of(target.codes)]


def _entries(target: Any, assignment: Any) -> Float:
    """Indicators of a target's entries."""
    codes = target.factor.codes if isinstance(target, Handle) else target.codes
    truth = certify.literal_truth(codes, assignment)
    if not isinstance(target, Handle):
        return np.asarray(truth, np.float64)
    factor = target.factor
    if not isinstance(factor, Table):
        return np.asarray(truth.all(axis=1), np.float64)
    # Each entry in turn scores 1, all others 0: the factor's value is then the entry's indicator.
    count = int(np.prod(factor.entry_shape()))
    out = np.zeros((len(truth), count))
    for entry, scores in enumerate(np.eye(count)):
        out[:, entry] = factor.value_at(truth, np.broadcast_to(scores, (len(truth), count)))
    return out


def rows_over(graph: FactorGraph, codes: Any) -> Rows | None:
    """The LP relaxation over the literals ``codes[size]``; None where it has other columns too.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, name="x")
        >>> rule = g.add(at.ExactlyOne(x))
        >>> rows_over(g, x.codes).equal.toarray()
        array([[1., 1., 1.]])
    """
    from scipy.sparse import csr_array, vstack

    from assent.solvers.programs.compact_lp import build_lp

    compiled = graph.compile()
    problem, column = compiled.problem, compiled.column_of()[np.maximum(codes, 0)]
    zero = Scores(np.zeros(problem.n), np.zeros(problem.n_pairs), 0.0,
                  np.zeros(int(problem.tables.entry[-1])))  # fmt: skip
    lp = build_lp(problem, zero)
    complete = np.array_equal(np.sort(column[column >= 0]), np.arange(problem.n))
    if compiled.conflict is not None or lp.matrix.shape[1] != problem.n or not complete:
        return None
    if (codes < 0).any():
        return None
    free, known = np.flatnonzero(column >= 0), np.flatnonzero(column < 0)
    matrix = csr_array(lp.matrix @ _unit(free, len(codes))[np.argsort(column[free])].tocsc())
    same = lp.row_lower == lp.row_upper
    above, below = np.isfinite(lp.row_lower) & ~same, np.isfinite(lp.row_upper) & ~same
    bounds = _unit(np.arange(len(codes)), len(codes))
    return Rows(
        csr_array(vstack([matrix[same], _unit(known, len(codes))])),
        np.concatenate([lp.row_upper[same], compiled.fixed[codes[known]]]),
        csr_array(vstack([matrix[below], -matrix[above], bounds])),
        np.concatenate([lp.row_upper[below], -lp.row_lower[above], np.ones(len(codes))]),
    )


def _unit(chosen: Any, size: int) -> Any:
    """Rows of the identity ``[chosen, size]``."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(chosen)), (np.arange(len(chosen)), chosen)), (len(chosen), size))
