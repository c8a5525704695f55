"""One small problem as compiled code sees it: what is given, what is kept, how it ended.

``tables``, ``layout`` and ``aside`` are ``None`` for problems that the blockwise kernels take
whole; these compile nothing of the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.ad3 import table_steps
from assent.kernels.ad3.iteration import SUMS
from assent.kernels.ad3.parity_knapsack_steps import ROWS
from assent.kernels.core.barrier import GATE_SIZE
from assent.kernels.core.propagate import inner, lean
from assent.kernels.core.thread_shares import PAIR_BLOCK, Division, whole_division
from assent.kernels.core.vertices import Support, Work
from assent.kernels.jit import jit
from assent.kernels.kinds.logic_projections import LANE_ROWS, LANES
from assent.kernels.problem import PARITY, LogicGroups

# How a run ended; the first five are also what a caller may ask for by its stop flag.
RUNNING, TIME_OVER, INTERRUPTED = 0, 1, 2
TOO_MANY_ITERATIONS, OPTIMAL, RELAXED, INFEASIBLE = 3, 4, 5, 6

# Functions between the loop and the kernels it calls: inlined before compilation, which otherwise
# would optimise the kernels again at every level of the call tree.
glue = jit(inline="always")

# The number of the thread that is at work.  Not a plain integer: those are part of the type of a
# call, and kernels that decoding uses as well would be compiled once more for this one.
ONLY_THREAD = np.int64(0)

empty_supports = inner(table_steps.make_supports)
empty_work = inner(table_steps.make_flat_work)


class Instance(NamedTuple):
    """A problem and its scores; names as in ``problem.Problem`` and ``ad3.Workspace``."""

    pair_var: np.ndarray
    kind: np.ndarray
    size: np.ndarray
    members: np.ndarray
    link: np.ndarray
    factor: np.ndarray
    lits: np.ndarray
    k: np.ndarray
    weights: np.ndarray
    capacity: np.ndarray
    weight: np.ndarray  # float64[G]
    of_link: np.ndarray  # float64[L], weight by link
    mass: np.ndarray  # float64[n]
    degree: np.ndarray
    theta: np.ndarray
    pair: np.ndarray
    table: np.ndarray
    constant: float
    total_weight: float  # of all links
    alpha: float  # over-relaxation


class Settings(NamedTuple):
    """What holds for all problems of a batch."""

    gap_tolerance: float
    residual_tolerance: float
    max_iterations: int
    adapt: bool
    cache_idle: bool
    extrapolate: bool
    ray_margin: float  # a proof of infeasibility is this clear of rounding, relatively
    chance: int  # state of the random numbers at the start


class State(NamedTuple):
    """Arrays of a running AD3; names as in ``ad3.Workspace``."""

    w_pair: np.ndarray
    w_logic: np.ndarray
    w_table: np.ndarray
    p: np.ndarray
    mean_w_pair: np.ndarray
    mean_w_logic: np.ndarray
    mean_w_table: np.ndarray
    mean_p: np.ndarray
    tau: np.ndarray
    pairs_asleep: np.ndarray
    logic_asleep: np.ndarray
    division: Division
    totals: np.ndarray
    block: np.ndarray
    lanes: np.ndarray
    sums: np.ndarray
    parts: np.ndarray
    gate: np.ndarray


class Links(NamedTuple):
    """A dual point: link scores."""

    pair: np.ndarray  # float64[P, 2]
    logic: np.ndarray  # float64[L]
    table: np.ndarray


class Aside(NamedTuple):
    """State of the factors outside the fused loop; see ``solvers.aside``."""

    supports: Support
    work: Work
    tables_asleep: np.ndarray
    singles_asleep: np.ndarray
    scratch: np.ndarray


class Outcome(NamedTuple):
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


@lean
def count_common(kind):
    """How many groups the blockwise kernels take; PARITY and KNAPSACK stand behind them."""
    common = 0
    while common < kind.size and kind[common] < PARITY:
        common += 1
    return common


@inner
def groups_of(own):
    """The logic factors of an instance."""
    return LogicGroups(
        own.kind, own.size, own.members, own.link, own.factor, own.lits, own.k, own.weights,
        own.capacity,
    )  # fmt: skip


@inner
def make_state(own, common, table_links, p):
    """Room for a run, with consensus ``p``."""
    pairs, links, n = len(own.pair_var), own.lits.size, p.size
    longest, blocks = 1, 0
    for g in range(common):
        longest = max(longest, own.size[g])
        blocks += (own.members[g] + LANES - 1) // LANES
    return State(
        np.empty((pairs, 2)), np.empty(links), np.empty(table_links), p,
        np.zeros((pairs, 2)), np.zeros(links), np.zeros(table_links), np.zeros(n),
        np.zeros(own.k.size), np.zeros((pairs + PAIR_BLOCK - 1) // PAIR_BLOCK, np.bool_),
        np.zeros(blocks, np.bool_), whole_division(pairs, own.members[:common], n, links),
        np.zeros((1, n)), np.zeros((1, longest * LANES)), np.zeros((1, LANE_ROWS, LANES)),
        np.zeros((1, SUMS)), np.empty((1, 2)), np.zeros(GATE_SIZE, np.int64),
    )  # fmt: skip


@inner
def make_aside(own, tables, layout, common):
    """Empty state of the factors outside the fused loop, or nothing."""
    if tables is None:
        return None
    longest, singles = 1, 0
    for g in range(common, own.kind.size):
        longest = max(longest, own.size[g])
        singles += own.members[g]
    return Aside(
        empty_supports(tables, layout), empty_work(tables, layout),
        np.zeros(tables.factor[-1], np.bool_), np.zeros(singles, np.bool_),
        np.zeros((ROWS, longest)),
    )  # fmt: skip


@lean
def write(values, out):
    """Copy; a slice assignment would compile several times as long, for shapes that may differ."""
    for i in range(values.size):
        out[i] = values[i]
