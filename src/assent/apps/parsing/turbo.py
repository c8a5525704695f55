"""One sentence by AD3: a tree, a bound on every other tree, and the relaxed answer.

The run of `assent.AD3` on the problem of :mod:`assent.apps.parsing.sentence_graph`, laid out in
compiled code: a text has a problem for every sentence, and most take a few iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.kernels.ad3 import advance, dual_points, initial_multipliers
from assent.kernels.ad3 import state as places
from assent.kernels.ad3.state import ONLY_THREAD, Instance, Links, Outside, Quadratic, Structures
from assent.kernels.ad3.structure_steps import make_groups
from assent.kernels.ad3.table_steps import group_support, make_flat_work, make_supports
from assent.kernels.core import thread_shares
from assent.kernels.core.barrier import new_barrier
from assent.kernels.core.structure_addresses import address_of
from assent.kernels.kinds.sentences.head_automata import maximize_automaton, parts_automaton
from assent.kernels.kinds.sentences.projective_chart import maximize_projective
from assent.kernels.kinds.sentences.spanning_trees import maximize_arborescence
from assent.kernels.kinds.sentences.tri_sibling_automata import maximize_triples, parts_triples
from assent.kernels.kinds.sequences.tree_recursion import maximize_tree, parts_tree, tree_data
from assent.kernels.parsing import sentence_parts, sentence_structures
from assent.kernels.parsing.sentence_parts import SentenceParts, SentenceScores, TreeShape
from assent.kernels.problem import Float, ScoredProblem, make_logic, no_tables
from assent.proof.gap_rule import least_and_relative
from assent.solvers.ad3.ad3 import AD3, no_history, with_room
from assent.solvers.base.dual_bound import read_only

# Iterations between two looks at the answer and its bound.
ROUND = 5

# Over-relaxation that needs the fewest iterations: less where pairs dominate, as in `AD3`.
OVER_RELAXATION, OF_MANY_PAIRS = 1.7, 1.5

_NO_LINKS = Links(np.zeros((0, 2)), np.zeros(0), np.zeros(0))


class Solution(NamedTuple):
    """The best tree found, and what is known about the best there is."""

    heads: NDArray[np.int64]  # [n]
    value: float
    bound: float
    proven: bool
    iterations: int
    marginals: SentenceScores  # the relaxed answer: how much of each part it has


@cache
def _nothing() -> tuple[Callable[[Structures], Outside], Any]:
    """What a problem of structures alone has none of: all outside of them, groups of logic."""
    from assent.kernels.ad3.table_steps import make_layout

    tables = no_tables()
    layout, empty = make_layout(tables), np.zeros(0)
    outside = partial(
        Outside, tables, layout, make_supports(tables, layout), make_flat_work(tables, layout),
        np.zeros(0, np.bool_), np.zeros(0, np.bool_), np.zeros((7, 1)),
        Quadratic(empty, empty, empty, empty),
    )  # fmt: skip
    groups = make_logic([], [], [])
    for array in groups:
        array.setflags(write=False)
    return outside, groups


def weigh_tree(
    parts: SentenceParts, scores: SentenceScores, point: Float, shape: TreeShape
) -> Solution:
    """The tree of most weight in a point ``[A]``, as if it were proven."""
    heads = sentence_parts.best_tree(parts.arcs, point, shape)
    chosen = sentence_parts.tree_parts(parts, heads)
    value = sentence_parts.sum_parts(scores, chosen)
    return Solution(heads, value, value, True, 0, chosen)


class TurboRun:
    """An AD3 run on one sentence whose parts look at no ancestors but the nearest."""

    def __init__(self, parts: SentenceParts, scores: SentenceScores, shape: TreeShape) -> None:
        self.parts, self.scores, self.shape = parts, scores, shape
        arcs, structures = parts.arcs, _structures(parts, shape)
        (outside, groups), tables = _nothing(), structures.groups.tables
        pairs = read_only(parts.pairs)
        links = np.concatenate([tables.lits, pairs.ravel()])
        degree = np.bincount(links, minlength=len(arcs.head)).astype(np.int32)
        degree.setflags(write=False)
        self.own = Instance(
            ScoredProblem(pairs, groups, scores.arcs, scores.pairs, 0.0),
            read_only(scores.inner), tables.lits, np.zeros(0), np.zeros(0),
            degree.astype(np.float64), degree, float(len(links)),
            OVER_RELAXATION if pairs.size <= len(tables.lits) else OF_MANY_PAIRS,
        )  # fmt: skip
        self.outside = outside(structures)
        division = thread_shares.whole_division(len(pairs), groups.members, len(degree), 0)
        p = 1.0 / np.diff(arcs.first)[arcs.modifier].astype(np.float64)
        self.state = places.make_state(self.own, division, 0, p)
        self.state.numbers[places.PENALTY] = self._penalty(tables)
        dual_points.start(self.own, self.state, _NO_LINKS)
        self.barrier = new_barrier()

    def _penalty(self, tables: Any) -> float:
        own, scores = self.own, self.scores
        scale = initial_multipliers.size_of_scores(scores.arcs, own.degree, scores.pairs)
        parts = initial_multipliers.size_of_tables(
            tables.kind, tables.entry, tables.factor, own.table
        )
        return max(scale, parts) or 1.0

    def solve(self, solver: AD3) -> Solution:
        """Iterate until a tree is proven best, the relaxation is solved, or iterations are over."""
        settings = solver.compiled_settings()
        least, relative = least_and_relative(solver.gap_tolerance, 1.0)
        own, outside, state, barrier = self.own, self.outside, self.state, self.barrier
        history, best, value, bound = no_history(), None, -np.inf, np.inf
        while True:
            history = with_room(history, state, settings)
            advance.advance(own, outside, state, history, settings, ROUND, ONLY_THREAD, barrier)
            tree = weigh_tree(self.parts, self.scores, state.current.p, self.shape)
            if tree.value > value:
                best, value = tree, tree.value
            latest = dual_points.latest_bound(own, outside, state, ONLY_THREAD, barrier)
            bound = min(bound, latest)
            tolerance = least + relative * abs(bound)
            proven = bound - value <= tolerance
            done = int(state.numbers[places.ITERATIONS])
            solved = self._is_solved(bound, tolerance, settings.residual_tolerance)
            if proven or solved or done >= solver.max_iterations:
                break
        assert best is not None
        marginals = best.marginals if proven else self._marginals()
        return Solution(best.heads, value, float(bound), bool(proven), done, marginals)

    def _is_solved(self, bound: float, tolerance: float, residual_tolerance: float) -> bool:
        """Whether the relaxed answer is worth the bound: no more iterations bring it down."""
        numbers = self.state.numbers
        if max(numbers[places.PRIMAL], numbers[places.DUAL]) > residual_tolerance:
            return False
        relaxed = dual_points.relaxed_value(self.own, self.outside, self.state.current.p)
        return abs(bound - relaxed) <= tolerance

    def _marginals(self) -> SentenceScores:
        """The consensus, and the weights of larger parts in the copies of their factors."""
        p = np.clip(self.state.current.p, 0.0, 1.0)
        first, second = p[self.parts.pairs.T]
        both = np.where(
            self.scores.pairs >= 0.0, np.minimum(first, second), np.maximum(first + second - 1, 0.0)
        )
        own, inner = self.outside.structures.groups, np.zeros(len(self.scores.inner))
        supports, automata = self.outside.structures.supports, len(self.parts.automata.head)
        kernels = [parts_automaton] * automata
        kernels += [parts_triples] * (len(own.tables.kind) - 1 - automata)
        if len(self.parts.bigram):
            kernels[-1] = parts_tree
        for group, kernel in enumerate(kernels, start=1):
            part = inner[own.tables.entry[group] : own.tables.entry[group + 1]]
            start = own.layout.start[own.tables.slot[group] + group :]
            data = own.models.data[own.models.data_at[group] : own.models.data_at[group + 1]]
            support = group_support(own.tables, own.layout, supports, group)
            for i in range(int(support.size[0])):
                kernel(start, data, support.states[0, i], float(support.weight[0, i]), part)
        return SentenceScores(p, inner, both, np.zeros(0), np.zeros(0))


def _structures(parts: SentenceParts, shape: TreeShape) -> Structures:
    """State of the structures before the first iteration."""
    tables = sentence_structures.make_tables(parts)
    tree = maximize_projective if shape.projective else maximize_arborescence
    searches = (tree, maximize_automaton, maximize_triples, maximize_tree)
    addresses = sentence_structures.Addresses(*map(address_of, searches))
    models = sentence_structures.make_models(
        parts, shape.single_root, addresses, _sequence_data(parts)
    )
    layout = sentence_structures.make_layout(tables)
    # As the structures of any graph: the code that is compiled for those serves here too.
    constants = models.data, models.place, models.base, layout.start, layout.no_base
    for array in (*tables, *constants):
        array.setflags(write=False)
    work = make_flat_work(tables, layout)
    groups = make_groups(tables, models, layout, work)
    inactive = np.zeros(len(tables.kind), np.bool_)
    return Structures(groups, 0, 0, make_supports(tables, layout), inactive, np.zeros(0))


def _sequence_data(parts: SentenceParts) -> NDArray[np.int32]:
    """The constants of the sequence of heads; empty if there is none."""
    if not len(parts.bigram):
        return np.zeros(0, np.int32)
    states = np.diff(parts.arcs.first)[1:].tolist()
    return tree_data(states, [*range(1, len(states)), -1])
