"""What is stated of a run that is over, for the graph as written: an answer and its certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.certificate import Certificate, Relaxation
from assent.compile.compiled import Compiled, GraphScores
from assent.interrupts import Finishing
from assent.kernels.compile_clock import solving_seconds
from assent.kernels.problem import DualPoint, Float
from assent.proof import certify
from assent.proof.proof_tree import LinkScores
from assent.proof.replay import Others, Replay
from assent.proof.rounding_error import rounding_matters
from assent.result import Result, Status
from assent.solvers.base.stop_reasons import INTERRUPTED, ROUNDING_ONLY
from assent.trace import Trace


def finished(state: Callable[[], Result]) -> Result:
    """A result that is stated to its end: a Ctrl-C in the meantime ends what would come after."""
    with Finishing() as ending:
        result = state()
    if not ending.interrupted or result.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return result
    return replace(result, status=Status.STOPPED, message=INTERRUPTED)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run knows at its end: the one place that states certificates and results.

    Attributes:
        assignment: ``[N]`` the best answer, for the graph as written.
        bound: what was shown; the certificate's is no less than the answer's value.
        value: what the answer is worth, if that is known and it is feasible; else it is checked.
        proof: of the bound, where the link scores ``dual`` do not show it.
        searched: whether the bound is a search's word where there is no proof.
        gap_tolerance: the gap at which the answer counts as optimal; see `gap_rule`.
        status, message: what is said of the run if the gap is not closed.
        consensus: ``[N]`` the relaxed answer; by default the answer itself.

    The other attributes are those of `Certificate` and `Result`.
    """

    compiled: Compiled
    scores: GraphScores
    assignment: NDArray[np.int8]
    bound: float
    value: float | None = None
    dual: DualPoint | None = None
    is_ray: bool = False
    searched: bool = False
    proof: Any = None
    others: Others | None = None
    relaxation: Relaxation | None = None
    gap_tolerance: float = 0.0
    status: Status = Status.STOPPED
    message: str = ""
    trace: Trace = field(default_factory=Trace)
    iterations: int = 0
    seconds: float = 0.0
    consensus: Float | None = None
    penalty: float = np.nan
    inner: Float | None = None
    plan: str = Result.plan

    @cached_property
    def _answer(self) -> NDArray[np.int8]:
        """The assignment, its auxiliary variables as the others have them."""
        return certify.with_violations_paid(self.compiled, self.assignment)

    @cached_property
    def _check(self) -> certify.Check | None:
        """Value and violations, unless they are known."""
        if self.value is not None and np.array_equal(self._answer, self.assignment):
            return None
        return certify.check_assignment(self.compiled, self.scores, self._answer)

    @property
    def violated(self) -> tuple[str, ...]:
        """Constraints that the answer breaks, in words."""
        return () if self._check is None else self._check.violated

    @cached_property
    def certificate(self) -> Certificate:
        """The claims, as far as they are shown where scores are of very different sizes."""
        feasible = self._check is None or self._check.feasible
        own = self.value if self._check is None else self._check.value
        value = own if feasible and own is not None else -np.inf
        bound, proof = max(self.bound, value), self.proof if self.bound < np.inf else None
        if rounding_matters(bound, self.scores):
            if proof is None and self.dual is not None and not self.searched:
                proof = LinkScores(self.dual)
            if proof is not None:
                replay = Replay(self.compiled, self.scores, self.others)
                bound = max(bound, replay.bound(proof))
        return Certificate(
            value=value,
            bound=bound,
            feasible=feasible,
            relaxation=None if bound == -np.inf else self.relaxation,
            compiled=self.compiled,
            scores=self.scores,
            assignment=self._answer,
            flat_dual=self.dual,
            is_ray=self.is_ray,
            searched=self.searched,
            proof=proof,
            others=self.others,
        )

    def result(self) -> Result:
        """Everything, for the graph as written."""
        status, message = self._status()
        own = self._answer.astype(np.float64)
        return Result(
            status=status,
            certificate=self.certificate,
            trace=self.trace,
            iterations=self.iterations,
            seconds=self.seconds,
            message=message,
            violated=self.violated,
            consensus=own if self.consensus is None else self.consensus,
            penalty=self.penalty,
            inner=self.inner,
            plan=self.plan,
        )

    def _status(self) -> tuple[Status, str]:
        """OPTIMAL if and only if the certificate as stated closes the gap."""
        claim = self.certificate
        if claim.bound == -np.inf:
            return Status.INFEASIBLE, Status.INFEASIBLE.value
        if claim.is_closed(self.gap_tolerance):
            return Status.OPTIMAL, Status.OPTIMAL.value  # even if an interrupt came just too late
        if self.status is Status.OPTIMAL:
            return Status.STOPPED, ROUNDING_ONLY
        return self.status, self.message


def refuted(compiled: Compiled, scores: GraphScores, started: float) -> Result:
    """Propagation alone proved infeasibility: nothing to solve."""
    assert compiled.conflict is not None
    return Outcome(
        compiled=compiled,
        scores=scores,
        assignment=compiled.fixed,
        bound=-np.inf,
        seconds=solving_seconds(started),
        plan="Propagation, which shows that nothing is possible.",
    ).result()
