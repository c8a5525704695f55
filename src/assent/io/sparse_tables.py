"""Sparse tables, of which a file lists only some entries: shared by two formats."""

from __future__ import annotations

from math import prod

from assent.io.text import FormatError, TokenReader

# Entries of all tables of a file together: half a gigabyte.  The size of the file does not bound
# them, as unlisted entries take no space in it.
MOST_ENTRIES = 1 << 26


class EntryLimit:
    """Counts the entries of tables before they are allocated."""

    def __init__(self, reader: TokenReader) -> None:
        self.reader, self.taken = reader, 0

    def take(self, factor: int, shape: tuple[int, ...]) -> int:
        """Number of entries of a table; raises where the limit is exceeded."""
        size = prod(shape)
        self.taken += size
        if self.taken > MOST_ENTRIES:
            raise FormatError(
                self.reader.path,
                f"factor {factor} has a table of {' × '.join(map(str, shape))} entries; tables "
                f"of up to {MOST_ENTRIES} entries in all are read",
            )
        return size


def read_scope(reader: TokenReader, arity: int, factor: int, most: int) -> list[int]:
    """Distinct variables, 0 to ``most``, of a factor."""
    scope: list[int] = []
    for _ in range(arity):
        variable = reader.integer(f"a variable of factor {factor}, 0 to {most}", 0, most)
        if variable in scope:
            raise reader.error(f"another variable in factor {factor}", reader.position - 1)
        scope.append(variable)
    return scope
