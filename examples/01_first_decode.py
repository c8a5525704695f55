"""Pack a bag: pick items under a few rules, and read the proof that no bag is better.

Three words are enough to read this library:

- a *variable* is a yes-or-no question ("does the tent come along?"),
- a *score* says what a yes is worth (higher is better, negative is a cost),
- a *factor* ties variables together: a rule they must obey, or a score for a combination.

`decode` finds the answer with the highest total score that obeys all rules.
"""

import assent as at

WORTH = {
    "tent": 6.0,
    "hammock": 5.0,
    "stove": 4.0,
    "fuel": -1.0,
    "torch": 3.0,
    "batteries": -0.5,
    "book": 2.0,
    "camera": 3.5,
}

graph = at.FactorGraph()
take = {item: graph.binary(scores=worth, name=item) for item, worth in WORTH.items()}

# Hard rules. `~x` reads "not x", `x & y` "both"; Implies is "if this, then that".
graph.add(at.AtMost(5, [*take.values()]), name="the bag holds five things")
graph.add(at.ExactlyOne([take["tent"], take["hammock"]]), name="one bed")
graph.add(at.Implies(take["stove"], take["fuel"]), name="a stove burns fuel")
graph.add(at.Implies(take["torch"], take["batteries"]), name="a torch needs batteries")
graph.add(at.Implies(take["hammock"] & take["camera"], ~take["book"]), name="hands are full")

# A soft preference: a score that counts only when both are packed.
graph.add(at.Pair(take["torch"], take["book"], scores=1.5), name="reading at night")

print(graph)
print()

result = at.decode(graph)

print("Pack:", ", ".join(item for item in WORTH if result[take[item]] == 1))
print(f"Total score {result.value:g}; no bag that obeys the rules scores above {result.bound:g}.")
print(result.status)
print(result.certificate)
print("Rechecked from the rules and the proof alone:", result.certificate.verify())
