"""Detokenization: the words that are kept as readable text."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from assent.io.conllu import ID, MISC, Sentence

# Tokens that stand without a space before them, or behind.
_CLOSING = re.compile(r"(?:n['’]t|['’](?:s|m|d|re|ve|ll)|[,.;:!?%…)\]}]+|''|”)", re.IGNORECASE)
_ENCLOSING = frozenset((",", "-", "--", "–", "—"))
_OPENING = frozenset(("(", "[", "{", "``", "“", "$", "£", "€"))
_ENDS = tuple(".!?…。！？\"'”’)")
# Marks that cannot begin a sentence, and several in a row of which the last one counts.
_LEADING = re.compile(r"^(?:[,;:.!?)\]…—–-]+\s*)+")
_REPEATED = re.compile(r"(?:[,;:—–-]\s*)+(?=[,;:.!?])")


def spaces_after(sentence: Sentence) -> list[bool]:
    """Whether a space follows each word ``[n]`` where it stands.

    A file says so in its last column; words of one token have none between them.
    """
    after = [_space(row[MISC]) for row in sentence.rows]
    for line in sentence.lines:
        columns = line.rstrip("\r\n").split("\t")
        first, dash, last = columns[ID].partition("-")
        if dash and len(columns) > MISC and first.isdigit():
            after[int(first) - 1 : int(last)] = [False] * (int(last) - int(first)) + [
                _space(columns[MISC])
            ]
    return after


def _space(misc: str) -> bool:
    return "SpaceAfter=No" not in misc.split("|")


def spaced_words(sentence: Sentence, shown: Iterable[int]) -> list[str]:
    """The words at some places, each with the space that stands before it, if one does."""
    after = spaces_after(sentence)
    found: list[str] = []
    previous = -1
    for place in shown:
        word = sentence.words[place]
        joined = (
            not found
            or (place == previous + 1 and not after[previous])
            or _CLOSING.fullmatch(word) is not None
            or sentence.words[previous] in _OPENING
        )
        found.append(word if joined else f" {word}")
        previous = place
    return found


def _marks_of_parentheticals(sentence: Sentence, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Kept marks ``[n]`` that enclosed a deleted aside with another mark, deleted or kept.

    In a list the marks part what is left.
    """
    words, labels = sentence.words, sentence.deprels
    needless = np.zeros(len(words), bool)
    for place in np.flatnonzero(kept):
        if words[place] not in _ENCLOSING:
            continue
        for step in (-1, 1):
            other, partner, listed = place + step, False, False
            while 0 <= other < len(words) and not kept[other]:
                partner |= words[other] == words[place]
                listed |= labels[other] == "conj"
                other += step
            if other != place + step and 0 <= other < len(words):
                partner |= words[other] == words[place]
            needless[place] |= partner and not listed
    return needless


def kept_text(sentence: Sentence, kept: NDArray[np.bool_]) -> str:
    """What is kept of a sentence, with a capital at its beginning and a mark at its end.

    Example:
        >>> words = Sentence.from_words("Well , they 've gone , today .".split())
        >>> kept_text(words, np.array([0, 1, 1, 1, 1, 1, 0, 1], bool))
        "They've gone."
    """
    shown = kept & ~_marks_of_parentheticals(sentence, kept)
    text = "".join(spaced_words(sentence, np.flatnonzero(shown).tolist()))
    text = _REPEATED.sub("", _LEADING.sub("", text)).strip()
    if not text:
        return ""
    text = text[0].upper() + text[1:]
    return text if text.endswith(_ENDS) else text.rstrip(",;:—–- ") + "."
