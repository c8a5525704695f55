"""A step of MIRA: the least change of the weights after which a loss is paid for.

The difference between the features of the right tree and those of the predicted one is summed in a
table as long as that of the weights, zero between two steps; only places that were touched are
visited.  Averages come from a second table, to which each change adds with the number of its step:
the average of the weights over T steps is ``weights - late / T``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.jit import jit, jit_internal
from assent.kernels.parsing.feature_places import MOST_PLACES, make_features
from assent.kernels.parsing.part_visits import Touched, visit_parts


class WeightTable(NamedTuple):
    """Weights while they are learned; all arrays have a power of two as length."""

    weights: np.ndarray  # float32
    late: np.ndarray  # float32: changes, each times the number of its step
    difference: np.ndarray  # float32: zero between two steps


@jit_internal
def make_touched(amounts):
    """Room for the places that parts with these amounts touch; an inner part has two kinds."""
    used = 0
    for own in amounts:
        for i in range(len(own)):
            used += 2 * (own[i] != 0.0)
    places = np.empty(used * MOST_PLACES + 1, np.uint32)
    return Touched(places, np.zeros(1, np.int64), np.zeros(1))


@jit
def mira_update(tokens, parts, kinds, amounts, loss, most, step, table):
    """Change the weights by the least amount that makes up for ``loss``; returns the step size.

    ``amounts`` say how much more the right tree has of each part than the predicted one, ``most``
    is the longest step, ``step`` the number of this one, from 1.
    """
    features, touched = make_features(table.weights), make_touched(amounts)
    # 1. The difference.
    visit_parts(tokens, parts, kinds, table.difference, features, touched, amounts)
    # 2. The step: as long as the loss asks for.
    square = touched.square[0]
    size = min(most, loss / square) if square > 0.0 else 0.0
    for i in range(touched.numbers[0]):
        place = touched.places[i]
        change = size * table.difference[place]
        table.weights[place] += change
        table.late[place] += step * change
        table.difference[place] = 0.0
    return size
