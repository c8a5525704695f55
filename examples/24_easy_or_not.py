"""What `decode` notices: easy graphs are solved at once, and `result.plan` says why.

The same question, "which of these should be on?", on three graphs. A thin strip is narrow: its
variables are eliminated one by one, and the answer is the optimum whatever the scores. A wide grid
whose neighbours attract each other is one minimum cut. With mixed signs the cut solves the
relaxation only: the answer is good, the gap honest, and `exact=True` goes on until it is closed.
"""

import numpy as np

import assent as at

rng = np.random.default_rng(0)


def grid(rows: int, columns: int, attracting: bool) -> at.FactorGraph:
    """A grid of switches whose neighbours like to be equal, or like it or not."""
    graph = at.FactorGraph()
    on = graph.binary((rows, columns), scores=rng.normal(size=(rows, columns)), name="on")
    for first, second in ((on[1:], on[:-1]), (on[:, 1:], on[:, :-1])):
        taste = rng.normal(size=first.shape)
        taste = np.abs(taste) if attracting else taste
        graph.add(at.Pair(first, second, scores=taste))  # both on
        graph.add(at.Pair(~first, ~second, scores=taste))  # both off
    return graph


for title, graph in (
    ("a strip of 5 × 200", grid(5, 200, attracting=False)),
    ("a grid of 40 × 40, attracting", grid(40, 40, attracting=True)),
    ("a grid of 40 × 40, mixed", grid(40, 40, attracting=False)),
):
    result = at.decode(graph)
    print(f"{title}: {result.status.name}, gap {result.gap:.2g}")
    print(f"  {result.plan}")

exact = at.decode(graph, exact=True, time_limit=60.0)
print(f"The last one, exactly: {exact.status.name}, better by {exact.value - result.value:.3f}")
print(f"  {exact.plan}")

# What one flow decides is decided for good: some best answer has these values.
relaxed = at.decode(graph, at.RoofDuality()).marginals[graph["on"]]
decided = relaxed != 0.5
print(f"One flow decides {decided.mean():.0%} of it.")
agrees = exact[graph["on"]][decided] == relaxed[decided]
print(f"Of that the exact answer has {agrees.mean():.0%}.")
