"""A structure of one's own: one run of neighbours, from the function that finds the best one.

All the library needs is the best joint state for given scores; beside other factors it is asked
again for other scores, until all agree. `check_structure` compares it with enumeration first.
"""

import numpy as np

import assent as at
from assent.testing import check_structure


def best_run(scores):
    """The chosen stand side by side: the best of all runs, the empty one included."""
    ends = np.concatenate([[0.0], np.cumsum(scores)])
    worth = np.triu(ends[None, :] - ends[:, None])  # [i, j]: what scores[i:j] add up to
    i, j = np.unravel_index(worth.argmax(), worth.shape)
    chosen = np.zeros(len(scores))
    chosen[i:j] = 1
    return chosen


check_structure(at.Custom(at.FactorGraph().binary(5), maximize=best_run))

hours = np.random.default_rng(4).normal(size=(3, 8))  # what each machine earns by the hour
graph = at.FactorGraph()
runs = graph.binary(scores=hours, name="runs")
for machine in runs:
    graph.add(at.Custom(machine, maximize=best_run), name="one run a day")
graph.add(at.AtMost(2, runs, axis=0), name="power for two")
result = at.decode(graph, exact=True)
for line in result[runs]:
    print("".join(".#"[hour] for hour in line))
print(f"value {result.value:.3f}, {result.status.name}")
