"""What is stated of a run that is over, for the graph as written: an answer and its certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from assent.compile.compiled import Compiled, GraphScores
from assent.interrupts import Finishing
from assent.kernels.problem import DualPoint, Float
from assent.proof import certify
from assent.proof.proof_tree import LinkScores
from assent.result import Certificate, Relaxation, Result, Status
from assent.solvers.base import infeasibility
from assent.solvers.base.loop import Run
from assent.solvers.base.protocol import Info
from assent.solvers.base.rounding_error import clear_of_rounding, rounding_matters
from assent.solvers.base.stop_reasons import INTERRUPTED, ROUNDING_ONLY
from assent.trace import Trace


def finished(state: Callable[[], Result]) -> Result:
    """A result that is stated to its end: a Ctrl-C in the meantime ends what would come after."""
    with Finishing() as ending:
        result = state()
    if not ending.interrupted or result.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return result
    return replace(result, status=Status.STOPPED, message=INTERRUPTED)


def conclude(run: Run) -> Result:
    """Restate the best of a run for the written graph, and recheck it there."""
    compiled, best, info, workspace = run.compiled, run.best, run.info, run.workspace
    run.tables = run.tied = None
    if best.dual is None:
        best.dual = run.solver.dual_point(run.problem, run.scores, workspace)
    consensus = np.clip(run.solver.marginals(workspace), 0.0, 1.0)
    flat = best.assignment if best.assignment is not None else best.least_violating
    if flat is None:
        flat = (consensus > 0.5).astype(np.int8)
    assignment = compiled.full(flat)
    check = certify.check_assignment(compiled, run.graph_scores, assignment)
    value = check.value if check.feasible else -np.inf
    is_ray = run.has_ray
    proof = None if is_ray else _proof(run, workspace)
    bound = best.bound if run.status is Status.INFEASIBLE else max(best.bound, value)
    searched = getattr(run.solver, "searches", False)
    if not searched and rounding_matters(bound, run.graph_scores):
        proof = LinkScores(best.dual) if proof is None else proof
        bound = clear_of_rounding(bound, proof, compiled, run.graph_scores)
    certificate = Certificate(
        value=value,
        bound=bound,
        feasible=check.feasible,
        relaxation=None if bound == -np.inf else run.relaxation(info, workspace),
        conflict=_conflict(run),
        compiled=compiled,
        scores=run.graph_scores,
        assignment=assignment,
        flat_dual=best.dual,
        is_ray=is_ray,
        searched=searched,
        proof=proof,
    )
    status, message = _final_status(
        certificate, run.solver.gap_tolerance, run.status, run.message
    )
    return Result(
        status=status,
        certificate=certificate,
        trace=run.trace,
        iterations=info.iterations,
        seconds=time.perf_counter() - run.started,
        message=message,
        violated=check.violated,
        consensus=compiled.full(consensus),
        penalty=info.penalty,
        inner=_inner(run, workspace),
    )


def _conflict(run: Run) -> tuple[str, ...]:
    """Constraints that cannot hold together: by multipliers, or after a search by cases."""
    if run.has_ray and run.best.dual is not None:
        return infeasibility.reasons(run.compiled, run.best.dual)
    if run.best.bound > -np.inf or not getattr(run.solver, "searches", False):
        return ()
    from assent.proof.conflict import SECONDS, small_conflict

    left = max(run.deadline - time.perf_counter(), 0.0)
    return small_conflict(run.compiled, min(left, SECONDS))


def _final_status(
    certificate: Certificate, tolerance: float, status: Status, message: str
) -> tuple[Status, str]:
    """OPTIMAL if and only if the certificate as stated closes the gap."""
    if status is Status.INFEASIBLE:
        return status, message
    closed = certificate.feasible and certificate.relative_gap <= tolerance
    if closed:  # even if an interrupt came just too late
        return Status.OPTIMAL, Status.OPTIMAL.value
    if status is not Status.OPTIMAL:
        return status, message
    return Status.STOPPED, ROUNDING_ONLY


def _proof(run: Run, workspace: Any) -> Any:
    """A proof that is no dual point, from solvers that have one."""
    read = getattr(run.solver, "proof", None)
    return None if read is None else read(run.compiled, workspace)


def _inner(run: Run, workspace: Any) -> Float | None:
    """Weights of table entries, from solvers that keep them."""
    read = getattr(run.solver, "table_marginals", None)
    return None if read is None else read(run.problem, workspace)


def refuted(compiled: Compiled, scores: GraphScores, started: float) -> Result:
    """Propagation alone proved infeasibility: nothing to solve."""
    assert compiled.conflict is not None
    assignment = compiled.fixed
    check = certify.check_assignment(compiled, scores, assignment)
    certificate = Certificate(
        value=-np.inf,
        bound=-np.inf,
        feasible=False,
        relaxation=None,
        conflict=compiled.conflict.reasons,
        compiled=compiled,
        scores=scores,
        assignment=assignment,
        flat_dual=None,
    )
    return Result(
        status=Status.INFEASIBLE,
        certificate=certificate,
        trace=Trace(),
        iterations=0,
        seconds=time.perf_counter() - started,
        message=Status.INFEASIBLE.value,
        violated=check.violated,
        consensus=assignment.astype(np.float64),
        plan="Propagation, which shows that nothing is possible.",
    )


def decided_alone(run: Run) -> Result:
    """No factor is left: every variable decides alone."""
    flat = (run.scores.theta > 0).astype(np.int8)
    total = run.scores.constant + float(np.maximum(run.scores.theta, 0.0).sum())
    assignment = run.compiled.full(flat)
    check = certify.check_assignment(run.compiled, run.graph_scores, assignment)
    # The two are the same sum in another order: the answer's own value bounds itself.
    bound = check.value if check.feasible else total
    run.best.bound = run.latest_bound = bound
    run.best.value = check.value if check.feasible else -np.inf
    info = Info(0, 0.0, 0.0)
    run.report(run.record(info))
    certificate = Certificate(
        value=run.best.value,
        bound=bound,
        feasible=check.feasible,
        relaxation=Relaxation(bound, 0.0, 0.0, True),
        conflict=(),
        compiled=run.compiled,
        scores=run.graph_scores,
        assignment=assignment,
        flat_dual=DualPoint(np.zeros((0, 2)), np.zeros(0)),
    )
    status, message = _final_status(
        certificate, run.solver.gap_tolerance, Status.OPTIMAL, Status.OPTIMAL.value
    )
    return Result(
        status=status,
        certificate=certificate,
        trace=run.trace,
        iterations=0,
        seconds=time.perf_counter() - run.started,
        message=message,
        violated=check.violated,
        consensus=assignment.astype(np.float64),
        inner=np.zeros(0),
    )
