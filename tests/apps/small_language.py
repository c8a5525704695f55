"""A small language with a grammar of its own: sentences with tags and trees, made at random.

Words are made of syllables, some ends belong to one tag, some words to two: enough for a tagger
and a parser to learn from their surroundings, and to meet words that are new to them.
"""

import numpy as np

from assent.io import Sentence

_SYLLABLES = ["ka", "lo", "mi", "ru", "te", "pa", "no", "shi", "ve", "du"]
_ENDS = {"NOUN": "", "VERB": "en", "ADJ": "ig", "ADV": "lik", "PROPN": ""}
_XPOS = {"NOUN": "NN", "VERB": "VB", "ADJ": "JJ", "ADV": "RB", "PROPN": "NP", "DET": "DT",
         "ADP": "IN", "PUNCT": "."}  # fmt: skip


class _Grammar:
    """Phrases as lists of (word, tag, head within the phrase, label); -1 is the phrase's head."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def open_word(self, tag):
        # A few stems are common, many are rare, and nouns and verbs share some.
        stem = int(self.random.zipf(1.3)) % 400
        word = _SYLLABLES[stem % 10] + _SYLLABLES[stem // 10 % 10] + _SYLLABLES[stem // 100]
        if tag == "VERB" and stem % 2 == 0:
            return word  # looks like a noun
        return (word + _ENDS[tag]).capitalize() if tag == "PROPN" else word + _ENDS[tag]

    def noun_phrase(self):
        if self.random.random() < 0.2:
            return [(self.open_word("PROPN"), "PROPN", -1, "")]
        words = []
        if self.random.random() < 0.7:
            words.append((["ti", "o"][self.random.integers(2)], "DET", None, "det"))
        if self.random.random() < 0.2:
            words.append((self.open_word("NOUN"), "NOUN", None, "compound"))
        if self.random.random() < 0.4:
            words.append((self.open_word("ADJ"), "ADJ", None, "amod"))
        words = [(word, tag, len(words), label) for word, tag, _, label in words]
        words.append((self.open_word("NOUN"), "NOUN", -1, ""))
        if self.random.random() < 0.25:
            below = self.preposition_phrase("nmod")
            words = attach(words, below, len(words) - 1, "nmod")
        return words

    def preposition_phrase(self, label):
        phrase = self.noun_phrase()
        preposition = ["ba", "su", "fo"][self.random.integers(3)]
        head = next(i for i, row in enumerate(phrase) if row[2] == -1)
        shifted = [(w, t, h + 1 if h >= 0 else -1, r) for w, t, h, r in phrase]
        return [(preposition, "ADP", head + 1, "case"), *shifted]

    def sentence(self):
        subject = self.noun_phrase()
        words = [(self.open_word("VERB"), "VERB", -1, "root")]
        words = attach(words, subject, 0, "nsubj", before=True)
        verb = next(i for i, row in enumerate(words) if row[2] == -1)
        if self.random.random() < 0.3:
            words = attach(words, [(self.open_word("ADV"), "ADV", -1, "")], verb, "advmod")
        if self.random.random() < 0.7:
            words = attach(words, self.noun_phrase(), verb, "obj")
        if self.random.random() < 0.4:
            words = attach(words, self.preposition_phrase("obl"), verb, "obl")
        words.append((".", "PUNCT", verb, "punct"))
        return [
            (row[0].capitalize() if i == 0 else row[0], *row[1:]) for i, row in enumerate(words)
        ]


def attach(words, phrase, head, label, before=False):
    """Put a phrase beside words, its head under one of theirs."""
    first, second = (phrase, words) if before else (words, phrase)
    shift = len(first)
    moved = [(w, t, h + shift if h >= 0 else -1, r) for w, t, h, r in second]
    if before:
        phrase, words = first, moved
        head += shift
    else:
        words, phrase = first, moved
    phrase = [(w, t, head if h == -1 else h, label if h == -1 else r) for w, t, h, r in phrase]
    return [*phrase, *words] if before else [*words, *phrase]


def small_corpus(sentences, seed):
    """Sentences with words, tags, heads and labels; the same for the same seed."""
    grammar = _Grammar(seed)
    found = []
    for _ in range(sentences):
        rows = grammar.sentence()
        found.append(
            Sentence.from_words([row[0] for row in rows]).with_columns(
                upos=[row[1] for row in rows],
                xpos=[_XPOS[row[1]] for row in rows],
                heads=[row[2] + 1 for row in rows],
                deprels=[row[3] for row in rows],
            )
        )
    return found
