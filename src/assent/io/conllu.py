"""CoNLL-U: sentences as trees of words, ten columns each, every line kept as it is.

The reader is our own: the package ``conllu`` (2026) changes lines that it writes back, names no
line in its errors, and reads a quarter of the 200,000 tokens per second that a tagger needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from assent.io.line_streams import read_lines, source_name, write_pieces
from assent.io.text import FormatError, PathLike

# Places of the columns in a line.
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
_COLUMNS = {"lemmas": LEMMA, "upos": UPOS, "xpos": XPOS, "feats": FEATS, "heads": HEAD,
            "deprels": DEPREL, "deps": DEPS, "misc": MISC}  # fmt: skip

_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
_EMPTY_NODE = re.compile(r"([0-9]+)\.([1-9][0-9]*)")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a CoNLL-U file, with all lines as they were read.

    Comments, ranges of multi-word tokens (``3-4``) and empty nodes (``5.1``) are kept, and are no
    words: the lists below are over the syntactic words 1 to n.

    Attributes:
        lines: the lines with their ends, also the empty one that closes the sentence.
        rows: ten columns of every word.
        places: index of every word's line in ``lines``.
        source: name of the file, for errors.
        first_line: line number of ``lines[0]`` in it.

    Example:
        >>> sentence = Sentence.from_words(["Birds", "sing"]).with_columns(heads=[2, 0])
        >>> sentence.words, sentence.heads.tolist()
        (['Birds', 'sing'], [2, 0])
    """

    lines: tuple[str, ...]
    rows: tuple[list[str], ...] = field(repr=False)
    places: tuple[int, ...] = field(repr=False)
    source: str = "a sentence"
    first_line: int = 1

    @classmethod
    def from_words(
        cls, words: Sequence[str], comments: Sequence[str] = (), misc: Sequence[str] | None = None
    ) -> Sentence:
        """A sentence whose other columns are empty (``_``); comments are without their ``#``."""
        if not len(words):
            raise ValueError("a sentence has at least one word")
        misc = ["_"] * len(words) if misc is None else misc
        lines = [f"# {comment}\n" for comment in comments]
        for number, (word, other) in enumerate(zip(words, misc, strict=True), start=1):
            lines.append("\t".join([str(number), word, *"_" * 7, other]) + "\n")
        return next(read_conllu_lines([*lines, "\n"], "a sentence"))

    def __len__(self) -> int:
        """Number of syntactic words."""
        return len(self.rows)

    @property
    def words(self) -> list[str]:
        """Forms."""
        return self.column(FORM)

    @property
    def lemmas(self) -> list[str]:
        """Lemmas."""
        return self.column(LEMMA)

    @property
    def upos(self) -> list[str]:
        """Universal part-of-speech tags."""
        return self.column(UPOS)

    @property
    def xpos(self) -> list[str]:
        """The treebank's own part-of-speech tags."""
        return self.column(XPOS)

    @property
    def feats(self) -> list[str]:
        """Morphological features, such as ``Number=Sing|Person=3``."""
        return self.column(FEATS)

    @property
    def deprels(self) -> list[str]:
        """Labels of the arcs from the heads."""
        return self.column(DEPREL)

    @property
    def heads(self) -> NDArray[np.int64]:
        """Heads ``[n]``, counted from 1; 0 is the root.

        Raises:
            FormatError: naming the line whose head is no number of a word.
        """
        column = self.column(HEAD)
        found = np.full(len(self), -1)
        for i, head in enumerate(column):
            if head.isascii() and head.isdigit() and len(head) < 10:
                found[i] = int(head)
        wrong = np.flatnonzero((found < 0) | (found > len(self)))
        if len(wrong):
            first = int(wrong[0])
            raise FormatError.found(
                self.source, self.line_of(first), column[first], f"a head from 0 to {len(self)}"
            )
        return found

    @property
    def tree(self) -> NDArray[np.int64]:
        """The heads ``[n]`` of a sentence that must be a tree.

        Raises:
            FormatError: naming the line of a word that does not hang from the root.
        """
        heads = self.heads
        stray = _stray_word(heads)
        if stray is not None:
            raise FormatError(self.source, _not_a_tree(heads, stray), self.line_of(stray))
        return heads

    def column(self, place: int) -> list[str]:
        """A column of all words by its place, 0 to 9."""
        return [row[place] for row in self.rows]

    def line_of(self, word: int) -> int:
        """Line number of a word (counted from 0) in the file."""
        return self.first_line + self.places[word]

    def with_columns(self, **columns: Sequence[Any] | NDArray[Any]) -> Sentence:
        """The same sentence with other ``lemmas``, ``upos``, ``heads`` …; other lines stay.

        Example:
            >>> Sentence.from_words(["Sing"]).with_columns(upos=["VERB"], heads=[0]).upos
            ['VERB']
        """
        rows = [list(row) for row in self.rows]
        for name, values in columns.items():
            if name not in _COLUMNS:
                raise TypeError(f"with_columns takes {', '.join(_COLUMNS)}, not {name!r}")
            if len(values) != len(rows):
                raise ValueError(f"{name} has {len(values)} values for {len(rows)} words")
            for row, value in zip(rows, values, strict=True):
                row[_COLUMNS[name]] = str(value) or "_"
        lines = list(self.lines)
        for place, row in zip(self.places, rows, strict=True):
            old = lines[place]
            lines[place] = "\t".join(row) + old[len(old.rstrip("\r\n")) :]
        return Sentence(tuple(lines), tuple(rows), self.places, self.source, self.first_line)

    def __str__(self) -> str:
        return "".join(self.lines)


def read_conllu(source: PathLike | IO[Any]) -> Iterator[Sentence]:
    """The sentences of a file, one after the other; ``.gz`` and ``.xz`` are unpacked.

    Args:
        source: a path, ``-`` for standard input, or a stream.

    Raises:
        FormatError: naming file and line, where it is reached.

    Example:
        >>> import io
        >>> text = "1\\tHello\\thello\\tINTJ\\t_\\t_\\t0\\troot\\t_\\t_\\n\\n"
        >>> [sentence.upos for sentence in read_conllu(io.StringIO(text))]
        [['INTJ']]
    """
    return read_conllu_lines(read_lines(source), source_name(source))


def read_conllu_lines(lines: Iterable[str], name: str) -> Iterator[Sentence]:
    """The sentences in lines; ``name`` is what errors call their source."""
    own: list[str] = []
    rows: list[list[str]] = []
    places: list[int] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\r\n")
        own.append(line)
        if text.startswith("#"):
            continue
        if text.strip():
            columns = text.split("\t")
            _check_row(columns, len(rows), name, number)
            if columns[ID].isdigit():
                rows.append(columns)
                places.append(len(own) - 1)
        elif rows:
            yield Sentence(tuple(own), tuple(rows), tuple(places), name, number - len(own) + 1)
            own, rows, places = [], [], []
    if rows:  # the last empty line may be missing
        own[-1] = own[-1] if own[-1].endswith("\n") else own[-1] + "\n"
        own.append("\n")
        yield Sentence(tuple(own), tuple(rows), tuple(places), name, number - len(own) + 2)
    elif any(line.strip() for line in own):
        raise FormatError.found(name, number, None, "the words of the last sentence")


def _check_row(columns: list[str], before: int, name: str, number: int) -> None:
    """Refuse a line that is no word, range or empty node after ``before`` words."""
    if len(columns) != 10:
        raise FormatError(
            name, f"expected 10 columns with tabs between them, found {len(columns)}", number
        )
    found = columns[ID]
    if found == str(before + 1):
        if not columns[FORM]:
            raise FormatError(name, "a word is empty; write _ for a missing one", number)
        return
    span, empty = _RANGE.fullmatch(found), _EMPTY_NODE.fullmatch(found)
    if span and before + 1 == int(span[1]) < int(span[2]):
        return
    if empty and int(empty[1]) == before:
        return
    expected = f"the word {before + 1}, a range from it, or an empty node {before}.1"
    raise FormatError.found(name, number, found, expected)


def write_conllu(target: PathLike | IO[str], sentences: Iterable[Sentence]) -> None:
    """Write sentences as they come, to a path (``.gz`` and ``.xz`` compressed) or a stream.

    Lines that nobody changed are written as they were read.

    Example:
        >>> import io
        >>> stream = io.StringIO()
        >>> write_conllu(stream, [Sentence.from_words(["Yes"])])
        >>> stream.getvalue().split()
        ['1', 'Yes', '_', '_', '_', '_', '_', '_', '_', '_']
    """
    write_pieces(target, map(str, sentences))


def check_tree(heads: Sequence[int] | NDArray[Any]) -> None:
    """Insist that heads ``[n]``, counted from 1 with 0 for the root, form a tree.

    Raises:
        ValueError: naming a word that does not hang from the root.

    Example:
        >>> check_tree([2, 0])
        >>> check_tree([2, 1])
        Traceback (most recent call last):
        ...
        ValueError: no tree: words 1 -> 2 -> 1 form a cycle
    """
    heads = np.asarray(heads)
    if len(heads) and not 0 <= heads.min() <= heads.max() <= len(heads):
        raise ValueError(f"no tree: heads must be from 0 to {len(heads)}")
    stray = _stray_word(heads)
    if stray is not None:
        raise ValueError(_not_a_tree(heads, stray))


def _stray_word(heads: NDArray[np.int64]) -> int | None:
    """A word on a cycle, counted from 0, if there is one."""
    seen_from = np.zeros(len(heads) + 1, np.int64)
    seen_from[0] = -1
    for first in range(1, len(heads) + 1):
        word = first
        while seen_from[word] == 0:
            seen_from[word] = first
            word = int(heads[word - 1])
        if seen_from[word] == first:
            return word - 1
    return None


def _not_a_tree(heads: NDArray[np.int64], word: int) -> str:
    """What is wrong with the word on a cycle."""
    path = [word + 1, int(heads[word])]
    while path[-1] != path[0]:
        path.append(int(heads[path[-1] - 1]))
    return f"no tree: words {' -> '.join(map(str, path))} form a cycle"
