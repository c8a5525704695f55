"""Irreducible infeasible subsets: few constraints, of many, that cannot hold together.

Whether some constraints can hold together is decided by decoding them alone, under no scores;
which of an infeasible set matter is found by halving it (QuickXplain, Junker 2004).  Where a
proof tells which constraints it involves, the search begins with those.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from assent.compile.compiled import Compiled, GraphScores, compile_part, explainer
from assent.compile.explain import PropagationStep, fewest
from assent.compile.logic_placement import FREE
from assent.factors.base import Logic
from assent.factors.soft import SOFT
from assent.factors.structure import Structure
from assent.kernels.problem import DualPoint, Int64
from assent.model.graph import Handle
from assent.model.variables import coordinates_of
from assent.solvers.ad3.ad3 import AD3
from assent.solvers.auto.auto import Auto
from assent.solvers.base.driver import drive
from assent.solvers.base.infeasibility import factors_of_ray
from assent.solvers.base.protocol import Request
from assent.solvers.base.stop_reasons import INTERRUPTED

if TYPE_CHECKING:
    from assent.certificate import Certificate

# What factors have one of per row, beside their literals.
PER_ROW = ("scores", "k", "weights", "capacity")
# Batches that items are of which no factor stands behind.
EVIDENCE, FORBIDDEN = -1, -2
# Of the time that is left, for one question: others are cheaper and help as well.
SHARE = 0.25


class Item(NamedTuple):
    """A factor by batch and row; a literal of evidence by its code, or a forbidden coordinate."""

    block: int
    row: int


class InfeasibleSubset(NamedTuple):
    """Constraints that cannot hold together, in words.

    Attributes:
        words: each of them; where propagation shows it, what follows from what, step by step.
        irreducible: whether leaving out any one of them makes the rest possible.
    """

    words: tuple[str, ...]
    irreducible: bool


def infeasible_subset(claim: Certificate, seconds: float) -> InfeasibleSubset:
    """Constraints and evidence that contradict each other, of a graph proven infeasible.

    None of them can be left out, unless the ``seconds`` end before that is known: what is named
    cannot hold together all the same.  That a variable takes one state is given; it is named where
    it has a part in the contradiction.
    """
    known = claim.compiled.conflict
    if known is not None and known.reasons and not known.steps:
        return InfeasibleSubset(known.reasons, True)  # one literal and its negation
    search = _Search(claim, seconds)
    kept = fewest(search.first(), lambda items: search.impossible([*items, *search.implied]))
    sure = search.sure
    return InfeasibleSubset(search.words(kept), sure)


class _Search:
    """Asks whether some of a graph's constraints can hold together.

    ``sure`` is lost where time ran out on a question: its answer then counts as "they can", which
    leaves more constraints in the end than needed, never too few.
    """

    def __init__(self, claim: Certificate, seconds: float) -> None:
        self.claim, self.compiled = claim, claim.compiled
        self.deadline = time.perf_counter() + seconds
        self.sure = True
        self.scores = claim.scores.zeroed()
        self.by_block = self.compiled.by_block(self.scores)
        written = len(self.compiled.blocks) - self.compiled.n_implied
        items = self._everything()
        self.items = [item for item in items if item.block < written]
        self.implied = [item for item in items if item.block >= written]

    @property
    def left(self) -> float:
        """Seconds."""
        return self.deadline - time.perf_counter()

    def first(self) -> list[Item]:
        """An infeasible set to begin with: what the proof involves, or everything."""
        involved = self._from_proof()
        few = [item for item in self.items if item in involved]
        if not involved or (self.left > 0.0 and not self.impossible([*few, *self.implied])):
            few, self.sure = self.items, True
        return few

    def states_of(self, items: Sequence[Item]) -> list[Item]:
        """What is implied for variables that some constraints speak of."""
        spoken = np.zeros(len(self.compiled.fixed), bool)
        spoken[self._coordinates(items)] = True
        return [item for item in self.implied if spoken[self._coordinates([item])].any()]

    def _coordinates(self, items: Sequence[Item]) -> Int64:
        """Variables that some constraints speak of."""
        codes = [
            self.compiled.blocks[block].factor.codes[row] if block >= 0 else np.array([row])
            for block, row in items
        ]
        return coordinates_of(np.concatenate([np.zeros(0, np.int64), *codes]))

    def impossible(self, items: Sequence[Item]) -> bool:
        """Whether constraints cannot hold together, as far as it is found out in time."""
        if self.left <= 0.0:
            self.sure = False
            return False
        compiled, scores = self._part(items)
        limit = SHARE * self.left
        request = Request(time.perf_counter(), limit)
        result = drive(compiled, scores, Auto(exact=True).limited(limit), request)
        if result.message == INTERRUPTED:
            raise KeyboardInterrupt
        shown = result.bound == -np.inf
        self.sure = self.sure and (shown or result.feasible)
        return shown

    def words(self, items: Sequence[Item]) -> tuple[str, ...]:
        """An infeasible set in words: what follows from what, then what contradicts that."""
        states = self.states_of(items)
        conflict = self._part([*items, *states])[0].conflict
        if conflict is not None and conflict.steps:
            return conflict.reasons
        states = fewest(states, lambda chosen: self.impossible([*items, *chosen]))
        named = [*items, *states]
        part = self._part(named)[0]
        teller, rows = explainer(part), _by_block(named)
        fixed = np.flatnonzero(part.fixed != FREE)
        deciding = self._of_steps(teller.steps_to(_true(part, fixed)), rows)
        others = [item for item in named if item not in deciding]
        known = np.intersect1d(fixed, self._coordinates(others))
        steps = teller.steps_to(_true(part, known))
        told = self._of_steps(steps, rows)
        rest = [self._words(item) for item in named if item not in told]
        return (*teller.words(steps), *rest)

    def _words(self, item: Item) -> str:
        graph = self.compiled.graph
        if item.block == EVIDENCE:
            return f"evidence {graph.describe_value(item.row)}"
        if item.block == FORBIDDEN:
            return f"{graph.describe_value(~item.row)} by a score of -inf"
        return self.compiled.blocks[item.block].words(item.row)

    # ------------------------------------------------------------ which there are

    def _everything(self) -> list[Item]:
        """Everything that can contradict something."""
        items = [
            Item(EVIDENCE, int(code)) for code in dict.fromkeys(self.compiled.evidence.tolist())
        ]
        forbidden = np.flatnonzero(np.isneginf(self.scores.theta))
        items += [Item(FORBIDDEN, row) for row in forbidden.tolist()]
        for number, (block, scores) in enumerate(
            zip(self.compiled.blocks, self.by_block, strict=True)
        ):
            items += [Item(number, row) for row in _strict_rows(block, scores)]
        return items

    def _from_proof(self) -> set[Item]:
        """What a proof involves; one by multipliers is looked for where there is none."""
        if self.compiled.conflict is not None:
            return self._of_steps(self.compiled.conflict.steps)
        claim = self.claim
        if claim.is_ray and claim.flat_dual is not None:
            return self._of_ray(claim.flat_dual)
        limit = SHARE * self.left
        if limit <= 0.0 or not self.compiled.problem.n_links:
            return set()
        shown = drive(self.compiled, self.scores, AD3(), Request(time.perf_counter(), limit))
        if shown.message == INTERRUPTED:
            raise KeyboardInterrupt
        ray = shown.certificate.flat_dual if shown.certificate.is_ray else None
        return set() if ray is None else self._of_ray(ray)

    def _of_ray(self, ray: DualPoint) -> set[Item]:
        """Factors with link scores in the ray, and what fixes their literals."""
        factors = [Item(*place) for place in factors_of_ray(self.compiled, ray)]
        places = np.unique(self._coordinates(factors))
        fixed = places[self.compiled.fixed[places] != FREE]
        if not len(fixed):
            return set(factors)
        steps = explainer(self.compiled).steps_to(_true(self.compiled, fixed))
        return set(factors) | self._of_steps(steps)

    def _of_steps(
        self, steps: Iterable[PropagationStep], rows: Mapping[int, Sequence[int]] | None = None
    ) -> set[Item]:
        """What steps are taken by; ``rows`` says which batches and rows a part is made of."""
        given = set(self.compiled.evidence.tolist())
        blocks = sorted(block for block in rows or () if block >= 0)
        items = set()
        for step in steps:
            if step.block is not None and step.row is not None:
                block = step.block if rows is None else blocks[step.block]
                items.add(Item(block, step.row if rows is None else rows[block][step.row]))
            elif step.code is not None:
                is_given = step.code in given
                items.add(Item(EVIDENCE, step.code) if is_given else Item(FORBIDDEN, ~step.code))
        return items

    # ------------------------------------------------------------ some of them

    def _part(self, items: Sequence[Item]) -> tuple[Compiled, GraphScores]:
        """The graph's variables under some of its constraints, and no scores."""
        rows = _by_block(items)
        theta = np.zeros_like(self.scores.theta)
        theta[rows.pop(FORBIDDEN, [])] = -np.inf
        evidence = np.array(rows.pop(EVIDENCE, []), np.int32)
        blocks, factors = [], []
        for number in sorted(rows):
            chosen = np.array(rows[number], np.int64)
            blocks.append(_some_rows(self.compiled.blocks[number], chosen))
            own = self.by_block[number]
            factors.append(own[chosen] if len(own) else own)
        scores = GraphScores(theta, tuple(factors), 0.0)
        return compile_part(self.compiled, tuple(blocks), evidence, scores), scores


def _some_rows(block: Handle, left: Int64) -> Handle:
    """Some rows of a batch, by number."""
    factor = block.factor
    copied: Any = copy.copy(factor)
    copied._attach(factor.graph, factor.codes[left], (len(left),))
    for name in PER_ROW:
        if name in vars(factor):
            setattr(copied, name, getattr(factor, name)[left])
    place = block.place
    spot = None if place is None else lambda row: place(int(left[row]))
    return Handle(copied, block.name, spot)


def _by_block(items: Iterable[Item]) -> dict[int, list[int]]:
    """The rows of every batch."""
    rows: dict[int, list[int]] = {}
    for block, row in items:
        rows.setdefault(block, []).append(row)
    return rows


def _true(compiled: Compiled, fixed: Int64) -> list[int]:
    """The true literals of coordinates that are fixed."""
    return np.where(compiled.fixed[fixed] == 1, fixed, ~fixed).tolist()


def _strict_rows(block: Handle, scores: np.ndarray) -> list[int]:
    """Factors of a batch that forbid something."""
    factor = block.factor
    if isinstance(factor, SOFT):
        return []
    if isinstance(factor, (Logic, Structure)):
        return list(range(len(factor)))
    forbids = np.isneginf(scores).reshape(len(factor), -1).any(axis=1)
    return np.flatnonzero(forbids).tolist()
