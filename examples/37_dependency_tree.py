"""Parsing: the best dependency tree of a sentence, by scores of arcs.

`arc[h, m]` says that h is the head of word m (0 is the root); `Arborescence` makes the chosen arcs
a tree. Other factors join in: here the verb takes at most two modifiers.
"""

import numpy as np

import assent as at

WORDS = ["they", "ate", "the", "pizza", "with", "friends"]
n = len(WORDS)
scores = np.random.default_rng(5).normal(size=(n + 1, n))
scores[2] += 1.5  # the verb attracts

graph = at.FactorGraph()
arc = graph.binary(scores=scores, name="arc")
graph.add(at.Arborescence(arc, single_root=True), name="tree")
free = at.decode(graph)
graph.add(at.AtMost(2, arc[2]), name="at most two below the verb")
result = at.decode(graph, exact=True)


def draw(heads, head=0, margin=""):
    for word in np.flatnonzero(heads == head) + 1:
        print(f"{margin}{WORDS[word - 1]}")
        draw(heads, word, margin + "  ")


draw(result[arc].argmax(axis=0))
print(f"value {free.value:.3f} for any tree, {result.value:.3f} with the limit")
