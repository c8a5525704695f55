"""How many tags are right, in percent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assent.errors import ModelError
from assent.io.conllu import Sentence

_COLUMNS = ("upos", "xpos", "feats")


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
    right = dict.fromkeys(_COLUMNS, 0)
    filled: set[str] = set()
    words = sentences = whole = 0
    for one, other in aligned(gold, system):
        words, sentences = words + len(one), sentences + 1
        for name in _COLUMNS:
            expected, found = getattr(one, name), getattr(other, name)
            right[name] += sum(map(str.__eq__, expected, found))
            if name not in filled and set(expected) != {"_"}:
                filled.add(name)
        whole += one.upos == other.upos
    accuracy = {name: _percent(right[name], words) for name in _COLUMNS if name in filled}
    return TagScores(words, accuracy, _percent(whole, sentences))


def aligned(
    gold: Iterable[Sentence], system: Iterable[Sentence]
) -> Iterable[tuple[Sentence, Sentence]]:
    """Pairs of sentences, which must have the same words.

    Raises:
        ModelError: naming file and line of the first difference.
    """
    others = iter(system)
    for one in gold:
        other = next(others, None)
        if other is None:
            raise ModelError(f"there is no answer to {one.source}, line {one.line_of(0)}")
        if one.words != other.words:
            at = next(
                (i for i, (a, b) in enumerate(zip(one.words, other.words, strict=False)) if a != b),
                min(len(one), len(other)) - 1,
            )
            raise ModelError(
                f"words differ at {one.source}, line {one.line_of(at)} and {other.source}, line "
                f"{other.line_of(at)}: {one.words[at]!r} and {other.words[at]!r}; scores are for "
                "the same sentences with the same words"
            )
        yield one, other
    if (more := next(others, None)) is not None:
        raise ModelError(f"{more.source}, line {more.line_of(0)}: a sentence without a gold one")


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0
