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
from assent.apps.corpus.executor import Executor, Threads
from assent.apps.corpus.model import CorpusModel, voted
from assent.apps.corpus.multipliers import CorpusSolver, Multipliers, start_solver
from assent.apps.corpus.shares import Decoded, LinkedCorpus, decode_beside
from assent.errors import ModelError

# Rounds in which sets and sentences take turns to improve an answer; most rest after three.
_MOST_TURNS = 10
# A penalty over the largest score: of 16 digits, half are left to the scores.
LARGEST_RATIO = 1e8


class CorpusReport(NamedTuple):
    """What is known after an iteration.

    Attributes:
        iteration: its number; 0 is every sentence for itself.
        calls: to sentences so far, per sentence; max-marginals count twice.
        bound: no answer is worth more; the best so far.
        states: ``[words]`` the sentences' best labels or heads, a legal answer at any time.
        accuracy: of these in percent; NaN where gold is not known.
    """

    iteration: int
    calls: float
    bound: float
    states: NDArray[np.int32]
    accuracy: float


@dataclass(frozen=True)
class CorpusResult:
    """A decoded corpus.

    Attributes:
        states: ``[words]`` labels as numbers, or heads.
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
    model: LinkedCorpus,
    solver: CorpusSolver | None = None,
    *,
    iterations: int = 25,
    gap_tolerance: float = 1e-4,
    executor: Executor | None = None,
    callback: Callable[[CorpusReport], object] | None = None,
    gold: NDArray[np.int32] | None = None,
) -> CorpusResult:
    """Labels of all words, the sentences' and sets' agreement weighed together.

    Args:
        model: the corpus.
        solver: `BoxMPLP` for chains and `BoxSubgradient` with steps of the penalty over t for trees
            by default, or `MPLP`, `Subgradient` with its steps; `BySets` around MPLP and BoxMPLP as
            published.
        iterations: the most passes over the corpus.
        gap_tolerance: stop when an answer is known to be as good as that, relative to its value.
        executor: who decodes shares of sentences; threads on all cores by default.
        callback: called before the first iteration and after each; if it returns something true
            then, the solve ends.
        gold: ``[words]`` the right labels as numbers, or heads; for reports of accuracy only.

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
    _refuse_large_penalties(model)
    executor = executor or Threads()
    state = start_solver(solver or _usual(model), model, executor)
    isolated = state.found.copy()
    answer = _Answer(model, executor, isolated)
    bound, done = state.bound, 0
    report = callback or (lambda given: None)
    report(_report(done, bound, state, gold))
    for done in range(1, iterations + 1):
        state.advance()
        bound = min(bound, state.bound)
        stop = report(_report(done, bound, state, gold))
        if stop or state.at_rest or done == iterations or _is_due(done):
            answer.offer(state.consensus())
            if stop or state.at_rest or bound - answer.value <= gap_tolerance * abs(bound):
                break
    sentences = max(1, len(model.ends) - 1)
    return CorpusResult(
        answer.found.words, isolated.words, answer.consensus, answer.value, bound,
        state.calls + answer.calls / sentences, done,
    )  # fmt: skip


def _report(
    done: int, bound: float, state: Multipliers, gold: NDArray[np.int32] | None
) -> CorpusReport:
    words = state.found.words
    right = np.nan if gold is None else 100.0 * float(np.mean(words == gold))
    return CorpusReport(done, state.calls, bound, words, right)


def _refuse_large_penalties(model: LinkedCorpus) -> None:
    """Raise where penalties are so large that sums with them would lose the scores."""
    linked = model.linked()
    finite = np.isfinite(linked.scores)
    largest = max(
        float(linked.scores.max(where=finite, initial=0.0)),
        -float(linked.scores.min(where=finite, initial=0.0)),
    )
    most, limit = float(linked.penalty.max(initial=0.0)), LARGEST_RATIO * (largest or 1.0)
    if most > limit:
        raise ModelError(
            f"a penalty of {most:g} is too large beside scores of at most {largest:g}: sums would "
            f"lose these; {limit:g} binds as firmly"
        )


def _usual(model: LinkedCorpus) -> CorpusSolver:
    """Passes need chains; trees are asked for nothing but their best.

    Steps begin with the penalty and shrink as 1 / t: after 25 of them the gap of texts of 500
    sentences is 15 to 60 times smaller than with Polyak's, which take longer to find their size.
    """
    if isinstance(model, CorpusModel):
        return assent.BoxMPLP()
    return assent.BoxSubgradient(step="harmonic", count="iterations")


def _is_due(done: int) -> bool:
    """Answers are looked for after 4, 8, 16, … iterations: they cost calls too."""
    return done >= 4 and done & (done - 1) == 0


class _Answer:
    """The best answer so far."""

    def __init__(self, model: LinkedCorpus, executor: Executor, isolated: Decoded) -> None:
        self._model, self._executor, self._isolated = model, executor, isolated
        sets = model.sets
        self._sentence = np.searchsorted(model.ends, sets.positions, side="right") - 1
        self._penalties = np.bincount(
            self._sentence, sets.penalty, minlength=len(isolated.values)
        ).astype(float)  # of each sentence
        self.calls, self.value = 0, -np.inf
        self.offer(voted(model, isolated.states))

    def offer(self, consensus: NDArray[np.int32]) -> None:
        """Begin with these states of sets, improve them, and keep the better answer.

        Sentences decode beside sets and sets choose beside sentences, by turns; the value never
        falls.  A sentence that agrees with all of its sets by itself has nothing better to say.
        """
        sets, found = self._model.sets, self._isolated.copy()
        found.values[:] += self._penalties
        asked = self._sentences(found.states[sets.positions] != consensus[sets.sets])
        for _ in range(_MOST_TURNS):
            own = self._model, self._executor
            self.calls += decode_beside(*own, consensus, asked, found)
            chosen = voted(self._model, found.states)
            value = float(found.values.sum() - self._penalties.sum())
            if value > self.value:
                self.found, self.consensus, self.value = found.copy(), consensus, value
            asked = self._sentences(consensus[sets.sets] != chosen[sets.sets])
            if not asked.any():
                break
            consensus = chosen

    def _sentences(self, links: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The sentences ``[n]`` of some links."""
        found = np.zeros(len(self._isolated.values), bool)
        found[self._sentence[links]] = True
        return found
