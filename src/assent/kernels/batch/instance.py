"""One small problem of a batch: what it starts from, what it leaves, how it ended."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.ad3.state import Links

# How a run ended; the first five are also what a caller may ask for by its stop flag.
RUNNING, TIME_OVER, INTERRUPTED = 0, 1, 2
TOO_MANY_ITERATIONS, OPTIMAL, RELAXED, INFEASIBLE = 3, 4, 5, 6


class BatchStart(NamedTuple):
    """What a run starts from."""

    penalty: float  # NaN to choose one by the scores
    least_gap: float  # an answer is optimal within this and ``Settings.relative_gap``
    known: np.ndarray  # int8[n] an assignment from elsewhere, or empty
    warm: Links  # link scores of an earlier run, or empty


class Answer(NamedTuple):
    """What a run writes; ``p`` also holds the consensus to start from."""

    p: np.ndarray  # float64[n] the consensus
    dual: Links  # the dual point of the bound
    x: np.ndarray  # int8[n] the best assignment
    weights: np.ndarray  # of the table entries


class BestSeen(NamedTuple):
    """The best of what a run has seen so far."""

    value: float
    violations: int
    bound: float
    random_state: int  # state of the random numbers


class BatchOutcome(NamedTuple):
    """How a run ended."""

    ending: int
    value: float
    bound: float
    violations: int
    iterations: int
    primal: float
    dual: float
    penalty: float
    relaxed: float  # score of the consensus in the relaxation
