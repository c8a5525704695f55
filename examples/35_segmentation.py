"""Segmentation: foreground and background of a noisy picture, neighbours preferring to agree.

Scores say how much a pixel looks like foreground; `Pair` on both of "both on" and "both off" is
a bonus for agreeing neighbours. Such a model is solved by one maximum flow, exactly.
"""

import numpy as np

import assent as at

rng = np.random.default_rng(2)
rows, columns = np.mgrid[:24, :40]
disc = (rows - 12) ** 2 + (columns - 14) ** 2 < 64
bar = (rows > 4) & (rows < 20) & (columns > 27) & (columns < 33)
truth = disc | bar
picture = truth - 0.5 + rng.normal(0, 0.7, truth.shape)

AGREE = 0.8
graph = at.FactorGraph()
on = graph.binary(scores=2.0 * picture, name="on")
for a, b in ((on[1:], on[:-1]), (on[:, 1:], on[:, :-1])):
    graph.add(at.Pair(a, b, scores=AGREE))
    graph.add(at.Pair(~a, ~b, scores=AGREE))

result = at.decode(graph)
for line in result[on]:
    print("".join(".#"[pixel] for pixel in line))
print(f"wrong pixels: {(truth != (picture > 0)).sum()} before, {(truth != result[on]).sum()} after")
print(result.plan)
