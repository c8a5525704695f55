"""DepthFirst: the optimum of tables and constraints, by a compiled search with cheap nodes."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

from assent.compile.compiled import Compiled, GraphScores
from assent.errors import ModelError
from assent.result import Result
from assent.solvers.ad3.ad3 import AD3
from assent.solvers.auto.search_cutoff import SearchPatience
from assent.solvers.base.driver import drive
from assent.solvers.base.outcome import finished, refuted
from assent.solvers.base.protocol import Request
from assent.solvers.base.settings import check_count, check_tolerance
from assent.solvers.base.stop_reasons import INTERRUPTED, ROUNDING_ONLY
from assent.solvers.search.depth_first_run import (
    NO_ANSWER,
    PROOF_TOO_LARGE,
    TOO_MANY_CASES,
    TableSearch,
)
from assent.solvers.search.table_network import layout_of


@dataclass(frozen=True)
class DepthFirst:
    """Depth-first search over tables and constraints: quick where some hundred cases are enough.

    Every node sweeps over the variables, passing messages as `TRWS` does, and puts away states
    that cannot be better than the best answer; of the rest, the variable that is tied most
    strongly to others makes two cases.  Constraints may be over any number of literals; large
    tables and structures are refused.  The proof is what the search wrote down (`Cases`).

    Attributes:
        gap_tolerance: relative gap at which an answer counts as optimal.
        max_rounds: stop after so many rounds of sweeps, or None.
        likely_rounds: give up once it is likely that more would be needed, or None.

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
    likely_rounds: int | None = None
    searches = True

    def __post_init__(self) -> None:
        check_tolerance("gap_tolerance", self.gap_tolerance)
        for name in ("max_rounds", "likely_rounds"):
            rounds = getattr(self, name)
            if rounds is not None:
                check_count(name, rounds)

    def drive(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Result:
        """Search a compiled graph and state the answer for the graph as written."""
        if compiled.conflict is not None:
            return refuted(compiled, graph_scores, request.started)
        if not compiled.problem.n_links:  # every variable decides alone
            return drive(compiled, graph_scores, AD3(gap_tolerance=self.gap_tolerance), request)
        return finished(self.attempt(compiled, graph_scores, request).result)

    def attempt(
        self,
        compiled: Compiled,
        graph_scores: GraphScores,
        request: Request,
        patience: SearchPatience | None = None,
    ) -> TableSearch:
        """The same on a graph of which factors are left; its result is stated on demand."""
        layout = layout_of(compiled.problem)
        if isinstance(layout, str):
            raise ModelError(
                f"DepthFirst cannot search this graph: {layout}; decode with exact=True"
            )
        search = TableSearch(self, compiled, graph_scores, layout, request, patience)
        try:
            with request.display or nullcontext():
                search.message = search.loop()
        except KeyboardInterrupt:
            search.message = INTERRUPTED
        return search


def gave_up(result: Result) -> bool:
    """Whether a search ended because it would take too long, or because it cannot tell."""
    return result.message in (TOO_MANY_CASES, PROOF_TOO_LARGE, NO_ANSWER, ROUNDING_ONLY)
