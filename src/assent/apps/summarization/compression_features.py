"""Features of words, and of the arcs to their heads, that tell what people leave out.

Features are names such as ``"label=amod"``: each is there or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.io.conllu import Sentence

# Ends of the classes of lengths, depths and distances: what is larger is alike.
_CLASSES = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24])
_BEYOND = "<>"  # beside a sentence


class _Tree:
    """A parsed sentence with what features ask of its words: heads are places, -1 for none."""

    def __init__(self, sentence: Sentence) -> None:
        self.words = [word.lower() for word in sentence.words]
        self.tags, self.labels = sentence.xpos, sentence.deprels
        self.heads: list[int] = (sentence.tree - 1).tolist()
        # The heads above each word, from its own to the root; the words of each word's phrase,
        # itself and all that are below, in order; those that hang from it.
        self.above: list[list[int]] = []
        self.phrases: list[list[int]] = [[] for _ in self.words]
        self.children: list[list[int]] = [[] for _ in self.words]
        for word, head in enumerate(self.heads):
            if head >= 0:
                self.children[head].append(word)
            above = []
            while head >= 0:
                above.append(head)
                head = self.heads[head]
            self.above.append(above)
            for place in (word, *above):
                self.phrases[place].append(word)

    def edges(self, word: int) -> str:
        """Whether the phrase of a word begins or ends the sentence, but for a mark."""
        phrase = self.phrases[word]
        return f"{phrase[0] == 0} {phrase[-1] >= len(self.words) - 2}"


def word_features(sentence: Sentence) -> list[list[str]]:
    """Names of the features of every word: it and its neighbours, its head, its place.

    Example:
        >>> tree = Sentence.from_words(["Very", "quiet"]).with_columns(
        ...     xpos=["RB", "JJ"], heads=[2, 0], deprels=["advmod", "root"])
        >>> word_features(tree)[0][:3]
        ['word=very', 'tag=RB', 'label=advmod']
    """
    tree = _Tree(sentence)
    return [_neighbours(tree, i) + _position(tree, i) for i in range(len(sentence))]


def _neighbours(tree: _Tree, i: int) -> list[str]:
    """What stands around a word, and above it."""
    words, tags, labels = tree.words, tree.tags, tree.labels
    label, tag, word = labels[i], tags[i], words[i]
    head = tree.heads[i]
    head_word, head_tag, head_label = (
        (words[head], tags[head], labels[head]) if head >= 0 else (_BEYOND,) * 3
    )
    around = {d: _beside(words, i + d) for d in (-2, -1, 1, 2)}
    tags_around = {d: _beside(tags, i + d) for d in (-2, -1, 1, 2)}
    names = [f"word={word}", f"tag={tag}", f"label={label}", f"head={head_word}"]
    names += [f"word {d}={around[d]}" for d in around]
    names += [f"tag {d}={tags_around[d]}" for d in tags_around]
    names += [
        f"tags before={tags_around[-1]} {tag}", f"tags after={tag} {tags_around[1]}",
        f"three tags={tags_around[-1]} {tag} {tags_around[1]}",
        f"words before={around[-1]} {word}", f"words after={word} {around[1]}",
        f"head tag={head_tag}", f"head label={head_label}", f"label, tag={label} {tag}",
        f"label, head tag={label} {head_tag}", f"label, head label={label} {head_label}",
        f"label, head={label} {head_word}", f"label, side={label} {head > i}",
        f"children={' '.join(sorted({labels[child] for child in tree.children[i]}))}",
    ]  # fmt: skip
    names += [f"above={above}" for above in sorted({labels[above] for above in tree.above[i]})]
    return names


def _position(tree: _Tree, i: int) -> list[str]:
    """Where a word stands in the sentence and in the tree."""
    n, label = len(tree.words), tree.labels[i]
    depth, size = _class(len(tree.above[i]) + 1), _class(len(tree.phrases[i]))
    return [
        f"depth={depth}", f"size={size}", f"label, depth={label} {depth}",
        f"label, size={label} {size}", f"label, edges={label} {tree.edges(i)}",
        f"from begin={_class(i + 1)}", f"from end={_class(n - i)}", f"length={_class(n)}",
        f"fifth={5 * i // n}",
    ]  # fmt: skip


def arc_features(sentence: Sentence) -> list[list[str]]:
    """Names of the features of every word's arc: labels, tags, the phrase that would go.

    Example:
        >>> tree = Sentence.from_words(["Very", "quiet"]).with_columns(
        ...     xpos=["RB", "JJ"], heads=[2, 0], deprels=["advmod", "root"])
        >>> arc_features(tree)[0][:3]
        ['arc', 'label=advmod', 'label, head tag=advmod JJ']
    """
    tree = _Tree(sentence)
    return [_arc(tree, i) for i in range(len(sentence))]


def _arc(tree: _Tree, i: int) -> list[str]:
    label, tag, head = tree.labels[i], tree.tags[i], tree.heads[i]
    if head < 0:
        return ["arc"]
    markers = [
        tree.words[child] for child in tree.children[i] if tree.labels[child] in ("case", "mark")
    ]
    return [
        "arc", f"label={label}", f"label, head tag={label} {tree.tags[head]}",
        f"label, head label={label} {tree.labels[head]}", f"label, tag={label} {tag}",
        f"label, side={label} {head > i}", f"label, size={label} {_class(len(tree.phrases[i]))}",
        f"label, marker={label} {' '.join(markers)}", f"label, edges={label} {tree.edges(i)}",
        f"distance={_class(abs(head - i))}", f"word={tree.words[i]}",
    ]  # fmt: skip


def _beside(values: Sequence[str], i: int) -> str:
    return values[i] if 0 <= i < len(values) else _BEYOND


def _class(number: int) -> int:
    return int(np.searchsorted(_CLASSES, number))


@dataclass(frozen=True)
class FeatureNames:
    """Columns of features by their names."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, rows: Iterable[Iterable[str]], least: int) -> FeatureNames:
        """The names that occur so often at least.

        Example:
            >>> FeatureNames.of([["b", "a"], ["a"], ["c", "b"]], least=2).names
            ('a', 'b')
        """
        counts = Counter(name for row in rows for name in row)
        return cls(tuple(sorted(name for name, count in counts.items() if count >= least)))

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def matrix(self, rows: Sequence[Sequence[str]]) -> Any:
        """Rows of features as a sparse matrix ``[rows, names]``; unknown names are left out.

        Example:
            >>> FeatureNames(("a", "b")).matrix([["b", "new"], ["a", "b"]]).toarray().tolist()
            [[0.0, 1.0], [1.0, 1.0]]
        """
        from scipy.sparse import csr_array

        known = self._columns
        found = [[known[name] for name in row if name in known] for row in rows]
        ends = np.cumsum([0, *map(len, found)])
        columns: NDArray[np.int64] = np.array([c for row in found for c in row], np.int64)
        return csr_array((np.ones(len(columns)), columns, ends), shape=(len(rows), len(known)))
