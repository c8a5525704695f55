"""From a written graph to the flat problem, and back.

Compilation (1) lists all factors, those implied by categorical variables included, (2) closes
evidence and forbidden values under unit propagation, (3) drops what is fixed or satisfied and
writes the rest in normal form, (4) groups it into flat arrays.  A :class:`Compiled` remembers
where everything went, so that scores flow in and answers and dual points flow back out.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.compile import logic_placement, pair_placement, table_placement
from assent.compile.explain import Explainer, PropagationStep
from assent.compile.logic_placement import FREE, Arranged, LogicRows, Placed
from assent.compile.pair_placement import PlacedPairs
from assent.compile.score_scale import median_size, score_scale
from assent.compile.structure_placement import Settled, settled_value
from assent.compile.table_placement import PlacedTables, StrictTable, Unary
from assent.errors import ModelError
from assent.factors.exactly_one import ExactlyOne
from assent.factors.pair import Pair
from assent.factors.scored import Scored
from assent.factors.soft import SoftKnapsack
from assent.factors.structure import Structure
from assent.kernels.problem import DualPoint, Float, Int32, Int64, Problem, Scores, assemble
from assent.model.graph import FactorGraph, GroupedHandle, Handle, VariableArray
from assent.model.scores import clean_scores, fit_scores
from assent.model.variables import Categorical, Literals, coordinates_of

NO_SCORES, NOWHERE = np.zeros(0), np.zeros(0, np.int64)  # of constraints


@dataclass(frozen=True)
class GraphScores:
    """Scores as written: ``theta`` per coordinate, one array per batch of factors.

    Those of pairs are ``[m]``, of tables and structures ``[m, entries]``, of constraints empty.
    ``scale_before`` is the scale of the scores that these were made from, if they were, ``written``
    what the graph itself says.
    """

    theta: Float
    factors: tuple[Float, ...]
    constant: float
    scale_before: float | None = None
    written: Written | None = None

    @cached_property
    def scale(self) -> float:
        """The typical size of a score, which gaps are measured by; see `score_scale`."""
        if self.scale_before is not None:
            return self.scale_before
        own = self.written
        if own is None or self.factors is not own.factors:
            return score_scale(median_size((self.theta,)), _median_of_factors(self.factors))
        return own.scale if self.theta is own.theta else own.scale_with(self.theta)

    def scaled(self, factor: float) -> GraphScores:
        """All multiplied by a positive number."""
        return GraphScores(
            self.theta * factor,
            tuple(own * factor for own in self.factors),
            self.constant * factor,
            self.scale * factor,
        )

    def is_exact_in(self, unit: float) -> bool:
        """Whether all scores can be divided by a power of two without any loss."""
        with np.errstate(over="ignore", under="ignore"):
            back = self.scaled(1.0 / unit).scaled(unit)
        mine = self.theta, *self.factors, np.array(self.constant)
        its = back.theta, *back.factors, np.array(back.constant)
        same = all(np.array_equal(a, b) for a, b in zip(mine, its, strict=True))
        return math.frexp(unit)[0] == 0.5 and same

    def forbids(self) -> Forbids:
        """Where scores are ``-inf``; the pattern decides what is compiled."""
        return Forbids(_forbidden(self.theta), tuple([_forbidden(a) for a in self.factors]))

    def zeroed(self) -> GraphScores:
        """All scores zero, but what is forbidden stays so."""
        return GraphScores(
            np.where(np.isneginf(self.theta), -np.inf, 0.0),
            tuple(np.where(np.isneginf(a), -np.inf, 0.0) for a in self.factors),
            0.0,
        )


def _forbidden(scores: Float) -> Int64:
    """Flat indices of ``-inf``."""
    return (scores.reshape(-1) == -np.inf).nonzero()[0] if scores.size else NOWHERE


def _median_of_factors(factors: Sequence[Float]) -> float:
    """The smaller median of the sizes of pair scores ``[m]`` and table scores ``[m, entries]``."""
    return min(median_size([own for own in factors if own.ndim == axes]) for axes in (1, 2))


@dataclass(frozen=True, eq=False)
class Forbids:
    """Where scores are ``-inf``: flat indices, array by array (there are few as a rule)."""

    theta: Int64
    factors: tuple[Int64, ...]

    def same_as(self, other: Forbids) -> bool:
        """Whether the same scores are forbidden."""
        pairs = zip((self.theta, *self.factors), (other.theta, *other.factors), strict=True)
        return all(len(a) == len(b) and (not len(a) or np.array_equal(a, b)) for a, b in pairs)


@dataclass(frozen=True)
class Conflict:
    """Why no assignment exists: the steps from evidence to a factor that cannot hold, in words."""

    reasons: tuple[str, ...]
    steps: tuple[PropagationStep, ...] = ()


@dataclass(frozen=True)
class Compiled:
    """A compiled graph.

    Attributes:
        problem: the flat problem over the free coordinates.
        blocks: all batches of factors, those of categorical variables last.
        fixed: ``[N]`` -1 for a free coordinate, else its value.
        conflict: set when propagation proved that nothing is feasible.
        own_pair: the graph's own pair scores end to end, if they need no change to be flat.
    """

    graph: FactorGraph
    problem: Problem
    blocks: tuple[Handle, ...]
    fixed: NDArray[np.int8]
    evidence: Int32  # codes of the literals that evidence makes true
    forbids: Forbids
    placed: tuple[Placed, ...]
    placed_pairs: tuple[PlacedPairs, ...]
    placed_tables: tuple[PlacedTables, ...]
    unary_tables: tuple[Unary, ...]
    settled: tuple[Settled, ...]
    conflict: Conflict | None
    own_pair: Float | None = None

    # ------------------------------------------------------------ scores in

    def flat_scores(self, scores: GraphScores) -> Scores:
        """The scores of the flat problem; the structure stays as it is."""
        if self.own_pair is not None:
            return Scores(
                scores.theta, self._joined_pairs(scores), scores.constant, scale=scores.scale
            )
        with np.errstate(invalid="ignore"):
            constant = scores.constant + float(scores.theta[self.fixed == 1].sum())
        theta = scores.theta[self.free]
        column = self.column_of()
        pair = []
        for placed in self.placed_pairs:
            codes, values = self.blocks[placed.block].factor.codes, scores.factors[placed.block]
            constant += pair_placement.score_singles(placed, values, column, theta)
            constant += float(values[placed.earned].sum())
            kept_codes = codes if placed.kept is None else codes[placed.kept]
            kept = values if placed.kept is None else values[placed.kept]
            flat, extra = pair_placement.fold_negations(kept_codes, kept, column, theta)
            pair.append(flat)
            constant += extra
        own = scores.factors
        for part in self.unary_tables:
            constant += table_placement.score_unary(part, own[part.block], column, theta)
        for done in self.settled:
            factor = self.blocks[done.block].factor
            assert isinstance(factor, Structure)
            constant += settled_value(factor, done, own[done.block])
        return Scores(
            theta,
            np.concatenate([np.zeros(0), *pair]),
            constant,
            table_placement.flat_table_scores(self.placed_tables, self.problem.tables, own),
            scores.scale,
        )

    def _joined_pairs(self, scores: GraphScores) -> Float:
        """Pair scores of a graph in which nothing is fixed or negated: as written, end to end."""
        assert self.own_pair is not None
        parts = [(self.blocks[p.block], scores.factors[p.block]) for p in self.placed_pairs]
        if all(pair_placement.pair_of(block).scores is own for block, own in parts):
            return self.own_pair
        return np.concatenate([np.zeros(0), *(own for _, own in parts)])

    def by_block(self, scores: GraphScores) -> tuple[Float, ...]:
        """The arrays of every batch of factors; empty ones for those implied as well."""
        return scores.factors + (NO_SCORES,) * (len(self.blocks) - len(scores.factors))

    def same_model_as(self, other: Compiled) -> bool:
        """Whether both were compiled from the same graph in the same state."""
        count = len(self.graph.handles)
        return (
            self.graph is other.graph
            and self.blocks[:count] == other.blocks[:count]
            and len(self.blocks) == len(other.blocks)
            and len(self.fixed) == len(other.fixed)
            and np.array_equal(self.evidence, other.evidence)
        )

    @property
    def n_implied(self) -> int:
        """How many of the blocks, the last ones, say that categorical variables have a state."""
        own = [v for v in self.graph.variables if v.start < len(self.fixed)]
        return len(_with_states(own))

    @cached_property
    def free(self) -> Int64:
        """``[n]`` the coordinate of each column of the problem."""
        return np.flatnonzero(self.fixed == FREE)

    def column_of(self) -> Int64:
        """``[N]`` column of each coordinate in the flat problem, -1 if it is fixed."""
        return _columns(self.fixed).astype(np.int64)

    # ------------------------------------------------------------ answers out

    def full(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the flat columns ``[..., n]`` completed by what is fixed, ``[..., N]``."""
        if self.problem.n == len(self.fixed):
            return values
        out = np.empty((*values.shape[:-1], len(self.fixed)), values.dtype)
        out[...] = self.fixed
        out[..., self.free] = values
        return out

    def graph_dual(self, dual: DualPoint, scores: GraphScores) -> tuple[Float, ...]:
        """The dual point as one array of literal scores ``[m, size]`` per batch of factors."""
        out = tuple(np.zeros(block.factor.codes.shape) for block in self.blocks)
        for placed in self.placed:
            codes = self.blocks[placed.block].factor.codes
            logic_placement.restore_logic(
                self.problem, placed, codes, dual.logic, out[placed.block]
            )
        for part in self.placed_pairs:
            codes, values = self.blocks[part.block].factor.codes, scores.factors[part.block]
            pair_placement.restore_pairs(part, codes, values, dual.pair, out[part.block])
        for table in self.placed_tables:
            table_placement.restore_tables(table, self.problem.tables, dual.table, out[table.block])
        for unary in self.unary_tables:
            table_placement.restore_unary(unary, scores.factors[unary.block], out[unary.block])
        return out

    def flat_dual(self, dual: tuple[NDArray[Any], ...], scores: GraphScores) -> DualPoint:
        """The other way: link scores of the flat problem from those of all batches."""
        p = self.problem
        out = DualPoint(
            np.zeros(p.pair_var.shape), np.zeros(len(p.lits)), np.zeros(len(p.tables.lits))
        )
        for placed in self.placed:
            codes = self.blocks[placed.block].factor.codes
            logic_placement.gather_logic(p, placed, codes, dual[placed.block], out.logic)
        for part in self.placed_pairs:
            codes, values = self.blocks[part.block].factor.codes, scores.factors[part.block]
            pair_placement.gather_pairs(part, codes, values, dual[part.block], out.pair)
        for table in self.placed_tables:
            table_placement.gather_tables(table, p.tables, dual[table.block], out.table)
        return out


@dataclass(frozen=True, eq=False)
class Written:
    """A graph's own scores, read once and kept until the graph changes."""

    theta: Float
    factors: tuple[Float, ...]

    @cached_property
    def scale(self) -> float:
        """The typical size of a score."""
        return self.scale_with(self.theta)

    def scale_with(self, theta: Float) -> float:
        """The same with other scores of the coordinates: those of factors are measured once."""
        return score_scale(median_size((theta,)), self.median_of_factors)

    @cached_property
    def median_of_factors(self) -> float:
        """That of the scores of factors."""
        return _median_of_factors(self.factors)


def written_scores(graph: FactorGraph) -> Written:
    """The graph's own scores, end to end."""
    if graph._written is None:
        parts = [variable.scores for variable in graph.variables] or [np.zeros(0)]
        factors = [handle.factor for handle in graph.handles]
        graph._written = Written(
            parts[0] if len(parts) == 1 else np.concatenate(parts),
            tuple([f.scores if isinstance(f, (Pair, Scored)) else NO_SCORES for f in factors]),
        )
    return graph._written


def graph_scores(graph: FactorGraph, changes: Mapping[Any, Any] | None = None) -> GraphScores:
    """The graph's scores, with ``changes`` (variables or handles to new scores) put in place."""
    written = written_scores(graph)
    theta, factors = written.theta, list(written.factors)
    if changes:
        theta = theta.copy()
    place: dict[Handle, int] = {}
    for key, value in _by_batch(graph, changes or {}):
        if isinstance(key, (Literals, Categorical)):
            check_unary_key(graph, key)
            theta[key.codes.ravel()] = fit_scores(clean_scores(value, key), key.codes.shape, key)
        elif isinstance(key, Handle):
            place = place or {handle: i for i, handle in enumerate(graph.handles)}
            if key in place and isinstance(key.factor, SoftKnapsack):
                theta[key.factor.paid] = key.factor.fit(value)
            elif key in place and isinstance(key.factor, (Pair, Scored)):
                factors[place[key]] = key.factor.fit(value)
            else:
                raise ModelError(f"{key!r} has no scores in this graph to change")
        else:
            raise TypeError(f"scores are given for variables or handles, not {key!r}")
    own = tuple(factors) if place else written.factors
    return GraphScores(theta, own, graph.constant, written=written)


def _by_batch(graph: FactorGraph, changes: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """New scores by variable and by batch of factors of one size."""
    for name, value in changes.items():
        key = graph.named(name)
        if isinstance(key, GroupedHandle):
            yield from key.split(value, axis=0)
        else:
            yield key, value


def check_unary_key(graph: FactorGraph, key: Any) -> None:
    """Raise unless ``key`` are variables of the graph."""
    if key.graph is not graph:
        raise ModelError(f"scores for {key!r}: these variables belong to another graph")
    if (key.codes < 0).any():
        raise ModelError("scores are given for variables, not for negated literals")


# ---------------------------------------------------------------- compilation


def compile_graph(graph: FactorGraph, scores: GraphScores | None = None) -> Compiled:
    """Compile ``graph``; ``scores`` (default: its own) decide what ``-inf`` removes."""
    scores = scores or graph_scores(graph)
    blocks = (*graph.handles, *_implied(graph))
    return _compile(graph, blocks, graph.evidence(), scores.forbids())


def _compile(
    graph: FactorGraph, blocks: tuple[Handle, ...], evidence: Int32, forbids: Forbids
) -> Compiled:
    """Propagate what is known, and lay out the rest."""
    raw, arranged, fixed, _, conflict = _propagate(graph, graph.size, blocks, evidence, forbids)
    if np.count_nonzero(fixed != FREE) or not arranged.is_open:
        arranged = logic_placement.left_over(raw, fixed)
    return _place(graph, blocks, arranged, fixed, forbids, evidence, conflict)


def lay_out(graph: FactorGraph, scores: GraphScores) -> Compiled:
    """The graph with nothing fixed, implied or removed: enough to state an answer, not to solve."""
    forbids = scores.forbids()
    blocks = (*graph.handles, *_implied(graph))
    raw, _ = logic_placement.raw_rows(blocks, forbids.factors)
    free = np.full(graph.size, FREE, np.int8)
    arranged = logic_placement.left_over(raw, free)
    return _place(graph, blocks, arranged, free, forbids, graph.evidence(), None)


def compile_conditioned(
    compiled: Compiled, known: NDArray[np.int8], raw: list[LogicRows]
) -> Compiled:
    """The same graph with more values known, ``[N]``, all that they imply among them.

    ``raw`` are the graph's logic rows (:func:`logic_rows`).
    """
    left = logic_placement.left_over(raw, known)
    return _place(
        compiled.graph, compiled.blocks, left, known, compiled.forbids, compiled.evidence, None
    )


def compile_part(
    compiled: Compiled, blocks: tuple[Handle, ...], evidence: Int32, scores: GraphScores
) -> Compiled:
    """The variables of a compiled graph under other factors and evidence, and nothing implied.

    ``scores`` are those of ``blocks``.
    """
    graph = copy.copy(compiled.graph)
    graph._size, graph._evidence = len(compiled.fixed), [evidence]  # as it was when it was compiled
    graph.variables = [v for v in graph.variables if v.start < graph.size]
    return _compile(graph, blocks, evidence, scores.forbids())


def logic_rows(compiled: Compiled) -> list[LogicRows]:
    """All logic factors of a graph in normal form."""
    return logic_placement.raw_rows(compiled.blocks, compiled.forbids.factors)[0]


def _place(
    graph: FactorGraph,
    blocks: tuple[Handle, ...],
    arranged: Arranged,
    fixed: NDArray[np.int8],
    forbids: Forbids,
    evidence: Int32,
    conflict: Conflict | None,
) -> Compiled:
    """Lay out what is left of the logic factors, and of the others what is not fixed."""
    n_free = int(np.count_nonzero(fixed == FREE))
    column = None if n_free == graph.size else _columns(fixed)
    placed_pairs, pair_codes = pair_placement.place_pairs(blocks, fixed, column, forbids.factors)
    scored = table_placement.place_tables(blocks, fixed, column)
    logic = arranged.logic
    if column is not None:
        logic = logic._replace(lits=logic_placement.renumber(logic.lits, column))
    plain = column is None and not scored.placed and not scored.unary
    problem = assemble(
        n_free,
        pair_placement.coordinates(pair_codes),
        logic,
        scored.tables,
        scored.models,
    )
    shared = pair_placement.share(blocks, placed_pairs, problem) if plain else None
    return Compiled(
        graph, problem, blocks, fixed, evidence, forbids, arranged.placed, placed_pairs,
        scored.placed, scored.unary, scored.settled, conflict, shared,
    )  # fmt: skip


def _columns(fixed: NDArray[np.int8]) -> Int32:
    """``[N]`` the column of each free coordinate, -1 if it is fixed."""
    is_free = fixed == FREE
    return np.where(is_free, np.cumsum(is_free, dtype=np.int32) - 1, -1).astype(np.int32)


def refutes(compiled: Compiled, scores: GraphScores) -> bool:
    """Whether propagation from evidence and ``-inf`` alone shows that nothing is feasible."""
    *_, conflict = _propagate(
        compiled.graph, len(compiled.fixed), compiled.blocks, compiled.evidence, scores.forbids()
    )
    return conflict is not None


def explainer(compiled: Compiled) -> Explainer:
    """Tells why coordinates are fixed; propagation is repeated for it."""
    graph, blocks, forbids = compiled.graph, compiled.blocks, compiled.forbids
    size = len(compiled.fixed)
    _, _, values, rank, _ = _propagate(graph, size, blocks, compiled.evidence, forbids)
    if not len(rank):  # nothing is implied: what is fixed was known from elsewhere
        rank = np.full(size, np.iinfo(np.int64).max)
    return Explainer(graph, blocks, forbids, compiled.evidence, values, rank)


def _propagate(
    graph: FactorGraph, size: int, blocks: tuple[Handle, ...], evidence: Int32, forbids: Forbids
) -> tuple[list[LogicRows], Arranged, NDArray[np.int8], Int64, Conflict | None]:
    """All logic rows and their groups; values implied ``[size]``, when each came; a conflict."""
    raw, never = logic_placement.raw_rows(blocks, forbids.factors)
    arranged = logic_placement.arrange(raw)
    true = evidence
    if len(forbids.theta) or len(never):
        true = np.concatenate([evidence, ~forbids.theta.astype(np.int32), ~never])
    known = bool(len(true)) or (
        not arranged.is_open and any(logic_placement.forces(rows) for rows in raw)
    )
    strict = strict_tables(blocks, forbids, known)
    if not known and not strict:
        return raw, arranged, np.full(size, FREE, np.int8), np.zeros(0, np.int64), None
    found = _close(graph, size, blocks, arranged, true, forbids, evidence, strict)
    return raw, arranged, *found


def _implied(graph: FactorGraph) -> list[Handle]:
    """One ExactlyOne per categorical variable: it takes one of its states."""
    return [
        Handle(ExactlyOne(symbol.indicators, axis=-1), f"one state of {name}")
        for name, symbol in _with_states(graph.variables)
    ]


def _with_states(variables: Sequence[VariableArray]) -> list[tuple[str, Categorical]]:
    """Names and symbols of categorical variables."""
    return [
        (v.name, v.symbol) for v in variables if isinstance(v.symbol, Categorical) and v.scores.size
    ]


def _close(
    graph: FactorGraph,
    size: int,
    blocks: tuple[Handle, ...],
    arranged: Arranged,
    true: Int32,
    forbids: Forbids,
    evidence: Int32,
    strict: list[StrictTable],
) -> tuple[NDArray[np.int8], Int64, Conflict | None]:
    """Values that evidence and forced factors imply, and the conflict they run into, if any.

    In between stands the rank of each value: it follows from values of lower rank.
    """
    values = np.full(size, FREE, np.int8)
    values[coordinates_of(true)] = true >= 0
    clash = np.flatnonzero(values[coordinates_of(true)] != (true >= 0))
    if len(clash):
        code = int(true[clash[0]])
        name = graph.describe_value(code)
        reason = f"{name} and its opposite are both asked for, by evidence or by a score of -inf"
        return np.maximum(values, 0), np.zeros(0, np.int64), Conflict((reason,))
    rank = np.full(size, np.iinfo(np.int64).max)
    rank[values != FREE] = 0
    from assent.kernels.core import propagate

    problem = arranged.alone(size)
    next_rank = 1
    while True:
        before = values
        values, factor, order = propagate.fix_in_order(problem, values)
        new = order[before[order] == FREE]
        rank[new] = next_rank + np.arange(len(new))
        next_rank += len(new)
        broken = logic_placement.origin(problem, arranged.placed, factor) if factor >= 0 else None
        unsupported = np.zeros(0, np.int32)
        if broken is None:
            unsupported, broken = table_placement.unsupported_literals(strict, values)
        if broken is not None:
            explain = Explainer(graph, blocks, forbids, evidence, values, rank)
            steps = explain.conflict(*broken)
            return np.maximum(values, 0), rank, Conflict(explain.words(steps), tuple(steps))
        if not len(unsupported):
            return values, rank, None
        coordinates = coordinates_of(unsupported)
        values[coordinates] = unsupported < 0
        rank[coordinates] = next_rank
        next_rank += 1
        strict = strict_tables(blocks, forbids, True)


def strict_tables(blocks: tuple[Handle, ...], forbids: Forbids, given: bool) -> list[StrictTable]:
    """Batches of tables that forbid something, by number, with what each forbids, ``[m, entries]``.

    A structure forbids something by itself, which matters once values are ``given``, and from the
    start if it may allow nothing.
    """
    strict = []
    for number, (block, never) in enumerate(zip(blocks, forbids.factors, strict=False)):
        if not isinstance(block.factor, Scored):
            continue
        own = isinstance(block.factor, Structure) and (given or block.factor.may_be_empty)
        if len(never) or own:
            mask = np.zeros(block.factor.scores.shape, bool)
            mask.flat[never] = True
            strict.append((number, block, mask))
    return strict
