"""Sentences of every length: a structure that is written once per length.

A template is a function of sizes that writes a graph. Asked for a size again it gives the same
graph, compiled already, and only the scores are new: for sentences, documents or images that come
by the thousand, in a few sizes.
"""

import numpy as np

import assent as at

TAGS = ("noun", "verb", "other")
rng = np.random.default_rng(0)


@at.Template
def sentence(words):
    """Tags of words, at least one verb and not too many, and which words are quoted."""
    g = at.FactorGraph()
    tag = g.categorical(words, states=TAGS, name="tag")
    quoted = g.binary(words, name="quoted")
    g.add(at.Dense(tag[:-1], tag[1:], scores=np.zeros((3, 3))), name="follows")
    g.add(at.Pair(quoted[:-1], quoted[1:], scores=1.0))
    g.add(at.AtLeastOne(tag == "verb"))
    g.add(at.AtMost(1 + words // 5, tag == "verb"))
    g.add(at.AtMost(words // 2, quoted))
    return g


# What a model says of 500 sentences: scores by the names that the template uses.
lengths = rng.integers(4, 20, 500)
follows = rng.normal(size=(3, 3))
scores = [
    {"tag": rng.normal(size=(n, 3)), "quoted": rng.normal(size=n), "follows": follows}
    for n in lengths
]
graphs = [sentence(n) for n in lengths]
results = at.decode_many(graphs, scores=scores)
print(f"{len(graphs)} sentences, {len({id(graph) for graph in graphs})} graphs")
print(sentence)
print("proven optimal:", f"{np.mean([s is at.Status.OPTIMAL for s in results.statuses]):.0%}")
print("verbs in the first ten:", [int((r.labels["tag"] == "verb").sum()) for r in results[:10]])

# A single one goes through `decode`; what is not mentioned stays as the function wrote it.
result = at.decode(sentence(5), scores={"tag": scores[0]["tag"][:4].repeat(2, axis=0)[:5]})
print("five words:", " ".join(result.labels["tag"]))

# The graphs are shared, so they stay as they were written.
sentence(5).fix(sentence(5)["quoted"][0], 1)
try:
    sentence(5)
except at.ModelError as error:
    print("refused:", error)
