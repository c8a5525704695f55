"""One sentence by AD3: a tree, a bound on every other tree, and the relaxed answer.

The run of `assent.AD3` on the problem of :mod:`assent.apps.parsing.sentence_graph`, laid out in
compiled code: a text has a problem for every sentence, and most take a few iterations.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.ad3 import advance, anderson, dual_points, initial_multipliers
from assent.kernels.ad3 import state as places
from assent.kernels.ad3.state import ONLY_THREAD, Instance, Links, Outside, Quadratic, Structures
from assent.kernels.ad3.table_steps import group_support, make_flat_work, make_supports
from assent.kernels.core import thread_shares
from assent.kernels.core.barrier import new_barrier
from assent.kernels.core.oracle import address_of
from assent.kernels.kinds.sentences.head_automata import maximize_automaton, parts_automaton
from assent.kernels.kinds.sentences.spanning_trees import maximize_arborescence
from assent.kernels.parsing import sentence_parts, sentence_structures
from assent.kernels.parsing.sentence_parts import Arcs, Automata
from assent.kernels.problem import Float, ScoredProblem, make_logic, no_tables
from assent.proof.gap_rule import least_and_relative
from assent.solvers.ad3.ad3 import AD3

# Iterations between two looks at the answer and its bound.
ROUND = 5

# As `AD3` takes where structures dominate.
OVER_RELAXATION = 1.85

_NO_LINKS = Links(np.zeros((0, 2)), np.zeros(0), np.zeros(0))


class Solution(NamedTuple):
    """The best tree found, and what is known about the best there is."""

    heads: NDArray[np.int64]  # [n]
    value: float
    bound: float
    proven: bool
    iterations: int
    marginals: Float  # [A] the relaxed answer
    inner: Float  # that of the inner parts of automata


class _Nothing(NamedTuple):
    """What a problem of structures alone has none of."""

    outside: Outside
    groups: Any
    pairs: NDArray[np.int32]
    scores: Float
    history: Any


@cache
def _nothing() -> _Nothing:
    from assent.kernels.ad3.table_steps import make_layout

    tables = no_tables()
    layout, empty = make_layout(tables), np.zeros(0)
    outside = Outside(
        tables, layout, make_supports(tables, layout), make_flat_work(tables, layout),
        np.zeros(0, np.bool_), np.zeros(0, np.bool_), np.zeros((7, 1)),
        Quadratic(empty, empty, empty, empty), None,
    )  # fmt: skip
    groups = make_logic([])
    for array in groups:
        array.setflags(write=False)
    pairs = np.zeros((0, 2), np.int32)
    pairs.setflags(write=False)
    return _Nothing(outside, groups, pairs, np.zeros(0), anderson.make_history(0))


class TurboRun:
    """An AD3 run on one sentence; solvers' settings are those of `AD3`."""

    def __init__(
        self, arcs: Arcs, automata: Automata, single_root: bool, arc_scores: Float, inner: Float
    ) -> None:
        self.arcs, self.automata, self.single_root = arcs, automata, single_root
        self.scores, self.inner = arc_scores, inner
        structures = _structures(arcs, automata, single_root)
        nothing, tables = _nothing(), structures.tables
        degree = np.bincount(tables.lits, minlength=len(arcs.head)).astype(np.int32)
        degree.setflags(write=False)
        table = inner.view()
        table.setflags(write=False)
        self.own = Instance(
            ScoredProblem(nothing.pairs, nothing.groups, arc_scores, nothing.scores, 0.0), table,
            tables.lits, np.zeros(0), np.zeros(0), degree.astype(np.float64), degree,
            float(len(tables.lits)), OVER_RELAXATION,
        )  # fmt: skip
        self.outside = nothing.outside._replace(structures=structures)
        division = thread_shares.whole_division(0, nothing.groups.members, len(degree), 0)
        p = 1.0 / np.diff(arcs.first)[arcs.modifier].astype(np.float64)
        self.state = places.make_state(self.own, division, 0, p)
        self.state.numbers[places.PENALTY] = self._penalty(tables)
        dual_points.start(self.own, self.state, _NO_LINKS)
        self.barrier = new_barrier()

    def _penalty(self, tables: Any) -> float:
        own, nothing = self.own, _nothing()
        scale = initial_multipliers.size_of_scores(self.scores, own.degree, nothing.scores)
        parts = initial_multipliers.size_of_tables(
            tables.kind, tables.entry, tables.factor, own.table
        )
        return max(scale, parts) or 1.0

    def solve(self, solver: AD3) -> Solution:
        """Iterate until a tree is proven best, or the solver's iterations are over."""
        settings = solver.compiled_settings()
        least, relative = least_and_relative(solver.gap_tolerance, 1.0)
        history, numbers = _nothing().history, self.state.numbers
        best, value, bound = np.zeros(0, np.int64), -np.inf, np.inf
        while True:
            advance.advance(
                self.own, self.outside, self.state, history, settings, ROUND, ONLY_THREAD,
                self.barrier,
            )  # fmt: skip
            heads = sentence_parts.best_tree(self.arcs, self.state.current.p, self.single_root)
            found = sentence_parts.tree_value(
                self.arcs, self.automata, heads, self.scores, self.inner
            )
            if found > value:
                best, value = heads, found
            bound = min(bound, dual_points.latest_bound(
                self.own, self.outside, self.state, ONLY_THREAD, self.barrier
            ))  # fmt: skip
            proven = bound - value <= least + relative * abs(bound)
            done = int(numbers[places.ITERATIONS])
            if proven or done >= solver.max_iterations:
                return self._solution(best, value, bound, proven, done)

    def _solution(
        self, heads: NDArray[np.int64], value: float, bound: float, proven: bool, done: int
    ) -> Solution:
        if proven:
            marginals = sentence_parts.tree_arcs(self.arcs, heads)
            inner = sentence_parts.tree_inner_parts(self.arcs, self.automata, heads)
        else:
            marginals, inner = np.clip(self.state.current.p, 0.0, 1.0), self._inner_marginals()
        return Solution(heads, float(value), float(bound), bool(proven), done, marginals, inner)

    def _inner_marginals(self) -> Float:
        """Weights of inner parts in the automata's own copies."""
        own, out = self.outside.structures, np.zeros(len(self.inner))
        assert own is not None
        for u in range(len(self.automata.head)):
            support = group_support(own.tables, own.layout, own.supports, u + 1)
            part = out[self.automata.entry[u] : self.automata.entry[u + 1]]
            data = own.models.data[own.models.data_at[u + 1] : own.models.data_at[u + 2]]
            for i in range(int(support.size[0])):
                states, weight = support.states[0, i], float(support.weight[0, i])
                parts_automaton(data[:0], data, states, weight, part)
        return out


def _structures(arcs: Arcs, automata: Automata, single_root: bool) -> Structures:
    """State of the tree and the automata before the first iteration."""
    tables = sentence_structures.make_tables(arcs, automata)
    models = sentence_structures.make_models(
        arcs, automata, single_root, address_of(maximize_arborescence),
        address_of(maximize_automaton),
    )  # fmt: skip
    layout = sentence_structures.make_layout(tables)
    for array in (*tables, models.data, models.place, models.base, layout.start, layout.no_base):
        array.setflags(write=False)
    work = make_flat_work(tables, layout)
    return Structures(
        tables, models, layout, 0, 0, make_supports(tables, layout), work, np.empty(len(work.a)),
        np.zeros(len(tables.kind), np.bool_), np.zeros(0),
    )  # fmt: skip
