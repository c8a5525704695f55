"""An error-correcting code: bits that noise has touched, and the word that was most likely sent.

Every check of the code says that some bits have an even sum. Decoding looks for the word that
passes all checks and fits best with what was received: a linear program over the checks, whose
integral answers are proven to be the most likely words.
"""

import numpy as np
from scipy.sparse import csr_array

import assent as at
from assent.io import alist_to_graph

BITS, ONES, SENT = 120, 3, 200
rng = np.random.default_rng(4)

# A regular code (Gallager's): each of three layers puts every bit into one check of six.
rows = np.repeat(np.arange(BITS * ONES // 6), 6)
bits = np.concatenate([rng.permutation(BITS) for _ in range(ONES)])
checks = csr_array((np.ones(len(bits), int), (rows, bits)))
graph = alist_to_graph(checks)
print(f"{BITS} bits, {checks.shape[0]} checks of 6 bits")

# Words travel as +1 (for 0) and -1 (for 1), and noise is added. A bit's score is the logarithm of
# how much more likely 1 is than 0.
word = np.zeros(BITS, int)  # any word of the code does as well as any other
for noise in (0.6, 0.7, 0.8):
    received = 1.0 - 2.0 * word + noise * rng.normal(size=(SENT, BITS))
    results = at.decode_many(graph, scores={graph["x"]: -2.0 * received / noise**2})
    found = np.ma.filled(results[graph["x"]], -1)
    proven = np.array([status is at.Status.OPTIMAL for status in results.statuses])
    right = (found == word).all(axis=1)
    print(
        f"noise {noise}: {np.mean(received < 0):.1%} of bits arrive wrong, "
        f"{np.mean(~right):.1%} of words are; {np.mean(proven):.1%} are proven most likely"
    )
