"""Tag a sentence with a table of transitions, and segment a noisy strip with Potts.

Where variables have several states, a rule per pair of states is a lot to write. `Dense` takes a
whole table of scores for joint states, and `Potts` a score for being in the same state.
"""

import numpy as np

import assent as at

# --- A tagger: how well each tag fits each word, and each tag the one before.
WORDS = ["they", "can", "fish", "in", "the", "can"]
TAGS = ["noun", "verb", "aux", "other"]

fit = {
    "they": [0, -2, -2, 2],
    "can": [0.6, 0.4, 1.5, -2],
    "fish": [1, 0.9, -2, -2],
    "in": [-2, -2, -2, 2],
    "the": [-2, -2, -2, 2],
}
follows = np.array(
    [  # noun verb  aux  other   <- the next tag
        [-1.0, 0.5, 0.5, 0.5],  # after a noun
        [1.0, -1.0, -1.0, 1.0],  # after a verb
        [-1.0, 1.5, -np.inf, -1.0],  # after an auxiliary: never a second one
        [1.5, -1.0, 0.3, 0.5],  # after another word
    ]
)

graph = at.FactorGraph()
tag = graph.categorical(states=TAGS, scores=[fit[word] for word in WORDS], name="tag")
graph.add(at.Dense(tag[:-1], tag[1:], scores=follows))  # one table for all neighbours
result = at.decode(graph)

alone = [TAGS[int(np.argmax(fit[word]))] for word in WORDS]
print("word   alone  jointly")
for word, before, after in zip(WORDS, alone, result.labels[tag], strict=True):
    print(f"{word:6} {before:6} {after}")
print(result.certificate, "\n")

# --- A segmentation: noisy pixels of three kinds, and a reward for agreeing with neighbours.
KINDS = ["sky", "tree", "lawn"]
rng = np.random.default_rng(4)
rows, columns = 9, 36
truth = np.zeros((rows, columns), int)
truth[6:] = 2
truth[2:7, 8:14] = truth[3:7, 22:30] = 1
seen = np.eye(len(KINDS))[truth] + 0.7 * rng.normal(size=(rows, columns, len(KINDS)))

graph = at.FactorGraph()
pixel = graph.categorical(states=KINDS, scores=seen, name="pixel")
same = [0.8, 0.6, 0.8]  # what it is worth to be sky, tree or lawn together
graph.add(at.Potts(pixel[:-1], pixel[1:], scores=same))
graph.add(at.Potts(pixel[:, :-1], pixel[:, 1:], scores=same))
result = at.decode(graph)

before, after = (seen.argmax(axis=-1) != truth).sum(), (result[pixel] != truth).sum()
for line in result[pixel]:
    print("".join(" #."[label] for label in line))
print(f"Wrong pixels: {before} before, {after} after.")
print(result.certificate)
