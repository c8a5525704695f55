"""Proofs that no assignment scores more than a bound, to be replayed; imports no solver.

A proof is a branch-and-bound tree.  Its leaves bound the graph under the literals that are known
on the way there: link scores, a Farkas ray, other bounds that can be recomputed (any class with a
method ``bound(replay, known)``), or another solver's word (`Trusted`).  Inner nodes branch
(`Split`), fix literals one by one (`Fixed`), or separate parts that share no factor
(`IndependentParts`).  Between them known literals are propagated; a node that propagation refutes
needs no leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from assent.kernels.problem import DualPoint, Int64
from assent.proof.field_checks import Known, are_known, is_declared
from assent.reductions.reduction import Reduction, ReductionStep

if TYPE_CHECKING:
    from assent.proof.replay import Replay


class Proof(Protocol):
    """A leaf: no assignment that agrees with ``known[N]`` scores more than its bound."""

    def bound(self, replay: Replay, known: Known) -> float:
        """The bound, recomputed; ``inf`` where the proof does not hold."""


@dataclass(frozen=True, eq=False)
class LinkScores:
    """A leaf: any score per link gives a bound.

    The links are those of the compiled graph, or of the graph compiled with the values
    ``known[N]``, which must be known at the leaf as well.
    """

    dual: DualPoint
    known: Known | None = None

    def bound(self, replay: Replay, known: Known) -> float:
        return replay.bound_of_links(self.dual, self.known, known)


@dataclass(frozen=True, eq=False)
class FarkasRay:
    """A leaf: link scores that bound the all-zero objective below zero, so nothing is feasible."""

    dual: DualPoint
    known: Known | None = None

    def bound(self, replay: Replay, known: Known) -> float:
        return replay.bound_of_farkas_ray(self.dual, self.known, known)


@dataclass(frozen=True, eq=False)
class Conditioned:
    """A leaf: any other proof, about the graph compiled with the values ``known[N]``.

    They must be known where the leaf stands as well.
    """

    known: Known
    proof: Any

    def bound(self, replay: Replay, known: Known) -> float:
        if not are_known(self.known, known):
            return np.inf
        return replay.under(self.known).follow(self.proof, known)


@dataclass(frozen=True, eq=False)
class Reduced:
    """A leaf: another proof, about what ``steps`` make of the graph (see `reductions`).

    Every step is made again, which checks that it is right; what exchanges lose is added.
    """

    steps: tuple[ReductionStep, ...]
    proof: Any

    def bound(self, replay: Replay, known: Known) -> float:
        if not are_known(replay.compiled.fixed, known):
            return np.inf
        now: Reduction | None = Reduction.of(replay.compiled, replay.scores)
        for step in self.steps:
            now = None if now is None else step.apply(now)
            if now is None:
                return np.inf
            if now.refuted:
                return -np.inf
        assert now is not None
        inner = type(replay)(now.compiled, now.scores)  # no answer of this graph was given before
        return inner.follow(self.proof, now.compiled.fixed) + now.loss


@dataclass(frozen=True, eq=False)
class Scaled:
    """A leaf: another proof, about the graph with all scores divided by a power of two."""

    unit: float
    proof: Any

    def bound(self, replay: Replay, known: Known) -> float:
        if not 0.0 < self.unit < np.inf or not replay.scores.is_exact_in(self.unit):
            return np.inf
        scores = replay.scores.scaled(1.0 / self.unit)
        inner = type(replay)(replay.compiled, scores, replay.listed)
        return self.unit * inner.follow(self.proof, known)


@dataclass(frozen=True)
class Refuted:
    """A leaf that claims that propagation finds a conflict: replaying never gets here then."""

    def bound(self, replay: Replay, known: Known) -> float:
        return np.inf


@dataclass(frozen=True)
class Trusted:
    """A leaf that cannot be rechecked: another solver's word for a bound."""

    by: str
    claim: float

    def bound(self, replay: Replay, known: Known) -> float:
        return self.claim


@dataclass(frozen=True, eq=False)
class Listed:
    """A leaf: ``coordinates`` are all known here, with the values of an answer given before.

    For lists of answers that differ in them: what is bounded is the next one.
    """

    coordinates: Int64
    assignment: Known

    def bound(self, replay: Replay, known: Known) -> float:
        if self.assignment.shape != known.shape or not replay.is_listed(self):
            return np.inf
        same = (known[self.coordinates] == self.assignment[self.coordinates]).all()
        return -np.inf if same else np.inf


@dataclass(frozen=True, eq=False)
class Split:
    """Branches that cover all assignments, each with literals that hold in it and a proof.

    Either a literal and its negation, or any sets of states that together are all states of one
    categorical variable (or all literals of one ExactlyOne): a state by its literal, or a set of
    states by the negations of all others.
    """

    branches: tuple[tuple[int, ...], ...]
    children: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Fixed:
    """Literals that hold wherever more than the bound of ``why`` is scored, then the ``rest``.

    ``why`` is evaluated once per literal, with the literal false.
    """

    why: Any
    literals: tuple[int, ...]
    rest: Any


@dataclass(frozen=True, eq=False)
class IndependentParts:
    """Parts without a common factor; bounds add up.

    ``parts`` are coordinates and the proof of each.  A part is bounded with everything outside
    known as in the feasible ``assignment[N]``, which gives the value of the outside.
    """

    assignment: Known
    parts: tuple[tuple[Int64, Any], ...]


def parts_of(node: Any) -> Sequence[Any]:
    """The proofs that a node is made of; none where it is not what it should be."""
    if not is_declared(node):
        return ()
    if isinstance(node, Split):
        return node.children
    if isinstance(node, Fixed):
        return node.why, node.rest
    if isinstance(node, IndependentParts):
        return [part for _, part in node.parts]
    return (node.proof,) if isinstance(node, (Conditioned, Reduced, Scaled)) else ()


def nodes(proof: Any) -> Iterator[Any]:
    """All nodes of a proof, each object once."""
    waiting, seen = [proof], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        waiting += parts_of(node)


def trusted(proof: Any) -> tuple[str, ...]:
    """Whom a proof takes at their word, each once."""
    return tuple(dict.fromkeys(node.by for node in nodes(proof) if isinstance(node, Trusted)))
