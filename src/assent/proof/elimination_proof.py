"""A leaf of a proof: the optimum by variable elimination; imports no solver.

Every factor of the graph is tabulated over variables, and these are eliminated one after the
other.  It is recomputed here from the graph, in plain NumPy; the proof itself is nothing but the
order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled
from assent.factors.base import Factor, Logic
from assent.factors.normal_form import NormalForm
from assent.factors.pair import Pair
from assent.factors.scored import Scored
from assent.factors.table import Table
from assent.kernels.problem import SUM, Float, Int32, Int64
from assent.model.variables import coordinates_of
from assent.proof.bucket_elimination import Piece, eliminate
from assent.proof.certify import literal_truth
from assent.proof.field_checks import are_places
from assent.proof.projected_constraints import possible

if TYPE_CHECKING:
    from assent.proof.field_checks import Known
    from assent.proof.replay import Replay

# Entries of the largest table: a gigabyte.
LARGEST = 2**27


@dataclass(frozen=True, eq=False)
class EliminationOrder:
    """Variables in the order of their elimination.

    ``variables`` are coordinates of the graph: one alone for a binary variable, several for a
    variable of as many states, of which a factor of the graph makes exactly one true.
    """

    variables: tuple[Int64, ...]

    @classmethod
    def of(cls, compiled: Compiled, variables: list[Int64]) -> EliminationOrder:
        """The proof for an order of variables.

        One whose single state follows from several factors is taken apart into binary ones.
        """
        unproven = unproven_choices(compiled, compiled.fixed, variables)
        parts = [
            np.split(states, len(states)) if frozenset(states.tolist()) in unproven else [states]
            for states in variables
        ]
        return cls(tuple(part for several in parts for part in several))

    def bound(self, replay: Replay, known: Known) -> float:
        """The optimum among assignments that agree with ``known``; ``inf`` if it cannot be told."""
        if not all(are_places(states, len(known)) for states in self.variables):
            return np.inf
        left = [states[known[states] == -1] for states in self.variables]
        variables = [states for states in left if len(states)]
        view = _View(variables, known)
        if not view.covers(known) or unproven_choices(replay.compiled, known, variables):
            return np.inf
        scores = replay.scores
        total = scores.constant + float(scores.theta[known == 1].sum())
        pieces = view.own_scores(scores.theta)
        for block, own in zip(
            replay.compiled.blocks, replay.compiled.by_block(scores), strict=True
        ):
            if not view.tabulates(block.factor):
                return np.inf
            value, tables = view.tables_of(block.factor, own)
            total += value
            pieces += tables
        return total + eliminate(len(variables), pieces, LARGEST)


def unproven_choices(
    compiled: Compiled, known: Known, variables: Sequence[Int64]
) -> set[frozenset[int]]:
    """Variables of several states of which no factor says that they are in exactly one."""
    wanted = {frozenset(v.tolist()) for v in variables if len(v) > 1}
    first = {min(states) for states in wanted}
    for block in compiled.blocks if wanted else ():
        wanted.difference_update(choices(block.factor, known, first))
    return wanted


def choices(factor: Factor, known: Known, first: set[int]) -> Iterator[frozenset[int]]:
    """Sets of free coordinates of which a factor makes exactly one true.

    Only those whose smallest member is in ``first``.
    """
    form = factor.normal_form() if isinstance(factor, Logic) else None
    if form is None or form.form != SUM:
        return
    lits = form.literals(factor.codes)
    own = coordinates_of(lits)
    is_open = known[own] == -1
    true = (literal_truth(lits, known) & ~is_open).sum(axis=1)
    for row in np.flatnonzero((form.k - true == 1) & (is_open <= (lits >= 0)).all(axis=1)):
        states = own[row][is_open[row]]
        if len(states) and int(states.min()) in first:
            yield frozenset(states.tolist())


class _View:
    """The graph's factors seen as tables over variables, some coordinates known."""

    def __init__(self, variables: list[Int64], known: Known) -> None:
        self.known, self.variables = known, variables
        self.var_of = np.full(len(known), -1, np.int64)
        self.state_of = np.ones(len(known), np.int64)
        for number, states in enumerate(variables):
            self.var_of[states] = number
            if len(states) > 1:
                self.state_of[states] = np.arange(len(states))
        self.card = [max(2, len(states)) for states in variables]

    def covers(self, known: Known) -> bool:
        """Whether the free coordinates are those of the variables, each of one."""
        count = sum(map(len, self.variables))
        return count == int((known == -1).sum()) == int(((self.var_of >= 0) & (known == -1)).sum())

    def own_scores(self, theta: Float) -> list[Piece]:
        """The variables' own scores."""
        return [
            Piece((v,), theta[states] if len(states) > 1 else np.array([0.0, theta[states[0]]]))
            for v, states in enumerate(self.variables)
        ]

    def tabulates(self, factor: Factor) -> bool:
        """Whether a factor has tables: a structure has none, unless all of it is known."""
        if not isinstance(factor, Scored) or isinstance(factor, Table):
            return True
        return not (self.known[coordinates_of(factor.codes)] == -1).any()

    def tables_of(self, factor: Factor, scores: Float) -> tuple[float, list[Piece]]:
        """The value of the factors without free variables, and the tables of all others.

        ``inf``, and no tables, where one would be too large.
        """
        codes = factor.codes
        own = coordinates_of(codes)
        is_open = (self.known[own] == -1).any(axis=1)
        value = self._known_value(factor, scores, np.flatnonzero(~is_open))
        form = factor.normal_form() if isinstance(factor, Logic) else None
        rows = np.flatnonzero(is_open).tolist()
        scopes = [self._scope(own[row]) for row in rows]
        if any(prod(self.card[v] for v in scope) > LARGEST for scope in scopes):
            return np.inf, []
        tables = map(partial(self._table, factor, form, scores), rows, scopes)
        return value, list(tables)

    def _known_value(self, factor: Factor, scores: Float, rows: Int64) -> float:
        """Value of factors of which everything is known; ``-inf`` if one is violated."""
        if not len(rows):
            return 0.0
        truth = literal_truth(factor.codes, self.known)
        if isinstance(factor, Pair):
            return float(scores[rows][truth[rows].all(axis=1)].sum())
        if isinstance(factor, Scored):
            return float(factor.value_at(truth, scores)[rows].sum())
        assert isinstance(factor, Logic)
        return 0.0 if factor.holds(truth)[rows].all() else -np.inf

    def _scope(self, own: Int64) -> tuple[int, ...]:
        """The free variables of some coordinates."""
        return tuple(dict.fromkeys(self.var_of[own[self.known[own] == -1]].tolist()))

    def _table(
        self,
        factor: Factor,
        form: NormalForm | None,
        scores: Float,
        row: int,
        scope: tuple[int, ...],
    ) -> Piece:
        codes = factor.codes[row]
        own = coordinates_of(codes)
        shape = tuple(self.card[v] for v in scope)
        truth = self._truth(codes, own, scope, shape)
        if isinstance(factor, Pair):
            value = np.where(truth.all(axis=1), scores[row], 0.0)
        elif isinstance(factor, Table):
            value = factor.value_at(
                truth, np.broadcast_to(scores[row], (len(truth), scores.shape[1]))
            )
        else:
            assert form is not None
            value = np.where(_row_holds(form, row, truth), 0.0, -np.inf)
        return Piece(scope, value.reshape(shape))

    def _truth(
        self, codes: Int32, own: Int64, scope: tuple[int, ...], shape: tuple[int, ...]
    ) -> NDArray[np.bool_]:
        """Truth of all literals in every joint state, ``[states, literals]``."""
        joint = np.indices(shape).reshape(len(shape), -1)
        truth = np.empty((joint.shape[1], len(codes)), bool)
        for j, (code, coordinate) in enumerate(zip(codes, own, strict=True)):
            if self.known[coordinate] != -1:
                true = np.full(len(truth), self.known[coordinate] == 1)
            else:
                axis = scope.index(int(self.var_of[coordinate]))
                true = joint[axis] == self.state_of[coordinate]
            truth[:, j] = true ^ (code < 0)
        return truth


def _row_holds(form: NormalForm, row: int, truth: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether literal truths ``[states, size]`` satisfy factor ``row`` of a batch."""
    weights = None if form.weights is None else form.weights[row]
    capacity = 0.0 if form.capacity is None else float(form.capacity[row])
    none_free = np.zeros(truth.shape[1], bool)
    return possible(form.form, int(form.k[row]), truth ^ form.flip, none_free, weights, capacity)
