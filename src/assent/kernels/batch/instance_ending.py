"""The end of a run on one small problem: whether it is reached, and what is stated then."""

from __future__ import annotations

from assent.kernels.ad3 import table_steps
from assent.kernels.ad3.initial_multipliers import relaxed_score
from assent.kernels.batch.instance import RELAXED, TOO_MANY_ITERATIONS, write
from assent.kernels.core.evaluate import weigh_entries
from assent.kernels.core.propagate import inner, lean


@inner
def relaxed_value(own, tables, layout, aside, p):
    """Score of the consensus in the relaxation."""
    total = own.constant + relaxed_score(own.theta, own.pair_var, own.pair, p)
    if tables is not None:
        total += table_steps.inner_value(tables, layout, aside.supports)
    return total


@inner
def meets_bound(own, tables, layout, aside, p, bound, tolerance):
    """Whether the consensus is worth what the bound says: the relaxation is then solved."""
    return abs(bound - relaxed_value(own, tables, layout, aside, p)) <= tolerance


@lean
def end_without_proof(solved, over, asked):
    """How a run ends that has proven nothing: ``asked`` is what a caller wants, mostly to go on."""
    if solved:
        return RELAXED
    return TOO_MANY_ITERATIONS if over else asked


@inner
def state_answer(tables, x, p, weights):
    """The answer ``x[n]`` is the consensus, and tables are where it puts them."""
    write(x, p)
    if tables is not None:
        weigh_entries(tables, x, weights)


@inner
def state_marginals(own, tables, layout, aside, p, weights):
    """Weights of the table entries, and the consensus cut to [0, 1]; returns what it is worth."""
    value = relaxed_value(own, tables, layout, aside, p)
    if tables is not None:
        table_steps.inner_marginals(tables, layout, aside.supports, weights)
    for v in range(p.size):
        p[v] = min(max(p[v], 0.0), 1.0)
    return value
