"""A small treebank of made-up English: nouns, verbs and prepositions that hang on either."""

from __future__ import annotations

import numpy as np

from assent.io.conllu import Sentence

NOUNS = ["dog", "bird", "garden", "telescope", "child", "house"]
VERBS = ["sees", "likes", "finds", "paints"]
# The last noun decides where "with" hangs: an instrument on the verb, anything else on the noun.
INSTRUMENTS = {"telescope"}


class Writer:
    """Words of a sentence with their tags, heads and labels; heads count from 1."""

    def __init__(self, rng):
        self.rng = rng
        self.rows = []

    def add(self, word, tag, head, label):
        self.rows.append([word, tag, head, label])
        return len(self.rows)

    def noun_phrase(self, label):
        """Its noun, whose head is to be set."""
        article = self.add("the", "DET", 0, "det")
        adjective = self.add("old", "ADJ", 0, "amod") if self.rng.random() < 0.4 else None
        noun = self.add(str(self.rng.choice(NOUNS)), "NOUN", 0, label)
        for word in (article, adjective):
            if word is not None:
                self.rows[word - 1][2] = noun
        return noun

    def sentence(self):
        subject = self.noun_phrase("nsubj")
        verb = self.add(str(self.rng.choice(VERBS)), "VERB", 0, "root")
        target = self.noun_phrase("obj")
        self.rows[subject - 1][2] = self.rows[target - 1][2] = verb
        if self.rng.random() < 0.6:
            case = self.add("with", "ADP", 0, "case")
            noun = self.noun_phrase("nmod")
            self.rows[case - 1][2] = noun
            instrument = self.rows[noun - 1][0] in INSTRUMENTS
            self.rows[noun - 1][2] = verb if instrument else target
            self.rows[noun - 1][3] = "obl" if instrument else "nmod"
        self.add(".", "PUNCT", verb, "punct")
        words, tags, heads, labels = zip(*self.rows, strict=True)
        return Sentence.from_words(words).with_columns(upos=tags, heads=heads, deprels=labels)


def treebank(size, seed):
    """Sentences of the toy language."""
    rng = np.random.default_rng(seed)
    return [Writer(rng).sentence() for _ in range(size)]
