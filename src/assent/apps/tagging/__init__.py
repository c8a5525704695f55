"""Part-of-speech tagging: a chain over hashed features, trained on CoNLL-U.

Example:
    >>> from assent.io import Sentence
    >>> birds = Sentence.from_words(["Birds", "sing"]).with_columns(upos=["NOUN", "VERB"])
    >>> tagger = train_tagger([birds], columns=("upos",))
    >>> tagger.tag_words([["Birds", "sing"], ["Birds"]])
    [['NOUN', 'VERB'], ['NOUN']]
"""

from assent.apps.tagging.metrics import TagScores, tag_scores
from assent.apps.tagging.model import Tagger
from assent.apps.tagging.training import PerceptronSettings, jackknife, train_tagger
from assent.apps.tagging.view import show_tags

__all__ = [
    "PerceptronSettings",
    "TagScores",
    "Tagger",
    "jackknife",
    "show_tags",
    "tag_scores",
    "train_tagger",
]
