"""Decode again with new scores: nothing is rebuilt, and an earlier answer is a head start.

A graph is compiled once, at its first decode. Later decodes may replace the scores, not the
structure; `warm_start=` begins from the proof of an earlier result instead of from nothing.
That is what a training loop, a video or an interactive tool needs. AD3 is asked for by name:
otherwise this graph would be solved by a single flow, which leaves nothing to be saved.
"""

import numpy as np

import assent as at

SIZE = 60
rng = np.random.default_rng(0)

# A grid whose cells have tastes of their own, and whose neighbours attract each other.
graph = at.FactorGraph()
scores = rng.normal(size=(SIZE, SIZE)) - 1.0
x = graph.binary(scores=scores, name="x")
graph.add(at.Pair(x[:, :-1], x[:, 1:], scores=rng.random((SIZE, SIZE - 1))))
graph.add(at.Pair(x[:-1, :], x[1:, :], scores=rng.random((SIZE - 1, SIZE))))

previous = at.decode(graph, at.AD3())
print(f"first frame: {previous.iterations} iterations, bound {previous.bound:.3f}")
print()
print("frame   cold   warm   bounds (equal within tolerance)")
total = np.zeros(2, int)
for frame in range(1, 7):
    scores = scores + 0.01 * rng.normal(size=scores.shape)  # the world moved a little
    cold = at.decode(graph, at.AD3(), scores={x: scores})
    warm = at.decode(graph, at.AD3(), scores={x: scores}, warm_start=previous)
    total += cold.iterations, warm.iterations
    print(
        f"{frame:5d}  {cold.iterations:5d}  {warm.iterations:5d}   "
        f"{cold.bound:.3f} / {warm.bound:.3f}"
    )
    previous = warm
print(f"Warm starts needed {total[1] / total[0]:.0%} of the iterations.")
