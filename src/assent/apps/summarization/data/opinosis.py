"""Opinosis: sentences of reviews by topic, each with several short summaries by people."""

from __future__ import annotations

import zipfile
from pathlib import PurePosixPath
from typing import NamedTuple

from assent.io.text import FormatError, PathLike

_TOPIC = ".txt.data"


class Topic(NamedTuple):
    """What was said on a topic: lines of text, and people's summaries."""

    name: str
    lines: list[str]
    references: list[str]


def read_opinosis(path: PathLike) -> list[Topic]:
    """The topics of the data set's ``.zip``, by name.

    Raises:
        FormatError: if there are none, or one has no summary.
    """
    lines: dict[str, list[str]] = {}
    references: dict[str, list[str]] = {}
    with zipfile.ZipFile(path) as archive:
        for entry in sorted(archive.namelist()):
            name = PurePosixPath(entry)
            if name.parts[0] == "topics" and entry.endswith(_TOPIC):
                topic = name.name.removesuffix(_TOPIC)
                lines[topic] = [row for row in _text(archive, entry).splitlines() if row.strip()]
            elif name.parts[0] == "summaries-gold" and name.suffix == ".gold":
                references.setdefault(name.parts[1], []).append(_text(archive, entry).strip())
    bare = sorted(lines.keys() - references.keys())
    if not lines or bare:
        what = f"topic {bare[0]} has no summary" if bare else "there are no topics in it"
        raise FormatError(str(path), f"not the Opinosis data set: {what}")
    return [Topic(name, own, references[name]) for name, own in sorted(lines.items())]


def _text(archive: zipfile.ZipFile, entry: str) -> str:
    # Reviews were pasted from Windows; five bytes are undefined there.
    return archive.read(entry).decode("cp1252", errors="replace")
