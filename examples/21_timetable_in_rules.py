"""A timetable from a file of rules: who teaches what is data, how it must fit is text.

The same text could stand in `school.rules` and be solved by `assent decode school.rules`. When the
school asks for too much, the answer names the rules that clash, with the line they stand on.
"""

from rich.console import Console
from rich.table import Table

import assent as at
from assent.logic.rules_file import read_rules

SCHOOL = """
domain lesson = algebra, geometry, logic, poetry, drama, chemistry, physics, sports
domain person = Ada, Ben, Cleo
domain form = red, blue
domain slot = 1..4

relation teaches(person, lesson) = (Ada, algebra), (Ada, geometry), (Ada, logic), (Ben, poetry),
    (Ben, drama), (Cleo, chemistry), (Cleo, physics)
relation attends(form, lesson) = (red, algebra), (red, poetry), (red, physics), (red, sports),
    (blue, geometry), (blue, drama), (blue, chemistry), (blue, sports)
relation hard(lesson) = algebra, geometry, logic, chemistry, physics

choice when(lesson): slot                       # one slot for every lesson

rule one lesson at a time: at_most 1 l: teaches(p, l) & when(l, s)
rule nobody in two places: at_most 1 l: attends(f, l) & when(l, s)
rule three rooms:          at_most 3 l: when(l, s)
rule sports come last:     when("sports", 4)
rule no labs in a row:     when("chemistry", s) => ~when("physics", s + 1)  where s < 4
rule hard ones early:      hard(l) & when(l, s) => s < 3    penalty 1.0
rule Ben likes company:    when("poetry", s) & when("drama", t) => abs(s - t) == 1   penalty 0.5
"""
COLOURS = {"Ada": "cyan", "Ben": "magenta", "Cleo": "green", "": "yellow"}


def timetable(text):
    """The model of a school, its best timetable as text per slot, and the result."""
    model = read_rules("school.rules", text, None)
    result = at.decode(model.graph)
    slots = {s: [] for s in model.domains["slot"].labels}
    if result.feasible:
        for lesson, slot in model.atoms(result)["when"]:
            slots[slot].append(lesson)
    return model, result, slots


model, result, slots = timetable(SCHOOL)
teaches = model.names["teaches"]
teacher = {lesson: who for who, lesson in map(teaches.labels_of, teaches.atoms()[0])}
table = Table(title="The week")
cells = []
for slot, lessons in slots.items():
    table.add_column(f"slot {slot}")
    cells.append("\n".join(f"[{COLOURS[teacher.get(x, '')]}]{x}[/]" for x in lessons))
table.add_row(*cells)
Console(highlight=False).print(table)
print(result.status)
print(f"cost {-result.value:g}, and no timetable costs less than {-result.bound:.3f}")
for paid in model.rules.explain(result).paid:
    print(f"  pays {paid.amount:g}: {paid.rule}, {paid.binding}")

print("\nNow Ada wants her three lessons in two slots:")
WISH = 'rule Ada leaves early: at_least 3 l, s where s < 3: teaches("Ada", l) & when(l, s)'
model, result, _ = timetable(SCHOOL + WISH)
print(result.status.name)
for rule in sorted({words.split(" (")[0] for words in result.certificate.conflict}):
    print("  involved:", rule)
