"""Many small problems at once: a day's worth of delivery rounds, then a last-minute change.

`decode_many` takes a list of graphs, or one graph under many scores, and solves them in one
compiled loop. Each problem stops for its own reason and has its own proof; the answers are those
of decoding one by one, only sooner.
"""

import numpy as np

import assent as at

PARCELS, VANS, ROUNDS = 8, 4, 200
rng = np.random.default_rng(0)

# One round: every parcel goes into one van, a van has room for three, two parcels must not meet.
graph = at.FactorGraph()
load = graph.binary((PARCELS, VANS), name="load")
graph.add(at.ExactlyOne(load, axis=1), name="one van per parcel")
graph.add(at.AtMost(3, load, axis=0), name="room for three")
graph.add(at.AtMostOne([load[0], load[1]], axis=0), name="eggs and bricks")

# The same round two hundred times, each with its own distances: one more axis in front.
closeness = rng.normal(size=(ROUNDS, PARCELS, VANS))
results = at.decode_many(graph, scores={load: closeness}, threads=2)
counts = {status.name: results.statuses.count(status) for status in set(results.statuses)}
print(f"{len(results)} rounds:", ", ".join(f"{n} {name}" for name, n in sorted(counts.items())))
print(f"answers of shape {results[load].shape}, worth {results.values.sum():.1f} in all")
print("van of each parcel, round 0:", results[load][0].argmax(axis=1).tolist())
alone = at.decode(graph, scores={load: closeness[0]})
print("round 0 by itself agrees:", np.array_equal(alone[load], results[load][0]))
print("every proof checks out:", all(result.certificate.verify() for result in results))

# Traffic moved all scores a little: earlier results are a head start for each round.
moved = closeness + 0.01 * rng.normal(size=closeness.shape)
cold = at.decode_many(graph, scores={load: moved})
warm = at.decode_many(graph, scores={load: moved}, warm_start=results)
print(f"iterations: {cold.iterations.sum()} from scratch, {warm.iterations.sum()} from before")

# Graphs of different shapes go into a list.
shapes = []
for parcels in (3, 5, 7):
    other = at.FactorGraph()
    seats = other.binary(scores=rng.normal(size=(parcels, VANS)), name="load")
    other.add(at.ExactlyOne(seats, axis=1))
    shapes.append(other)
print(at.decode_many(shapes))
