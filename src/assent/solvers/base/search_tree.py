"""The tree of a search: nodes open and closed, and the proof that they add up to.

Branch and bound and branch and cut grow the same tree; what a node starts from is theirs.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from assent.kernels.problem import DualPoint
from assent.proof.proof_tree import Fixed, Refuted, Split, Trusted

# The log of a search is kept up to this size; what comes later is taken at its word.
MOST_BYTES = 1 << 30
NOT_KEPT = "a search whose log outgrew memory"


@dataclass(eq=False, kw_only=True)
class Node:
    """A subproblem: literals that hold in it beside its parent's, and what became of it.

    Attributes:
        bound: no assignment in it is worth more.
        proof: of the bound; its parent's until it has its own.
        start: where its solver begins.
        fixed: steps "these literals hold, or the bound of this leaf does".
        closed: whether it needs no further work; a node with ``children`` needs none either.
    """

    literals: tuple[int, ...] = ()
    bound: float = np.inf
    proof: Any = None
    start: Any = None
    depth: int = 0
    fixed: list[tuple[Any, tuple[int, ...]]] = field(default_factory=list)
    closed: bool = False
    children: tuple[Any, ...] = ()


N = TypeVar("N", bound=Node)


class SearchTree(Generic[N]):
    """All nodes of a search; the open ones in order of their bounds."""

    def __init__(self, root: N) -> None:
        self.root = root
        self.closed_bound = -np.inf  # the largest bound of a closed leaf
        self.bytes = 0  # of the proofs of closed leaves
        self._open: list[tuple[float, int, N]] = []
        self._count = itertools.count()
        self.add(root)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, node: N) -> None:
        """Put an open node in its place; of equal bounds the latest comes first."""
        heapq.heappush(self._open, (-node.bound, -next(self._count), node))

    def take(self) -> N:
        """The open node with the largest bound."""
        return heapq.heappop(self._open)[2]

    @property
    def open_bound(self) -> float:
        """The largest bound of an open node."""
        return -self._open[0][0] if self._open else -np.inf

    def close(self, node: N, proof: Any, bound: float) -> None:
        """A leaf with its proof, or with our word for it where the log is full."""
        self.bytes += size_of(proof)
        self.closed_bound = max(self.closed_bound, bound)
        node.proof = Trusted(NOT_KEPT, bound) if self.bytes > MOST_BYTES else proof
        node.closed, node.start = True, None

    def branch(self, node: N, children: tuple[N, N], first: int) -> N:
        """Split a node in two; the ``first`` of them is returned, the other one waits."""
        node.children, node.proof, node.start = children, None, None
        self.add(children[1 - first])
        return children[first]

    def recount(self) -> None:
        """Find the open nodes again, after an interrupt that may have come at any moment."""
        self._open.clear()
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            waiting += node.children
            if not node.closed and not node.children:
                self.add(node)

    def proof(self, code: Callable[[int], int] = lambda literal: literal) -> Any:
        """The proof of the whole, with ``code(literal)`` for those that nodes branch on.

        Open nodes rest on what their parents show.
        """
        done: dict[Node, Any] = {}
        waiting: list[Any] = [self.root]
        while waiting:
            node = waiting[-1]
            missing = [child for child in node.children if child not in done]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            proof = node.proof
            if node.children:
                cases = tuple(tuple(map(code, child.literals)) for child in node.children)
                proof = Split(cases, tuple(done.pop(child) for child in node.children))
            for why, literals in reversed(node.fixed):
                proof = Fixed(why, literals, proof)
            done[node] = Refuted() if proof is None else proof
        return done[self.root]


def size_of(proof: Any) -> int:
    """Bytes of the arrays that a leaf holds."""
    total = 0
    for value in vars(proof).values():
        if isinstance(value, np.ndarray):
            total += value.nbytes
        elif isinstance(value, DualPoint) or hasattr(value, "bound"):
            total += size_of(value)
    return total
