"""Tag a text as a whole, and say what that changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assent.apps.corpus.data import consensus_sets, word_keys
from assent.apps.corpus.decode import CorpusReport, CorpusResult, decode_corpus
from assent.apps.corpus.executor import Executor
from assent.apps.corpus.model import CorpusModel, corpus_model
from assent.apps.tagging import Tagger
from assent.errors import ModelError
from assent.io.conllu import Sentence

# In units of a perceptron's scores; found on the development part of UD_English-EWT.
PENALTY = 5.0


@dataclass(frozen=True)
class Change:
    """A word that the text as a whole has tagged otherwise.

    Attributes:
        sentence, word: where it is, both from 1.
        form: the word.
        before, after: its labels.
        key: the set that made it: its own, or that of the nearest word that changed.
        agreeing, size: how many words of that set have its label, and how many it has.
    """

    sentence: int
    word: int
    form: str
    before: str
    after: str
    key: str
    agreeing: int
    size: int

    def __str__(self) -> str:
        where = f"sentence {self.sentence}, word {self.word}"
        why = f"{self.agreeing} of {self.size} {self.key!r} agree"
        return f"{where}: {self.form} {self.before} -> {self.after} ({why})"


@dataclass(frozen=True)
class CorpusTagging:
    """A text that was tagged as a whole.

    Attributes:
        sentences: with the tagger's columns filled.
        changes: words that have other labels than with every sentence for itself.
        result: what was solved, and how well.
    """

    sentences: list[Sentence] = field(repr=False)
    changes: list[Change] = field(repr=False)
    result: CorpusResult


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
        sentences: the whole text.
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
    own = list(sentences)
    model = text_model(tagger, own, penalty, keys, executor)
    result = decode_corpus(model, executor=executor, callback=callback)
    tagged = [
        sentence.with_columns(**tagger.labels.values(result.states[first:last]))
        for sentence, first, last in zip(own, model.ends[:-1], model.ends[1:], strict=True)
    ]
    names = ["|".join(label) for label in tagger.labels.labels]
    forms = [form for sentence in own for form in sentence.words]
    return CorpusTagging(tagged, _changes(model, result, forms, names), result)


def text_model(
    tagger: Tagger,
    sentences: Sequence[Sentence],
    penalty: float | Callable[[Hashable], float] = PENALTY,
    keys: Callable[[Sequence[str]], Iterable[Iterable[Hashable]]] | None = None,
    executor: Executor | None = None,
) -> CorpusModel:
    """What `tag_corpus` solves; arguments are the same."""
    words = [sentence.words for sentence in sentences]
    forms = [form for of_sentence in words for form in of_sentence]
    if keys is not None:
        found = keys(forms)
    elif tagger.frequent is not None:
        found = word_keys(forms, tagger.frequent)
    else:
        raise ModelError(
            "this tagger does not say which words it has met often in training: train it again, or "
            "give keys"
        )
    return corpus_model(tagger, words, consensus_sets(found, penalty), executor)


def _changes(
    model: CorpusModel, result: CorpusResult, forms: list[str], names: list[str]
) -> list[Change]:
    sets, states = model.sets, result.states
    agrees = states[sets.positions] == result.consensus[sets.sets]
    agreeing = np.bincount(sets.sets[agrees], minlength=len(sets.names))
    size = np.bincount(sets.sets, minlength=len(sets.names))
    changed = np.flatnonzero(states != result.isolated)
    sentence = np.searchsorted(model.ends, changed, side="right") - 1
    found = []
    for at, s in zip(changed.tolist(), sentence.tolist(), strict=True):
        cause = _cause(model, result, at, changed[sentence == s])
        key = "" if cause < 0 else sets.names[cause]
        found.append(
            Change(
                s + 1, at - int(model.ends[s]) + 1, forms[at], names[result.isolated[at]],
                names[states[at]], key if isinstance(key, str) else repr(key),
                int(agreeing[cause]) if cause >= 0 else 0, int(size[cause]) if cause >= 0 else 0,
            )
        )  # fmt: skip
    return found


def _cause(model: CorpusModel, result: CorpusResult, at: int, changed: NDArray[np.int64]) -> int:
    """The set that made a word change: one with its new label, its own or the nearest; or -1."""
    sets = model.sets
    for word in sorted(changed.tolist(), key=lambda other: abs(other - at)):
        for link in range(sets.start[word], sets.start[word + 1]):
            if result.consensus[sets.sets[link]] == result.states[word]:
                return int(sets.sets[link])
    return -1
