"""Automaton: a set of sequences, as states and arcs that read one symbol each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from assent.arguments import shown
from assent.errors import ModelError
from assent.kernels.problem import Float, Int32
from assent.model.scores import clean_scores

SHOWN_SYMBOLS = 6  # how many symbols a repr lists


class Automaton:
    """A deterministic finite automaton with a score for every arc; `Regular` makes it a factor.

    It begins in one state, takes the arc of every symbol it reads, and accepts a sequence that
    ends in one of some states.  A symbol without an arc from the state it is in is not allowed
    there.  ``a & b`` accepts what both do, and adds their scores.  `bio` and `regex` make
    common ones.

    Args:
        symbols: the labels that it knows.
        arcs: ``(state, symbol, next state)`` or ``(state, symbol, next state, score)``; states are
            called as you like.
        start: the state in which it begins.
        accept: the states in which a sequence may end.

    Attributes:
        states: names of the states, the first one is where it begins.
        origin, symbol, target: ``[A]`` numbers of what each arc leads from, reads and leads to.
        scores: ``[A]`` what taking each arc earns.
        accepting: ``[Q]`` where it may end.

    Example:
        >>> import assent as at
        >>> arcs = [("even", "a", "odd"), ("odd", "a", "even")]
        >>> arcs += [("even", "b", "even"), ("odd", "b", "odd")]
        >>> even = at.Automaton("ab", arcs, start="even", accept=["even"])
        >>> even.accepts("abba"), even.accepts("ab")
        (True, False)
    """

    def __init__(
        self,
        symbols: Iterable[Hashable],
        arcs: Iterable[Sequence[Any]],
        *,
        start: Hashable,
        accept: Iterable[Hashable],
    ) -> None:
        self.symbols = _listed("symbols", symbols)
        self._number_of = {symbol: k for k, symbol in enumerate(self.symbols)}
        if len(self._number_of) != len(self.symbols):
            raise ModelError("Automaton: a symbol stands twice in its alphabet")
        listed = [_clean_arc(arc, self._number_of) for arc in _listed("arcs", arcs, hashable=False)]
        _listed("start", [start])
        names = dict.fromkeys([start, *(end for arc in listed for end in (arc[0], arc[2]))])
        self.states = tuple(names)
        number = {name: q for q, name in enumerate(self.states)}
        self.origin = np.array([number[arc[0]] for arc in listed], np.int32)
        self.symbol = np.array([self._number_of[arc[1]] for arc in listed], np.int32)
        self.target = np.array([number[arc[2]] for arc in listed], np.int32)
        self.scores = clean_scores([arc[3] for arc in listed], "Automaton")
        wanted = set(_listed("accept", accept))
        unknown = wanted - set(names)
        if unknown:
            raise ModelError(f"Automaton: no arc leads to {_words(unknown)}, where it may end")
        self.accepting = np.array([name in wanted for name in self.states])
        self._next = {
            (int(q), int(k)): a
            for a, (q, k) in enumerate(zip(self.origin, self.symbol, strict=True))
        }
        if len(self._next) < len(listed):
            raise ModelError(
                "Automaton: two arcs read the same symbol in one state; make it deterministic, "
                "or write it as at.regex, which does"
            )
        for array in (self.origin, self.symbol, self.target, self.scores, self.accepting):
            array.flags.writeable = False

    def accepts(self, sequence: Iterable[Hashable]) -> bool:
        """Whether a sequence of symbols is accepted."""
        return self.score(sequence) > -np.inf

    def score(self, sequence: Iterable[Hashable]) -> float:
        """Sum of the scores of the arcs that a sequence takes; ``-inf`` if it is not accepted.

        Example:
            >>> import assent as at
            >>> arcs = [(0, "a", 0, 1.5), (0, "b", 0)]
            >>> at.Automaton("ab", arcs, start=0, accept=[0]).score("aba")
            3.0
        """
        q, total = 0, 0.0
        for symbol in sequence:
            arc = self._next.get((q, self._number_of.get(symbol, -1)))
            if arc is None:
                return -np.inf
            total += float(self.scores[arc])
            q = int(self.target[arc])
        return total if self.accepting[q] else -np.inf

    def __and__(self, other: Automaton) -> Automaton:
        """What both accept; their scores add up."""
        if not isinstance(other, Automaton):
            return NotImplemented
        if set(self.symbols) != set(other.symbols):
            differ = set(self.symbols) ^ set(other.symbols)
            raise ModelError(f"automata of different alphabets do not meet: {_words(differ)}")
        start = (0, 0)
        arcs: list[tuple[Any, ...]] = []
        reached, waiting = {start}, [start]
        while waiting:
            q, r = here = waiting.pop()
            for symbol, k in self._number_of.items():
                first = self._next.get((q, k))
                second = other._next.get((r, other._number_of[symbol]))
                if first is None or second is None:
                    continue
                there = (int(self.target[first]), int(other.target[second]))
                arcs.append((here, symbol, there, self.scores[first] + other.scores[second]))
                if there not in reached:
                    reached.add(there)
                    waiting.append(there)
        ends = [(q, r) for q, r in reached if self.accepting[q] and other.accepting[r]]
        return trimmed(self.symbols, arcs, start, ends)

    def places(self, labels: Sequence[Sequence[Hashable]]) -> Int32:
        """Which of each slot's labels an arc reads, ``[T, A]``, -1 where a slot has not got it."""
        found: dict[tuple[Hashable, ...], Int32] = {}
        for own in {tuple(slot) for slot in labels}:
            unknown = [label for label in own if label not in self._number_of]
            if unknown:
                raise ModelError(
                    f"the automaton does not know {_words(unknown)}; its symbols are "
                    f"{_words(self.symbols)}"
                )
            number = np.full(len(self.symbols), -1, np.int32)
            number[[self._number_of[label] for label in own]] = np.arange(len(own))
            found[own] = number[self.symbol]
        return np.array([found[tuple(slot)] for slot in labels], np.int32)

    def accepts_some(self, places: Int32) -> bool:
        """Whether slots with these `places` have a sequence that is accepted."""
        possible = np.zeros(len(self.states), bool)
        possible[0] = True
        for own in places:
            taken = possible[self.origin] & (own >= 0) & np.isfinite(self.scores)
            possible = np.zeros(len(self.states), bool)
            possible[self.target[taken]] = True
        return bool((possible & self.accepting).any())

    def __repr__(self) -> str:
        return (
            f"Automaton over {_words(self.symbols)}: {len(self.states)} states, "
            f"{len(self.origin)} arcs"
        )


def trimmed(
    symbols: Iterable[Hashable], arcs: list[tuple[Any, ...]], start: Any, accept: Iterable[Any]
) -> Automaton:
    """An automaton of the states that lie on a way from its start to an end."""
    leads_to: dict[Any, set[Any]] = {}
    comes_from: dict[Any, set[Any]] = {}
    for origin, _, target, *_ in arcs:
        leads_to.setdefault(origin, set()).add(target)
        comes_from.setdefault(target, set()).add(origin)
    used = _reached({start}, leads_to) & _reached(set(accept), comes_from)
    kept = [arc for arc in arcs if arc[0] in used and arc[2] in used]
    return Automaton(symbols, kept, start=start, accept=used.intersection(accept))


def _reached(begin: set[Any], steps: dict[Any, set[Any]]) -> set[Any]:
    """All states that can be reached from some, these among them."""
    found, waiting = set(begin), list(begin)
    while waiting:
        new = steps.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def _listed(what: str, values: Any, hashable: bool = True) -> tuple[Any, ...]:
    """Values of an iterable, which may be told apart."""
    try:
        listed = tuple(values)
        _ = [hash(value) for value in listed] if hashable else ()
    except TypeError as error:
        raise TypeError(f"Automaton: {what}: {error}; got {shown(values)}") from None
    return listed


def _clean_arc(arc: Any, symbols: dict[Hashable, int]) -> tuple[Any, Any, Any, Float | float]:
    if not isinstance(arc, (tuple, list)) or len(arc) not in (3, 4):
        raise ModelError(f"an arc is (state, symbol, next state[, score]), got {arc!r}")
    if arc[1] not in symbols:
        raise ModelError(f"arc {arc!r} reads {arc[1]!r}, which is not among the symbols")
    return (arc[0], arc[1], arc[2], arc[3] if len(arc) == 4 else 0.0)


def _words(symbols: Iterable[Hashable]) -> str:
    listed = list(symbols)
    more = ", …" if len(listed) > SHOWN_SYMBOLS else ""
    return "{" + ", ".join(map(str, listed[:SHOWN_SYMBOLS])) + more + "}"
