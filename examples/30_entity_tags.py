"""Entities under tag rules: the best tags that spell well-formed spans.

A tagger scores every tag of every word by itself; the best tag of each may not fit together
(an I without its B). `Regular` keeps the sequences that the BIO automaton accepts, and any other
rule that an automaton can state: here every sentence with a person names a place after it.
"""

import numpy as np

import assent as at

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
WORDS = ["Ada", "King", "met", "Byron", "in", "New", "York"]
logits = np.random.default_rng(6).normal(size=(100, len(WORDS), len(TAGS)))  # 100 sentences

graph = at.FactorGraph()
tag = graph.categorical(len(WORDS), TAGS, name="tag")
# Either nobody is mentioned, or the last person is followed by a place.
place_follows = at.regex("[^B-PER]* | .* B-LOC [^B-PER]*", TAGS)
graph.add(at.Regular(tag, at.bio(TAGS) & place_follows), name="rules")

results = at.decode_many(graph, scores={"tag": logits})
alone = logits.argmax(axis=2)
print(f"{np.mean(results[tag] != alone):.0%} of the tags change")
for word, before, after in zip(WORDS, alone[0], results.labels[tag][0], strict=True):
    print(f"{word:6} {TAGS[before]:6} {after}")
