"""BranchAndCut: a tightened relaxation, then its subproblems, until the optimum is proven."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled
from assent.kernels import random_numbers
from assent.kernels.core import schedule
from assent.kernels.problem import Float, Problem, Scores
from assent.solvers.base.incumbent import Incumbent
from assent.solvers.base.protocol import Info, WarmStart
from assent.solvers.base.rounding import Rounder, due_at_node
from assent.solvers.cutting_planes.cut_nodes import CutNode, CutTree
from assent.solvers.cutting_planes.tightened import Tightened, TightenedState, restate
from assent.solvers.programs.highs import why_it_stopped

# Seconds of one call: interrupts and reports come in between.
CALL = 0.2

# Rounds at the root end once five of them have taken off no more than this share of what is
# missing: nodes do better then.
TAIL_ROUNDS, TAIL_SHARE = 5, 0.01
# ... and this one while tables could be tabulated, after which rounds take off more again.
TAIL_SHARE_BEFORE = 0.002

ALL_CLOSED = "All nodes are closed, up to rounding."


@dataclass(kw_only=True)
class BranchAndCutState(TightenedState):
    """The relaxation, and the nodes once it no longer yields."""

    rounder: Rounder
    incumbent: Incumbent = field(default_factory=Incumbent)
    roundings: int = 0  # relaxed answers that were offered
    tree: CutTree | None = None
    bounds: list[float] = field(default_factory=list)  # after every round
    pause_at: float = np.inf  # work of all programs

    def tails_off(self) -> bool:
        """Whether rounds hardly lower the bound any more, beside what is missing."""
        self.bounds.append(self.bound)
        if len(self.bounds) <= TAIL_ROUNDS or not self.solved:
            return False
        fall = self.bounds[-TAIL_ROUNDS - 1] - self.bound
        share = TAIL_SHARE_BEFORE if self.can_tabulate() else TAIL_SHARE
        if fall >= share * (self.bound - self.incumbent.value):
            return False
        # An answer from elsewhere may be a poor one; without any, what is missing is not known.
        value = self.offer(self.program.x)
        return np.isfinite(value) and fall < share * (self.bound - value)

    def offer(self, marginals: Float) -> float:
        """Look near a relaxed answer, thoroughly the first time; the best value so far."""
        integral = np.abs(marginals - np.round(marginals)).max(initial=0.0) < schedule.UNDECIDED
        self.roundings += 1
        if integral:
            self.take(np.round(marginals).astype(np.int8))
        elif due_at_node(self.roundings):
            self.incumbent.offer(*self.rounder.round(marginals, thorough=self.roundings == 1))
        return self.incumbent.value

    def take(self, x: NDArray[np.int8]) -> None:
        """Consider an assignment ``x[n]``."""
        self.incumbent.consider(self.rounder.problem, self.rounder.scores, x)


@dataclass(frozen=True)
class BranchAndCut(Tightened):
    """The optimum with a proof: `Tightened`, then branching on the same linear program.

    Nodes fix a coordinate each; rows found in one hold in all.  The proof is a tree of cut
    multipliers and link scores that ``certificate.verify()`` replays.

    Attributes:
        gap_tolerance: relative gap at which an answer counts as optimal.
        residual_tolerance: not used: a relaxation is solved or not.
        max_iterations: the most rounds and nodes.
        time_limit: seconds after which the search ends, or None.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> rng = np.random.default_rng(0)
        >>> g = at.FactorGraph()
        >>> x = g.binary(12, scores=rng.normal(size=12))
        >>> rule = g.add(at.Knapsack(x, weights=rng.random(12), capacity=2.0))
        >>> result = at.decode(g, at.BranchAndCut())
        >>> result.status.name, result.certificate.verify()
        ('OPTIMAL', True)
    """

    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 1_000_000
    time_limit: float | None = None
    searches = True

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> BranchAndCutState:
        """The plain relaxation; structures without rows are refused."""
        relaxation = super().init(problem, scores, warm_start)
        rounder = Rounder(problem, scores, random_numbers.first_random_state(0))
        return BranchAndCutState(**vars(relaxation), rounder=rounder)

    def pause_after(self, workspace: Any, work: float) -> None:
        """Its work is that of its linear programs; rounds can be paused, and nodes in between."""
        super().pause_after(workspace, work)
        workspace.pause_at = workspace.program.work + work

    def take_answer(self, workspace: Any, x: NDArray[np.int8]) -> None:
        """An answer from elsewhere, to compare nodes with."""
        workspace.take(x)

    def advance(
        self, problem: Problem, scores: Scores, workspace: Any, iterations: int = 1
    ) -> Info:
        """A round of the relaxation, or some nodes."""
        w = workspace
        if w.tree is None:
            info = super().advance(problem, scores, w)
            if not w.solved or not (info.finished or w.tails_off()):
                return info
            w.tree = self._start_tree(problem, w)
        begun = time.perf_counter()
        for _ in range(iterations):
            if w.tree.done:
                return self._info(w, 0.0, finished=True, reason=ALL_CLOSED)
            status = w.tree.step(w.deadline)
            if status == "interrupted":
                raise KeyboardInterrupt
            if status != "optimal":
                return self._info(w, finished=True, reason=why_it_stopped(status))
            if w.program.work >= w.pause_at or time.perf_counter() - begun > CALL:
                break
        return self._info(w)

    def _info(self, w: BranchAndCutState, residual: float = np.inf, **ending: Any) -> Info:
        count = w.rounds + (0 if w.tree is None else w.tree.nodes)
        return Info(count, residual, residual, work=w.program.work, **ending)

    def _start_tree(self, problem: Problem, w: BranchAndCutState) -> CutTree:
        root = CutNode(bound=w.bound, proof=w.best)
        tree = CutTree(
            w.program, root, lambda proven: restate(problem, w.outer, proven),
            w.offer, 0.5 * self.gap_tolerance,
        )  # fmt: skip
        tree.value = w.offer(w.program.x)
        return tree

    def bound(self, problem: Problem, scores: Scores, workspace: Any) -> float:
        """The largest bound of a node."""
        return workspace.bound if workspace.tree is None else workspace.tree.bound

    def proof(self, compiled: Compiled, workspace: Any) -> Any:
        """What proves the bound: cut multipliers, or a tree of nodes."""
        return workspace.best if workspace.tree is None else workspace.tree.proof(compiled)

    def marginals(self, workspace: Any) -> Float:
        """The best answer found in nodes, or the relaxed one."""
        best = workspace.incumbent.assignment
        if workspace.tree is None or best is None:
            return workspace.program.x
        return best.astype(np.float64)

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Any) -> float:
        """Objective of the tightened relaxation at its answer; unknown among nodes."""
        if workspace.tree is not None:
            return np.nan
        return super().relaxed_value(problem, scores, workspace)
