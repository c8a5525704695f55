"""Decode a corpus as one problem: a bound, an answer, and how many calls both took.

Four solvers, as Belanger et al. (2014) compare them: `BoxMPLP` and `BoxSubgradient` keep sets as
single variables with bounded multipliers, `MPLP` and `Subgradient` copy every linked position.
Settings are the library's own; the work is done by kernels that know nothing but chains, so that
corpora of a million words fit in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import assent
from assent.apps.corpus.executor import Executor, shares
from assent.apps.corpus.model import CorpusModel
from assent.apps.corpus.multipliers import CorpusSolver, Multipliers, start_solver
from assent.errors import ModelError

# Rounds in which sets and sentences take turns to improve an answer; most rest after three.
_MOST_TURNS = 10


class CorpusReport(NamedTuple):
    """What is known after an iteration.

    Attributes:
        iteration: its number; 0 is every sentence for itself.
        calls: to sentences so far, per sentence; max-marginals count twice.
        bound: no answer is worth more; the best so far.
        states: ``[words]`` the sentences' best labels, a legal answer at any time.
    """

    iteration: int
    calls: float
    bound: float
    states: NDArray[np.int32]


@dataclass(frozen=True)
class CorpusResult:
    """A decoded corpus.

    Attributes:
        states: ``[words]`` labels as numbers.
        isolated: ``[words]`` those of every sentence for itself.
        consensus: ``[S]`` the label of each set.
        value: score of the answer: all chains', less penalties.
        bound: no answer is worth more.
        calls: to sentences, per sentence; max-marginals count twice.
        iterations: of the solver.
    """

    states: NDArray[np.int32] = field(repr=False)
    isolated: NDArray[np.int32] = field(repr=False)
    consensus: NDArray[np.int32] = field(repr=False)
    value: float
    bound: float
    calls: float
    iterations: int

    @property
    def relative_gap(self) -> float:
        """How far the value may be from the best, relative to the bound."""
        return max(self.bound - self.value, 0.0) / max(abs(self.bound), 1e-12)


def decode_corpus(
    model: CorpusModel,
    solver: CorpusSolver | None = None,
    *,
    iterations: int = 25,
    gap_tolerance: float = 1e-4,
    executor: Executor | None = None,
    callback: Callable[[CorpusReport], object] | None = None,
) -> CorpusResult:
    """Labels of all words, the sentences' and sets' agreement weighed together.

    Args:
        model: the corpus.
        solver: ``BoxMPLP()`` by default, or `BoxSubgradient`, `MPLP`, `Subgradient` with their
            steps.
        iterations: the most passes over the corpus.
        gap_tolerance: stop when an answer is known to be as good as that, relative to its value.
        executor: who decodes shares of sentences; threads on all cores by default.
        callback: called before the first iteration and after each; if it returns something true
            then, the solve ends.

    Example:
        >>> from assent.apps.corpus import consensus_sets
        >>> sets = consensus_sets([["gnu"], ["gnu"]], penalty=0.5)
        >>> scores = np.array([[1.0, 0.0], [0.0, 0.3]], np.float32)
        >>> model = CorpusModel(np.array([0, 1, 2]), scores, np.zeros((2, 2)), sets)
        >>> decode_corpus(model).states.tolist()
        [0, 0]
    """
    if iterations < 1:
        raise ModelError(f"iterations must be at least 1, got {iterations}")
    executor = executor or Executor()
    state = start_solver(solver or assent.BoxMPLP(), model, executor)
    isolated = state.states.copy()
    answer = _Answer(model, executor, isolated)
    bound, done = state.bound, 0
    if callback is not None:
        callback(CorpusReport(0, state.calls, bound, isolated))
    for done in range(1, iterations + 1):
        state.advance()
        bound = min(bound, state.bound)
        report = CorpusReport(done, state.calls, bound, state.states)
        stop = callback is not None and callback(report)
        if stop or state.at_rest or done == iterations or _is_due(done):
            answer.offer(state)
            if stop or state.at_rest or bound - answer.value <= gap_tolerance * abs(bound):
                break
    sentences = max(1, len(model.ends) - 1)
    return CorpusResult(
        answer.states, isolated, answer.consensus, answer.value, bound,
        state.calls + answer.calls / sentences, done,
    )  # fmt: skip


def _is_due(done: int) -> bool:
    """Answers are looked for after 4, 8, 16, … iterations: they cost calls too."""
    return done >= 4 and done & (done - 1) == 0


class _Answer:
    """The best answer so far."""

    def __init__(self, model: CorpusModel, executor: Executor, isolated: NDArray[np.int32]) -> None:
        self._model, self._executor = model, executor
        self._chains = model.linked_chains()
        self.calls = 0
        self.states, self.consensus = isolated, model.voted(isolated)
        self.value = model.value(self.states, self.consensus)

    def offer(self, state: Multipliers) -> None:
        """Improve on what multipliers say, and keep the better one.

        Sets begin with their best states; then sentences decode beside sets and sets choose
        beside sentences, by turns.  The value never falls.
        """
        from assent.kernels.consensus.linked_chains import differing

        states, consensus = state.states.copy(), state.consensus()
        asked = np.diff(self._chains.start[self._chains.ends]) > 0
        for _ in range(_MOST_TURNS):
            self._decode_beside(consensus, asked, states)
            chosen = self._model.voted(states)
            asked = differing(self._chains, consensus, chosen)
            consensus = chosen
            if not asked.any():
                break
        value = self._model.value(states, consensus)
        if value > self.value:
            self.states, self.consensus, self.value = states, consensus, value

    def _decode_beside(
        self, consensus: NDArray[np.int32], asked: NDArray, states: NDArray[np.int32]
    ) -> None:
        from assent.kernels.consensus.linked_chains import decode_beside

        def decode(first: int, last: int) -> int:
            return int(decode_beside(self._chains, consensus, asked, first, last, states))

        self.calls += sum(self._executor.run(decode, shares(len(asked))))
