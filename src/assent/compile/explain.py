"""Why evidence cannot hold: the steps from what is known to the factor that breaks.

Propagation itself is compiled and remembers only in which order coordinates received values.
Where it ends in a conflict, the steps that led there are looked for backwards: the factor that
breaks, the fewest values it takes to break it, for each of these a factor that forces it given
earlier values alone, and so on down to evidence and scores of ``-inf``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from assent.compile.logic_placement import FREE
from assent.factors.base import Logic
from assent.factors.pair import Pair
from assent.factors.scored import Scored
from assent.kernels.problem import ANYOF, CAP, KNAPSACK, PARITY, Int32, Int64
from assent.model.variables import coordinates_of

if TYPE_CHECKING:
    from assent.compile.compiled import Forbids
    from assent.model.graph import FactorGraph, Handle


Element = TypeVar("Element")


@dataclass(frozen=True)
class PropagationStep:
    """One conclusion: literal ``code`` is true because factor ``row`` of ``block`` says so.

    ``because`` are literals known before, the fewest that force it.  A step without a block is
    evidence or a score of ``-inf``; the step without a code is the factor that cannot hold.
    """

    code: int | None
    block: int | None
    row: int | None
    because: tuple[int, ...] = ()


class Explainer:
    """Finds the steps of a propagation again.

    Args:
        graph, blocks: the graph and all its batches of factors.
        forbids: where scores are ``-inf``.
        evidence: codes of literals that evidence makes true.
        values: ``[N]`` the values reached, -1 for free.
        rank: ``[N]`` when each came: a step uses values of lower rank only.
    """

    def __init__(
        self,
        graph: FactorGraph,
        blocks: tuple[Handle, ...],
        forbids: Forbids,
        evidence: Int32,
        values: NDArray[np.int8],
        rank: Int64,
    ) -> None:
        self.graph, self.blocks, self.forbids = graph, blocks, forbids
        self.values, self.rank = values, rank
        self.given = set(evidence.tolist())
        self._state = np.full(len(values), FREE, np.int8)

    # ------------------------------------------------------------ steps

    def conflict(self, block: int, row: int) -> list[PropagationStep]:
        """All steps to the factor that cannot hold, in the order they are taken."""
        known = self._known_literals(block, row, np.iinfo(np.int64).max)
        end = PropagationStep(None, block, row, self._fewest(block, row, known, None))
        return [*self.steps_to(end.because), end]

    def steps_to(self, codes: Sequence[int]) -> list[PropagationStep]:
        """The steps by which literals became true, in the order they were taken."""
        steps: dict[int, PropagationStep] = {}
        waiting = list(codes)
        while waiting:
            code = waiting.pop()
            if code not in steps:
                steps[code] = self._reason(code)
                waiting += steps[code].because
        return sorted(steps.values(), key=lambda s: (self._rank_of(s.code), abs(s.code or 0)))

    def words(self, steps: Sequence[PropagationStep]) -> tuple[str, ...]:
        """Steps as a person reads them."""
        return tuple(self._describe(step) for step in steps)

    def _describe(self, step: PropagationStep) -> str:
        if step.block is None or step.row is None:
            assert step.code is not None
            known = self.graph.describe_value(step.code)
            if step.code in self.given:
                return f"evidence {known}"
            forbidden = step.code < 0 and ~step.code in self.forbids.theta
            return f"{known} by a score of -inf" if forbidden else f"{known} follows"
        words = self.blocks[step.block].words(step.row)
        if step.code is None:
            return f"{words} cannot hold"
        return f"{words} → {self.graph.describe_value(step.code)}"

    def _reason(self, code: int) -> PropagationStep:
        """The evidence, score or factor that makes a literal true."""
        if code in self.given or (code < 0 and ~code in self.forbids.theta):
            return PropagationStep(code, None, None)
        before = self._rank_of(code)
        for block, row in self._factors_of(~code if code < 0 else code):
            known = self._known_literals(block, row, before)
            if self._breaks(block, row, [*known, ~code]):
                return PropagationStep(code, block, row, self._fewest(block, row, known, ~code))
        return PropagationStep(code, None, None)  # weights at the capacity, rounded differently

    def _rank_of(self, code: int | None) -> int:
        assert code is not None
        return int(self.rank[~code if code < 0 else code])

    def _known_literals(self, block: int, row: int, before: int) -> list[int]:
        """True literals among a factor's coordinates that were known ``before``, earliest first."""
        codes = self.blocks[block].factor.codes[row]
        coordinates = np.unique(coordinates_of(codes))
        known = coordinates[(self.values[coordinates] != FREE) & (self.rank[coordinates] < before)]
        known = known[np.argsort(self.rank[known], kind="stable")]
        return np.where(self.values[known] == 1, known, ~known).tolist()

    def _fewest(self, block: int, row: int, known: list[int], also: int | None) -> tuple[int, ...]:
        """The fewest of the literals ``known`` that break a factor, together with ``also``."""
        rest = [] if also is None else [also]
        return tuple(fewest(known, lambda codes: self._breaks(block, row, [*codes, *rest])))

    # ------------------------------------------------------------ where coordinates occur

    @cached_property
    def _occurrences(self) -> tuple[Int64, Int64, Int64]:
        """``start[N + 1]`` into the blocks and rows in which each coordinate occurs."""
        coordinate, block, row = [], [], []
        for number, handle in enumerate(self.blocks):
            codes = handle.factor.codes
            coordinate.append(coordinates_of(codes).ravel())
            block.append(np.full(codes.size, number))
            row.append(np.repeat(np.arange(len(codes)), codes.shape[1]))
        everywhere = np.concatenate([np.zeros(0, np.int64), *coordinate]).astype(np.int64)
        order = np.argsort(everywhere, kind="stable")
        start = np.searchsorted(everywhere[order], np.arange(len(self.values) + 1))
        return start, np.concatenate(block)[order], np.concatenate(row)[order]

    def _factors_of(self, coordinate: int) -> Iterator[tuple[int, int]]:
        start, block, row = self._occurrences
        for place in range(int(start[coordinate]), int(start[coordinate + 1])):
            yield int(block[place]), int(row[place])

    # ------------------------------------------------------------ what breaks a factor

    def _breaks(self, block: int, row: int, codes: Sequence[int]) -> bool:
        """Whether a factor cannot hold once the literals ``codes`` are true."""
        true = np.array(codes, np.int64)
        coordinates = coordinates_of(true)
        self._state[coordinates] = true >= 0
        try:
            factor = self.blocks[block].factor
            if isinstance(factor, Logic):
                return self._logic_breaks(block, row)
            if isinstance(factor, Pair):
                own = factor.codes[row]
                state = self._state[coordinates_of(own)]
                both = bool((state == (own >= 0)).all())
                return both and row in self.forbids.factors[block]
            return self._scored_breaks(block, row)
        finally:
            self._state[coordinates] = FREE

    def _scored_breaks(self, block: int, row: int) -> bool:
        batch = self.blocks[block].factor
        assert isinstance(batch, Scored)
        factor = copy.copy(batch)  # the same with one row only
        factor.codes, factor.scores = batch.codes[row : row + 1], batch.scores[row : row + 1]
        factor.shape = ()
        width = batch.scores.shape[1]
        never = self.forbids.factors[block]
        forbidden = np.zeros((1, width), bool)
        forbidden[0, never[never // max(width, 1) == row] % max(width, 1)] = True
        parts = factor.supported(forbidden, self._state)
        return not all(part.any() for part in parts)

    @lru_cache(maxsize=64)  # noqa: B019 - lives as long as one conflict is explained
    def _form(self, block: int) -> tuple:
        factor = self.blocks[block].factor
        assert isinstance(factor, Logic)
        form = factor.normal_form()
        return form, form.literals(factor.codes)

    def _logic_breaks(self, block: int, row: int) -> bool:
        form, literals = self._form(block)
        lits = literals[row]
        if form.form == ANYOF:
            return self._anyof_breaks(lits)
        # What each coordinate adds to the sum if true and if false: it may occur twice.
        load = np.ones(len(lits)) if form.weights is None else form.weights[row]
        own, where = np.unique(coordinates_of(lits), return_inverse=True)
        if_true = np.bincount(where.ravel(), np.where(lits < 0, 0.0, load))
        if_false = np.bincount(where.ravel(), np.where(lits < 0, load, 0.0))
        state = self._state[own]
        free = state == FREE
        known = float(np.where(state == 1, if_true, if_false)[~free].sum())
        least = known + float(np.minimum(if_true, if_false)[free].sum())
        most = known + float(np.maximum(if_true, if_false)[free].sum())
        if form.form == KNAPSACK:
            return least > float(form.capacity[row])
        if form.form == CAP:
            return least > int(form.k[row])
        odd_steps = np.abs(if_true - if_false)[free] % 2 == 1
        asked = 0 if form.form == PARITY else int(form.k[row])
        wrong_parity = not odd_steps.any() and (least - asked) % 2 == 1
        return wrong_parity or (form.form != PARITY and not least <= asked <= most)

    def _anyof_breaks(self, lits: Int32) -> bool:
        """Whether no value of the output, the last literal, goes with some inputs."""
        output = int(lits[-1])
        place = ~output if output < 0 else output
        before = self._state[place]
        choices = (0, 1) if before == FREE else (int(before),)
        try:
            return not any(self._inputs_allow(lits[:-1], place, output, own) for own in choices)
        finally:
            self._state[place] = before

    def _inputs_allow(self, inputs: Int32, place: int, output: int, value: int) -> bool:
        self._state[place] = value
        own = coordinates_of(inputs)
        state = self._state[own]
        true = (state != FREE) & (state == (inputs >= 0))
        free = inputs[state == FREE]
        if value == (output >= 0):
            return bool(true.any() or len(free))
        return not true.any() and not np.isin(free, ~free).any()


def fewest(items: Sequence[Element], enough: Callable[[Sequence[Element]], bool]) -> list[Element]:
    """A smallest set of items that is ``enough``, none of which can be left out; early ones first.

    By halving (QuickXplain, Junker 2004): few calls where few items matter.

    Example:
        >>> fewest([1, 2, 3, 4, 5], lambda items: sum(items) >= 6)
        [1, 2, 3]
    """

    def search(fixed: list[Element], grown: bool, rest: list[Element]) -> list[Element]:
        if grown and enough(fixed):
            return []
        if len(rest) == 1:
            return rest
        half = len(rest) // 2
        late = search(fixed + rest[:half], half > 0, rest[half:])
        early = search(fixed + late, len(late) > 0, rest[:half])
        return early + late

    return search([], True, list(items)) if items else []
