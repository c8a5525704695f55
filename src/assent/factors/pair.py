"""Pair: a score when two literals are both true."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.base import Factor, check_temperature, elementwise
from assent.kernels.problem import Float
from assent.model.scores import clean_scores, fit_scores
from assent.model.variables import as_literals

# The four joint truth values of two literals, in the order their scores are compared.
_CORNERS = np.array([[False, False], [True, False], [False, True], [True, True]])


class Pair(Factor):
    """``scores`` is earned where ``a`` and ``b`` are both true, element by element (PAIR).

    ``-inf`` forbids both.  The inner part ``w`` (both true) lies in the local polytope
    ``max(0, a + b − 1) ≤ w ≤ min(a, b)``.

    Args:
        a, b: literals; arrays broadcast, one factor per element.
        scores: one score per factor, or one for all.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, name="x")
        >>> at.Pair(x[:-1], x[1:], scores=[1.0, -2.0])
        2 × Pair, first Pair(x[0], x[1])
    """

    paper_name = "PAIR (Ising)"
    formula = "score · [a ∧ b]"

    def __init__(self, a: Any, b: Any, *, scores: Any = 0.0) -> None:
        graph, codes, shape = elementwise("Pair", [as_literals(a), as_literals(b)])
        self._attach(graph, codes, shape)
        same = codes[:, 0] == ~codes[:, 1]
        if np.count_nonzero(same):
            row = int(np.flatnonzero(same)[0])
            raise ModelError(f"{self.words(row)} can never hold: a literal and its negation")
        self.scores = self.fit(scores)

    def fit(self, scores: Any) -> Float:
        """New scores for all factors, checked and brought to ``[m]``."""
        return fit_scores(clean_scores(scores, "Pair"), self.shape, "Pair")

    def maximize(self, scores: Float, pair_scores: Float) -> tuple[Float, NDArray[np.bool_]]:
        """Best value ``[m]`` and truth ``[m, 2]`` for literal scores ``[m, 2]`` and ``[m]``."""
        values = np.stack(
            [
                np.zeros(len(scores)),
                scores[:, 0],
                scores[:, 1],
                scores[:, 0] + scores[:, 1] + pair_scores,
            ]
        )
        best = values.argmax(axis=0)
        return values.max(axis=0), _CORNERS[best]

    def project(self, points: Float, pair_scores: Float) -> tuple[Float, Float]:
        """Minimise ``½‖z − points‖² − pair_scores·w``: returns ``z[m, 2]`` and ``w[m]``."""
        from assent.kernels.kinds.logic_projections import project_pair

        z = np.empty(points.shape)
        for (a, b), c, out in zip(points, pair_scores, z, strict=True):
            out[0], out[1] = project_pair(a, b, c)
        return z, inner_part(z, pair_scores)

    def max_marginals(self, scores: Float, pair_scores: Float) -> Float:
        """Best value with each literal false and true, ``[m, 2, 2]``."""
        from assent.kernels.core.max_marginals import max_marginals_pair

        out = np.empty((len(scores), 2, 2))
        for own, c, best in zip(scores, pair_scores, out, strict=True):
            max_marginals_pair(c, np.ascontiguousarray(own), best)
        return out

    def marginals(
        self, scores: Float, pair_scores: Float, temperature: float = 1.0
    ) -> tuple[Float, Float]:
        """Log-partition ``[m]`` (times temperature); probabilities ``[m, 3]`` of a, b and both."""
        from assent.kernels.core.marginals import marginals_pair

        value, out = np.empty(len(scores)), np.empty((len(scores), 3))
        checked = check_temperature(temperature)
        for row, c in enumerate(pair_scores):
            value[row] = marginals_pair(c, np.ascontiguousarray(scores[row]), checked, out[row])
        return value, out


def inner_part(z: Float, pair_scores: Float) -> Float:
    """The best ``w`` of the local polytope given ``z[..., 2]``: high if scored, else low."""
    high = z.min(axis=-1)
    low = np.maximum(0.0, z.sum(axis=-1) - 1.0)
    return np.where(pair_scores >= 0, high, low)
