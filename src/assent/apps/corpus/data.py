"""Consensus sets: positions of a corpus that should agree, and what disagreement costs."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError


@dataclass(frozen=True)
class ConsensusSets:
    """Which positions should agree; made by `consensus_sets`.

    Attributes:
        names: the key of each of S sets.
        start: ``[positions + 1]`` where the links of each position begin.
        sets: ``[L]`` the set of each link.
        penalty: ``[L]`` what it costs if a position differs from its set.
    """

    names: tuple[Hashable, ...]
    start: NDArray[np.int64] = field(repr=False)
    sets: NDArray[np.int64] = field(repr=False)
    penalty: NDArray[np.float64] = field(repr=False)

    @property
    def positions(self) -> NDArray[np.int64]:
        """``[L]`` the position of each link."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def part(self, words: slice, links: slice) -> ConsensusSets:
        """The links of some positions, without the names of their sets."""
        start = self.start[words.start : words.stop + 1] - links.start
        return ConsensusSets((), start, self.sets[links], self.penalty[links])

    def with_penalty(self, penalty: float | Callable[[Hashable], float]) -> ConsensusSets:
        """The same sets with another penalty: a number, or a function of the set's key."""
        return ConsensusSets(self.names, self.start, self.sets, self._penalties(penalty)[self.sets])

    def _penalties(self, penalty: float | Callable[[Hashable], float]) -> NDArray[np.float64]:
        """``[S]`` the penalty of each set."""
        found = [penalty(name) if callable(penalty) else penalty for name in self.names]
        costs = np.array(found, float)
        wrong = np.flatnonzero(~(costs >= 0.0) | ~np.isfinite(costs))
        if len(wrong):
            raise ModelError(
                f"penalties are finite and at least 0, got {costs[wrong[0]]} for the set "
                f"{self.names[wrong[0]]!r}"
            )
        return costs


def consensus_sets(
    keys: Iterable[Iterable[Hashable]],
    penalty: float | Callable[[Hashable], float] = 1.0,
) -> ConsensusSets:
    """Positions with a common key should agree.

    Args:
        keys: those of each position, mostly one or none.  Keys of one position make no set.
        penalty: what a position pays for differing from its set: a number, or a function of the
            key.

    Example:
        >>> sets = consensus_sets([["dog"], [], ["dog"], ["cat"]], penalty=2.0)
        >>> sets.names, sets.positions.tolist(), sets.penalty.tolist()
        (('dog',), [0, 2], [2.0, 2.0])
    """
    number: dict[Hashable, int] = {}
    start, links = array("q", [0]), array("q")
    for of_position in keys:
        links.extend(number.setdefault(key, len(number)) for key in dict.fromkeys(of_position))
        start.append(len(links))
    found = np.array(links, np.int64)
    often = np.bincount(found, minlength=len(number)) > 1
    kept = np.concatenate([[0], np.cumsum(often[found])])  # links of sets, up to each link
    sets = (np.cumsum(often) - 1)[found[often[found]]]
    names = tuple(name for name, is_set in zip(number, often.tolist(), strict=True) if is_set)
    bare = ConsensusSets(names, kept[np.array(start)], sets, np.zeros(len(sets)))
    return bare.with_penalty(penalty)


def word_keys(words: Iterable[str], known: Collection[str]) -> Iterator[tuple[str, ...]]:
    """A key for every word that is not ``known``: itself.

    Example:
        >>> list(word_keys(["the", "gnu", "sings"], known={"the"}))
        [(), ('gnu',), ('sings',)]
    """
    return (() if word in known else (word,) for word in words)
