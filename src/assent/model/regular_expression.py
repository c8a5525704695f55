"""Regular expressions over labels, as automata (Glushkov's construction, then subsets)."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from assent.errors import ModelError
from assent.model.finite_automaton import Automaton, trimmed

_TOKENS = re.compile(r"\s*(\[\^?[^\]]*\]|'[^']*'|[().|*+?]|[^\s().|*+?\[\]']+)")
START = -1  # the position before the first symbol


def regex(pattern: str, alphabet: Iterable[Hashable]) -> Automaton:
    """The automaton of all sequences of labels that match a pattern from end to end.

    Args:
        pattern: labels, one after the other with blanks between them; ``.`` is any label, ``[a b]``
            one of several, ``[^a b]`` one of all others; ``|`` separates alternatives, ``*``, ``+``
            and ``?`` repeat what stands before, parentheses group; a label with special
            characters stands in single quotes.
        alphabet: all labels; those that are no strings are written as ``str`` gives them.

    Example:
        >>> import assent as at
        >>> rule = at.regex("([^PLACE] | PLACE .* DATE)*", ["O", "PLACE", "DATE"])
        >>> rule.accepts(["O", "PLACE", "O", "DATE"]), rule.accepts(["DATE", "PLACE"])
        (True, False)
    """
    symbols = tuple(alphabet)
    reader = _Reader(pattern, symbols)
    whole = reader.alternatives()
    reader.expect_end()
    following = {START: whole.first, **reader.follow}
    start = frozenset([START])
    arcs, reached, waiting = [], {start}, [start]
    while waiting:
        here = waiting.pop()
        after = set().union(*(following[p] for p in here))
        for symbol in symbols:
            there = frozenset(p for p in after if symbol in reader.reads[p])
            if not there:
                continue
            arcs.append((here, symbol, there))
            if there not in reached:
                reached.add(there)
                waiting.append(there)
    ends = set(whole.last) | ({START} if whole.empty else set())
    accept = {state for state in reached if state & ends}
    if not accept:
        raise ModelError(f"regex {pattern!r}: no sequence of these labels matches")
    block = _equivalent(reached, arcs, accept)
    merged = {(block[here], symbol, block[there]) for here, symbol, there in arcs}
    return trimmed(symbols, sorted(merged, key=repr), block[start], {block[q] for q in accept})


def _equivalent(states: Iterable[Any], arcs: list[tuple[Any, ...]], accept: set[Any]) -> dict:
    """A number for every state, the same where the same sequences lead to an end (Moore)."""
    block = {state: int(state in accept) for state in states}
    leaving: dict[Any, list[tuple[Hashable, Any]]] = {state: [] for state in block}
    for here, symbol, there in arcs:
        leaving[here].append((symbol, there))
    while True:
        seen: dict[Any, int] = {}
        finer = {}
        for state, own in block.items():
            after = frozenset((symbol, block[there]) for symbol, there in leaving[state])
            finer[state] = seen.setdefault((own, after), len(seen))
        if len(seen) == len(set(block.values())):
            return finer
        block = finer


class _Part(NamedTuple):
    """A part of a pattern: whether it matches nothing at all, and where it begins and ends."""

    empty: bool
    first: frozenset[int]
    last: frozenset[int]


class _Reader:
    """Reads a pattern; every label in it is a position, and ``follow`` says what may be next."""

    def __init__(self, pattern: Any, symbols: tuple[Hashable, ...]) -> None:
        if not isinstance(pattern, str):
            raise TypeError(f"regex takes a pattern as a string, got {pattern!r}")
        self.pattern = pattern
        self.by_name = {str(symbol): symbol for symbol in symbols}
        self.tokens = self._split()
        self.at = 0
        self.reads: list[frozenset[Hashable]] = []
        self.follow: dict[int, frozenset[int]] = {}

    def _split(self) -> list[str]:
        tokens, at, text = [], 0, self.pattern.rstrip()
        while at < len(text):
            found = _TOKENS.match(text, at)
            if found is None:
                raise ModelError(f"regex {text!r}: cannot read on from {text[at:].strip()!r}")
            tokens.append(found.group(1))
            at = found.end()
        return tokens

    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def expect_end(self) -> None:
        if self._next():
            raise ModelError(f"regex {self.pattern!r}: unexpected {self._next()!r}")

    def alternatives(self) -> _Part:
        part = self._sequence()
        while self._next() == "|":
            self.at += 1
            other = self._sequence()
            part = _Part(
                part.empty or other.empty, part.first | other.first, part.last | other.last
            )
        return part

    def _sequence(self) -> _Part:
        part = _Part(True, frozenset(), frozenset())
        while self._next() not in ("", "|", ")"):
            other = self._repeated()
            self._join(part.last, other.first)
            part = _Part(
                part.empty and other.empty,
                part.first | (other.first if part.empty else frozenset()),
                other.last | (part.last if other.empty else frozenset()),
            )
        return part

    def _repeated(self) -> _Part:
        part = self._single()
        while self._next() in ("*", "+", "?"):
            sign = self._next()
            self.at += 1
            if sign != "?":
                self._join(part.last, part.first)
            part = part._replace(empty=part.empty or sign != "+")
        return part

    def _single(self) -> _Part:
        token = self._next()
        self.at += 1
        if token == "(":
            part = self.alternatives()
            if self._next() != ")":
                raise ModelError(f"regex {self.pattern!r}: a parenthesis is not closed")
            self.at += 1
            return part
        position = len(self.reads)
        self.reads.append(self._labels(token))
        self.follow[position] = frozenset()
        return _Part(False, frozenset([position]), frozenset([position]))

    def _labels(self, token: str) -> frozenset[Hashable]:
        """The labels that a token stands for."""
        everything = frozenset(self.by_name.values())
        if token == ".":
            return everything
        if token.startswith("[^"):
            return everything - {self._label(name) for name in token[2:-1].split()}
        if token.startswith("["):
            return frozenset(self._label(name) for name in token[1:-1].split())
        if token in ("*", "+", "?"):
            raise ModelError(f"regex {self.pattern!r}: nothing stands before {token!r} to repeat")
        return frozenset([self._label(token)])

    def _label(self, name: str) -> Hashable:
        name = name[1:-1] if name.startswith("'") else name
        if name not in self.by_name:
            known = ", ".join(self.by_name)
            raise ModelError(f"regex {self.pattern!r}: {name!r} is no label; there are {known}")
        return self.by_name[name]

    def _join(self, ends: frozenset[int], begins: frozenset[int]) -> None:
        for position in ends:
            self.follow[position] |= begins
