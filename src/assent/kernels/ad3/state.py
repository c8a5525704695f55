"""AD3 as compiled code sees it: a problem with its scores, and what is kept between reports.

``outside`` is ``None`` for problems that the fused loop takes whole: their kernels then hold
nothing of the rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from assent.kernels.core.thread_shares import PAIR_BLOCK, Division
from assent.kernels.core.vertices import Support, Work
from assent.kernels.kinds.logic_projections import LANE_ROWS, LANES, count_common
from assent.kernels.problem import ScoredProblem, Tables

# Numbers in a row of ``State.sums``: a thread writes alone to its cache lines.
SUMS = 16

# The number of the thread that is at work.  Not a plain integer: those are part of the type of a
# call, and kernels would be compiled once more for this one.
ONLY_THREAD = np.int64(0)

# The dual points at hand: the iterate, the running average, and the average of that.
CURRENT, MEAN, SMOOTH = 0, 1, 2

# Places in ``State.numbers``.
ITERATIONS = 0  # done so far
PENALTY = 1
IDLE_SQUARES = 2  # mean squares up to which a block becomes inactive
PRIMAL, DUAL = 3, 4  # root-mean-square residuals
BALANCE = 5  # sum of log(spread / move) since the penalty was checked
BALANCED_AT = 6  # iteration of that check
EXTRAPOLATED_AT = 7  # iteration of the last extrapolation along the drift
BOUNDS = 8  # how many were taken
BOUNDED_AT = 9  # iteration of the last one
TRIED_AT = 10  # larger residual when all dual points were tried last
PREFERRED = 11  # the dual point that gave the best bound then
WARM = 12  # whether the run began at the end of an earlier one
ORDERED = 13  # whether blocks are visited in Gauss-Seidel order in the first iterations
NUMBERS = 14


class Instance(NamedTuple):
    """A problem, its scores, and the weights of its links."""

    problem: ScoredProblem
    table: np.ndarray  # entries of the tables, then of structures
    table_lits: np.ndarray  # of both
    weight: np.ndarray  # float64[G], penalties of the groups relative to the pairs'
    of_link: np.ndarray  # float64[L], weight by link
    mass: np.ndarray  # float64[n], weight of each coordinate's links
    degree: np.ndarray  # int32[n]
    total_weight: float  # of all links
    alpha: float  # over-relaxation


class Settings(NamedTuple):
    """Those of ``solvers.ad3.AD3`` that compiled code reads."""

    relative_gap: float  # an answer is optimal within this, relative to its bound
    residual_tolerance: float
    max_iterations: int
    adapt: bool
    cache_idle: bool
    extrapolate: bool
    ray_margin: float  # a proof of infeasibility is this clear of rounding, relatively
    random_state: int  # state of the random numbers at the start


class Point(NamedTuple):
    """Multipliers ``w = u - p`` of all links, and the consensus: a dual point."""

    pair: np.ndarray  # float64[P, 2]
    logic: np.ndarray  # float64[L], literal space
    table: np.ndarray  # one per link of the tables, literal space
    p: np.ndarray  # float64[n]


class Links(NamedTuple):
    """A dual point as link scores."""

    pair: np.ndarray  # float64[P, 2]
    logic: np.ndarray  # float64[L]
    table: np.ndarray


class State(NamedTuple):
    """What AD3 keeps from one report to the next, and the scratch of its threads."""

    current: Point
    mean: Point  # running averages
    smooth: Point  # the averages averaged again, empty where that is not done
    tau: np.ndarray  # float64[F], remembered thresholds
    pairs_inactive: np.ndarray  # bool, blocks that agree with the consensus
    logic_inactive: np.ndarray
    marks: np.ndarray  # float64[3, links], where multipliers were before an extrapolation, or empty
    numbers: np.ndarray  # float64[NUMBERS]
    division: Division  # of the work between threads
    totals: np.ndarray  # float64[threads, n], zero between iterations
    residuals: np.ndarray  # float64[threads, n]
    block: np.ndarray  # float64[threads, largest size * LANES]
    lanes: np.ndarray  # float64[threads, LANE_ROWS, LANES]
    sums: np.ndarray  # float64[threads, SUMS]
    parts: np.ndarray  # float64[threads, 2]
    scales: np.ndarray  # float64[threads, G + 1], of the dual point that is looked at


class Sweep(NamedTuple):
    """What holds for all factors in one iteration."""

    inverse_rho: float
    alpha: float  # over-relaxation
    full: bool  # whether inactive blocks take part, and it is decided anew who is inactive
    limit: float  # mean squares up to which a block becomes inactive
    vertices: int  # that a table or structure may try at most


class Consensus(NamedTuple):
    """Where factors read the consensus and add ``q - p``.

    In Gauss-Seidel order ``total`` is ``p`` itself and ``rate[n]`` what makes this step 3;
    otherwise ``rate`` is empty.
    """

    p: np.ndarray
    rate: np.ndarray
    total: np.ndarray


class Quadratic(NamedTuple):
    """A factor per coordinate that earns ``linear * x - curvature * (x - target)^2 / 2``."""

    target: np.ndarray  # float64[n], or empty
    curvature: np.ndarray  # float64[n], 0 where nothing pulls
    linear: np.ndarray  # float64[n]
    w: np.ndarray  # float64[n], as every link's


class StructureGroups(NamedTuple):
    """What the structures of a problem are, and scratch for one of them at a time."""

    tables: Tables
    models: Any  # structure_steps.Models
    layout: Any  # table_steps.Layout
    work: Work
    masked: np.ndarray  # float64, one per place
    states: np.ndarray  # int32[2, slots]


class Structures(NamedTuple):
    """State of the structures; see :mod:`assent.kernels.ad3.structure_steps`."""

    groups: StructureGroups
    first_link: int  # of theirs among the links of tables and structures
    first_entry: int
    supports: Support
    inactive: np.ndarray
    memory: np.ndarray  # of structures that project for themselves


class Outside(NamedTuple):
    """State of the factors outside the fused loop."""

    tables: Tables  # without the structures
    layout: Any  # table_steps.Layout
    supports: Support
    work: Work
    tables_inactive: np.ndarray
    singles_inactive: np.ndarray  # parities and knapsacks
    scratch: np.ndarray
    quadratic: Quadratic
    structures: Structures  # without any group where there are none


def make_state(own, division, marked_links, p):
    """Room for a run of the division's threads, with consensus ``p`` and no iteration done.

    ``marked_links`` is their number where multipliers may be extrapolated, else 0.  Plain Python,
    which batches compile.
    """
    groups = own.problem.groups
    pairs, links, n = len(own.problem.pair_var), groups.lits.size, p.size
    table_links, threads = own.table_lits.size, len(division.shares)
    longest, blocks = 1, 0
    for g in range(count_common(groups.kind)):
        longest = max(longest, groups.size[g])
        blocks += (groups.members[g] + LANES - 1) // LANES
    numbers = np.zeros(NUMBERS)
    numbers[PRIMAL] = numbers[DUAL] = numbers[TRIED_AT] = np.inf
    numbers[PREFERRED] = MEAN
    return State(
        Point(np.empty((pairs, 2)), np.empty(links), np.empty(table_links), p),
        Point(np.zeros((pairs, 2)), np.zeros(links), np.zeros(table_links), np.zeros(n)),
        Point(np.zeros((0, 2)), np.zeros(0), np.zeros(0), np.zeros(0)),
        np.zeros(groups.k.size),
        np.zeros((pairs + PAIR_BLOCK - 1) // PAIR_BLOCK, np.bool_),
        np.zeros(blocks, np.bool_),
        np.zeros((3, marked_links)),
        numbers,
        division,
        np.zeros((threads, n)), np.empty((threads, n)), np.zeros((threads, longest * LANES)),
        np.zeros((threads, LANE_ROWS, LANES)), np.zeros((threads, SUMS)), np.empty((threads, 2)),
        np.empty((threads, own.weight.size + 1)),
    )  # fmt: skip
