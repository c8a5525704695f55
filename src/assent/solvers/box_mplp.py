"""BoxMPLP: coordinate descent on the multipliers of soft agreement (Belanger et al., 2014)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assent.errors import ModelError
from assent.factors.soft_forms import AgreeSoft
from assent.kernels import box_mplp as kernel
from assent.kernels.boxes import charge_all, solve_all
from assent.kernels.flat import CODE, COUNT, PLACES, SIZE, TABLE, Flat, flat_of, inner_scores
from assent.kernels.oracle import raise_pending
from assent.kernels.questions import Work, make_questions_work
from assent.problem import DualPoint, Float, Int64, Problem, Scores
from assent.solvers.abilities import require
from assent.solvers.box_subgradient import box_links
from assent.solvers.boxes import Boxes, Submodels, find_submodels, make_boxes, soft_groups
from assent.solvers.dual_bound import bound_at
from assent.solvers.messages import AT_REST, check_settings
from assent.solvers.protocol import Info, WarmStart


@dataclass
class Workspace:
    """State of a running solve; see :mod:`assent.kernels.box_mplp`."""

    flat: Flat  # asked for max-marginals
    searched: Flat  # and for best vertices
    submodels: Submodels
    boxes: Boxes
    inner: Float
    work: Work
    order: tuple[Int64, Int64]  # blocks, and where sets of them begin
    keys: Int64  # [B, 2], variables that blocks link
    nu: Float
    r: Float
    s: Float
    first: Int64  # [factors + 1] where a submodel's max-marginals begin
    cache: Float
    valid: Int64
    iterations: int = 0
    calls: int = 0
    bound: float = np.inf


@dataclass(frozen=True)
class BoxMPLP:
    """Coordinate descent on soft agreement between submodels: no step size, never a worse bound.

    For models whose submodels share nothing but soft agreement, such as sentences linked by words
    that should be tagged alike.  Needs max-marginals of the submodels, asked for only when
    another of their variables has moved.

    Attributes:
        passes: how often the blocks of one variable are visited before going on to the next.
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (1 + |bound|)``.
        residual_tolerance: stop when the sweeps between two reports lower the bound by less than
            this, relative to ``1 + |bound|``.
        max_iterations: stop after so many sweeps.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(2, states="NV", scores=[[1.0, 0.0], [0.0, 0.3]], name="tag")
        >>> same = g.add(at.Soft(at.Agree(tag[0], tag[1]), penalty=0.5))
        >>> at.decode(g, at.BoxMPLP()).labels[tag].tolist()
        ['N', 'N']
    """

    passes: int = 10
    gap_tolerance: float = 1e-6
    residual_tolerance: float = 1e-8
    max_iterations: int = 10_000

    def __post_init__(self) -> None:
        check_settings(self.gap_tolerance, self.residual_tolerance, self.max_iterations)
        if self.passes < 1:
            raise ValueError(f"passes is at least 1, got {self.passes}")

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> Workspace:
        """Multipliers of zero: every submodel on its own."""
        require("BoxMPLP", "max_marginals", problem)
        flat, inner = flat_of(problem, "max_marginals"), inner_scores(scores)
        soft = soft_groups(problem, flat)
        other = [kind.__name__ for _, kind in soft if kind is not AgreeSoft]
        if other:
            raise ModelError(
                "BoxMPLP takes soft agreement with a penalty per pair or label; counts and "
                "matrices of penalties have no closed step: decode with BoxSubgradient() or MPLP()"
            )
        submodels = find_submodels("BoxMPLP", problem, flat, [g for g, _ in soft])
        boxes = make_boxes(flat, soft, inner)
        keys = _keys(boxes, submodels)
        room = np.where(flat.groups[:, CODE] >= TABLE, flat.groups[:, PLACES], 0)
        room = np.maximum(room, 2 * flat.groups[:, SIZE])
        first = np.concatenate([[0], np.cumsum(np.repeat(room, flat.groups[:, COUNT]))])
        return Workspace(
            flat, flat_of(problem, "maximize"), submodels, boxes, inner,
            make_questions_work(flat), _order(keys), keys,
            np.zeros(len(boxes.offset)), scores.theta.copy(), np.zeros(problem.n_links),
            first, np.zeros(first[-1]), np.full(len(first) - 1, kernel.NONE),
        )  # fmt: skip

    def advance(
        self, problem: Problem, scores: Scores, workspace: Workspace, iterations: int
    ) -> Info:
        """So many sweeps, fewer where nothing moves."""
        w = workspace
        before = w.bound
        charge_all(w.boxes, w.nu, scores.theta, w.r)  # anew: sums of changes would gather errors
        moved = 0
        for _ in range(iterations):
            moved, asked = kernel.sweep(
                w.flat, w.submodels, w.boxes, w.inner, w.order, self.passes, w.keys,
                w.nu, w.r, w.s, w.first, w.cache, w.valid, w.work,
            )  # fmt: skip
            w.iterations += 1
            w.calls += asked
            if moved == 0:
                break
        raise_pending()
        w.bound = bound_at(problem, scores, self.dual_point(problem, scores, w))
        fall = np.inf
        if np.isfinite(before):
            fall = (before - w.bound) / (1.0 + abs(w.bound))
        still = moved == 0 or fall <= self.residual_tolerance or w.bound == -np.inf
        return Info(
            w.iterations, np.inf, fall, finished=bool(still), reason=AT_REST if still else "",
            calls=w.calls,
        )  # fmt: skip

    def bound(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Upper bound from the current multipliers."""
        if np.isfinite(workspace.bound):
            return workspace.bound
        return bound_at(problem, scores, self.dual_point(problem, scores, workspace))

    def dual_point(
        self,
        problem: Problem,
        scores: Scores,
        workspace: Workspace,
        out: DualPoint | None = None,
    ) -> DualPoint:
        """The current multipliers as link scores."""
        return box_links(problem, scores, workspace, workspace.nu)

    def marginals(self, workspace: Workspace) -> Float:
        """The submodels' best assignments, each on its own."""
        w = workspace
        x = np.zeros(len(w.r))
        solve_all(w.searched, w.submodels, w.inner, w.r, w.s, x, w.work)
        raise_pending()
        return x

    def relaxed_value(self, problem: Problem, scores: Scores, workspace: Workspace) -> float:
        """Not known: there is no relaxed answer."""
        return np.nan


def _keys(boxes: Boxes, submodels: Submodels) -> Int64:
    """A number ``[B, 2]`` for the variable on each side of a block; refuses what has no place."""
    count = len(boxes.first) - 1
    keys = np.full((count, 2), -1, np.int64)
    owner = np.full((count, 2), -1, np.int64)
    box = np.repeat(np.arange(count), np.diff(boxes.first))
    lits = boxes.lits.reshape(-1, 2)
    known = boxes.known.reshape(-1, 2)
    own = np.where(lits < 0, ~lits, lits)
    for side in range(2):
        open_ = known[:, side] == 0
        negated = np.zeros(count, np.int64)
        np.maximum.at(negated, box[open_], (lits[open_, side] < 0).astype(np.int64))
        np.maximum.at(keys[:, side], box[open_], 2 * own[open_, side])
        np.maximum.at(owner[:, side], box[open_], submodels.owner[own[open_, side]])
        place = submodels.place[own[:, side], (lits[:, side] >= 0).astype(np.int64)]
        if (open_ & (place < 0) & (submodels.owner[own[:, side]] >= 0)).any():
            raise ModelError(
                "BoxMPLP links whole variables: a single state of one that a table or structure "
                "holds cannot stand for it; decode with MPLP() or AD3()"
            )
        keys[:, side] += negated
    if ((owner[:, 0] == owner[:, 1]) & (owner[:, 0] >= 0)).any():
        raise ModelError(
            "BoxMPLP links different submodels, and two variables of one should agree here; "
            "decode with BoxSubgradient(), MPLP() or AD3()"
        )
    return keys


def _order(keys: Int64) -> tuple[Int64, Int64]:
    """Blocks sorted into sets that share their second variable, and where sets begin."""
    order = np.argsort(keys[:, 1], kind="stable")
    begins = np.flatnonzero(np.diff(keys[order, 1], prepend=-9))
    return order.astype(np.int64), np.append(begins, len(order)).astype(np.int64)
