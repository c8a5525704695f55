"""BranchAndBound: the optimum with a proof, around any decoder that gives bounds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from assent.compile.compiled import Compiled, GraphScores
from assent.solvers.ad3.ad3 import AD3
from assent.solvers.base.protocol import GraphSolver, IterativeSolver, Request, WarmStart
from assent.solvers.base.settings import check_count, check_tolerance
from assent.solvers.cutting_planes.tightened import Tightened
from assent.solvers.search.best_first import BestFirstSearch
from assent.solvers.search.search_node import Start


@dataclass(frozen=True)
class BranchAndBound(GraphSolver):
    """Branch and bound (Das et al. 2012) around a decoder: the optimum, and a proof of it.

    Subproblems are bounded by the decoder, each from where the one above it ended; values whose
    opposite is bounded below the answer are fixed; of the rest one is branched on.  The proof
    (``certificate.proof``) is a tree of dual points that ``certificate.verify()`` replays.

    Attributes:
        solver: bounds the subproblems.
        second: bounds the root again if it is left open, and then the others too if its bound is
            clearly better; None for no other.
        gap_tolerance: relative gap at which an answer counts as optimal.
        max_nodes: the most subproblems.
        core: what is left undecided after some nodes may be given to HiGHS if it has no more links
            than this; the proof then trusts it, as ``certificate.trusted`` says.  0 for never.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=1.0)
        >>> rule = g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
        >>> result = at.decode(g, at.BranchAndBound(core=0))
        >>> result.status.name, result.certificate.verify(), result.certificate.trusted
        ('OPTIMAL', True, ())
    """

    solver: IterativeSolver = field(default_factory=AD3)
    second: IterativeSolver | None = field(default_factory=Tightened)
    gap_tolerance: float = 1e-6
    max_nodes: int = 1_000_000
    core: int = 50_000

    def __post_init__(self) -> None:
        check_tolerance("gap_tolerance", self.gap_tolerance)
        check_count("max_nodes", self.max_nodes)
        check_count("core", self.core, least=0)
        for solver in (self.solver, *([] if self.second is None else [self.second])):
            if not isinstance(solver, IterativeSolver):
                raise TypeError(f"solver is a decoder with bounds such as AD3(), got {solver!r}")

    def begin(
        self, compiled: Compiled, graph_scores: GraphScores, request: Request
    ) -> BestFirstSearch:
        """A search of a compiled graph, before its first node."""
        warm = request.warm_start
        start = None if warm is None else _start(compiled, graph_scores, warm)
        search = BestFirstSearch(self, compiled, graph_scores, request, start)
        if request.known is not None:
            search.offer(request.known)
        return search


def _start(compiled: Compiled, scores: GraphScores, warm: WarmStart) -> Start:
    """An earlier run's end as the root's beginning."""
    links = tuple(part.astype(np.float32) for part in compiled.graph_dual(warm.dual, scores))
    return Start(links, compiled.full(warm.marginals.astype(np.float32)), warm.penalty)
