"""Patience: how long a first step of Auto goes on, by how soon its answer becomes clear."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from assent.problem import Float

# Marginals within this of 0 or 1 are decided.
DECIDED = 0.1

# Relaxations that are tight have fewer undecided coordinates than so many times the true ones.
LOST = 5.0

# As long as it is not tight, so many iterations leave no less than this share of the undecided
# ones.  Of large problems more iterations are looked at, one for so many links: other solvers take
# the longer.
ITERATIONS, LINKS, SHARE = 10, 250, 0.75
# The last ones take their time where they are few beside the true ones; more so beyond so many
# links.
FEW, FEWEST = 0.15, 2
SMALL, MORE = 2000, 0.4

# From so many iterations on an answer has to be close to the bound, where that is asked for.
CLOSE_FROM = 10


@dataclass
class Patience:
    """Whether a run is likely to end with a proof soon: its marginals settle from report to report.

    Attributes:
        many: iterations after which it is over in any case.
        settles: whether marginals tell anything before the end.
        close: the largest relative gap that is worth going on with.
        links: of the problem.

    Example:
        >>> import numpy as np
        >>> patience, marginals = Patience(many=100), np.full(3, 0.6)
        >>> patience.is_over(10, marginals, np.inf), patience.is_over(20, marginals, np.inf)
        (False, True)
    """

    many: int
    settles: bool = True
    close: float = np.inf
    links: int = 0
    undecided: list[tuple[int, int]] = field(default_factory=list)  # after so many iterations

    def is_over(self, iterations: int, marginals: Float, gap: float) -> bool:
        """Whether to give up, after so many iterations, at marginals ``[n]`` and a relative gap."""
        if iterations >= self.many or (iterations >= CLOSE_FROM and gap > self.close):
            return True
        return self.settles and self._is_lost(iterations, marginals)

    def _is_lost(self, iterations: int, marginals: Float) -> bool:
        span = max(ITERATIONS, self.links // LINKS)
        few = FEW if self.links <= SMALL else MORE
        true = int(np.count_nonzero(marginals > 0.5))
        left = int(np.count_nonzero(np.abs(marginals - 0.5) < 0.5 - DECIDED))
        before = [count for at, count in self.undecided if at <= iterations - span]
        self.undecided.append((iterations, left))
        if left > LOST * max(true, FEWEST):
            return True
        return bool(before) and left > max(SHARE * before[-1], few * true, FEWEST)
