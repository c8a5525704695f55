"""What a text as a whole has changed, for people and for other programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, fields
from pathlib import Path

from assent.apps.corpus.changes import Change
from assent.apps.corpus.corpus_parsing import CorpusParsing
from assent.apps.corpus.tagging import CorpusTagging

COLUMNS = tuple(field.name for field in fields(Change))


def write_changes(path: str | Path, changes: Sequence[Change]) -> None:
    """A line per change with tabs between columns, below a line with their names."""
    lines = [COLUMNS, *map(astuple, changes)]
    text = "".join("\t".join(map(str, line)) + "\n" for line in lines)
    Path(path).write_text(text, encoding="utf-8")


def summary(text: CorpusTagging | CorpusParsing, most: int = 5) -> str:
    """What changed, in a few lines: how much, and the sets that made most of it."""
    result, changes = text.result, text.changes
    sets = len(result.consensus)
    what = "are tagged otherwise" if isinstance(text, CorpusTagging) else "have other heads"
    lines = [
        f"{len(changes):,} of {len(result.states):,} words {what} than with every "
        f"sentence for itself; {sets:,} set{'s' * (sets != 1)}",
        f"at most {100 * result.relative_gap:.3f} % from the best score, after "
        f"{result.calls:.1f} calls per sentence",
    ]
    for key, count in Counter(change.key for change in changes).most_common(most):
        example = next(change for change in changes if change.key == key)
        lines.append(f"  {count} by {key!r}, such as {example}")
    return "\n".join(lines)
