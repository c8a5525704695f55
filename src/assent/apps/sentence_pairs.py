"""Gold sentences beside a system's, word by word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assent.errors import ModelError
from assent.io.conllu import Sentence


def sentence_pairs(
    gold: Iterable[Sentence], system: Iterable[Sentence]
) -> Iterator[tuple[Sentence, Sentence]]:
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
            raise ModelError(_difference(one, other))
        yield one, other
    if (more := next(others, None)) is not None:
        raise ModelError(f"{more.source}, line {more.line_of(0)}: a sentence without a gold one")


def _difference(one: Sentence, other: Sentence) -> str:
    """Where words differ first; one sentence may be the beginning of the other."""
    pairs = zip(one.words, other.words, strict=False)
    shorter = min(len(one), len(other)) - 1
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
    return (
        f"sentences differ at {one.source}, line {one.line_of(at)} and {other.source}, line "
        f"{other.line_of(at)}: {len(one)} words with {one.words[at]!r} and {len(other)} words with "
        f"{other.words[at]!r}; scores are for the same sentences with the same words"
    )


def percent(part: int, whole: int) -> float:
    """A share in percent; of nothing, 0."""
    return 100.0 * part / whole if whole else 0.0
