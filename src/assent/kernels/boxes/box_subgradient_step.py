"""Projected subgradient on box duals (Belanger et al., Algorithm 2, with its sign corrected).

One iteration: ``nu <- clip(nu + eta * g)`` with ``g`` the excess at the submodels' last vertices;
submodels whose scores changed are asked again; the step follows from the dual value.  The vertices
together are an assignment at every moment, worth the dual value less what multipliers fall short of
penalties.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.boxes.submodels import charge, charge_all, cost_of, excess_of, solve_submodel
from assent.kernels.core.copies import copy_values
from assent.kernels.core.factor_list import Flat
from assent.kernels.jit import jit, jit_internal_no_allocation
from assent.kernels.messages.subgradient_step import (
    BEST,
    CALLS,
    DONE,
    STEP,
    count_iteration,
    next_step,
)

# Further places in ``state``, behind those of the plain subgradient.
VALUE = 15  # of the best assignment
SLACK = 16  # how far the last one is from complementary slackness
STATES = 17


class BoxModel(NamedTuple):
    """Submodels, the boxes that link them, and scores; see :mod:`assent.solvers.boxes.box_dual`."""

    flat: Flat
    submodels: Any
    boxes: Any
    inner: np.ndarray
    theta: np.ndarray  # float64[n]
    constant: float


class BoxPoint(NamedTuple):
    """Multipliers and vertices of a running solve; all written."""

    nu: np.ndarray  # float64[T] multipliers
    r: np.ndarray  # float64[n] what they leave of the scores
    s: np.ndarray  # float64[links] scratch
    x: np.ndarray  # float64[n] the submodels' vertices
    values: np.ndarray  # float64[factors] their maxima
    changed: np.ndarray  # bool[factors] who has to be asked again
    best_nu: np.ndarray
    best_x: np.ndarray
    state: np.ndarray  # float64[STATES]


@jit_internal_no_allocation
def move_multipliers(model, point):
    """A step along the excess, within the box; marks the submodels that it concerns."""
    boxes, owners, nu, step = model.boxes, model.submodels.owner, point.nu, point.state[STEP]
    for t in range(len(nu)):
        new = nu[t] + step * excess_of(boxes, t, point.x)
        new = min(max(new, boxes.lower[t]), boxes.upper[t])
        if new == nu[t]:
            continue
        charge(boxes, t, new - nu[t], point.r)
        nu[t] = new
        for term in range(boxes.term[t], boxes.term[t + 1]):
            lit = boxes.lits[term]
            owner = owners[~lit if lit < 0 else lit]
            if owner >= 0 and boxes.sign[term] != 0.0:
                point.changed[owner] = True


@jit_internal_no_allocation
def ask_submodels(model, point, work):
    """Best vertices of the submodels that changed, into ``x``; the sum of all their values."""
    r, x, total = point.r, point.x, 0.0
    for factor in range(len(point.changed)):
        if point.changed[factor]:
            point.values[factor] = solve_submodel(
                model.flat, model.submodels, model.inner, factor, r, point.s, x, work
            )
            point.changed[factor] = False
            point.state[CALLS] += 1.0
        total += point.values[factor]
    for v in range(len(r)):
        if model.submodels.owner[v] < 0:
            x[v] = 1.0 if r[v] > 0.0 else 0.0
            total += max(r[v], 0.0)
    return total


@jit_internal_no_allocation
def slackness(boxes, nu, x):
    """What multipliers fall short of penalties at ``x``, and the square of the subgradient."""
    short, squares = 0.0, 0.0
    for t in range(len(nu)):
        excess = excess_of(boxes, t, x)
        short += cost_of(boxes, t, excess) - nu[t] * excess
        stuck = (excess > 0.0 and nu[t] >= boxes.upper[t]) or (
            excess < 0.0 and nu[t] <= boxes.lower[t]
        )
        if not stuck:
            squares += excess * excess
    return short, squares


@jit
def advance(model, rule, point, work, iterations):
    """Do ``iterations`` more; stops where the assignment is as good as the bound says."""
    state = point.state
    for _ in range(iterations):
        if state[DONE] > 0.0:
            move_multipliers(model, point)
        # Anew every time: sums of changes would gather errors, and this is cheap beside a search.
        dual = model.constant + charge_all(model.boxes, point.nu, model.theta, point.r)
        dual += ask_submodels(model, point, work)
        short, squares = slackness(model.boxes, point.nu, point.x)
        count_iteration(dual, state)
        state[SLACK] = short
        if dual < state[BEST]:
            state[BEST] = dual
            copy_values(point.nu, point.best_nu)
        if dual - short > state[VALUE]:
            state[VALUE] = dual - short
            copy_values(point.x, point.best_x)
        state[STEP] = next_step(rule, squares, state)
        if squares == 0.0:
            break
