"""What an assignment is worth and which logic factors it breaks."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.kernels.jit import jit
from assent.problem import ANYOF, CAP


def violated(problem: Any, x: np.ndarray) -> np.ndarray:
    """Flags ``uint8[F]`` of the logic factors that the 0/1 vector ``x[n]`` breaks.

    Example:
        >>> import numpy as np
        >>> from assent.problem import SUM, make_problem
        >>> one_of = (SUM, np.array([[0, 1], [1, ~2]], np.int32), np.ones(2, np.int32))
        >>> problem = make_problem(3, np.zeros((0, 2), np.int32), [one_of])
        >>> violated(problem, np.array([1, 0, 1])).tolist()
        [0, 1]
    """
    broken = np.zeros(len(problem.k), np.uint8)
    _mark_violated(
        problem.group_kind,
        problem.group_size,
        problem.group_count,
        problem.group_link,
        problem.group_factor,
        problem.lits,
        problem.k,
        np.ascontiguousarray(x, np.int8),
        broken,
    )
    return broken


def value(problem: Any, scores: Any, x: np.ndarray) -> float:
    """Score of the 0/1 vector ``x[n]``, constraints disregarded.

    Example:
        >>> import numpy as np
        >>> from assent.problem import Scores, make_problem
        >>> problem = make_problem(2, np.array([[0, 1]], np.int32), [])
        >>> value(problem, Scores(np.array([1.0, 2.0]), np.array([-4.0])), np.array([1, 1]))
        -1.0
    """
    x = np.ascontiguousarray(x, np.int8)
    total = _summed_scores(scores.theta, problem.pair_var, scores.pair, x)
    return float(scores.constant + total)


@jit
def _mark_violated(kind, size, count, first_link, first_factor, lits, k, x, broken):
    for g in range(kind.size):
        m = count[g]
        inputs = size[g] - 1 if kind[g] == ANYOF else size[g]
        for f in range(m):
            true = 0
            for j in range(inputs):
                literal = lits[first_link[g] + j * m + f]
                true += x[literal] if literal >= 0 else 1 - x[~literal]
            factor = first_factor[g] + f
            if kind[g] == ANYOF:
                literal = lits[first_link[g] + inputs * m + f]
                output = x[literal] if literal >= 0 else 1 - x[~literal]
                broken[factor] = (true > 0) != (output == 1)
            elif kind[g] == CAP:
                broken[factor] = true > k[factor]
            else:
                broken[factor] = true != k[factor]


@jit
def _summed_scores(theta, pair_var, pair, x):
    """Neumaier's compensated sum: values are compared with bounds to the last digits."""
    total = 0.0
    lost = 0.0
    for v in range(theta.size + pair.size):
        if v < theta.size:
            term = theta[v] * x[v]
        else:
            e = v - theta.size
            term = pair[e] * (x[pair_var[e, 0]] * x[pair_var[e, 1]])
        raised = total + term
        if abs(total) >= abs(term):
            lost += (total - raised) + term
        else:
            lost += (term - raised) + total
        total = raised
    return total + lost
