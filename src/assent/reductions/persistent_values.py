"""Persistent values: an assignment that takes them all at once gains, or loses nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import DualPoint, Float, Int32, Int64, Problem, Scores
from assent.model.variables import coordinates_of
from assent.proof.certify import literal_truth
from assent.proof.field_checks import fits
from assent.reductions.dense_tables import DenseTables, Slot
from assent.reductions.pairwise_tables import over_more, over_two
from assent.reductions.reduction import Reduction, ReductionStep


@dataclass(frozen=True, eq=False)
class Persistent(ReductionStep):
    """Literals that are made true together, with link scores under which no factor loses by it.

    Under link scores every factor and every variable is bounded alone: what each loses at most,
    whatever the variables outside are, adds up and is added to the bound.  Factors over more
    than two variables may not mention the literals.
    """

    literals: Int32
    dual: DualPoint
    what: ClassVar[tuple[str, str]] = ("variable", "fixed to persistent values")

    @property
    def count(self) -> int:
        """How many."""
        return len(self.literals)

    def apply(self, before: Reduction) -> Reduction | None:
        """The literals are true, if no factor can be broken by that."""
        problem, literals = before.compiled.problem, before.columns(self.literals)
        if literals is None or not fits(self.dual, problem):
            return None
        value = np.full(problem.n, -1, np.int8)
        value[coordinates_of(literals)] = literals >= 0
        if (literal_truth(literals.astype(np.int32), value) == 0).any():
            return None  # a literal and its negation
        loss = _most_lost(problem, before.flat, self.dual, value)
        return None if loss == np.inf else before.with_loss(loss).given(self.literals.tolist())

    def follow(self, before: Reduction, assignment: NDArray[np.int8]) -> NDArray[np.int8]:
        """The values taken."""
        out = assignment.copy()
        out[coordinates_of(self.literals)] = self.literals >= 0
        return out


def _most_lost(problem: Problem, scores: Scores, dual: DualPoint, value: NDArray[np.int8]) -> float:
    """What taking the values ``[n]`` (-1 for none) loses at most; infinite if it may break one."""
    taken = value >= 0
    others = over_more(problem)
    if taken[coordinates_of(others)].any():
        return np.inf
    residual, total, joined = scores.theta.copy(), 0.0, dual.joined()
    for tables, places in over_two(problem, scores):
        links = np.split(joined[places], [tables.slots[0].lits.shape[1]], axis=1)
        total += float(_lost_in_tables(tables, links, value).sum())
        for slot, own in zip(tables.slots, links, strict=True):
            np.subtract.at(residual, slot.column, np.where(slot.lits < 0, -own, own))
    own = residual[taken]
    return total + float((np.maximum(own, 0.0) - np.where(value[taken] == 1, own, 0.0)).sum())


def _lost_in_tables(tables: DenseTables, links: list[Float], value: NDArray[np.int8]) -> Float:
    """What every table loses at most, ``[m]``."""
    total = tables.scores.copy()
    to = []
    for axis, (slot, own) in enumerate(zip(tables.slots, links, strict=True)):
        states = tables.scores.shape[axis + 1]
        extra = np.concatenate([np.zeros_like(own), own], axis=1) if slot.is_literal else own
        total += np.expand_dims(extra, 2 - axis)
        to.append(_taken_states(slot, value, states))
    rows = np.arange(len(total))[:, None, None]
    after = total[rows, to[0][:, :, None], to[1][:, None, :]]
    possible = tables.scores != -np.inf
    with np.errstate(invalid="ignore"):
        lost = np.where(possible, total - after, -np.inf)
    unclear = (to[0] < 0).any(axis=1) | (to[1] < 0).any(axis=1)
    return np.where(unclear, np.inf, np.maximum(lost.max(axis=(1, 2), initial=0.0), 0.0))


def _taken_states(slot: Slot, value: NDArray[np.int8], states: int) -> Int64:
    """The state ``[m, states]`` that every state of a slot turns into; -1 where that is unclear."""
    given = value[slot.column]
    same = np.broadcast_to(np.arange(states), (len(given), states))
    truth = literal_truth(slot.lits, value)
    state = truth[:, 0].astype(np.int64) if slot.is_literal else truth.argmax(axis=1)
    complete = (given >= 0).all(axis=1) & (slot.is_literal | (truth.sum(axis=1) == 1))
    out = np.where(complete[:, None], state[:, None], same)
    return np.where(((given >= 0).any(axis=1) & ~complete)[:, None], -1, out)
