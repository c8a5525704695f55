"""Links between words: files in Pharaoh's format, and in that of the Hansards shared task.

Pharaoh: a line per sentence, ``i-j`` for each link of a source word and a target word, counted
from 0 or from 1.  Possible links are written ``i?j``, ``ipj`` or ``i-j-P``.

Hansards: a line per link, ``sentence i j [S|P] [confidence]``, counted from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from assent.apps.alignment.data.bitext import SentencePair
from assent.io.line_streams import read_lines, write_pieces
from assent.io.text import FormatError, PathLike
from assent.kernels.problem import Int64

_PHARAOH = re.compile(r"(\d{1,9})(-|\?|p)(\d{1,9})(?:-([SP]))?")
_HANSARDS = re.compile(r"\s*(\d{1,9})\s+(\d{1,9})\s+(\d{1,9})(?:\s+([SP]))?(?:\s+[\d.eE+-]+)?\s*")

Pair = tuple[int, int]


class Links(NamedTuple):
    """The links of a sentence pair, as pairs of positions counted from 0.

    Attributes:
        sure: links that must be found.
        possible: links that may be found or not; none of them is sure.
    """

    sure: frozenset[Pair]
    possible: frozenset[Pair] = frozenset()

    def tables(self, shape: Pair) -> tuple[Any, Any]:
        """Sure and possible links as boolean tables ``[source, target]``.

        Example:
            >>> sure, possible = Links(frozenset({(0, 1)})).tables((1, 2))
            >>> sure.tolist()
            [[False, True]]
        """
        made = np.zeros((2, *shape), bool)
        for table, links in zip(made, self, strict=True):
            for i, j in links:
                table[i, j] = True
        return made[0], made[1]

    @classmethod
    def of_table(cls, table: Any) -> Links:
        """The links where a table ``[source, target]`` is not zero, all sure."""
        found: Int64 = np.argwhere(np.asarray(table))
        return cls(frozenset((int(i), int(j)) for i, j in found))


def compare_files(
    gold: PathLike, system: PathLike, *, base: int = 0, reverse: bool = False
) -> tuple[list[Links], list[Links]]:
    """The links of two files for the same sentences, whose words are not known.

    Args:
        gold: the file that says which sentences there are.
        system: the other one.
        base: the number of a sentence's first word in Pharaoh's format, 0 or 1.
        reverse: ``system`` has target positions first.
    """
    if _is_hansards(gold) or _is_hansards(system):
        numbers = sorted(_numbers(gold) | _numbers(system))
    else:
        numbers = list(range(1, 1 + sum(1 for _ in read_lines(gold))))
    if not numbers:
        raise FormatError(gold, "the file is empty: there are no links to compare with")
    return _read(gold, numbers, base, False)[1], _read(system, numbers, base, reverse)[1]


def _numbers(path: PathLike) -> set[int]:
    """The numbers of a Hansards file's sentences, or of the lines of another."""
    if not _is_hansards(path):
        return set(range(1, 1 + sum(1 for _ in read_lines(path))))
    return {int(line.split()[0]) for line in read_lines(path) if _HANSARDS.fullmatch(line)}


def read_links(
    path: PathLike, pairs: Sequence[SentencePair], *, base: int = 0, reverse: bool = False
) -> list[Links]:
    """The links of each of ``pairs``, in either format.

    Args:
        path: the file; may be compressed.
        pairs: the sentences that it links.
        base: the number of a sentence's first word in Pharaoh's format, 0 or 1.
        reverse: the file has target positions first.

    Raises:
        FormatError: for a link that is none or whose words do not exist, and where the file has
            other sentences than there are.
    """
    lines, found = _read(path, [pair.number for pair in pairs], base, reverse)
    for line, links, pair in zip(lines, found, pairs, strict=True):
        for i, j in sorted(links.sure | links.possible):
            if i >= len(pair.source) or j >= len(pair.target):
                raise FormatError(
                    path,
                    f"a link of words {i} and {j} (counted from 0), but sentence {pair.number} "
                    f"has {len(pair.source)} source and {len(pair.target)} target words; are "
                    "positions counted from 0 or 1, and is the source first?",
                    line,
                )
    return found


def _read(
    path: PathLike, numbers: Sequence[int], base: int, reverse: bool
) -> tuple[list[int], list[Links]]:
    """The line of each sentence, and its links."""
    read = _hansards(path, numbers) if _is_hansards(path) else _pharaoh(path, len(numbers), base)
    lines, found = [], []
    for line, marked in read:
        sides = {(j, i) if reverse else (i, j): is_sure for (i, j), is_sure in marked.items()}
        sure = frozenset(link for link, is_sure in sides.items() if is_sure)
        lines.append(line)
        found.append(Links(sure, frozenset(sides) - sure))
    return lines, found


Marked = tuple[int, dict[Pair, bool]]  # the line of a sentence, and whether its links are sure


def _is_hansards(path: PathLike) -> bool:
    """Whether the first line that is not blank is one of the Hansards format."""
    first = next((line for line in read_lines(path) if line.strip()), "")
    return _HANSARDS.fullmatch(first) is not None


def _pharaoh(path: PathLike, count: int, base: int) -> Iterator[Marked]:
    """The links of each line."""
    number = 0
    for number, line in enumerate(read_lines(path), start=1):
        if number > count:
            if not line.strip():
                continue
            raise FormatError(path, f"there are {count} sentences, and more lines", number)
        marked: dict[Pair, bool] = {}
        for word in line.split():
            link = _PHARAOH.fullmatch(word)
            if link is None or (link[2] != "-" and link[4]):
                raise FormatError.found(path, number, word, "a link i-j, i?j, ipj or i-j-P")
            at = int(link[1]) - base, int(link[3]) - base
            if min(at) < 0:
                raise FormatError.found(path, number, word, f"positions counted from {base}")
            marked[at] = marked.get(at, False) or (link[2] == "-" and link[4] != "P")
        yield number, marked
    if number < count:
        raise FormatError(path, f"the links end, there are {count} sentences", number + 1)


def _hansards(path: PathLike, numbers: Sequence[int]) -> Iterator[Marked]:
    """The links of each sentence by its number."""
    marked: dict[int, Marked] = {number: (0, {}) for number in numbers}
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        link = _HANSARDS.fullmatch(line)
        if link is None:
            raise FormatError.found(
                path, number, line.strip(), "a link: sentence i j [S|P] [confidence]"
            )
        if int(link[1]) not in marked:
            raise FormatError(path, f"there is no sentence {int(link[1])}", number)
        at = int(link[2]) - 1, int(link[3]) - 1
        # A line of zeros marks a word without links.
        if min(at) >= 0:
            before = marked[int(link[1])][1]
            marked[int(link[1])] = number, before | {at: before.get(at, False) or link[4] != "P"}
    return iter(marked.values())


def pharaoh_line(links: Links) -> str:
    """Links as a line of Pharaoh's format, from 0, possible ones as ``i?j``.

    Example:
        >>> pharaoh_line(Links(frozenset({(1, 0)}), frozenset({(0, 0)})))
        '0?0 1-0'
    """
    marks = [(link, "-") for link in links.sure] + [(link, "?") for link in links.possible]
    return " ".join(f"{i}{mark}{j}" for (i, j), mark in sorted(marks))


def write_links(path: PathLike, sentences: Iterable[Links]) -> None:
    """Write links in Pharaoh's format, a line per sentence; compressed as the name says."""
    write_pieces(path, (pharaoh_line(links) + "\n" for links in sentences))
