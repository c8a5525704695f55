"""Patience: how long a first step of Auto goes on, by how soon its answer becomes clear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assent.kernels.problem import Float

# Marginals within this of 0 or 1 are decided.
DECIDED = 0.1

# Relaxations that are tight have fewer undecided coordinates than so many times the true ones, of
# which there are two at least, after so many iterations.  A linear program takes as long as some
# forty of them where it is small, and as twice as many with so many constraints.  With tables an
# iteration takes as long as several.
UNDECIDED = ((0, 4.0), (10, 0.75), (15, 0.5), (20, 0.25), (25, 0.2), (30, 0.1))
FEWEST = 2
RULES = 925
WITH_TABLES = 4.0

# ... or an answer so close to the bound, from so many iterations on: it is only to be proven.
CLOSE, CLOSE_FROM = 6e-3, 10


@dataclass(frozen=True)
class Patience:
    """Whether a run is likely to end with a proof soon: its marginals settle from report to report.

    Attributes:
        most: iterations after which it is over in any case.
        rules: constraints of the problem.
        has_tables: whether it has tables, too.

    Example:
        >>> import numpy as np
        >>> patience, marginals = Patience(most=100), np.array([1.0, 1.0, 0.6])
        >>> patience.is_over(10, marginals, np.inf), patience.is_over(20, marginals, np.inf)
        (False, True)
    """

    most: int
    rules: int = 0
    has_tables: bool = False

    def is_over(self, iterations: int, marginals: Float, gap: float) -> bool:
        """Whether to give up, after so many iterations, at marginals ``[n]`` and a relative gap."""
        taken = iterations * (WITH_TABLES if self.has_tables else 1.0)
        if taken >= self.most:
            return True
        if iterations >= CLOSE_FROM and gap <= CLOSE:
            return False
        done = taken / (1.0 + self.rules / RULES)
        share = [share for begin, share in UNDECIDED if begin <= done][-1]
        true = int(np.count_nonzero(marginals > 0.5))
        left = int(np.count_nonzero(np.abs(marginals - 0.5) < 0.5 - DECIDED))
        return left > share * max(true, FEWEST)
