"""Clarke and Lapata's broadcast news: sentences, each with the compressions of several people."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.io.line_streams import read_lines, source_name
from assent.io.text import FormatError, PathLike


@dataclass(frozen=True)
class CompressedSentence:
    """A sentence and what people kept of it."""

    document: str  # name of its document
    number: int  # its place in the document
    words: list[str]  # its tokens
    kept: NDArray[np.bool_]  # [people, words] which of them each person kept


def read_compressions(path: PathLike) -> list[list[CompressedSentence]]:
    """Documents with compressed sentences, both in order, of a file of JSON lines.

    A line has ``id`` (the document, a dot and the sentence's number), ``text`` and ``summaries``;
    tokens are parted by spaces, and a summary is a subsequence of the text.

    Raises:
        FormatError: naming the line that lacks something, or a summary with other words.
    """
    name = source_name(path)
    documents: dict[str, list[CompressedSentence]] = {}
    for line_number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            document, number = row["id"].rsplit(".", 1)
            words = row["text"].split()
            kept = [kept_words(words, summary.split()) for summary in row["summaries"]]
            if not words or not kept:
                raise ValueError("it has no words" if not words else "it has no summaries")
            found = CompressedSentence(document, int(number), words, np.array(kept, bool))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(name, f"no compressed sentence ({error})", line_number) from None
        documents.setdefault(document, []).append(found)
    return [sorted(own, key=lambda s: s.number) for _, own in sorted(documents.items())]


def kept_words(words: list[str], summary: list[str]) -> NDArray[np.bool_]:
    """Which words ``[n]`` a summary keeps, each as early as possible.

    Raises:
        ValueError: if it is no subsequence.

    Example:
        >>> kept_words(["a", "b", "a"], ["b", "a"]).tolist()
        [False, True, True]
    """
    kept = np.zeros(len(words), bool)
    place = 0
    for word in summary:
        while place < len(words) and words[place] != word:
            place += 1
        if place == len(words):
            raise ValueError(f"the summary's word {word!r} does not follow in the sentence")
        kept[place] = True
        place += 1
    return kept
