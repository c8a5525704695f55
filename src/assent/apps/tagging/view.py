"""Tagged sentences for people: words with their tags below, in columns that fit the line."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

# Open classes stand out; the others are quieter.
_STYLES = {
    "NOUN": "cyan", "PROPN": "bold cyan", "VERB": "green", "AUX": "green dim", "ADJ": "yellow",
    "ADV": "magenta", "PUNCT": "dim", "SYM": "dim",
}  # fmt: skip


def show_tags(words: Sequence[str], tags: Sequence[str], width: int = 80) -> Text:
    """Words and tags under each other, in as many pairs of lines as the width needs.

    Example:
        >>> print(show_tags(["Birds", "sing"], ["NOUN", "VERB"]).plain)
        Birds sing
        NOUN  VERB
    """
    lines: list[tuple[Text, Text]] = []
    used = width + 1
    for word, tag in zip(words, tags, strict=True):
        room = max(cell_len(word), cell_len(tag))
        if used + room > width:
            lines.append((Text(), Text()))
            used = 0
        above, below = lines[-1]
        if used:
            above.append(" ")
            below.append(" ")
        style = _STYLES.get(tag, "")
        above.append(word + " " * (room - cell_len(word)), style=style)
        below.append(tag + " " * (room - cell_len(tag)), style="dim")
        used += room + 1
    rows = [line for pair in lines for line in pair]
    for row in rows:
        row.rstrip()
    return Text("\n").join(rows)
