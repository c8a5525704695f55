"""Tables of text, for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[str]


def format_table(header: Row, rows: Sequence[Row], markdown: bool = False) -> str:
    """Columns of equal width under a header.

    Example:
        >>> print(format_table(["kind", "formula"], [["Pair", "a ∧ b"]], markdown=True))
        | kind | formula |
        | ---- | ------- |
        | Pair | a ∧ b   |
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    ruled = [header, ["-" * width for width in widths], *rows]
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in ruled]
    if markdown:
        return "\n".join(f"| {' | '.join(row)} |" for row in padded)
    return "\n".join("  ".join(row).rstrip() for row in padded)
