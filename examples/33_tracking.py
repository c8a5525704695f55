"""Tracking: which detection of one frame is which of the next.

Between two frames detections are matched, each at most once (objects appear and vanish); a pair
of links that goes on in a straight line earns more. Matchings and pairs are decoded together.
"""

from itertools import pairwise

import numpy as np

import assent as at

rng = np.random.default_rng(3)
start, speed = rng.uniform(0, 10, (4, 2)), rng.uniform(-2, 2, (4, 2))
frames = [start + t * speed + rng.normal(0, 0.1, (4, 2)) for t in range(4)]
frames[2] = frames[2][:3]  # one detection is missed

graph = at.FactorGraph()
links = []
for t, (a, b) in enumerate(pairwise(frames)):
    far = np.linalg.norm(a[:, None] - b[None], axis=2)
    links.append(graph.binary(scores=2.0 - far, name=f"from {t}"))
    graph.add(at.Matching(links[-1]))

for t, (a, b, c) in enumerate(zip(frames, frames[1:], frames[2:], strict=False)):
    bend = np.linalg.norm(a[:, None, None] - 2 * b[None, :, None] + c[None, None], axis=3)
    i, j, k = np.nonzero(bend < 1.0)  # nearly straight: worth a bonus
    graph.add(at.Pair(links[t][i, j], links[t + 1][j, k], scores=1.0 - bend[i, j, k]))

result = at.decode(graph, exact=True)
for t, link in enumerate(links):
    pairs = [f"{i}→{j}" for i, j in zip(*np.nonzero(result[link]), strict=True)]
    print(f"frame {t} to {t + 1}:", *pairs)
print(f"value {result.value:.3f}, {result.status.name}")
