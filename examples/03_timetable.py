"""A timetable under rules: every lesson gets a slot, wishes are scores, rules are constraints.

A *categorical* variable takes one of several states, here a slot of the week. `slot == "Mon 9"`
is again a yes-or-no literal, so all rules apply to it. The second half asks for the impossible:
the result then names the rules that cannot hold together.
"""

import numpy as np

import assent as at

SLOTS = ["Mon 9", "Mon 11", "Tue 9", "Tue 11"]
LESSONS = ["algebra", "geometry", "logic", "poetry", "rhetoric", "lab", "sports"]
TEACHER = {"algebra": "Ada", "geometry": "Ada", "logic": "Ada", "poetry": "Ben", "rhetoric": "Ben"}
MORNING_LOVERS = ["algebra", "lab"]
ROOMS = 2


def timetable():
    """The school's model: variables, wishes and rules."""
    wishes = np.zeros((len(LESSONS), len(SLOTS)))
    wishes += [0.0, 0.4, 0.1, 0.3]  # nobody likes Monday at nine …
    for lesson in MORNING_LOVERS:
        wishes[LESSONS.index(lesson), ::2] += 1.0  # … but some do like an early start
    graph = at.FactorGraph()
    slot = graph.categorical(len(LESSONS), states=SLOTS, scores=wishes, name="slot")

    # `indicators` has one literal per lesson and slot; axis=0 makes one rule per slot.
    graph.add(at.AtMost(ROOMS, slot.indicators, axis=0), name="two rooms")
    for name in ("Ada", "Ben"):
        own = [i for i, lesson in enumerate(LESSONS) if TEACHER.get(lesson) == name]
        graph.add(at.AtMostOne(slot[own].indicators, axis=0), name=f"{name} teaches one at a time")

    lab, sports = slot[LESSONS.index("lab")], slot[LESSONS.index("sports")]
    graph.add(at.Implies(lab == "Mon 9", sports != "Mon 11"), name="no sports after the lab")
    graph.add(at.Implies(lab == "Tue 9", sports != "Tue 11"), name="no sports after the lab")

    graph.fix(slot[LESSONS.index("poetry")], "Tue 9")  # evidence: this is already settled
    return graph, slot


graph, slot = timetable()
result = at.decode(graph)
chosen = result.labels[slot]
for label in SLOTS:
    lessons = [lesson for lesson, at_slot in zip(LESSONS, chosen, strict=True) if at_slot == label]
    print(f"{label:7}", ", ".join(lessons))
print(result.certificate)
print()

print("Ada has three lessons and asks for at most one on each of the two days …")
graph, slot = timetable()
of_ada = slot[[LESSONS.index(lesson) for lesson in ("algebra", "geometry", "logic")]].indicators
for day, columns in (("Monday", slice(0, 2)), ("Tuesday", slice(2, 4))):
    wish = at.AtMostOne(of_ada[:, columns].ravel())
    graph.add(wish, name=f"Ada's {day}")
result = at.decode(graph)
print(result.status)
print("The proof leans on:")
for rule in result.certificate.conflict:
    print("  -", rule)
print("The proof checks out:", result.certificate.verify())
