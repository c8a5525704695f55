"""DepthFirst: the optimum of tables and constraints, by a compiled search with cheap nodes."""

from __future__ import annotations

from dataclasses import dataclass

from assent.compile.compiled import Compiled, GraphScores
from assent.errors import ModelError
from assent.solvers.base.protocol import GraphSolver, Request
from assent.solvers.base.settings import check_count, check_tolerance
from assent.solvers.search.depth_first_run import TableSearch
from assent.solvers.search.table_network import layout_of


@dataclass(frozen=True)
class DepthFirst(GraphSolver):
    """Depth-first search over tables and constraints: quick where some hundred nodes are enough.

    Every node sweeps over the variables, passing messages as `TRWS` does, and prunes states
    that cannot be better than the best answer; of the rest, the variable that is tied most
    strongly to others makes two subproblems.  Constraints may be over any number of literals; large
    tables and structures are refused.  The proof is what the search wrote down
    (`DepthFirstProof`).

    Attributes:
        gap_tolerance: relative gap at which an answer counts as optimal.
        max_rounds: stop after this many rounds of sweeps, or None.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=1.0)
        >>> rule = g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
        >>> result = at.decode(g, at.DepthFirst())
        >>> result.status.name, result.certificate.verify()
        ('OPTIMAL', True)
    """

    gap_tolerance: float = 1e-6
    max_rounds: int | None = None

    def __post_init__(self) -> None:
        check_tolerance("gap_tolerance", self.gap_tolerance)
        if self.max_rounds is not None:
            check_count("max_rounds", self.max_rounds)

    def begin(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> TableSearch:
        """A search before its first round."""
        layout = layout_of(compiled.problem)
        if isinstance(layout, str):
            raise ModelError(
                f"DepthFirst cannot search this graph: {layout}; decode with exact=True"
            )
        return TableSearch(self, compiled, graph_scores, layout, request)
