"""Whether a proof can be replayed to its end; imports no solver.

Subproofs may be shared: a bound that closes many nodes is kept once.  They must not lead back to
themselves, nor be shared by what is shared, and so on: a few dozen objects would then unfold to a
tree too large to replay.
"""

from __future__ import annotations

from typing import Any

from assent.proof.proof_tree import Conditioned, Fixed, IndependentParts, Reduced, Scaled, parts_of

# Proofs inside proofs: no search makes more than a handful, and each is a call inside a call.
DEEPEST = 50


def ends(proof: Any) -> bool:
    """Whether no node is among its own parts, and replaying takes steps that its size explains.

    A proof with S nodes and places where they are used may take S² steps: every node once for
    every place.  No search shares what itself holds something shared.
    """
    depth: dict[int, int] = {}
    steps: dict[int, float] = {}  # of all that is below a node, with repetitions
    size = 0.0
    waiting: list[tuple[Any, bool]] = [(proof, False)]
    while waiting:
        node, is_done = waiting.pop()
        below = parts_of(node)
        if is_done:
            inner = max((depth[id(part)] for part in below), default=0)
            depth[id(node)] = inner + isinstance(
                node, (IndependentParts, Conditioned, Reduced, Scaled)
            )
            if depth[id(node)] > DEEPEST:
                return False
            times = [1.0] * len(below)
            if below and isinstance(node, Fixed):
                times[0] = float(len(node.literals))  # asked once for each
            size += 1.0 + sum(times)
            steps[id(node)] = 1.0 + sum(
                count * steps[id(part)] for count, part in zip(times, below, strict=True)
            )
        elif id(node) not in depth:
            depth[id(node)] = -1  # on the way down
            waiting.append((node, True))
            for part in below:
                if depth.get(id(part)) == -1:
                    return False
                waiting.append((part, False))
    return steps[id(proof)] <= size * size
