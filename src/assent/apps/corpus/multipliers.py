"""Multipliers between sentences and sets, and the four ways of improving them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import assent
from assent.apps.corpus.executor import Executor
from assent.apps.corpus.model import CorpusModel, voted
from assent.apps.corpus.shares import Decoded, LinkedCorpus, decode_charged
from assent.errors import ModelError
from assent.solvers.boxes.box_subgradient import FIRST_ROUND, LONGER
from assent.solvers.boxes.chain_pass_order import AT_BEST, FIRST_PASS_AT_BEST, kept
from assent.solvers.messages import subgradient

if TYPE_CHECKING:
    from assent.kernels.consensus.chain_coordinate_descent import ChainDescent

# Passes over the links of a set whose max-marginals stay right meanwhile (supplement, section 6).
PASSES = 10


@dataclass(frozen=True)
class BySets:
    """Coordinate descent as published: set by set, sentences telling their max-marginals.

    The solver by itself passes along chains, which takes fewer calls; trees have no such passes
    and are decoded by sets in any case.

    Attributes:
        solver: ``BoxMPLP()`` or ``MPLP()``.
    """

    solver: assent.BoxMPLP | assent.MPLP

    def __post_init__(self) -> None:
        if not isinstance(self.solver, assent.BoxMPLP | assent.MPLP):
            raise ModelError(f"BySets takes BoxMPLP() or MPLP(), not {type(self.solver).__name__}")


CorpusSolver = assent.BoxMPLP | assent.BoxSubgradient | assent.MPLP | assent.Subgradient | BySets


def start_solver(solver: CorpusSolver, model: LinkedCorpus, executor: Executor) -> Multipliers:
    """Multipliers of zero: every sentence has been decoded for itself."""
    if isinstance(solver, BySets):
        return _SetBySet(model, executor, isinstance(solver.solver, assent.BoxMPLP))
    if isinstance(solver, assent.BoxMPLP | assent.MPLP):
        kind = _AlongChains if isinstance(model, CorpusModel) else _SetBySet
        return kind(model, executor, isinstance(solver, assent.BoxMPLP))
    if isinstance(solver, assent.BoxSubgradient | assent.Subgradient):
        return _Steps(model, executor, solver)
    raise ModelError(
        f"a corpus is decoded by BoxMPLP, BoxSubgradient, MPLP or Subgradient, not by "
        f"{type(solver).__name__}"
    )


def disagreement(
    model: LinkedCorpus, states: NDArray[np.int32], consensus: NDArray[np.int32]
) -> float:
    """The penalties of links whose words differ from their sets."""
    sets = model.sets
    return float(sets.penalty[states[sets.positions] != consensus[sets.sets]].sum())


class Multipliers:
    """A running solve: what all solvers share.

    Attributes:
        nu: multipliers ``[L, K]``.
        total: their sums ``[S, K]`` over the links of each set.
        found: what sentences say at the multipliers.
        bound: the dual value.
        calls: so far, per sentence.
        at_rest: whether nothing will change any more.
    """

    def __init__(self, model: LinkedCorpus, executor: Executor, boxed: bool) -> None:
        from assent.kernels.consensus.consensus_sets import BOX, COPIES

        self.form = BOX if boxed else COPIES
        self.model, self.linked = model, model.linked()
        self.executor = executor
        words, width = int(model.ends[-1]), model.width
        self.sentences = max(1, len(model.ends) - 1)
        self.nu = np.zeros((len(model.sets.sets), width))
        self.total = np.zeros((len(model.sets.names), width))
        self.found = Decoded(
            np.zeros(words, np.int32), np.zeros(len(model.ends) - 1), np.zeros(words, np.int32)
        )
        self.everyone = np.ones(len(self.found.values), bool)
        # Sentences in which something can move.
        self.is_linked = np.diff(model.sets.start[model.ends]) > 0
        self.bound, self.calls, self.at_rest = np.inf, 0.0, not len(self.nu)

    def advance(self) -> None:
        """One more iteration."""
        raise NotImplementedError

    def decode(self, asked: NDArray[np.bool_]) -> float:
        """Decode the sentences that are asked, and add up the dual value; returns the calls."""
        calls = decode_charged(self.model, self.executor, self.nu, asked, self.found)
        self.add_up()
        return calls / self.sentences

    def add_up(self) -> None:
        """The dual value: what sentences are worth, and what sets are."""
        from assent.kernels.consensus.consensus_sets import sum_sets

        # Anew every time: sums of changes would gather errors.
        sets = sum_sets(self.form, self.linked, self.nu, self.total) if len(self.nu) else 0.0
        self.bound = float(self.found.values.sum() + sets)

    def consensus(self) -> NDArray[np.int32]:
        """``[S]`` the best labels of sets at the multipliers."""
        return self.total.argmax(axis=1).astype(np.int32)


def _kept(model: LinkedCorpus) -> NDArray[np.float64]:
    """``[L]`` what a link's word keeps of what it knows; the more links its set has, the less."""
    sets = model.sets.sets
    return kept(np.bincount(sets, minlength=1)[sets])


class _AlongChains(Multipliers):
    """MPLP and Box-MPLP: passes along all sentences, which are chains."""

    def __init__(self, model: LinkedCorpus, executor: Executor, boxed: bool) -> None:
        super().__init__(model, executor, boxed)
        from assent.kernels.boxes.chain_passes import MOST_RESTS
        from assent.kernels.consensus.chain_coordinate_descent import ChainDescent, first_messages

        self._keep = _kept(model)
        count = len(self.found.values)
        self._descent: ChainDescent = ChainDescent(
            self.nu, self.total, np.zeros((len(self.found.states), self.nu.shape[1])),
            np.full(count, MOST_RESTS), np.zeros(count, bool),
            self.found.states, self.found.values,
            # On the first pass sets have no messages yet: sentences keep half as much.
            np.full(len(self.nu), FIRST_PASS_AT_BEST), 0.5 * self._keep,
        )  # fmt: skip
        first_messages(self.linked, self._descent)
        self.found.words[:] = self.found.states
        # The backward messages of the first passes are a call; the passes themselves are another.
        self.calls += float(np.mean(np.diff(model.ends) > 0)) if count else 0.0
        self._calls_per_pass = 1.0
        self.add_up()

    def advance(self) -> None:
        """One pass along every sentence that has something to gain."""
        from assent.kernels.boxes.chain_passes import MOST_RESTS
        from assent.kernels.consensus.chain_coordinate_descent import pass_all

        passes = pass_all(self.form, self.linked, self._descent, MOST_RESTS)
        self.found.words[:] = self.found.states
        self.calls += self._calls_per_pass * passes / self.sentences
        self._calls_per_pass = 2.0  # max-marginals count twice, though one pass gives them
        self._descent = self._descent._replace(
            at_best=np.full(len(self.nu), AT_BEST), elsewhere=self._keep
        )
        before = self.bound
        self.add_up()
        resting = self._descent.rested[self.is_linked].min(initial=MOST_RESTS) > 0
        self.at_rest = bool(resting and before - self.bound <= 1e-12 * abs(before))


# What has moved in a sentence since it was asked: nothing, or one position (its number).
_NOTHING = -1


class _SetBySet(Multipliers):
    """MPLP and Box-MPLP: set by set."""

    def __init__(self, model: LinkedCorpus, executor: Executor, boxed: bool) -> None:
        super().__init__(model, executor, boxed)
        from assent.kernels.consensus.set_coordinate_descent import SetDescent

        sets = model.sets
        self._positions = sets.positions
        self._sentence = np.searchsorted(model.ends, self._positions, side="right") - 1
        self._descent = SetDescent(
            self.nu, self.total, np.full(len(self.nu), FIRST_PASS_AT_BEST), _kept(model),
            np.zeros(len(self.nu), np.int64), np.zeros((len(self.found.states), model.width)),
        )  # fmt: skip
        # Max-marginals at the start: they count twice, and tell what every sentence says by itself.
        self.calls += self.decode(self.everyone) + float(self.is_linked.sum()) / self.sentences
        model.max_marginals(self.nu, np.flatnonzero(self.is_linked), self._descent.marginals)
        self._moved = np.full(len(self.found.values), _NOTHING)
        rounds = _rounds(sets.sets, self._sentence)
        self._rounds, self._count = cycle(rounds), len(rounds)
        self._still = 0  # links visited since the bound last fell

    def advance(self) -> None:
        """On through the sets, for about a call per sentence, and once through all at the most."""
        from assent.kernels.consensus.set_coordinate_descent import MOST_RESTS

        changed, before = np.zeros(len(self._moved), bool), self.bound
        asked = 0
        for links, passes in islice(self._rounds, self._count):
            asked += self._ask(links)
            changed[self._sentence[self._step(links, passes)]] = True
            self._still += len(links)
            if 2 * asked >= self.sentences:
                break
        self.calls += 2.0 * asked / self.sentences
        # What sentences say now follows from their max-marginals: no calls of their own.
        self.decode(changed)
        if before - self.bound > 1e-12 * abs(before):
            self._still = 0
        self.at_rest = self._still > (MOST_RESTS + 1) * len(self.nu)

    def _ask(self, links: NDArray[np.int64]) -> int:
        """Max-marginals of the sentences in which other positions have moved; their number."""
        own, moved = self._sentence[links], self._moved[self._sentence[links]]
        stale = own[(moved != _NOTHING) & (moved != self._positions[links])]
        if len(stale):
            self.model.max_marginals(self.nu, stale, self._descent.marginals)
            self._moved[stale] = _NOTHING
        return len(stale)

    def _step(self, links: NDArray[np.int64], passes: int) -> NDArray[np.int64]:
        """Steps of links of different sentences; those that have moved."""
        from assent.kernels.consensus.set_coordinate_descent import step_links

        positions = self._positions[links]
        moved = step_links(self.form, self.linked, self._descent, links, positions, passes)
        self._moved[self._sentence[links[moved]]] = positions[moved]
        return links[moved]


def _rounds(
    sets: NDArray[np.int64], sentence: NDArray[np.int64]
) -> list[tuple[NDArray[np.int64], int]]:
    """Links set by set, those of one sentence in different rounds; and passes over each."""
    found = []
    order = np.argsort(sets, kind="stable")
    for own in np.split(order, np.flatnonzero(np.diff(sets[order], prepend=-1)))[1:]:
        # Links come by position, so those of a sentence are in a row.
        begins = np.flatnonzero(np.diff(sentence[own], prepend=-1))
        turn = np.arange(len(own)) - np.repeat(begins, np.diff(begins, append=len(own)))
        passes = PASSES if len(begins) == len(own) else 1
        found += [(own[turn == i], passes) for i in range(turn.max() + 1)]
    return found


class _Steps(Multipliers):
    """Subgradient and box-subgradient steps."""

    def __init__(
        self, model: LinkedCorpus, executor: Executor,
        solver: assent.BoxSubgradient | assent.Subgradient,
    ) -> None:  # fmt: skip
        boxed = isinstance(solver, assent.BoxSubgradient)
        super().__init__(model, executor, boxed)
        self.calls += self.decode(self.everyone)
        from assent.kernels.messages import subgradient_step as kernel

        self._rule = kernel.StepRule(subgradient.RULES[solver.step], solver.count == "increases")
        self._state = np.zeros(kernel.STATES)
        self._state[kernel.BEST] = self.bound
        # Penalties are the size of a multiplier; that of scores says nothing of them.
        size = float(model.sets.penalty.mean()) if len(self.nu) else 1.0
        self._state[kernel.FIRST_STEP] = solver.first_step or size
        if solver.step == "polyak":
            # An answer is at hand, and nothing lies below its value.
            margin = disagreement(model, self.found.states, voted(model, self.found.states))
            # Rounds as short as the box's: copies end nearer to the relaxation's value too.
            subgradient.aim_below(self._state, margin, FIRST_ROUND, LONGER)
        self._others = np.zeros(len(self.nu), np.int32)

    def advance(self) -> None:
        """One step, and the sentences whose multipliers changed are decoded again."""
        from assent.kernels.consensus import corpus_subgradient as steps
        from assent.kernels.messages.subgradient_step import BEST

        steps.other_sides(self.form, self.linked, self.nu, self.total, self._others)
        squares = steps.subgradient_squares(
            self.form, self.linked, self.nu, self.found.states, self._others
        )
        self._state[BEST] = min(self._state[BEST], self.bound)
        step = steps.step_size(self._rule, self.bound, squares, self._state)
        self.at_rest = squares == 0.0
        changed = steps.move(self.form, self.linked, self.nu, self.found.states, self._others, step)
        self.calls += self.decode(changed)
