"""A good start for projections onto cut polytopes: coordinate descent in the dual.

Each edge carries a force from its first end to its second.  A node then holds its own target, less
the forces that leave it, plus those that come in, and lies there, or at the nearer of 0 and 1.  One
edge after the other takes the force that suits its two ends best.  A pass costs a few nanoseconds
per edge; a few dozen of them find nearly all groups of equal neighbours, and methods that are exact
do the rest.
"""

from __future__ import annotations

from assent.kernels.jit import jit_inline, jit_internal_no_allocation

# Longer steps than the best for each edge alone, as in successive over-relaxation; on networks of
# four to six neighbours the best of 1, 1.3, 1.5 and 1.7.
LONGER = 1.5
# Edges that move by less in a pass are not worth another before the next round: nodes lie between
# 0 and 1.
CONTENT = 1e-3
# One edge in twenty moves in networks of laser scans: so many passes over these cost about half a
# pass over all.
REPEATS = 9


@jit_inline
def within(number, most):
    """The nearest number of a size of at most ``most``."""
    return min(max(number, -most), most)


@jit_internal_no_allocation
def best_force(b, wanted):
    """The force of a shared edge with target ``b`` that two free ends ask to be ``wanted``.

    Minimises ``(f - wanted)^2`` and the conjugate of what the edge costs: up to ``-b`` a force
    costs nothing, or every force at least ``b`` times itself; beyond, half its square.
    """
    size = abs(wanted)
    if size <= -b:
        return wanted
    size = max(2.0 * size - b, 0.0) / 3.0
    return size if wanted > 0.0 else -size


@jit_internal_no_allocation
def hold(tail, tip, force, held):
    """Take the forces out of what nodes hold."""
    for edge in range(len(force)):
        held[tail[edge]] -= force[edge]
        held[tip[edge]] += force[edge]


@jit_inline
def relax_shared(tail, tip, b, edge, force, held):
    """Let one shared edge take the force that suits its ends best; returns by how much it moves."""
    j, k = tail[edge], tip[edge]
    apart = min(max(held[j], 0.0), 1.0) - min(max(held[k], 0.0), 1.0)
    more = LONGER * (best_force(b[edge], force[edge] + 0.5 * apart) - force[edge])
    force[edge] += more
    held[j] -= more
    held[k] += more
    return abs(more)


@jit_internal_no_allocation
def descend_shared(tail, tip, b, rounds, force, held, busy):
    """Improve the forces of shared edges with targets ``b[E]``; ``held[n]`` follows.

    Most edges are content early.  So a round is a pass over all edges and ``REPEATS`` over those
    that it has moved, which are kept in ``busy[E]``.
    """
    for _ in range(rounds):
        count = 0
        for edge in range(len(b)):
            if relax_shared(tail, tip, b, edge, force, held) > CONTENT:
                busy[count] = edge
                count += 1
        for _ in range(REPEATS):
            for place in range(count):
                relax_shared(tail, tip, b, busy[place], force, held)


@jit_internal_no_allocation
def descend_inner(tail, tip, capacity, passes, force, held):
    """Improve the forces of inner edges, within ``capacity[E]``; ``held[n]`` follows."""
    for _ in range(passes):
        for edge in range(len(capacity)):
            j, k = tail[edge], tip[edge]
            apart = min(max(held[j], 0.0), 1.0) - min(max(held[k], 0.0), 1.0)
            more = within(force[edge] + 0.5 * LONGER * apart, capacity[edge]) - force[edge]
            force[edge] += more
            held[j] -= more
            held[k] += more
