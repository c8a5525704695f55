"""Bitexts: two text files, a sentence per line, the words of a line separated by blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from assent.io.line_streams import read_lines
from assent.io.text import FormatError, PathLike

# The shared task's files wrap a sentence: <s snum=0001> words </s>.
_NUMBERED = re.compile(r"\s*<s\s+snum\s*=\s*\"?(\d+)\"?\s*>(.*?)(?:</s>\s*)?")


class SentencePair(NamedTuple):
    """A sentence and its translation, as words.

    Attributes:
        source: its words.
        target: the words of the translation.
        number: as the file numbers sentences, or the number of the line, from 1.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    number: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of words."""
        return len(self.source), len(self.target)


@dataclass(frozen=True)
class Bitext:
    """Two files, read anew whenever they are iterated over; nothing of them is kept in memory.

    Args:
        source: the text, a sentence per line, words separated by blanks; may be compressed.
        target: its translation, line by line.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     paths = [Path(folder, "text.fr"), Path(folder, "text.en")]
        ...     texts = "la maison\\n", "the house\\n"
        ...     _ = [path.write_text(text) for path, text in zip(paths, texts)]
        ...     list(Bitext(*paths))
        [SentencePair(source=('la', 'maison'), target=('the', 'house'), number=1)]
    """

    source: PathLike
    target: PathLike

    def __iter__(self) -> Iterator[SentencePair]:
        return read_bitext(self.source, self.target)


def read_bitext(source: PathLike, target: PathLike) -> Iterator[SentencePair]:
    """The sentence pairs of two files.

    Raises:
        FormatError: where one file is shorter, sentences are numbered otherwise, or both are empty.
    """
    count = 0
    for first, second in zip_longest(read_lines(source), read_lines(target)):
        if first is None or second is None:
            shorter, longer = (source, target) if first is None else (target, source)
            raise FormatError(
                shorter,
                f"the text ends after {count} lines, and {longer} goes on; a bitext has as many "
                "lines in both files",
                count + 1,
            )
        count += 1
        (number, words), (other, translation) = _words(count, first), _words(count, second)
        if number != other:
            raise FormatError(
                target, f"sentence {other} stands beside sentence {number} of {source}", count
            )
        yield SentencePair(words, translation, number)
    if not count:
        raise FormatError(source, "the file is empty: there are no sentences")


def _words(line: int, text: str) -> tuple[int, tuple[str, ...]]:
    """The number and the words of a line."""
    marked = _NUMBERED.fullmatch(text)
    if marked is None:
        return line, tuple(text.split())
    return int(marked[1]), tuple(marked[2].split())
