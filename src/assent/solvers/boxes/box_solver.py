"""What the solvers on box duals have in common; see :mod:`assent.solvers.boxes.box_dual`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.boxes.submodels import charge_all, soft_links, submodel_links
from assent.kernels.core.factor_list import Flat, flat_of, inner_scores
from assent.kernels.core.factor_oracles import OracleWork, make_oracle_work
from assent.kernels.problem import DualPoint, Float, Problem, Scores, split_links
from assent.solvers.base.abilities import require
from assent.solvers.base.protocol import IterativeSolver
from assent.solvers.boxes.box_dual import Boxes, Submodels, find_submodels, make_boxes, soft_groups


@dataclass
class Linked:
    """Submodels, the boxes that link them, and multipliers: all that a dual point needs."""

    flat: Flat
    submodels: Submodels
    boxes: Boxes
    kinds: tuple[type, ...]  # of soft constraints
    inner: Float
    work: OracleWork
    nu: Float  # multipliers
    r: Float  # [n], what they leave of the scores
    s: Float  # link scores, scratch


def link_submodels(solver: str, question: str, problem: Problem, scores: Scores) -> Linked:
    """Every submodel on its own: multipliers of zero."""
    require(solver, question, problem)
    flat, inner = flat_of(problem, question), inner_scores(scores)
    soft = soft_groups(problem, flat)
    submodels = find_submodels(solver, problem, flat, [g for g, _ in soft])
    boxes = make_boxes(flat, soft, inner)
    return Linked(
        flat, submodels, boxes, tuple(kind for _, kind in soft), inner,
        make_oracle_work(flat), np.zeros(len(boxes.offset)), scores.theta.copy(),
        np.zeros(problem.n_links),
    )  # fmt: skip


def read_multipliers(problem: Problem, scores: Scores, linked: Linked, nu: Float) -> DualPoint:
    """Multipliers as link scores: the soft factors have them, the submodels all the rest."""
    s, r = np.zeros(problem.n_links), np.empty(problem.n)
    charge_all(linked.boxes, nu, scores.theta, r)
    submodel_links(linked.flat, linked.submodels, r, s)
    soft_links(linked.boxes, nu, s)
    return split_links(problem, s)


class BoxSolver(IterativeSolver):
    """The half of a solver that follows from its multipliers."""

    def best_multipliers(self, workspace: Any) -> Float:
        """The multipliers that bounds and dual points are taken at."""
        return workspace.linked.nu

    def dual_point(self, problem: Problem, scores: Scores, workspace: Any) -> DualPoint:
        """The best multipliers as link scores."""
        return read_multipliers(problem, scores, workspace.linked, self.best_multipliers(workspace))
