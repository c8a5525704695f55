"""Solve a Sudoku by three rules, and prove that there is no second solution.

A choice of digits is one categorical variable per cell; `cell(r, c, d)` says that digit d stands in
row r and column c. The rules are those printed in every newspaper.
"""

from rich.console import Console

import assent as at
from assent import logic

PUZZLE = """
. . 9 7 4 8 . . .
7 . . . . . . . .
. 2 . 1 . 9 . . .
. . 7 . . . 2 4 .
. 6 4 . 1 . 5 9 .
. 9 8 . . . 3 . .
. . . 8 . 3 . 2 .
. . . . . . . . 6
. . . 2 7 5 9 . .
"""

place = logic.Domain("place", range(1, 10))
graph = at.FactorGraph()
digits = graph.categorical((9, 9), states=range(1, 10), name="cell")
cell = logic.predicate(digits, place, place)

given = {
    (row, column): int(mark)
    for row, line in enumerate(PUZZLE.split("\n")[1:10], start=1)
    for column, mark in enumerate(line.split(), start=1)
    if mark != "."
}
cell.observe([(*where, digit) for where, digit in given.items()])

# The small squares are data: square(b, r, c) says that square b has the cell r, c.
cells = [(r, c) for r in range(1, 10) for c in range(1, 10)]
squares = [(3 * ((r - 1) // 3) + (c - 1) // 3 + 1, r, c) for r, c in cells]
square = logic.relation("square", squares, place, place, place)

b, r, c, d = logic.variables("b r c d")
rules = logic.Rules(graph)
rules.add(logic.exists_one(c, cell(r, c, d)), name="every digit once in a row")
rules.add(logic.exists_one(r, cell(r, c, d)), name="every digit once in a column")
in_square = logic.exists_one(r, c, cell(r, c, d), where=square(b, r, c))
rules.add(in_square, name="every digit once in a square")
print(rules.report())
print()

result = at.decode(graph)
solution = result.labels[digits]

console = Console(highlight=False)
for row in range(1, 10):
    marks = []
    for column in range(1, 10):
        style = "bold" if (row, column) in given else "green"
        marks.append(f"[{style}]{solution[row - 1, column - 1]}[/]")
    console.print("  " + "   ".join(" ".join(marks[i : i + 3]) for i in (0, 3, 6)))
    if row in (3, 6):
        console.print()

# Is it the only one? Every cell that is as above now costs 1: another solution would cost less.
same = [[[-1.0 * (k == solution[i, j]) for k in range(1, 10)] for j in range(9)] for i in range(9)]
again = at.decode(graph, scores={digits: same})
assert again.certificate.verify()
print(f"\nThe cheapest solution agrees in {-again.value:.0f} cells of 81; "
      f"fewer than {-again.bound - 0.5:.1f} is impossible: there is no other.")  # fmt: skip
