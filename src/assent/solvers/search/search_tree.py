"""The tree of a search: cases still open, cases closed, and the proof they add up to."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assent.kernels.problem import DualPoint
from assent.proof.field_checks import Known
from assent.proof.proof_tree import Fixed, Refuted, Split, Trusted
from assent.solvers.search.search_node import Start

# The log of a search is kept up to this size; what comes later is taken at its word.
MOST_BYTES = 1 << 30
NOT_KEPT = "a search whose log outgrew memory"


@dataclass(eq=False)
class Node:
    """A case: literals that hold in it beside its parent's, and what became of it.

    ``fixed`` are steps "these literals hold, or the bound of this leaf does"; then the node is a
    leaf (``proof``) or has cases of its own (``children``).  An open node has neither.
    """

    literals: tuple[int, ...]
    known: Known  # of the parent, before the literals are propagated
    bound: float
    start: Start | None
    fallback: Any  # a proof of ``bound``: the parent's leaf
    depth: int = 0
    fixed: list[tuple[Any, tuple[int, ...]]] = field(default_factory=list)
    proof: Any = None
    children: tuple[Node, ...] = ()

    def close(self, proof: Any) -> None:
        """The node needs no further work."""
        self.proof, self.fallback, self.start = proof, None, None

    def branch(self, children: tuple[Node, ...]) -> None:
        """The node becomes cases of its own."""
        self.children, self.fallback, self.start = children, None, None


class Tree:
    """All nodes of a search; the open ones in order of their bounds."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self.closed_bound = -np.inf  # the largest bound of a closed leaf
        self.bytes = 0  # of the proofs of closed leaves
        self._open: list[tuple[float, int, Node]] = []
        self._count = itertools.count()
        self.add(root)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, node: Node) -> None:
        """Put an open node in its place; of equal bounds the latest comes first."""
        heapq.heappush(self._open, (-node.bound, -next(self._count), node))

    def take(self) -> Node:
        """The open node with the largest bound."""
        return heapq.heappop(self._open)[2]

    @property
    def open_bound(self) -> float:
        """The largest bound of an open node."""
        return -self._open[0][0] if self._open else -np.inf

    def close(self, node: Node, proof: Any, bound: float) -> None:
        """A leaf with its proof, or with our word for it where the log is full."""
        self.bytes += size_of(proof)
        self.closed_bound = max(self.closed_bound, bound)
        node.close(Trusted(NOT_KEPT, bound) if self.bytes > MOST_BYTES else proof)

    def recount(self) -> None:
        """Find the open nodes again, after an interrupt that may have come at any moment."""
        self._open.clear()
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            waiting += node.children
            if node.proof is None and not node.children:
                self.add(node)

    def proof(self) -> Any:
        """The proof of the whole; open nodes rest on what their parents show."""
        done: dict[Node, Any] = {}
        waiting = [self.root]
        while waiting:
            node = waiting[-1]
            missing = [child for child in node.children if child not in done]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            done[node] = self._assemble(node, [done.pop(child) for child in node.children])
        return done[self.root]

    def _assemble(self, node: Node, children: list[Any]) -> Any:
        if children:
            cases = tuple(child.literals for child in node.children)
            proof: Any = Split(cases, tuple(children))
        else:
            proof = node.proof if node.proof is not None else node.fallback
        for why, literals in reversed(node.fixed):
            proof = Fixed(why, literals, proof)
        return Refuted() if proof is None else proof


def size_of(proof: Any) -> int:
    """Bytes of the arrays that a leaf holds."""
    total = 0
    for value in vars(proof).values():
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, DualPoint) or hasattr(value, "bound"):
            total += size_of(value)
    return total
