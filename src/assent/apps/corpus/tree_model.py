"""The trees of a corpus as one model: words in like contexts should have like heads.

After Rush et al. (2012): what agrees is the class of a word's head, its tag.  Sentences are trees
by their arcs alone, a first-order parser's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assent.apps.corpus.data import ConsensusSets
from assent.apps.corpus.shares import Decoded, Share
from assent.errors import ModelError
from assent.io.conllu import Sentence
from assent.io.text import starts

if TYPE_CHECKING:
    from assent.apps.parsing import Parser
    from assent.kernels.consensus.linked_trees import LinkedTrees
    from assent.kernels.parsing.sentence_parts import TreeShape

ROOT = "<root>"


@dataclass(frozen=True)
class TreeCorpusModel:
    """Candidate arcs of all sentences, linked by consensus sets; made by `tree_corpus_model`.

    Attributes:
        classes: of heads: the root, and all tags.
        trees: arcs, their scores and links.
        sets: words whose heads should be of one class.
        shape: which trees there are: with one root or several, arcs crossing or not.
    """

    classes: tuple[str, ...]
    trees: LinkedTrees = field(repr=False)
    sets: ConsensusSets = field(repr=False)
    shape: TreeShape

    @property
    def ends(self) -> NDArray[np.int64]:
        """``[n + 1]`` where the words of each sentence begin and end."""
        return self.trees.ends

    @property
    def width(self) -> int:
        """Number of classes."""
        return len(self.classes)

    def linked(self) -> LinkedTrees:
        """What kernels take."""
        return self.trees

    def share(self, share: Share) -> TreeCorpusModel:
        """Some of the sentences; see `LinkedCorpus`."""
        first, last, words, links = share
        whole, sets = self.trees, self.sets.part(words, links)
        begin, end = whole.arc_ends[first], whole.arc_ends[last]
        own = whole._replace(
            ends=whole.ends[first : last + 1] - words.start,
            arc_ends=whole.arc_ends[first : last + 1] - begin,
            head=whole.head[begin:end], modifier=whole.modifier[begin:end],
            # Of each sentence's words, the root and the end.
            first=whole.first[words.start + 2 * first : words.stop + 2 * last],
            scores=whole.scores[begin:end], group=whole.group[begin:end],
            start=sets.start, sets=sets.sets, penalty=sets.penalty,
        )  # fmt: skip
        return TreeCorpusModel(self.classes, own, sets, self.shape)

    def decode_charged(
        self, nu: NDArray[np.float64], asked: NDArray[np.bool_], found: Decoded
    ) -> int:
        """Best trees of sentences that pay multipliers ``nu[L, K]``; see `LinkedCorpus`."""
        from assent.kernels.consensus.linked_trees import decode_charged

        return int(decode_charged(self.trees, self.shape, nu, asked, *found))

    def max_marginals(
        self, nu: NDArray[np.float64], asked: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        """Best charged scores with each class of each head fixed; see `LinkedCorpus`."""
        from assent.kernels.consensus.linked_trees import charged_max_marginals

        charged_max_marginals(self.trees, self.shape, nu, asked, out)


def context_keys(
    sentences: Sequence[Sentence], radius: int = 1
) -> list[tuple[tuple[str, ...], ...]]:
    """A key for every word: its tag and those of as many neighbours on either side.

    Example:
        >>> birds = Sentence.from_words(["Birds", "sing"]).with_columns(upos=["NOUN", "VERB"])
        >>> context_keys([birds])
        [(('', 'NOUN', 'VERB'),), (('NOUN', 'VERB', ''),)]
    """
    found: list[tuple[tuple[str, ...], ...]] = []
    beyond = [""] * radius
    for sentence in sentences:
        tags = [*beyond, *sentence.upos, *beyond]
        found += [(tuple(tags[i : i + 2 * radius + 1]),) for i in range(len(sentence))]
    return found


def tree_corpus_model(
    parser: Parser, sentences: Sequence[Sentence], sets: ConsensusSets
) -> TreeCorpusModel:
    """Tagged sentences, their arcs scored by a first-order parser.

    Raises:
        ModelError: if the parser scores larger parts.
    """
    from assent.kernels.consensus.linked_trees import LinkedTrees

    classes = (ROOT, *sorted({tag for sentence in sentences for tag in sentence.upos}))
    number = {name: i for i, name in enumerate(classes)}
    filled = [sentence for sentence in sentences if len(sentence)]
    if len(filled) < len(sentences):
        raise ModelError("a sentence without words has no tree: leave it out")
    ends = starts(list(map(len, filled)))
    if len(sets.start) != ends[-1] + 1:
        raise ModelError(f"there are {ends[-1]} words and keys for {len(sets.start) - 1}")
    scored = [parser.scored_arcs(sentence) for sentence in filled]
    group = [
        np.array([0, *(number[tag] for tag in sentence.upos)], np.int32)[arcs.head]
        for sentence, (arcs, _) in zip(filled, scored, strict=True)
    ]
    trees = LinkedTrees(
        ends, starts([len(scores) for _, scores in scored]),
        _joined([arcs.head for arcs, _ in scored]), _joined([arcs.modifier for arcs, _ in scored]),
        _joined([arcs.first for arcs, _ in scored]), _joined([own for _, own in scored], float),
        _joined(group), sets.start, sets.sets, sets.penalty,
    )  # fmt: skip
    return TreeCorpusModel(classes, trees, sets, parser.settings.shape)


def _joined(arrays: list[NDArray], dtype: type = np.int32) -> NDArray:
    return np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype)
