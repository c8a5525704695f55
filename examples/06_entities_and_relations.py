"""Label entities and the relations between them together, so that types fit.

Two models have scored a sentence: one the type of every name, one the relation of every pair of
names. Each is often right, but they do not know of each other: the best relation may need a type
that the best label contradicts. Decoding both at once settles it for the whole sentence.
"""

import numpy as np

import assent as at

NAMES = ["Ada", "Byron Ltd", "Charlotte", "Paris"]
TYPES = ["person", "company", "place"]
# relation -> (type of the first name, type of the second)
SIGNATURE = {
    "works for": ("person", "company"),
    "lives in": ("person", "place"),
    "based in": ("company", "place"),
}
RELATIONS = ["none", *SIGNATURE]

type_scores = np.array(
    [
        [2.0, 0.1, 0.3],  # Ada
        [1.1, 0.9, 0.0],  # Byron Ltd: taken for a person, though barely
        [1.0, 0.2, 1.2],  # Charlotte: taken for the town
        [0.3, 0.1, 2.0],  # Paris
    ]
)
n = len(NAMES)
relation_scores = np.zeros((n, n, len(RELATIONS)))  # "none" scores 0, the others mostly less
relation_scores[..., 1:] = -1.0
relation_scores[0, 1, 1] = 1.5  # Ada works for Byron Ltd
relation_scores[1, 3, 3] = 0.8  # Byron Ltd is based in Paris
relation_scores[2, 3, 2] = 1.4  # Charlotte lives in Paris

graph = at.FactorGraph()
kind = graph.categorical(states=TYPES, scores=type_scores, name="kind")
first, second = np.nonzero(~np.eye(n, dtype=bool))  # all ordered pairs of different names
link = graph.categorical(states=RELATIONS, scores=relation_scores[first, second], name="link")

# One implication per pair and relation; the arrays on both sides line up element by element.
for relation, (subject, target) in SIGNATURE.items():
    graph.add(at.Implies(link == relation, kind[first] == subject), name=f"who {relation}")
    graph.add(at.Implies(link == relation, kind[second] == target), name=f"what {relation}")

result = at.decode(graph)

alone = np.array(TYPES)[type_scores.argmax(axis=1)]
print("name        alone     jointly")
for name, before, after in zip(NAMES, alone, result.labels[kind], strict=True):
    note = "  <- changed" if before != after else ""
    print(f"{name:11} {before:9} {after:9}{note}")
print()
for i, j, relation in zip(first, second, result.labels[link], strict=True):
    if relation != "none":
        print(f"{NAMES[i]} {relation} {NAMES[j]}")
print()
print(result.certificate)
