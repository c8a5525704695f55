"""Nodes of a tightened relaxation: one growing program, whose columns are fixed and freed.

All nodes share the program and its rows, which hold for every integral answer.  HiGHS starts where
the node above ended, and stops as soon as a node is closed.  A node keeps what proved its bound,
for the proof at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled
from assent.kernels.problem import Float
from assent.proof.gap_rule import allowed_gap
from assent.proof.proof_tree import Refuted
from assent.proof.regions import Regions
from assent.solvers.base.search_tree import Node, SearchTree
from assent.solvers.cutting_planes.cutting_plane_program import CutProof, GrowingProgram
from assent.solvers.cutting_planes.pseudocosts import Pseudocosts

# Rounds of rows in one node: each costs a solve, as a further node does.
MOST_ROUNDS = 4
# A round that lowers the bound by less than this share of what is missing is the last.
WORTH = 0.1


@dataclass(eq=False, kw_only=True)
class CutNode(Node):
    """A subproblem; ``start`` is HiGHS's basis, for one that has to wait.

    Attributes:
        path: all literals ``v`` or ``~v`` that hold in it, its parents' included.
        above: the bound of the node it was split from.
        moved: how far the last coordinate was from its value there.
    """

    path: tuple[int, ...] = ()
    above: float = np.inf
    moved: float = 0.0


class CutTree:
    """Nodes still open, best bound first, with dives in between.

    ``restate(proven)`` turns what the program's multipliers prove into a leaf of the proof, and
    ``offer(x)`` looks for answers near ``x[n]`` and returns the best value so far.
    """

    def __init__(
        self,
        program: GrowingProgram,
        root: CutNode,
        restate: Callable[[CutProof], Regions],
        offer: Callable[[Float], float],
        tolerance: float,
    ) -> None:
        self.program, self.restate, self.offer = program, restate, offer
        self.tree = SearchTree(root)
        self.tolerance = tolerance
        self.fixed: NDArray[np.int8] = np.full(program.problem.n, -1, np.int8)
        self.current: CutNode | None = self.tree.take()
        self.value = -np.inf
        self.nodes = 0
        self.pseudocosts = Pseudocosts(program.problem.n)

    @property
    def bound(self) -> float:
        """No node has more than this."""
        current = -np.inf if self.current is None else self.current.bound
        return max(self.tree.closed_bound, self.tree.open_bound, current)

    @property
    def done(self) -> bool:
        """Whether no node is left."""
        return self.current is None and not len(self.tree)

    def step(self, deadline: float) -> str:
        """Bound one node and split it if need be; "optimal" or why the program stopped."""
        try:
            return self._step(deadline)
        except BaseException:
            self.current = None
            self.tree.recount()
            raise

    def _step(self, deadline: float) -> str:
        node = self.current or self.tree.take()
        self.current = node
        self.nodes += 1
        if not self._is_closed(node):
            self._enter(node)
            status = self._bound(node, deadline)
            if status not in ("optimal", "infeasible"):
                return status
            self.pseudocosts.learn(node)
        if self._is_closed(node) or (self.fixed >= 0).all():
            self.tree.close(node, node.proof, node.bound)
            self.current = None
        else:
            self._split(node)
        return "optimal"

    def _is_closed(self, node: CutNode) -> bool:
        if np.isinf(node.bound) or np.isinf(self.value):
            return node.bound == -np.inf
        return node.bound - self.value <= allowed_gap(
            self.tolerance, node.bound, self.program.scores.scale
        )

    def _enter(self, node: CutNode) -> None:
        """Fix the columns of a node, free all others."""
        fixed = np.full(len(self.fixed), -1, np.int8)
        for literal in node.path:
            fixed[max(literal, ~literal)] = literal >= 0
        changed = np.flatnonzero(fixed != self.fixed)
        self.program.fix(changed, fixed[changed])
        self.fixed = fixed
        if node.start is not None:
            self.program.begin_at(node.start)
            node.start = None

    def _bound(self, node: CutNode, deadline: float) -> str:
        """Solve and tighten a node until it is closed or no longer yields."""
        for _ in range(MOST_ROUNDS):
            before = node.bound
            status = self._solve(node, deadline)
            if status == "infeasible":
                self._refute(node)
                return status
            if status != "optimal" or self._is_closed(node):
                return status
            self._take(node, self.program.proven(self.fixed))
            self.value = self.offer(self.program.x)
            missing = node.bound - self.value
            if self._is_closed(node) or before - node.bound < WORTH * missing:
                break
            if not self.program.tighten():
                break
        return status

    def _solve(self, node: CutNode, deadline: float) -> str:
        """Solve a node, no further than it takes to close it."""
        self.program.stop_below(self.value)
        status = self.program.solve(deadline)
        if status == "low enough":
            self._take(node, self.program.proven(self.fixed))
            if self._is_closed(node):
                return "optimal"
            self.program.stop_below(-np.inf)
            status = self.program.solve(deadline)
        return status

    def _take(self, node: CutNode, proven: CutProof | None) -> None:
        if proven is not None and proven.bound < node.bound:
            node.bound, node.proof = proven.bound, self.restate(proven)

    def _refute(self, node: CutNode) -> None:
        """Close a node in which nothing is possible, if that can be shown.

        With all coordinates fixed propagation shows it.
        """
        proven = self.program.refutation(self.fixed)
        if proven is not None:
            node.bound, node.proof = -np.inf, replace(self.restate(proven), is_ray=True)
        elif (self.fixed >= 0).all():
            node.bound, node.proof = -np.inf, Refuted()

    def _split(self, node: CutNode) -> None:
        """Two nodes; the one nearer to the relaxed answer is next."""
        x = self.program.x
        v = self.pseudocosts.choose(x, self.fixed < 0)

        def child(literal: int, moved: float) -> CutNode:
            return CutNode(
                literals=(literal,), path=(*node.path, literal), bound=node.bound,
                proof=node.proof, above=node.bound, moved=moved, depth=node.depth + 1,
            )  # fmt: skip

        children, nearer = (child(~v, float(x[v])), child(v, float(1.0 - x[v]))), int(x[v] >= 0.5)
        children[1 - nearer].start = self.program.basis()
        self.current = self.tree.branch(node, children, nearer)

    def proof(self, compiled: Compiled) -> Any:
        """The tree, in the terms of the graph."""
        free = compiled.free

        def code(literal: int) -> int:
            return int(free[literal]) if literal >= 0 else ~int(free[~literal])

        return self.tree.proof(code)
