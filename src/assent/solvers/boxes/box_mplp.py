"""BoxMPLP: coordinate descent on the multipliers of soft agreement (Belanger et al., 2014)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.soft import HingeSoft
from assent.kernels.boxes import box_mplp_sweep as kernel
from assent.kernels.boxes.box_answers import SubmodelOrder, improve
from assent.kernels.boxes.box_mplp_sweep import Descent
from assent.kernels.boxes.chain_passes import MOST_RESTS, ChainBlocks, PassState, pass_all
from assent.kernels.boxes.submodels import charge_all, solve_all
from assent.kernels.core.factor_list import CODE, COUNT, PLACES, SIZE, TABLE, Flat, flat_of
from assent.kernels.core.structure_addresses import raise_pending
from assent.kernels.problem import Float, Int64, Problem, Scores
from assent.solvers.base.dual_bound import bound_at
from assent.solvers.base.protocol import Info, WarmStart
from assent.solvers.base.settings import check_count
from assent.solvers.boxes.box_dual import Boxes, Submodels
from assent.solvers.boxes.box_solver import BoxSolver, Linked, link_submodels, read_multipliers
from assent.solvers.boxes.chain_pass_order import find_chain_blocks, for_first_pass
from assent.solvers.messages.block_descent import AT_REST


@dataclass
class BoxMPLPState:
    """State of a running solve; see :mod:`assent.kernels.boxes.box_mplp_sweep`."""

    linked: Linked
    searched: Flat  # the same factors, asked for best vertices
    descent: Descent
    chains: ChainBlocks
    passes: PassState
    order: tuple[Int64, Int64]  # all other blocks, and where sets of them begin
    answer_order: SubmodelOrder
    theta: Float
    x: Float  # [n], the submodels' best assignments
    best_nu: Float  # of all reports, those whose bound is best
    best_bound: float = np.inf
    last_dual: float = np.inf
    iterations: int = 0
    calls: int = 0
    passed: int = 0  # chains, all in all


@dataclass(frozen=True)
class BoxMPLP(BoxSolver):
    """Coordinate descent on soft agreement between submodels: no step size, never a worse bound.

    For models whose submodels share nothing but soft agreement, such as sentences linked by words
    that should be tagged alike; penalties are a number, one per label, or a matrix.  Chains are
    passed along, to and fro, and all of their linked variables get their turn on the way.  Of
    other submodels max-marginals are needed, asked for only when another of their variables has
    moved.

    Attributes:
        passes: how often the blocks of one variable are visited before going on to the next;
            those of chains are visited once.
        gap_tolerance: stop when ``bound - value <= gap_tolerance * (scale + |bound|)``.
        residual_tolerance: stop when the sweeps between two reports lower the bound by less than
            this, relative to ``scale + |bound|``.
        max_iterations: stop after this many sweeps.

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
        super().__post_init__()
        check_count("passes", self.passes)

    def init(
        self, problem: Problem, scores: Scores, warm_start: WarmStart | None = None
    ) -> BoxMPLPState:
        """Multipliers of zero: every submodel on its own."""
        linked = link_submodels("BoxMPLP", "max_marginals", problem, scores)
        if HingeSoft in linked.kinds:
            raise ModelError(
                "BoxMPLP takes soft agreement between variables, and a SoftCount is none: decode "
                "with BoxSubgradient() or MPLP()"
            )
        boxes, submodels, flat = linked.boxes, linked.submodels, linked.flat
        keys, owner, place = _variables(boxes, submodels)
        chains, passed = find_chain_blocks(problem, flat, submodels, keys, owner, place)
        room = np.where(flat.groups[:, CODE] >= TABLE, flat.groups[:, PLACES], 0)
        room = np.maximum(room, 2 * flat.groups[:, SIZE])
        first = np.concatenate([[0], np.cumsum(np.repeat(room, flat.groups[:, COUNT]))])
        descent = Descent(
            flat, submodels, boxes, linked.inner, keys, linked.nu, linked.r, linked.s, first,
            np.zeros(first[-1]), np.full(len(first) - 1, kernel.NONE), linked.work,
        )  # fmt: skip
        passes = PassState(
            np.zeros((2, first[-1])), np.zeros(len(chains.factor), np.int8),
            np.zeros(len(chains.factor), np.int64), np.zeros(problem.n),
        )  # fmt: skip
        return BoxMPLPState(
            linked, flat_of(problem, "maximize"), descent, chains, passes, _order(keys, ~passed),
            _submodel_order(keys, owner), scores.theta, np.zeros(problem.n), linked.nu.copy(),
        )  # fmt: skip

    def best_multipliers(self, workspace: BoxMPLPState) -> Float:
        """A matrix of penalties may prove less at multipliers that are better for the box."""
        return workspace.best_nu

    def advance(
        self, problem: Problem, scores: Scores, workspace: BoxMPLPState, iterations: int
    ) -> Info:
        """Do ``iterations`` sweeps, fewer where nothing moves."""
        w, linked = workspace, workspace.linked
        # Anew: sums of changes would gather errors.
        charge_all(linked.boxes, linked.nu, scores.theta, linked.r)
        moved = 0
        for _ in range(iterations):
            moved = _sweep(w, self.passes)
            if moved == 0:
                break
        raise_pending()
        before, w.last_dual = w.last_dual, self.box_dual(scores, w)
        bound = bound_at(problem, scores, read_multipliers(problem, scores, linked, linked.nu))
        if bound <= w.best_bound:
            w.best_bound = bound
            w.best_nu[:] = linked.nu
        fall = np.inf
        if np.isfinite(before):
            fall = (before - w.last_dual) / (scores.scale + abs(w.last_dual))
        still = moved == 0 or fall <= self.residual_tolerance or w.last_dual == -np.inf
        return Info(
            w.iterations, np.inf, fall, finished=bool(still), reason=AT_REST if still else "",
            calls=w.calls,
        )  # fmt: skip

    def box_dual(self, scores: Scores, workspace: BoxMPLPState) -> float:
        """What the steps lower: the submodels' maxima, and the constants of multipliers."""
        w, linked = workspace, workspace.linked
        constant = scores.constant + charge_all(linked.boxes, linked.nu, scores.theta, linked.r)
        return constant + self._solve(w)

    def marginals(self, workspace: BoxMPLPState) -> Float:
        """The submodels' best assignments, each beside what is best for the others."""
        w, linked = workspace, workspace.linked
        self._solve(w)
        improve(
            w.searched, linked.submodels, linked.boxes, w.answer_order, linked.inner, w.theta,
            linked.s, w.x, linked.work,
        )  # fmt: skip
        raise_pending()
        return w.x

    def _solve(self, workspace: BoxMPLPState) -> float:
        w, linked = workspace, workspace.linked
        value = solve_all(
            w.searched, linked.submodels, linked.inner, linked.r, linked.s, w.x, linked.work
        )
        raise_pending()
        return float(value)


def _sweep(workspace: BoxMPLPState, passes: int) -> int:
    """Along all chains, then the other blocks; returns how many blocks moved."""
    w, fresh = workspace, workspace.iterations == 0
    chains = for_first_pass(w.chains) if fresh else w.chains
    moved, first_asked, passed = pass_all(w.descent, chains, w.passes, MOST_RESTS, fresh)
    others, then_asked = kernel.sweep(w.descent, w.order, passes)
    w.iterations += 1
    w.passed += passed
    w.calls += passed + first_asked + then_asked
    return int(moved + others)


def _variables(boxes: Boxes, submodels: Submodels) -> tuple[Int64, Int64, Int64]:
    """Of the variable on each side of a block, ``[B, 2]``: number, submodel and one of its places.

    Refuses what has no place.
    """
    count = len(boxes.first) - 1
    keys, owner, found = (np.full((count, 2), -1, np.int64) for _ in range(3))
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
        np.maximum.at(found[:, side], box[open_], place[open_])
        keys[:, side] += negated
    if ((owner[:, 0] == owner[:, 1]) & (owner[:, 0] >= 0)).any():
        raise ModelError(
            "BoxMPLP links different submodels, and two variables of one should agree here; "
            "decode with BoxSubgradient(), MPLP() or AD3()"
        )
    return keys, owner, found


def _order(keys: Int64, which: NDArray[np.bool_]) -> tuple[Int64, Int64]:
    """Blocks sorted into sets that share their second variable, and where sets begin."""
    blocks = np.flatnonzero(which)
    order = blocks[np.argsort(keys[blocks, 1], kind="stable")]
    begins = np.flatnonzero(np.diff(keys[order, 1], prepend=-9))
    return order, np.append(begins, len(order))


def _submodel_order(keys: Int64, owner: Int64) -> SubmodelOrder:
    """Who is linked by which blocks; a coordinate in no submodel is its key without the sign."""
    unit = np.where(owner >= 0, owner, ~(keys // 2))
    block, side = np.nonzero(keys >= 0)
    order = np.argsort(unit[block, side], kind="stable")
    block, side = block[order], side[order]
    factor, start = np.unique(unit[block, side], return_index=True)
    return SubmodelOrder(factor, np.append(start, len(block)), block, side)
