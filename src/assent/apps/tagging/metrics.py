"""How many tags are right, in percent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assent.apps.sentence_pairs import percent, sentence_pairs
from assent.apps.tagging.data import COLUMNS
from assent.io.conllu import Sentence


@dataclass(frozen=True)
class TagScores:
    """Accuracies in percent.

    Attributes:
        words: number of words.
        accuracy: by column, of those in which the gold sentences have anything.
        sentences: share of sentences with all of the first column right.
    """

    words: int
    accuracy: dict[str, float]
    sentences: float

    def __str__(self) -> str:
        columns = "  ".join(f"{name} {value:.2f}" for name, value in self.accuracy.items())
        return f"{columns}  whole sentences {self.sentences:.2f}  ({self.words} words)"


def tag_scores(gold: Iterable[Sentence], system: Iterable[Sentence]) -> TagScores:
    """Compare sentences with the same words.

    Raises:
        ModelError: naming the first place where words differ.

    Example:
        >>> gold = Sentence.from_words(["Birds", "sing"]).with_columns(upos=["NOUN", "VERB"])
        >>> system = gold.with_columns(upos=["NOUN", "NOUN"])
        >>> tag_scores([gold], [system]).accuracy["upos"]
        50.0
    """
    right = dict.fromkeys(COLUMNS, 0)
    filled: set[str] = set()
    words = sentences = whole = 0
    for one, other in sentence_pairs(gold, system):
        words, sentences = words + len(one), sentences + 1
        for name in COLUMNS:
            expected, found = getattr(one, name), getattr(other, name)
            right[name] += sum(map(str.__eq__, expected, found))
            if name not in filled and set(expected) != {"_"}:
                filled.add(name)
        whole += one.upos == other.upos
    accuracy = {name: percent(right[name], words) for name in COLUMNS if name in filled}
    return TagScores(words, accuracy, percent(whole, sentences))
