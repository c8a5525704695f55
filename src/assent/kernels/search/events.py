"""Events that a depth-first search writes down, and what each is followed by.

The search (:mod:`assent.kernels.search.depth_first_search`) writes them; a proof
(:mod:`assent.proof.depth_first_proof`) reads them.
"""

PRUNED = 0  # a row, a count, that many states
CLOSED = 1  # a row
BRANCHED = 2  # a state: the subproblem with it, then the one without
EMPTY = 3  # nothing: no state of some variable is left
