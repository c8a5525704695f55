"""Entities and relations together: a relation only holds between entities of the right types.

Two models score types of names and relations of pairs. Decoding both at once lets a confident
relation correct a type, and the other way round. Arrays on both sides of `Implies` line up.
"""

import numpy as np

import assent as at

TYPES = ["person", "company", "place"]
NEEDS = {"works for": ("person", "company"), "lives in": ("person", "place")}
RELATIONS = ["none", *NEEDS]
NAMES = ["Ada", "Byron Ltd", "Paris"]

type_scores = [[2.0, 0.1, 0.3], [1.1, 0.9, 0.0], [0.3, 0.1, 2.0]]  # Byron: a person, barely
first, second = np.nonzero(~np.eye(len(NAMES), dtype=bool))  # ordered pairs of different names
relation_scores = np.full((len(first), len(RELATIONS)), [0.0, -1.0, -1.0])
relation_scores[0, 1] = 1.5  # Ada works for Byron Ltd
relation_scores[1, 2] = 0.4  # Ada lives in Paris

graph = at.FactorGraph()
kind = graph.categorical(states=TYPES, scores=type_scores, name="kind")
relation = graph.categorical(states=RELATIONS, scores=relation_scores, name="relation")
for name, (subject, target) in NEEDS.items():
    graph.add(at.Implies(relation == name, kind[first] == subject), name=f"who {name}")
    graph.add(at.Implies(relation == name, kind[second] == target), name=f"what {name}")

result = at.decode(graph, exact=True)
for name, label in zip(NAMES, result.labels["kind"], strict=True):
    print(f"{name}: {label}")
for a, b, label in zip(first, second, result.labels["relation"], strict=True):
    if label != "none":
        print(NAMES[a], label, NAMES[b])
print(f"value {result.value:.3f}, {result.status.name}")
