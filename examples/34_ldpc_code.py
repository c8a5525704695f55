"""An LDPC code: the most likely word behind received bits, for a block of words in one call.

Each check says that some bits have an even sum. An integral answer of the relaxation is the most
likely word, and its status says so.
"""

import numpy as np
from scipy.sparse import csr_array

import assent as at
from assent.io import alist_to_graph

BITS, CHECK = 20, 4  # each bit stands in three checks of four
rng = np.random.default_rng(8)
rows = np.repeat(np.arange(3 * BITS // CHECK), CHECK)
columns = np.concatenate([rng.permutation(BITS) for _ in range(3)])
checks = csr_array((np.ones(len(columns), int), (rows, columns)))

# The all-zero word is sent as +1s; noise is added. Scores are log-likelihood ratios of 1 over 0.
noise = 0.8
received = 1.0 + noise * rng.normal(size=(200, BITS))
ratios = -2.0 * received / noise**2

graph = alist_to_graph(checks)
results = at.decode_many(graph, scores={"x": ratios}, exact=True)
words = results["x"]
proven = np.array([status is at.Status.OPTIMAL for status in results.statuses])
print(f"{np.mean(received < 0):.1%} of bits arrive wrong")
print(f"{np.mean(words.any(axis=1)):.1%} of words are decoded wrong")
print(f"{np.mean(proven):.0%} are proven to be the most likely")
