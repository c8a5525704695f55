"""The best answer beyond doubt, and the runners-up.

Eight guests sit at two tables, and most pairs would rather not share one. Circles of three that
quarrel cannot all be parted, but taken pair by pair "half at each table" parts everybody: the
relaxation's bound stays above every answer. A search closes the gap, and leaves a proof that can
be replayed without it.
"""

import numpy as np

import assent as at

guests = np.array(["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal"])
graph = at.FactorGraph()
first = graph.binary(8, name="first")  # at the first table, or else at the second
one, other = np.triu_indices(8, 1)
quarrel = -np.random.default_rng(0).integers(0, 6, len(one)).astype(float)
graph.add(at.Pair(first[one], first[other], scores=quarrel))
graph.add(at.Pair(~first[one], ~first[other], scores=quarrel))
graph.fix(first[0], 1)  # which table is called the first does not matter

relaxed = at.decode(graph, at.AD3())
print(f"relaxation: {relaxed.status.name}, value {relaxed.value:g}, bound {relaxed.bound:.2f}")

exact = at.decode(graph, at.BranchAndBound(second=None, core=0))
proof = exact.certificate
print(f"search:     {exact.status.name}, value {exact.value:g}, bound {exact.bound:.2f}")
print(f"{exact.iterations} nodes, replayed without the search: {proof.verify()}")
print("parts of the proof that are somebody's word:", proof.trusted or "none")
print()

print("The three best ways to seat them:")
for result in at.k_best(graph, 3):
    tables = [", ".join(guests[result[first] == side]) for side in (1, 0)]
    print(f"  {result.value:g}  {tables[0]}  |  {tables[1]}")
print()

# Four wishes that nobody can grant together: no evidence decides it, but every case ends badly.
wishes = [
    [first[1], first[2]],
    [first[1], ~first[2]],
    [~first[1], first[2]],
    [~first[1], ~first[2]],
]
graph.add(at.AtLeastOne(wishes, axis=1))
graph.add(at.AtMost(5, first))
stuck = at.decode(graph, at.BranchAndBound())
print(f"{stuck.status.name}, proven: {stuck.certificate.verify()}. These cannot hold together:")
for words in stuck.certificate.conflict:
    print("  ", words)
