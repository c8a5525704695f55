"""A roster: who works which shift, by wishes and under rules.

One yes-or-no variable per person, day and shift; rules consume axes as `np.sum` does. Groups of
different sizes (teams) need no loop: `by=` says which group a literal belongs to.
"""

import numpy as np

import assent as at

PEOPLE = ["Ann", "Bob", "Cem", "Dee", "Eva"]
TEAM = ["red", "red", "blue", "blue", "blue"]
SHIFTS = ["early", "late", "night"]
DAYS = 5

wishes = np.random.default_rng(1).integers(-2, 5, (len(PEOPLE), DAYS, len(SHIFTS)))
graph = at.FactorGraph()
works = graph.binary(scores=wishes, name="works")
graph.add(at.AtMostOne(works, axis=2), name="one shift a day")
graph.add(at.Exactly(1, works, axis=0), name="every shift is taken once")
graph.add(at.AtMost(4, works, axis=(1, 2)), name="four shifts at most")
graph.add(at.AtMostOne(at.stack([works[:, :-1, 2], works[:, 1:, 0]]), axis=0), name="sleep")
nights = works[:, :, 2]
teams = np.repeat(TEAM, DAYS).reshape(nights.shape)
graph.add(at.AtMost(3, nights, by=teams), name="nights of a team")

result = at.decode(graph, exact=True)
for person, days in zip(PEOPLE, result[works], strict=True):
    names = [SHIFTS[day.argmax()] if day.any() else "-" for day in days]
    print(f"{person}: {'  '.join(f'{name:5}' for name in names)}")
print(f"wishes {result.value:g} of at most {result.bound:g}: {result.status.name}")
