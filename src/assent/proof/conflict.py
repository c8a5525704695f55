"""Irreducible infeasible subsets: few constraints, of many, that cannot hold together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.closure import Closure
from assent.compile.compiled import Compiled, logic_rows
from assent.compile.logic_placement import LogicRows
from assent.model.variables import coordinates_of

# Nodes of a search by propagation alone before constraints count as feasible.
MOST_NODES = 2000
# A person reads the first few.
SHOWN = 12
# How long to look for few constraints, where nobody says.
SECONDS = 2.0


class Item(NamedTuple):
    """A constraint (rows of a batch, by number) or a literal of evidence (``batch`` -1)."""

    batch: int
    number: int


class _OutOfTime(Exception):
    """The search for fewer constraints has taken long enough."""


def small_conflict(compiled: Compiled, seconds: float) -> tuple[str, ...]:
    """Constraints and evidence of an infeasible graph that contradict each other, in words.

    Leaving out any one of them makes the rest possible, unless the ``seconds`` run out; empty
    where propagation and branching alone do not find the contradiction.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(9, name="x")
        >>> rules = [g.add(at.AtLeastOne(x[i : i + 2])) for i in range(8)]
        >>> rule = g.add(at.AtMostOne(x[[2, 3]])), g.add(at.Agree(x[2], x[3]))
        >>> small_conflict(g.compile(), 60.0)
        ('AtLeastOne(x[2], x[3])', 'AtMostOne(x[2], x[3])', 'Agree(x[2], x[3])')
    """
    rows = logic_rows(compiled)
    own = len(compiled.graph.handles)
    implied = [part for part in rows if part.block >= own]
    written = [part for part in rows if part.block < own]
    items = [Item(-1, int(code)) for code in compiled.evidence]
    items += [Item(i, row) for i, part in enumerate(written) for row in range(len(part.k))]
    deadline = time.perf_counter() + seconds

    def contradict(chosen: Sequence[Item]) -> bool:
        parts = [*implied, *_taken(written, chosen)]
        given = [item.number for item in chosen if item.batch < 0]
        return _impossible(compiled, parts, given, deadline)

    try:
        if not contradict(items):
            return ()
    except _OutOfTime:
        return ()
    kept = _fewer(items, contradict)
    words = [_words(compiled, written, item) for item in kept[:SHOWN]]
    more = len(kept) - len(words)
    return (*dict.fromkeys(words), *([f"… {more} more"] if more else []))


def _taken(written: Sequence[LogicRows], chosen: Sequence[Item]) -> list[LogicRows]:
    parts = []
    for number, part in enumerate(written):
        own = [item.number for item in chosen if item.batch == number]
        if own:
            parts.append(part.take(np.array(own)))
    return parts


def _fewer(items: list[Item], contradict: Callable[[Sequence[Item]], bool]) -> list[Item]:
    """Leave out what the contradiction does not need: half of it, a quarter, … one by one."""
    kept, size = items, (len(items) + 1) // 2
    try:
        while size:
            start = 0
            while start < len(kept):
                fewer = kept[:start] + kept[start + size :]
                if contradict(fewer):
                    kept = fewer
                else:
                    start += size
            size = 0 if size == 1 else (size + 1) // 2
    except _OutOfTime:
        pass
    return kept


def _impossible(
    compiled: Compiled, parts: list[LogicRows], given: Sequence[int], deadline: float
) -> bool:
    """Whether branching and propagation show that some constraints cannot hold together."""
    closure = Closure(compiled, parts)
    nothing = np.full(len(compiled.fixed), -1, np.int8)
    nothing[compiled.forbids.theta] = 0
    involved = np.zeros(len(nothing), bool)
    for part in parts:
        involved[coordinates_of(part.lits)] = True
    waiting = [closure.extend(nothing, given)]
    for _ in range(MOST_NODES):
        if not waiting:
            return True
        if time.perf_counter() >= deadline:
            raise _OutOfTime
        known = waiting.pop()
        if known is None:
            continue
        place = _next(known, involved)
        if place is None:
            return False
        waiting += [closure.extend(known, (place,)), closure.extend(known, (~place,))]
    return False


def _next(known: NDArray[np.int8], involved: NDArray[np.bool_]) -> int | None:
    """A coordinate to branch on."""
    open_ = np.flatnonzero((known == -1) & involved)
    return int(open_[0]) if len(open_) else None


def _words(compiled: Compiled, written: Sequence[LogicRows], item: Item) -> str:
    if item.batch < 0:
        return f"evidence {compiled.graph.describe_value(item.number)}"
    part = written[item.batch]
    row = item.number if part.rows is None else int(part.rows[item.number])
    return compiled.blocks[part.block].words(row)
