"""BranchAndBound: the optimum with a proof, around any decoder that gives bounds."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.compile.compiled import Compiled, GraphScores
from assent.kernels.problem import DualPoint
from assent.proof import certify
from assent.proof.conflict import SECONDS, small_conflict
from assent.proof.replay import Others
from assent.result import Certificate, Result, Status
from assent.solvers.ad3.ad3 import AD3
from assent.solvers.base import infeasibility
from assent.solvers.base.outcome import finished, refuted
from assent.solvers.base.protocol import Request, Solver, WarmStart
from assent.solvers.base.rounding_error import clear_of_rounding
from assent.solvers.base.settings import check_count, check_tolerance
from assent.solvers.base.stop_reasons import CALLED_OFF, INTERRUPTED, ROUNDING_ONLY, TIME_LIMIT
from assent.solvers.cuts.tightened import Tightened
from assent.solvers.search.best_first import Search
from assent.solvers.search.search_node import Start

if TYPE_CHECKING:
    from assent.solvers.search.lawler import Partition

OUT_OF_MEMORY = f"Out of memory. {Status.STOPPED.value}"
NODE_LIMIT = f"Node limit. {Status.STOPPED.value}"


@dataclass(frozen=True)
class BranchAndBound:
    """Branch and bound (Das et al. 2012) around a decoder: the optimum, and a proof of it.

    Cases are bounded by the decoder, each from where the one above it ended; values whose
    opposite is bounded below the answer are fixed; of the rest one is branched on.  The proof
    (``certificate.proof``) is a tree of dual points that ``certificate.verify()`` replays.

    Attributes:
        solver: bounds the cases.
        second: bounds the whole again if it is left open, and then the cases too if its bound is
            clearly better; None for no other.
        gap_tolerance: relative gap at which an answer counts as optimal.
        max_nodes: stop after so many cases.
        core: what is left undecided after some cases may be given to HiGHS if it has at most so
            many links; the proof then trusts it, and ``certificate.trusted`` says so.  0 for never.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=1.0)
        >>> rule = g.add(at.Pair(x[[0, 1, 2]], x[[1, 2, 0]], scores=-2.0))
        >>> result = at.decode(g, at.BranchAndBound(core=0))
        >>> result.status.name, result.certificate.verify(), result.certificate.trusted
        ('OPTIMAL', True, ())
    """

    solver: Solver = field(default_factory=AD3)
    second: Solver | None = field(default_factory=Tightened)
    gap_tolerance: float = 1e-6
    max_nodes: int = 1_000_000
    core: int = 50_000
    searches = True

    def __post_init__(self) -> None:
        check_tolerance("gap_tolerance", self.gap_tolerance)
        check_count("max_nodes", self.max_nodes)
        check_count("core", self.core, least=0)
        for solver in (self.solver, *([] if self.second is None else [self.second])):
            if isinstance(solver, (str, type)) or not hasattr(solver, "dual_point"):
                raise TypeError(f"solver is a decoder with bounds such as AD3(), got {solver!r}")

    def begin(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Search:
        """A search of a compiled graph, before its first node."""
        warm = request.warm_start
        search = Search(
            settings=self,
            compiled=compiled,
            scores=graph_scores,
            started=request.started,
            deadline=request.deadline,
            report=request.report,
            seed=request.seed,
            start=None if warm is None else _start(compiled, graph_scores, warm),
        )
        if request.known is not None:
            search.offer(request.known)
        return search


def _start(compiled: Compiled, scores: GraphScores, warm: WarmStart) -> Start:
    """An earlier run's end as the root's beginning."""
    links = tuple(part.astype(np.float32) for part in compiled.graph_dual(warm.dual, scores))
    return Start(links, compiled.full(warm.marginals.astype(np.float32)), warm.penalty)


def why_it_stopped(search: Search) -> str:
    """Why a search ended without a proof."""
    if search.called_off:
        return CALLED_OFF
    if search.finished():
        return ROUNDING_ONLY
    return NODE_LIMIT if search.nodes >= search.settings.max_nodes else TIME_LIMIT


def _status(certificate: Certificate, tolerance: float) -> Status:
    if certificate.bound == -np.inf:
        return Status.INFEASIBLE
    closed = certificate.feasible and certificate.relative_gap <= tolerance
    return Status.OPTIMAL if closed else Status.STOPPED


def conclude(
    search: Search,
    reason: str | None = None,
    whole: Search | Partition | None = None,
    others: Others | None = None,
) -> Result:
    """Restate where a search ended for the written graph.

    The bound is that of the ``whole`` the search is part of, ``others`` are answers given before.
    """
    whole = whole or search
    best, compiled = search.incumbent, search.compiled
    assignment = best.assignment if best.assignment is not None else best.closest
    if assignment is None:
        assignment = np.maximum(compiled.fixed, 0)
    check = certify.check_assignment(compiled, search.scores, assignment)
    value = check.value if check.feasible else -np.inf
    bound = max(whole.bound, value)
    proof = whole.proof() if bound < np.inf else None
    bound = clear_of_rounding(bound, proof, compiled, search.scores, others)
    certificate = Certificate(
        value=value,
        bound=bound,
        feasible=check.feasible,
        relaxation=None,
        conflict=_conflict(search) if bound == -np.inf else (),
        compiled=compiled,
        scores=search.scores,
        assignment=assignment,
        flat_dual=_root_dual(search),
        proof=proof,
        others=others,
    )
    status = _status(certificate, search.settings.gap_tolerance)
    return Result(
        status=status,
        certificate=certificate,
        trace=search.trace,
        iterations=search.nodes,
        seconds=time.perf_counter() - search.started,
        message=reason or why_it_stopped(search) if status is Status.STOPPED else status.value,
        violated=check.violated,
        consensus=_consensus(search),
        penalty=np.nan if search.root is None else search.root.penalty,
    )


def _conflict(search: Search) -> tuple[str, ...]:
    """Constraints that cannot hold together: leaving out others, or by the root's multipliers."""
    left = max(search.deadline - time.perf_counter(), 0.0)
    few = small_conflict(search.compiled, min(left, SECONDS))
    root = search.root
    if few or root is None or not root.impossible or root.dual is None:
        return few
    ray, zeros = (
        infeasibility.thin(root.problem, root.dual, root.scores.table),
        search.scores.zeroed(),
    )
    links = root.compiled.graph_dual(ray, zeros)
    return infeasibility.reasons(search.compiled, search.compiled.flat_dual(links, zeros))


def _root_dual(search: Search) -> DualPoint | None:
    """The root's dual point, for warm starts."""
    root = search.root
    if root is None or root.impossible or root.dual is None:
        return None
    links = root.compiled.graph_dual(root.dual, search.scores)
    return search.compiled.flat_dual(links, search.scores)


def _consensus(search: Search) -> Any:
    """The root's marginals ``[N]``."""
    root, fixed = search.root, search.compiled.fixed
    if root is None or root.marginals is None:
        return np.where(fixed == -1, 0.5, fixed)
    return root.compiled.full(np.clip(root.marginals, 0.0, 1.0))
