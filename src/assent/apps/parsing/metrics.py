"""Scores of parses as the shared task of CoNLL 2018 defines them, in percent.

Labels are compared without their subtypes (``nmod:poss`` is ``nmod``).  Ranges of multi-word tokens
and empty nodes are not scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from assent.apps.sentence_pairs import percent, sentence_pairs
from assent.io.conllu import Sentence

PUNCTUATION = "PUNCT"


@dataclass(frozen=True)
class ParseScores:
    """Scores in percent.

    Attributes:
        sentences: number of sentences.
        words: number of words.
        uas: words with the right head.
        las: words with the right head and label.
        upos: words with the right universal tag.
        xpos: words with the right tag of the treebank.
        whole_trees: sentences with all heads right.
        words_without_punctuation: words whose gold tag is not ``PUNCT``; the next two are of these.
        uas_without_punctuation: words with the right head.
        las_without_punctuation: words with the right head and label.
    """

    sentences: int
    words: int
    uas: float
    las: float
    upos: float
    xpos: float
    whole_trees: float
    words_without_punctuation: int
    uas_without_punctuation: float
    las_without_punctuation: float

    def as_json(self) -> dict[str, Any]:
        """The scores as plain data; the measures under their usual names."""
        names = {"uas": "UAS", "las": "LAS", "upos": "UPOS", "xpos": "XPOS"}
        return {names.get(name, name): value for name, value in asdict(self).items()}

    def __str__(self) -> str:
        return (
            f"UAS {self.uas:.2f}  LAS {self.las:.2f}  UPOS {self.upos:.2f}  XPOS {self.xpos:.2f}  "
            f"({self.words} words, {self.sentences} sentences, {self.whole_trees:.2f} % of the "
            f"trees right)\nwithout punctuation: UAS {self.uas_without_punctuation:.2f}  "
            f"LAS {self.las_without_punctuation:.2f}  ({self.words_without_punctuation} words)"
        )


def parse_scores(gold: Iterable[Sentence], system: Iterable[Sentence]) -> ParseScores:
    """Compare parses of sentences with the same words; the gold ones must be trees.

    Raises:
        ModelError: naming the first place where words differ.
        FormatError: naming the line of a head that is none, or of a gold cycle.

    Example:
        >>> gold = Sentence.from_words(["Birds", "sing"]).with_columns(
        ...     heads=[2, 0], deprels=["nsubj", "root"], upos=["NOUN", "VERB"])
        >>> scores = parse_scores([gold], [gold.with_columns(deprels=["obj", "root"])])
        >>> scores.uas, scores.las
        (100.0, 50.0)
    """
    count: Counter[str] = Counter()
    for one, other in sentence_pairs(gold, system):
        heads = one.tree == other.heads
        labels = [_kind(a) == _kind(b) for a, b in zip(one.deprels, other.deprels, strict=True)]
        count["sentences"] += 1
        count["whole"] += bool(heads.all())
        tags = zip(one.upos, other.upos, one.xpos, other.xpos, strict=True)
        for head, label, (tag, found, own, own_found) in zip(
            heads.tolist(), labels, tags, strict=True
        ):
            count["words"] += 1
            count["uas"] += head
            count["las"] += head and label
            count["upos"] += tag == found
            count["xpos"] += own == own_found
            if tag != PUNCTUATION:
                count["words_inner"] += 1
                count["uas_inner"] += head
                count["las_inner"] += head and label
    words, inner = count["words"], count["words_inner"]
    return ParseScores(
        sentences=count["sentences"],
        words=words,
        uas=percent(count["uas"], words),
        las=percent(count["las"], words),
        upos=percent(count["upos"], words),
        xpos=percent(count["xpos"], words),
        whole_trees=percent(count["whole"], count["sentences"]),
        words_without_punctuation=inner,
        uas_without_punctuation=percent(count["uas_inner"], inner),
        las_without_punctuation=percent(count["las_inner"], inner),
    )


def _kind(label: str) -> str:
    """A label without its subtype."""
    return label.partition(":")[0]
