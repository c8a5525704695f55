"""`presolve`: a smaller problem with the same optimum, and the way back from its best answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assent.compile.compiled import graph_scores
from assent.decode import check_settings, compiled_for
from assent.model.graph import FactorGraph

if TYPE_CHECKING:
    from assent.presolved import Presolved


def presolve(graph: FactorGraph, *, scores: Mapping[Any, Any] | None = None) -> Presolved:
    """Make a graph smaller: the same optimum, and a way from its best answer to one of the graph.

    - *Dominated* values are pruned: where another value is at least as good whatever the other
      variables are, and breaks no constraint.
    - *Persistent* values of binary pairwise graphs are fixed, as `RoofDuality` finds them.
    - Variables of *degree one* are eliminated: their neighbour gets their best values.
    - Factors over the same variables are *merged*, those that say nothing are left out.
    - What follows from evidence and from all this is propagated through every kind of factor.

    Of several best answers some may be lost, and marginals change their meaning: this is for the
    single best answer, not for `k_best`.

    Args:
        graph: what to presolve; it stays as it is.
        scores: new scores for variables or handles, in place of those written.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(3, states="NVD", scores=[[2, 0, 0], [0, 1, 0], [3, 0, 1]])
        >>> rule = g.add(at.Potts(tag[[0, 1, 2]], tag[[1, 2, 0]], scores=0.4))
        >>> at.presolve(g)
        Presolved: 0 of 3 variables left: 6 values pruned by dominance
    """
    if not isinstance(graph, FactorGraph):
        raise TypeError(f"presolve takes a FactorGraph, got {type(graph).__name__}")
    from assent.presolved import Presolved
    from assent.solvers.presolve.presolve_rounds import presolve_compiled

    check_settings(None, None, scores)
    own = graph_scores(graph, scores)
    made = presolve_compiled(compiled_for(graph, own), own)
    return Presolved(made.reductions, made.steps)
