"""BoxSubgradient: submodels linked by soft constraints, without copies (Belanger et al., 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assent.kernels import box_subgradient as kernel
from assent.kernels import subgradient as plain
from assent.kernels.boxes import soft_links, submodel_links
from assent.kernels.flat import COUNT, Flat, flat_of, inner_scores
from assent.kernels.oracle import raise_pending
from assent.kernels.questions import Work, make_questions_work
from assent.kernels.start import OF_SCORES
from assent.problem import DualPoint, Float, Problem, Scores, split_links
from assent.solvers.abilities import require
from assent.solvers.boxes import Boxes, Submodels, find_submodels, make_boxes, soft_groups
from assent.solvers.dual_bound import bound_at
from assent.solvers.messages import check_settings
from assent.solvers.protocol import Info, WarmStart
from assent.solvers.starting_point import initial_penalty
from assent.solvers.subgradient import RULES, Rule

SLACK = "All penalties are paid in full or not owed: the answer is proven."


@dataclass
class Workspace:
    """State of a running solve; see :mod:`assent.kernels.box_subgradient`."""

    flat: Flat
    submodels: Submodels
    boxes: Boxes
    inner: Float
    work: Work
    nu: Float  # multipliers
    r: Float  # [n], what they leave of the scores
    s: Float  # link scores, scratch
    x: Float  # [n], the submodels' vertices
    values: Float  # their maxima
    changed: NDArray[np.bool_]  # who has to be asked again
    best_nu: Float
    best_x: Float
    state: Float


@dataclass(frozen=True)
class BoxSubgradient:
    """Subgradient steps on the multipliers of soft constraints, which their penalties bound.

    For models whose submodels (structures, tables, variables) share nothing but soft constraints:
    agreement with any penalties, and `SoftCount`.  Every iteration has an assignment at hand.

    Attributes:
        step: as of `Subgradient`.
        count: what the step counts: "iterations", or "increases" of the dual value.
        first_step: the first step; ``None`` takes the typical size of the scores.
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (1 + |bound|)``.
        max_iterations: stop after so many iterations.

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

    def __post_init__(self) -> None:
        check_settings(self.gap_tolerance, self.residual_tolerance, self.max_iterations)
        if self.step not in RULES:
            raise ValueError(f"step is one of {', '.join(RULES)}, got {self.step!r}")

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> Workspace:
        """Multipliers of zero: every submodel on its own."""
        require("BoxSubgradient", "maximize", problem)
        flat, inner = flat_of(problem, "maximize"), inner_scores(scores)
        soft = soft_groups(problem, flat)
        numbers = [g for g, _ in soft]
        submodels = find_submodels("BoxSubgradient", problem, flat, numbers)
        boxes = make_boxes(flat, soft, inner)
        factors = int(flat.groups[:, COUNT].sum())
        changed = np.zeros(factors, bool)
        changed[submodels.owner[submodels.owner >= 0]] = True
        state = np.zeros(kernel.STATES)
        state[plain.BEST], state[kernel.VALUE] = np.inf, -np.inf
        size = initial_penalty(problem, scores) / OF_SCORES
        state[plain.FIRST_STEP] = size if self.first_step is None else self.first_step
        multipliers = len(boxes.offset)
        n = problem.n
        return Workspace(
            flat, submodels, boxes, inner, make_questions_work(flat),
            np.clip(np.zeros(multipliers), boxes.lower, boxes.upper), scores.theta.copy(),
            np.zeros(problem.n_links), np.zeros(n), np.zeros(factors), changed,
            np.zeros(multipliers), np.zeros(n), state,
        )  # fmt: skip

    def _run(
        self, problem: Problem, scores: Scores, workspace: Workspace, iterations: int
    ) -> None:
        w = workspace
        kernel.advance(
            w.flat, w.submodels, w.boxes, w.inner, scores.theta, scores.constant,
            RULES[self.step], self.count == "increases", iterations,
            w.nu, w.r, w.s, w.x, w.values, w.changed, w.best_nu, w.best_x, w.state, w.work,
        )  # fmt: skip
        raise_pending()

    def advance(
        self, problem: Problem, scores: Scores, workspace: Workspace, iterations: int
    ) -> Info:
        """Do ``iterations`` more, fewer where the answer is proven."""
        state = workspace.state
        if self.step == "polyak" and state[plain.DONE] == 0.0:
            self._run(problem, scores, workspace, 1)
            # The first target: an assignment is at hand, and nothing lies below its value.
            state[plain.MOVE] = state[plain.BEST] - state[kernel.VALUE]
            state[plain.TARGET] = state[plain.BEST]
            state[plain.ROUND] = state[plain.LOOK] = plain.POLYAK_ROUND
        self._run(problem, scores, workspace, iterations)
        best, short = state[plain.BEST], state[plain.BEST] - state[kernel.VALUE]
        proven = short <= self.gap_tolerance * (1.0 + abs(best))
        return Info(
            int(state[plain.DONE]), np.inf, state[kernel.SLACK], finished=bool(proven),
            reason=SLACK if proven else "", calls=int(state[plain.CALLS]),
        )  # fmt: skip

    def bound(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Upper bound from the best multipliers so far."""
        return bound_at(problem, scores, self.dual_point(problem, scores, workspace))

    def dual_point(
        self,
        problem: Problem,
        scores: Scores,
        workspace: Workspace,
        out: DualPoint | None = None,
    ) -> DualPoint:
        """The best multipliers so far as link scores."""
        return box_links(problem, scores, workspace, workspace.best_nu)

    def marginals(self, workspace: Workspace) -> Float:
        """The best assignment so far."""
        return workspace.best_x

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Not known: there is no relaxed answer."""
        return np.nan


def box_links(problem: Problem, scores: Scores, workspace: object, nu: Float) -> DualPoint:
    """Multipliers as link scores: the soft factors have them, the submodels all the rest."""
    from assent.kernels.boxes import charge_all

    w = workspace
    s, r = np.zeros(problem.n_links), np.empty(problem.n)
    charge_all(w.boxes, nu, scores.theta, r)  # type: ignore[attr-defined]
    submodel_links(w.flat, w.submodels, r, s)  # type: ignore[attr-defined]
    soft_links(w.boxes, nu, s)  # type: ignore[attr-defined]
    return split_links(problem, s)
