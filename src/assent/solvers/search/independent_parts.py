"""Parts of a graph that share no factor, each solved by itself: nodes do not multiply."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled, GraphScores, compile_conditioned, logic_rows
from assent.compile.components import components
from assent.kernels.compile_clock import solving_seconds
from assent.kernels.problem import Int64
from assent.proof import certify
from assent.proof.proof_tree import Conditioned, IndependentParts
from assent.result import Result, Status
from assent.solvers.ad3.ad3 import AD3
from assent.solvers.base.driver import drive
from assent.solvers.base.protocol import GraphSolver, Request
from assent.solvers.base.stop_reasons import CALLED_OFF, INTERRUPTED, TIME_LIMIT
from assent.solvers.search.branch_and_bound import BranchAndBound

# Parts of fewer coordinates are taken together: one that is narrow stays narrow with others.
SMALL = 20

# How far a relaxed answer may be from the integral one that it is taken for.
INTEGRALITY_TOLERANCE = 1e-3

# What ends the whole run, not just a part of it.
ENDED = (CALLED_OFF, INTERRUPTED)


def parts_of(compiled: Compiled) -> list[Int64]:
    """Coordinates of the parts, small ones first and as one; a single part if nothing is apart."""
    labels = components(compiled)
    sizes = np.bincount(labels)
    rest = np.flatnonzero(sizes[labels] < SMALL)
    large = sorted(np.flatnonzero(sizes >= SMALL), key=sizes.__getitem__)
    return [rest] * bool(len(rest)) + [np.flatnonzero(labels == part) for part in large]


def _together(compiled: Compiled, whole: Result) -> list[Int64]:
    """Coordinates of the parts in the graph; those whose relaxed answer is whole are one.

    These are most likely proven by it, all at once.
    """
    parts = [compiled.free[part] for part in parts_of(compiled)]
    distance = np.abs(whole.consensus - whole.certificate.assignment)
    done = [part for part in parts if distance[part].max() <= INTEGRALITY_TOLERANCE]
    if len(done) < 2:
        return parts
    rest = [part for part in parts if distance[part].max() > INTEGRALITY_TOLERANCE]
    return [np.sort(np.concatenate(done)), *rest]


@dataclass(frozen=True)
class ByParts(GraphSolver):
    """Solve a graph part by part, each exactly, beginning with an answer to the whole.

    Attributes:
        each: solves a part exactly.
        gap_tolerance: relative gap at which an answer counts as optimal.
    """

    each: Any
    gap_tolerance: float = 1e-6

    def drive(self, compiled: Compiled, graph_scores: GraphScores, request: Request) -> Result:
        """An answer to the whole, then every part with the others as they are in it."""
        whole = drive(compiled, graph_scores, AD3(gap_tolerance=self.gap_tolerance), request)
        closed = whole.status in (Status.OPTIMAL, Status.INFEASIBLE)
        if closed or whole.message in ENDED:
            return whole
        if not whole.feasible:  # parts stand on an answer to the others
            search = BranchAndBound(gap_tolerance=self.gap_tolerance)
            fresh = replace(request, warm_start=None, dual=None, known=None)
            found = drive(compiled, graph_scores, search, fresh)
            return found if found.feasible or found.bound <= whole.bound else whole
        return self._apart(compiled, graph_scores, whole, request)

    def _apart(
        self, compiled: Compiled, scores: GraphScores, whole: Result, request: Request
    ) -> Result:
        parts = _together(compiled, whole)
        each = replace(self.each, gap_tolerance=self.gap_tolerance / len(parts))  # gaps add up
        rows, begin = logic_rows(compiled), whole.certificate.assignment
        best, found, bound = begin.copy(), [], whole.value
        reason = TIME_LIMIT
        try:
            for number, part in enumerate(parts):
                given = begin.copy()
                given[part] = -1
                case = compile_conditioned(compiled, given, rows)
                limit = request.share(1.0 / (len(parts) - number))
                own = replace(request, warm_start=None, dual=None, known=begin, time_limit=limit)
                result = drive(case, scores, each, own)
                claim = result.certificate
                best[part] = claim.assignment[part]
                bound += claim.bound - whole.value
                if result.message in ENDED:
                    reason = result.message
                    break
                found.append((part, Conditioned(given, claim.shown_by)))
        except KeyboardInterrupt:
            reason = INTERRUPTED
        proof = IndependentParts(begin, tuple(found)) if len(found) == len(parts) else None
        return self._joined(whole, best, bound, proof, request.started, reason)

    def _joined(
        self,
        whole: Result,
        best: NDArray[np.int8],
        bound: float,
        proof: IndependentParts | None,
        started: float,
        reason: str,
    ) -> Result:
        """The parts' answers and bounds as one; the bound of the whole if some are missing."""
        claim = whole.certificate
        check = certify.check_assignment(claim.compiled, claim.scores, best)
        if proof is None or bound >= claim.bound:
            bound, shown = claim.bound, claim.proof
        else:
            shown = proof
        certificate = replace(
            claim,
            value=check.value,
            bound=max(bound, check.value),
            assignment=best,
            proof=shown,
        )
        closed = certificate.is_closed(self.gap_tolerance)
        return replace(
            whole,
            certificate=certificate,
            status=Status.OPTIMAL if closed else Status.STOPPED,
            message=Status.OPTIMAL.value if closed else reason,
            seconds=solving_seconds(started),
        )
