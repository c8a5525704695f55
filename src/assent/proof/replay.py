"""Replays proofs: what they show of a compiled graph, recomputed; imports no solver."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.closure import Closure
from assent.compile.compiled import Compiled, GraphScores
from assent.factors.exactly_one import ExactlyOne
from assent.kernels.problem import DualPoint, Float, Int64
from assent.model.variables import coordinates_of
from assent.proof import certify
from assent.proof.conditioned_bounds import bounds_with_each
from assent.proof.field_checks import Known, are_known, are_literals, are_places, fits, is_declared
from assent.proof.proof_tree import Fixed, IndependentParts, LinkScores, Listed, Split
from assent.proof.replayable import ends


class _Each(NamedTuple):
    """What is left of a `Fixed`: nodes in each of which a literal is false."""

    why: Any
    literals: tuple[int, ...]


class Others(NamedTuple):
    """Answers given before: ``answers[count, places]``, values of ``coordinates[places]``."""

    coordinates: Int64
    answers: NDArray[np.int8]

    def fits(self, count: int) -> bool:
        """Whether they are values of some of ``count`` coordinates."""
        width = len(self.coordinates)
        return are_places(self.coordinates, count) and self.answers.shape[1:] == (width,)


class Replay:
    """Recomputes proofs about a compiled graph with its scores."""

    def __init__(
        self, compiled: Compiled, scores: GraphScores, listed: Others | None = None
    ) -> None:
        self.compiled, self.scores, self.listed = compiled, scores, listed
        self.memory: dict[Any, float] = {}  # what many leaves would compute again
        # Often asked again at once.
        self._latest: tuple[DualPoint, tuple[Float, ...] | None] | None = None
        self._conditioned: tuple[Known, Replay] | None = None

    def is_listed(self, leaf: Listed) -> bool:
        """Whether a leaf excludes an answer given before, by the same coordinates."""
        if self.listed is None or not np.array_equal(leaf.coordinates, self.listed.coordinates):
            return False
        own = leaf.assignment[leaf.coordinates]
        return any((own == row).all() for row in self.listed.answers)

    @cached_property
    def closure(self) -> Closure:
        return Closure(self.compiled)

    def bound(self, proof: Any, known: Known | None = None) -> float:
        """What a proof shows: ``-inf`` if nothing is possible, ``inf`` if it does not hold."""
        if not ends(proof):
            return np.inf
        if known is not None:
            return self.follow(proof, known)
        if self.compiled.conflict is not None:
            return -np.inf
        values = self.closure.extend(self.compiled.fixed, ())
        return -np.inf if values is None else self.follow(proof, values)

    def follow(self, proof: Any, known: Known) -> float:
        """The same for a proof, or a part of one, that does not lead back to itself."""
        worst = -np.inf
        waiting: list[tuple[Any, Known]] = [(proof, known)]
        while waiting and worst < np.inf:
            node, known = waiting.pop()
            if not is_declared(node):
                return np.inf
            if isinstance(node, Split):
                if not self._covers(node.branches) or len(node.children) != len(node.branches):
                    return np.inf
                for literals, child in zip(node.branches, node.children, strict=True):
                    self._visit(waiting, child, known, literals)
            elif isinstance(node, Fixed):
                if not are_literals(node.literals, len(known)):
                    return np.inf
                waiting.append((_Each(node.why, node.literals), known))
                self._visit(waiting, node.rest, known, node.literals)
            elif isinstance(node, _Each):  # once the rest is done, which tells what is worst
                for literal in self._open_literals(node, known, worst):
                    self._visit(waiting, node.why, known, (~literal,))
            elif isinstance(node, IndependentParts):
                worst = max(worst, _number(self._bound_parts(node, known)))
            elif hasattr(node, "bound"):
                worst = max(worst, _number(node.bound(self, known)))
            else:
                return np.inf
        return float(worst)

    def _visit(
        self, waiting: list[tuple[Any, Known]], proof: Any, known: Known, literals: tuple[int, ...]
    ) -> None:
        """Put a node on the stack, unless propagation refutes its literals."""
        values = self.closure.extend(known, literals)
        if values is not None:
            waiting.append((proof, values))

    # ------------------------------------------------------------ leaves

    def bound_of_links(self, dual: DualPoint, given: Known | None, known: Known) -> float:
        """The bound of link scores of the graph compiled with the values ``given``."""
        graph_dual = self._links(dual, given, known)
        if graph_dual is None:
            return np.inf
        shown = certify.upper_bound(self.compiled, self.scores, graph_dual, known)
        return shown + rounding_of(dual)

    def _links(
        self, dual: DualPoint, given: Known | None, known: Known
    ) -> tuple[Float, ...] | None:
        """Link scores of the graph as written; None if they are about something else."""
        if not are_known(given, known):
            return None
        if self._latest is None or self._latest[0] is not dual:
            self._latest = dual, self._graph_dual(dual, given, self.scores)
        return self._latest[1]

    def bound_of_farkas_ray(self, dual: DualPoint, given: Known | None, known: Known) -> float:
        """``-inf`` if link scores are a Farkas ray, else ``inf``."""
        if not are_known(given, known):
            return np.inf
        graph_dual = self._graph_dual(dual, given, self.scores.zeroed())
        shown = graph_dual is not None and certify.proves_infeasible(
            self.compiled, self.scores, graph_dual, known
        )
        return -np.inf if shown else np.inf

    def under(self, known: Known) -> Replay:
        """The same for the graph compiled with more values known."""
        if self._conditioned is None or self._conditioned[0] is not known:
            conditioned = Replay(self.closure.compile(known), self.scores, self.listed)
            conditioned.memory = self.memory  # of the same graph
            self._conditioned = known, conditioned
        return self._conditioned[1]

    def _graph_dual(
        self, dual: DualPoint, given: Known | None, scores: GraphScores
    ) -> tuple[Float, ...] | None:
        """Link scores of the graph as written; None if there are too few or too many."""
        own = self.compiled if given is None else self.closure.compile(given)
        return own.graph_dual(dual, scores) if fits(dual, own.problem) else None

    # ------------------------------------------------------------ branches

    def _open_literals(self, node: _Each, known: Known, worst: float) -> Sequence[int]:
        """The literals whose negations have to be bounded one by one.

        Link scores alone, without propagation, show that most of the others are not the worst.
        """
        if not isinstance(node.why, LinkScores) or not is_declared(node.why):
            return node.literals
        links = self._links(node.why.dual, node.why.known, known)
        if links is None:
            return node.literals
        false = [~literal for literal in node.literals]
        bounds = bounds_with_each(self.compiled, self.scores, links, known, false)
        bounds = bounds + rounding_of(node.why.dual)
        left = np.flatnonzero(~(bounds <= worst)).tolist()
        return [node.literals[place] for place in left]

    def _covers(self, branches: tuple[tuple[int, ...], ...]) -> bool:
        """Whether every assignment falls into some branch."""
        if not all(are_literals(branch, len(self.compiled.fixed)) for branch in branches):
            return False
        if [len(branch) for branch in branches] == [1, 1] and branches[0][0] == ~branches[1][0]:
            return True
        named = {literal for branch in branches for literal in branch}
        one_of = self._one_of(named)
        if one_of is None:
            return False
        left = set(one_of)
        for branch in branches:
            states = set(one_of) - {~literal for literal in branch}
            for literal in branch:
                if literal in one_of:
                    states &= {literal}
            left -= states
        return not left

    def _one_of(self, named: set[int]) -> list[int] | None:
        """The literals of an ExactlyOne that all ``named`` literals or their negations are of."""
        for block in self.compiled.blocks:
            if isinstance(block.factor, ExactlyOne) and named:
                codes, one = block.factor.codes, min(named)
                has_one = ((codes == one) | (codes == ~one)).any(axis=1)
                for row in codes[has_one].tolist():
                    if all(literal in row or ~literal in row for literal in named):
                        return row
        return None

    # ------------------------------------------------------------ parts

    def _bound_parts(self, node: IndependentParts, known: Known) -> float:
        if node.assignment.shape != known.shape or not np.isin(node.assignment, (0, 1)).all():
            return np.inf
        check = certify.check_assignment(self.compiled, self.scores, node.assignment)
        agrees = ((known == -1) | (known == node.assignment)).all()
        if not check.feasible or not agrees or not self._are_apart(node.parts, known):
            return np.inf
        # An answer given before is one of the full graph: no part alone is.
        alone = self if self.listed is None else Replay(self.compiled, self.scores)
        total = check.value
        for coordinates, proof in node.parts:
            outside = node.assignment.copy()
            outside[coordinates] = known[coordinates]
            total += alone.follow(proof, outside) - check.value
        return total

    def _are_apart(self, parts: tuple[tuple[Int64, Any], ...], known: Known) -> bool:
        """Whether parts hold all free coordinates once, and no factor ties two of them."""
        owner = np.full(len(known), -1, np.int64)
        for number, (coordinates, _) in enumerate(parts):
            if not are_places(coordinates, len(known)) or (owner[coordinates] >= 0).any():
                return False
            owner[coordinates] = number
        free = known == -1
        if (owner[free] < 0).any():
            return False
        low, high = np.where(free, owner, len(parts)), np.where(free, owner, -1)
        for block in self.compiled.blocks:
            codes = block.factor.codes
            own = coordinates_of(codes)
            if own.size and (low[own].min(axis=1) < high[own].max(axis=1)).any():
                return False
        return True


def rounding_of(dual: DualPoint) -> float:
    """What adding up link scores may lose: next to nothing, unless some are out of proportion."""
    return float(np.finfo(float).eps * np.abs(dual.joined()).sum())


def _number(bound: float) -> float:
    """A bound that is a number; NaN proves nothing."""
    return np.inf if np.isnan(bound) else bound
