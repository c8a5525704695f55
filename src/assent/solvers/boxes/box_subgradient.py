"""BoxSubgradient: submodels linked by soft constraints, without copies (Belanger et al., 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from assent.kernels.ad3.initial_multipliers import OF_SCORES
from assent.kernels.boxes import box_subgradient_step as kernel
from assent.kernels.core.structure_addresses import raise_pending
from assent.kernels.messages import subgradient_step as plain
from assent.kernels.problem import Float, Problem, Scores
from assent.proof.gap_rule import allowed_gap
from assent.solvers.base.protocol import Info, WarmStart
from assent.solvers.base.settings import check_choice
from assent.solvers.base.starting_point import initial_penalty
from assent.solvers.boxes.box_solver import BoxSolver, Linked, link_submodels
from assent.solvers.messages.subgradient import RULES, Rule, aim_below

# Rounds of Polyak's steps, as `Subgradient`'s.  Bounded multipliers have less far to go: shorter
# rounds halve the calls on linked sentences.
FIRST_ROUND = 8
LONGER = 1.5

SLACK = "All penalties are paid in full or not owed: the answer is proven."


@dataclass
class BoxSubgradientState:
    """State of a running solve; see :mod:`assent.kernels.boxes.box_subgradient_step`."""

    linked: Linked
    model: kernel.BoxModel
    point: kernel.BoxPoint


@dataclass(frozen=True)
class BoxSubgradient(BoxSolver):
    """Subgradient steps on the multipliers of soft constraints, which their penalties bound.

    For models whose submodels (structures, tables, variables) share nothing but soft constraints:
    agreement with any penalties, and `SoftCount`.  Every iteration has an assignment at hand.

    Attributes:
        step: as of `Subgradient`.
        count: what the step counts: "iterations", or "increases" of the dual value.
        first_step: the first step; ``None`` takes the typical size of the scores.
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (scale + |bound|)``.
        max_iterations: stop after this many iterations.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(2, states="NV", scores=[[1.0, 0.0], [0.0, 0.3]], name="tag")
        >>> same = g.add(at.Soft(at.Agree(tag[0], tag[1]), penalty=0.5))
        >>> at.decode(g, at.BoxSubgradient()).labels[tag].tolist()
        ['N', 'N']
    """

    step: Rule = "polyak"
    count: Literal["iterations", "increases"] = "increases"
    first_step: float | None = None
    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-6
    max_iterations: int = 20_000
    in_score_units = ("first_step",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("step", self.step, RULES)

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> BoxSubgradientState:
        """Multipliers of zero: every submodel on its own."""
        linked = link_submodels("BoxSubgradient", "maximize", problem, scores)
        owners = linked.submodels.owner
        changed = np.zeros(len(linked.submodels.group), bool)
        changed[owners[owners >= 0]] = True
        state = np.zeros(kernel.STATES)
        state[plain.BEST], state[kernel.VALUE] = np.inf, -np.inf
        size = initial_penalty(problem, scores) / OF_SCORES
        state[plain.FIRST_STEP] = size if self.first_step is None else self.first_step
        model = kernel.BoxModel(
            linked.flat, linked.submodels, linked.boxes, linked.inner, scores.theta,
            float(scores.constant),
        )  # fmt: skip
        point = kernel.BoxPoint(
            linked.nu, linked.r, linked.s, np.zeros(problem.n), np.zeros(len(changed)), changed,
            linked.nu.copy(), np.zeros(problem.n), state,
        )  # fmt: skip
        return BoxSubgradientState(linked, model, point)

    def _run(self, workspace: BoxSubgradientState, iterations: int) -> None:
        w, rule = workspace, plain.StepRule(RULES[self.step], self.count == "increases")
        kernel.advance(w.model, rule, w.point, w.linked.work, iterations)
        raise_pending()

    def advance(
        self, problem: Problem, scores: Scores, workspace: BoxSubgradientState, iterations: int
    ) -> Info:
        """Do ``iterations`` more, fewer where the answer is proven."""
        state = workspace.point.state
        if self.step == "polyak" and state[plain.DONE] == 0.0:
            self._run(workspace, 1)
            # An assignment is at hand, and nothing lies below its value.
            margin = state[plain.BEST] - state[kernel.VALUE]
            aim_below(state, margin, FIRST_ROUND, LONGER)
        self._run(workspace, iterations)
        best, short = state[plain.BEST], state[plain.BEST] - state[kernel.VALUE]
        proven = short <= allowed_gap(self.gap_tolerance, best, scores.scale)
        return Info(
            int(state[plain.DONE]), np.inf, state[kernel.SLACK], finished=bool(proven),
            reason=SLACK if proven else "", calls=int(state[plain.CALLS]),
        )  # fmt: skip

    def best_multipliers(self, workspace: BoxSubgradientState) -> Float:
        """Those of the lowest bound so far."""
        return workspace.point.best_nu

    def marginals(self, workspace: BoxSubgradientState) -> Float:
        """The best assignment so far."""
        return workspace.point.best_x
