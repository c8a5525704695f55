"""Shares of a corpus, which decode apart from each other: what executors are given."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from assent.apps.corpus.data import ConsensusSets
from assent.apps.corpus.executor import Executor

# Shares are the same whoever works on them, and so are all sums over them.
_SHARES = 16


class Share(NamedTuple):
    """Sentences ``first … last - 1``, and where their words and links are."""

    first: int
    last: int
    words: slice
    links: slice


class Decoded(NamedTuple):
    """What sentences say."""

    states: NDArray[np.int32]  # [words] what should agree: labels, or classes of heads
    values: NDArray[np.float64]  # [n] scores of sentences
    words: NDArray[np.int32]  # [words] the answer: labels, or heads

    def copy(self) -> Decoded:
        """The same in arrays of its own."""
        return Decoded(self.states.copy(), self.values.copy(), self.words.copy())

    def of(self, share: Share) -> Decoded:
        """What the sentences of a share say, in place."""
        own = slice(share.first, share.last)
        return Decoded(self.states[share.words], self.values[own], self.words[share.words])


class LinkedCorpus(Protocol):
    """Sentences of any structure, as solvers see them.

    Attributes:
        ends: ``[n + 1]`` where the words of each sentence begin and end.
        sets: positions that should agree.
        width: K, the number of states a word may have for its sets.
    """

    @property
    def ends(self) -> NDArray[np.int64]: ...
    @property
    def sets(self) -> ConsensusSets: ...
    @property
    def width(self) -> int: ...

    def linked(self) -> Any:
        """What kernels take."""

    def share(self, share: Share) -> Self:
        """Some of the sentences, to be decoded elsewhere; names of sets stay behind."""

    def decode_charged(
        self, nu: NDArray[np.float64], asked: NDArray[np.bool_], found: Decoded
    ) -> int:
        """Decode sentences that are ``asked[n]``, charged their links' multipliers ``nu[L, K]``.

        What they say goes into ``found``, its values less the charges; returns the calls.
        """

    def max_marginals(
        self, nu: NDArray[np.float64], asked: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        """Best charged scores of sentences ``asked[m]`` with each state of each word fixed.

        They go into ``out[words, K]``; -inf where a word cannot have a state.
        """


def shares(corpus: LinkedCorpus) -> list[Share]:
    """All sentences in about equal shares."""
    count = len(corpus.ends) - 1
    parts = max(1, min(_SHARES, count))
    found = []
    for first, last in pairwise(count * i // parts for i in range(parts + 1)):
        words = slice(int(corpus.ends[first]), int(corpus.ends[last]))
        start = corpus.sets.start
        links = slice(int(start[words.start]), int(start[words.stop]))
        found.append(Share(first, last, words, links))
    return found


def decode_charged(
    corpus: LinkedCorpus, executor: Executor, nu: NDArray[np.float64],
    asked: NDArray[np.bool_], found: Decoded,
) -> int:  # fmt: skip
    """Decode sentences that are ``asked[n]``, charged multipliers ``nu[L, K]``, into ``found``."""
    own = [share for share in shares(corpus) if asked[share.first : share.last].any()]
    tasks = [
        (corpus.share(share), nu[share.links], asked[share.first : share.last], found.of(share))
        for share in own
    ]
    total = 0
    for share, (calls, answers) in zip(own, executor.run(_decode_share, tasks), strict=True):
        total += calls
        # Threads have written there already; what processes have found comes back as copies.
        target = found.of(share)
        target.states[:], target.values[:], target.words[:] = answers
    return total


def _decode_share(
    task: tuple[LinkedCorpus, NDArray[np.float64], NDArray[np.bool_], Decoded],
) -> tuple[int, Decoded]:
    corpus, nu, asked, found = task
    return corpus.decode_charged(nu, asked, found), found


def decode_beside(
    corpus: LinkedCorpus, executor: Executor, consensus: NDArray[np.int32],
    asked: NDArray[np.bool_], found: Decoded,
) -> int:  # fmt: skip
    """The same where links earn their penalty if they agree with ``consensus[S]``."""
    # What earns is charged less than nothing.
    sets = corpus.sets
    nu = np.zeros((len(sets.sets), corpus.width))
    nu[np.arange(len(nu)), consensus[sets.sets]] = -sets.penalty
    return decode_charged(corpus, executor, nu, asked, found)
