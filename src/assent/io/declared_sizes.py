"""Sizes that a file declares, checked before anything of that size is allocated.

A few digits can declare any number of states, and a table lists only some of its entries in some
formats.  What a file declares may exceed the number of words in it up to a fixed limit only.
"""

from __future__ import annotations

from math import prod

from assent.io.text import FormatError, TokenReader

# Declared beyond what the file spells out: some hundred megabytes of states with their labels,
# about a gigabyte of tables on the way to a graph.
MOST_STATES = 1 << 20
MOST_ENTRIES = 1 << 24
MOST_AXES = 64  # of an array in NumPy


class DeclaredSizes:
    """Reads numbers of states and counts entries of tables, as long as both stay within limits."""

    def __init__(self, reader: TokenReader) -> None:
        self.reader = reader
        self.most_states = max(MOST_STATES, reader.remaining)
        self.most_entries = max(MOST_ENTRIES, reader.remaining)
        self._states = self._entries = 0

    def read_states(self, expected: str, high: int | None = None) -> int:
        """The number of states of a variable, 1 to ``high``."""
        number = self.reader.integer(expected, 1, high)
        self._states += number
        if self._states > self.most_states:
            wanted = f"up to {self.most_states} states in all"
            raise self.reader.error(wanted, self.reader.position - 1)
        return number

    def take_table(self, factor: int, shape: tuple[int, ...]) -> int:
        """The number of entries of a table."""
        if len(shape) > MOST_AXES:
            raise FormatError(
                self.reader.path,
                f"factor {factor} has {len(shape)} variables; tables over up to {MOST_AXES} are "
                "read",
            )
        size = prod(shape)
        self._entries += size
        if self._entries > self.most_entries:
            raise FormatError(
                self.reader.path,
                f"factor {factor} has a table of {' × '.join(map(str, shape))} entries; tables "
                f"of up to {self.most_entries} entries in all are read from a file of this length",
            )
        return size


def read_scope(reader: TokenReader, arity: int, factor: int, most: int) -> list[int]:
    """Distinct variables, 0 to ``most``, of a factor."""
    scope: dict[int, None] = {}
    for _ in range(arity):
        variable = reader.integer(f"a variable of factor {factor}, 0 to {most}", 0, most)
        if variable in scope:
            raise reader.error(f"another variable in factor {factor}", reader.position - 1)
        scope[variable] = None
    return list(scope)
