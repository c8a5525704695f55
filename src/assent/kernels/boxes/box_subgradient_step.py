"""Projected subgradient on box duals (Belanger et al., Algorithm 2, with its sign corrected).

One iteration: ``nu <- clip(nu + eta * g)`` with ``g`` the excess at the submodels' last vertices;
submodels whose scores changed are asked again; the step follows from the dual value.  The vertices
together are an assignment at every moment, worth the dual value less what multipliers fall short of
penalties.
"""

from __future__ import annotations

import numpy as np

from assent.kernels.boxes.submodels import charge, charge_all, cost_of, excess_of, solve_submodel
from assent.kernels.jit import jit
from assent.kernels.messages.subgradient_step import (
    BEST,
    CALLS,
    DONE,
    INCREASES,
    LAST,
    STEP,
    next_step,
)

# Further places in ``state``, behind those of the plain subgradient.
VALUE = 15  # of the best assignment
SLACK = 16  # how far the last one is from complementary slackness
STATES = 17


@jit
def advance(
    flat, submodels, boxes, inner, theta, constant, rule, in_increases, iterations,
    nu, r, s, x, values, changed, best_nu, best_x, state, work,
):  # fmt: skip
    """Do ``iterations`` more; stops where the assignment is as good as the bound says.

    ``values[factors]`` are the submodels' maxima, ``changed[factors]`` who has to be asked.
    """
    excess = np.empty(len(nu))
    for _ in range(iterations):
        if state[DONE] > 0.0:
            for t in range(len(nu)):
                new = nu[t] + state[STEP] * excess_of(boxes, t, x)
                new = min(max(new, boxes.lower[t]), boxes.upper[t])
                if new == nu[t]:
                    continue
                charge(boxes, t, new - nu[t], r)
                nu[t] = new
                for term in range(boxes.term[t], boxes.term[t + 1]):
                    lit = boxes.lits[term]
                    owner = submodels.owner[~lit if lit < 0 else lit]
                    if owner >= 0 and boxes.sign[term] != 0.0:
                        changed[owner] = True
        # Anew every time: sums of changes would gather errors, and this is cheap beside a search.
        dual = constant + charge_all(boxes, nu, theta, r)
        for factor in range(len(changed)):
            if changed[factor]:
                values[factor] = solve_submodel(flat, submodels, inner, factor, r, s, x, work)
                changed[factor] = False
                state[CALLS] += 1.0
            dual += values[factor]
        for v in range(len(r)):
            if submodels.owner[v] < 0:
                x[v] = 1.0 if r[v] > 0.0 else 0.0
                dual += max(r[v], 0.0)
        short = 0.0
        squares = 0.0
        for t in range(len(nu)):
            excess[t] = excess_of(boxes, t, x)
            short += cost_of(boxes, t, excess[t]) - nu[t] * excess[t]
            stuck = (excess[t] > 0.0 and nu[t] >= boxes.upper[t]) or (
                excess[t] < 0.0 and nu[t] <= boxes.lower[t]
            )
            if not stuck:
                squares += excess[t] * excess[t]
        state[DONE] += 1.0
        if state[DONE] > 1.0 and dual > state[LAST]:
            state[INCREASES] += 1.0
        state[LAST] = dual
        state[SLACK] = short
        if dual < state[BEST]:
            state[BEST] = dual
            best_nu[:] = nu
        if dual - short > state[VALUE]:
            state[VALUE] = dual - short
            best_x[:] = x
        state[STEP] = next_step(rule, in_increases, squares, state)
        if squares == 0.0:
            break
