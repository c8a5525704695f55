"""`project`: the nearest point of a graph's relaxation, so that a graph is a factor as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assent.arguments import shown
from assent.compile.compiled import Compiled, graph_scores
from assent.errors import ModelError, NoFeasibleAssignment
from assent.kernels.problem import Float
from assent.model.graph import FactorGraph
from assent.model.scores import clean_scores, fit_scores
from assent.model.variables import Categorical, Literals, coordinates_of
from assent.proof import certify

SHOWN_REASONS = 4  # the last steps of a contradiction that a message lists


@dataclass(frozen=True, eq=False)
class Projected:
    """The nearest point of a relaxation; ``projected[x]`` reads it at variables.

    Attributes:
        distance: from the point given, over the variables it was given for.
        value: inner scores less half the squared distance.
        bound: no point of the relaxation has a larger value.
        iterations: of AD3.
        converged: whether the residuals came below the tolerance.
    """

    compiled: Compiled
    point: Float  # [N]
    distance: float
    value: float
    bound: float
    iterations: int
    converged: bool

    def __getitem__(self, key: Any) -> Float:
        if not isinstance(key, (Literals, Categorical)):
            raise TypeError(f"a projected point is read by variable, not {key!r}")
        if key.graph is not self.compiled.graph:
            raise ModelError(f"{key!r} belongs to another graph than this point")
        return certify.literal_marginals(key.codes, self.point)

    def __repr__(self) -> str:
        how = "converged" if self.converged else "not converged"
        return (
            f"Projected: distance {self.distance:.6g}, value {self.value:.6g} ≤ bound "
            f"{self.bound:.6g}, {how} in {self.iterations} iterations"
        )


def project(
    graph: FactorGraph,
    point: Mapping[Any, Any],
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 20_000,
) -> Projected:
    """The point of a graph's relaxation (its local polytope) nearest to a given one.

    Scores of pairs, tables and structures pull as they do in every factor's ``project``: what
    is maximised is their total less half the squared distance. Scores of variables play no part
    (add them to the point if they should). Variables that ``point`` does not name are free.

    Args:
        graph: its factors and evidence say where the point may lie.
        point: real numbers for variables: the variable's shape for binary ones, a last axis
            of states for categorical ones.
        tolerance: of the root-mean-square residuals, at which the iterations stop.
        max_iterations: at which they stop in any case; ``converged`` is false then.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, name="x")
        >>> rules = g.add(at.AtMostOne(x[:2])), g.add(at.Implies(x[2], x[1]))
        >>> at.project(g, {x: [1.0, 0.5, 1.0]})[x].round(3)
        array([0.5, 0.5, 0.5])
    """
    from assent.solvers.base.settings import check_count, check_tolerance

    if not isinstance(graph, FactorGraph):
        raise TypeError(f"project takes a FactorGraph, got {type(graph).__name__}")
    check_tolerance("tolerance", tolerance)
    check_count("max_iterations", max_iterations)
    target, curvature = _target(graph, point)
    return _nearest(graph, target, curvature, tolerance, max_iterations)


def _nearest(
    graph: FactorGraph, target: Float, curvature: Float, tolerance: float, max_iterations: int
) -> Projected:
    """:func:`project` to ``target[N]``, which counts where the ``curvature[N]`` is 1."""
    from assent.solvers.ad3.quadratic import find_nearest

    compiled = graph.compile()
    if compiled.conflict is not None:
        raise NoFeasibleAssignment(
            "nothing to project onto: " + "; ".join(compiled.conflict.reasons[-SHOWN_REASONS:])
        )
    written = graph_scores(graph)
    inner = replace(written, theta=np.where(np.isneginf(written.theta), -np.inf, 0.0))
    free = compiled.free
    nearest = find_nearest(
        compiled.problem, compiled.flat_scores(inner), target[free], curvature[free],
        tolerance=tolerance, max_iterations=max_iterations,
    )  # fmt: skip
    x = compiled.full(nearest.p)
    squares = curvature * (x - target) ** 2
    fixed = 0.5 * float(squares.sum() - squares[free].sum())
    return Projected(
        compiled, x, float(np.sqrt(squares.sum())), nearest.value - fixed, nearest.bound - fixed,
        nearest.iterations, nearest.converged,
    )  # fmt: skip


def _target(graph: FactorGraph, point: Mapping[Any, Any]) -> tuple[Float, Float]:
    """The point per coordinate ``[N]``, and 1 where one is given, 0 elsewhere."""
    if not isinstance(point, Mapping):
        raise TypeError(f"a point is a mapping from variables to numbers, got {shown(point)}")
    target, curvature = np.full(graph.size, 0.5), np.zeros(graph.size)
    for key, value in point.items():
        if not isinstance(key, (Literals, Categorical)):
            raise TypeError(f"a point is given for variables, not {key!r}")
        if key.graph is not graph:
            raise ModelError(f"the point at {key!r}: these variables belong to another graph")
        name = f"the point at {key!r}"
        numbers = fit_scores(clean_scores(value, name), key.codes.shape, name)
        if not np.isfinite(numbers).all():
            raise ModelError(f"{name} must be finite")
        codes = key.codes.ravel()
        own = coordinates_of(codes)
        target[own] = np.where(codes < 0, 1.0 - numbers, numbers)
        curvature[own] = 1.0
    return target, curvature
