"""A tagger learnt from examples: features of words, transitions between tags.

`ChainModel` scores tags by features of their words and by the tag before; a trainer finds the
weights. Predictors have scikit-learn's manners.
"""

from assent.learn import LogLikelihood, StructuredPredictor
from assent.models import ChainModel

TRAIN = """
the/D dog/N barks/V
a/D cat/N sleeps/V
the/D old/A dog/N sleeps/V
dogs/N bark/V
the/D bark/N
a/D sleepy/A old/A cat/N barks/V
cats/N sleep/V
the/D sleep/N
"""


def looks(words, i):
    """Features of word ``i``."""
    return {"word": words[i], "ending": words[i][-2:], "first": i == 0}


pairs = [[token.split("/") for token in line.split()] for line in TRAIN.strip().splitlines()]
X = [[word for word, _ in line] for line in pairs]
y = [[tag for _, tag in line] for line in pairs]

tagger = StructuredPredictor(ChainModel(), LogLikelihood(C=10.0), features=looks).fit(X, y)
new = [["the", "old", "bark"], ["a", "cat", "barks"], ["sleepy", "dogs", "sleep"]]
for words, tags in zip(new, tagger.predict(new), strict=True):
    print(*(f"{word}/{tag}" for word, tag in zip(words, tags, strict=True)))
print(f"right on the training sentences: {tagger.score(X, y):.0%}")
