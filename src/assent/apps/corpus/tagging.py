"""Tag a text as a whole, and say what that changed."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assent.apps.corpus.changes import Change, explain_changes
from assent.apps.corpus.data import consensus_sets, word_keys
from assent.apps.corpus.decode import CorpusReport, CorpusResult, decode_corpus
from assent.apps.corpus.executor import Executor
from assent.apps.corpus.model import CorpusModel
from assent.apps.corpus.scored_text import ScoredText, score_text
from assent.apps.tagging import Tagger
from assent.apps.tagging.data import LabelSet
from assent.errors import ModelError
from assent.io.conllu import Sentence

# In units of a perceptron's scores; found on the development part of UD_English-EWT.
PENALTY = 5.0


@dataclass(frozen=True)
class CorpusTagging:
    """A text that was tagged as a whole; going through it gives its sentences, one by one.

    Attributes:
        text: the sentences as they were given, which are gone through again.
        ends: ``[n + 1]`` where the words of each begin and end.
        forms: these words.
        labels: what the numbers of labels mean.
        changes: words that have other labels than with every sentence for itself.
        result: what was solved, and how well.
    """

    text: Iterable[Sentence] = field(repr=False)
    ends: NDArray[np.int64] = field(repr=False)
    forms: list[str] = field(repr=False)
    labels: LabelSet = field(repr=False)
    changes: list[Change] = field(repr=False)
    result: CorpusResult

    def __iter__(self) -> Iterator[Sentence]:
        """The sentences with the tagger's columns filled."""
        number = 0
        for number, sentence in enumerate(self.text, start=1):
            own = slice(*self.ends[number - 1 : number + 1])
            if number >= len(self.ends) or self.forms[own] != sentence.words:
                break
            yield sentence.with_columns(**self.labels.values(self.result.states[own]))
        else:
            if number == len(self.ends) - 1:
                return
        raise ModelError(f"the text has changed since it was tagged, at sentence {number}")

    @property
    def sentences(self) -> list[Sentence]:
        """All of them."""
        return list(self)


def tag_corpus(
    tagger: Tagger,
    sentences: Iterable[Sentence],
    *,
    penalty: float | Callable[[Hashable], float] = PENALTY,
    keys: Callable[[Sequence[str]], Iterable[Iterable[Hashable]]] | None = None,
    executor: Executor | None = None,
    callback: Callable[[CorpusReport], object] | None = None,
) -> CorpusTagging:
    """Tag all sentences as one problem, in which occurrences of a rare word tend to agree.

    Args:
        tagger: any.
        sentences: the whole text.  It is gone through twice and not kept, so that it may be read
            from a file each time; an iterator can be gone through once only, and is kept.
        penalty: what a word pays for differing from its set, in units of the tagger's scores.
            Those of a perceptron are some times larger than a conditional random field's, for
            which 1 or 2 is right.
        keys: from all words of the text to the keys of each; without, each word is a key that the
            tagger has met fewer than five times in training.
        executor: who decodes shares of sentences.
        callback: called after every iteration.

    Example:
        >>> from assent.apps.tagging import train_tagger
        >>> birds = Sentence.from_words(["Birds", "sing"]).with_columns(upos=["NOUN", "VERB"])
        >>> tagger = train_tagger([birds], columns=("upos",))
        >>> tag_corpus(tagger, [birds, birds]).sentences[1].upos
        ['NOUN', 'VERB']
    """
    again = list(sentences) if isinstance(sentences, Iterator) else sentences
    text, gold = _read(tagger, again, executor)
    model = _model(tagger, text, penalty, keys)
    result = decode_corpus(model, executor=executor, callback=callback, gold=gold)
    names = ["|".join(label) for label in tagger.labels.labels]
    before, after = result.isolated, result.states
    changes = explain_changes(
        model.sets, model.ends, (after, result.consensus), np.flatnonzero(before != after),
        lambda at: (text.forms[at], names[before[at]], names[after[at]]),
    )  # fmt: skip
    return CorpusTagging(again, model.ends, text.forms, tagger.labels, changes, result)


def text_model(
    tagger: Tagger,
    sentences: Iterable[Sentence],
    penalty: float | Callable[[Hashable], float] = PENALTY,
    keys: Callable[[Sequence[str]], Iterable[Iterable[Hashable]]] | None = None,
    executor: Executor | None = None,
) -> CorpusModel:
    """What `tag_corpus` solves; arguments are the same."""
    return _model(tagger, _read(tagger, sentences, executor)[0], penalty, keys)


def _read(
    tagger: Tagger, sentences: Iterable[Sentence], executor: Executor | None
) -> tuple[ScoredText, NDArray[np.int32] | None]:
    """Scores and words of a text, and its labels if it has some that the tagger knows."""
    gold = array("i")

    def words() -> Iterator[list[str]]:
        for sentence in sentences:
            gold.frombytes(tagger.labels.numbers([sentence]).tobytes())
            yield sentence.words

    text = score_text(tagger, words(), executor)
    known = np.array(gold, np.int32)
    return text, known if (known >= 0).any() else None


def _model(
    tagger: Tagger,
    text: ScoredText,
    penalty: float | Callable[[Hashable], float],
    keys: Callable[[Sequence[str]], Iterable[Iterable[Hashable]]] | None,
) -> CorpusModel:
    if keys is not None:
        found = keys(text.forms)
    elif tagger.frequent is not None:
        found = word_keys(text.forms, tagger.frequent)
    else:
        raise ModelError(
            "this tagger does not say which words it has met often in training: train it again, or "
            "give keys"
        )
    sets = consensus_sets(found, penalty)
    return CorpusModel(text.ends, text.scores, tagger.transitions, sets)
