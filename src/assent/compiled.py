"""From a written graph to the flat problem, and back.

Compilation (1) lists all factors, those implied by categorical variables included, (2) closes
evidence and forbidden values under unit propagation, (3) drops what is fixed or satisfied and
writes the rest in normal form, (4) groups it into flat arrays.  A :class:`Compiled` remembers
where everything went, so that scores flow in and answers and dual points flow back out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.base import Factor, Logic
from assent.factors.exactly_one import ExactlyOne
from assent.factors.normal_form import repeated_last
from assent.factors.pair import Pair
from assent.graph import FactorGraph, Handle, Variable
from assent.problem import ANYOF, CAP, SUM, DualPoint, Float, Int32, Int64, Problem, Scores
from assent.problem import make_problem as _make_problem
from assent.scores import clean_scores, fit_scores
from assent.variables import Categorical, Literals

FREE = -1


@dataclass(frozen=True)
class GraphScores:
    """Scores as written: ``theta`` per coordinate, one array per batch of pairs."""

    theta: Float
    pairs: tuple[Float, ...]
    constant: float

    def forbids(self) -> tuple[NDArray[np.bool_], ...]:
        """Where scores are ``-inf``; the pattern decides what is compiled."""
        return tuple(np.isneginf(a) for a in (self.theta, *self.pairs))


@dataclass(frozen=True)
class Placed:
    """Where some rows of a batch went: ``count`` factors from ``first`` on in ``group``.

    ``rows`` and ``columns`` say which factors and which of their literals; ``None`` means all.
    """

    block: int
    rows: Int64 | None
    columns: Int64 | None  # [count, size]
    group: int
    first: int
    count: int


@dataclass(frozen=True)
class PlacedPairs:
    """Where a batch of pairs went: ``kept`` rows (None: all) and rows left with one free literal.

    ``single`` are rows whose other literal is true; ``single_code`` the literal that is free.
    ``earned`` are rows with both literals fixed to true.
    """

    block: int
    kept: Int64 | None
    first: int
    count: int
    single: Int64
    single_code: Int32
    single_column: Int64
    earned: Int64


@dataclass(frozen=True)
class Conflict:
    """Why no assignment exists: the violated factor and the evidence, in words."""

    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Compiled:
    """A compiled graph.

    Attributes:
        problem: the flat problem over the free coordinates.
        blocks: all batches of factors, those of categorical variables last.
        fixed: ``[N]`` -1 for a free coordinate, else its value.
        free: ``[n]`` the coordinate of each column of the problem.
        conflict: set when propagation proved that nothing is feasible.
        own_pair: the graph's own pair scores end to end, if they need no change to be flat.
    """

    graph: FactorGraph
    problem: Problem
    blocks: tuple[Handle, ...]
    fixed: NDArray[np.int8]
    free: Int64
    forbids: tuple[NDArray[np.bool_], ...]
    placed: tuple[Placed, ...]
    placed_pairs: tuple[PlacedPairs, ...]
    conflict: Conflict | None
    own_pair: Float | None = None

    # ------------------------------------------------------------ scores in

    def flat_scores(self, scores: GraphScores) -> Scores:
        """The scores of the flat problem; the structure stays as it is."""
        if self.own_pair is not None:
            return Scores(scores.theta, self._joined_pairs(scores), scores.constant)
        with np.errstate(invalid="ignore"):
            constant = scores.constant + float(scores.theta[self.fixed == 1].sum())
        theta = scores.theta[self.free]
        column = self.column_of()
        pairs = []
        for placed, values in zip(self.placed_pairs, scores.pairs, strict=True):
            codes = self.blocks[placed.block].factor.codes
            constant += _score_singles(placed, values, column, theta)
            constant += float(values[placed.earned].sum())
            kept_codes = codes if placed.kept is None else codes[placed.kept]
            kept = values if placed.kept is None else values[placed.kept]
            flat, extra = _fold_negations(kept_codes, kept, column, theta)
            pairs.append(flat)
            constant += extra
        return Scores(theta, np.concatenate([np.zeros(0), *pairs]), constant)

    def _joined_pairs(self, scores: GraphScores) -> Float:
        """Pair scores of a graph in which nothing is fixed or negated: as written, end to end."""
        assert self.own_pair is not None
        written = [_pair(self.blocks[part.block]) for part in self.placed_pairs]
        if all(f.scores is own for f, own in zip(written, scores.pairs, strict=True)):
            return self.own_pair
        return np.concatenate([np.zeros(0), *scores.pairs])

    def column_of(self) -> Int64:
        """``[N]`` column of each coordinate in the flat problem, -1 if it is fixed."""
        column = np.full(len(self.fixed), -1, np.int64)
        column[self.free] = np.arange(len(self.free))
        return column

    # ------------------------------------------------------------ answers out

    def full(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of the flat columns ``[n]`` completed by the fixed coordinates ``[N]``."""
        out = self.fixed.astype(values.dtype)
        out[self.free] = values
        return out

    def graph_dual(self, dual: DualPoint, scores: GraphScores) -> tuple[Float, ...]:
        """The dual point as one array of literal scores ``[m, size]`` per batch of factors."""
        out = tuple(np.zeros(block.factor.codes.shape) for block in self.blocks)
        for placed in self.placed:
            self._restore_logic(placed, dual, out[placed.block])
        for pairs, values in zip(self.placed_pairs, scores.pairs, strict=True):
            self._restore_pairs(pairs, values, dual, out[pairs.block])
        return out

    def _restore_logic(self, placed: Placed, dual: DualPoint, out: Float) -> None:
        p = self.problem
        m, size, start = p.group_count[placed.group], p.group_size[placed.group], p.group_link
        begin = int(start[placed.group])
        span = slice(begin, begin + int(m) * int(size))
        where = slice(placed.first, placed.first + placed.count)
        links = dual.logic[span].reshape(size, m)[:, where].T
        lits = p.lits[span].reshape(size, m)[:, where].T
        codes = self.blocks[placed.block].factor.codes
        rows = np.arange(len(codes)) if placed.rows is None else placed.rows
        cols = np.arange(size)[None, :] if placed.columns is None else placed.columns
        same = (codes[rows[:, None], cols] < 0) == (lits < 0)
        out[rows[:, None], cols] = np.where(same, links, -links)

    def _restore_pairs(
        self, placed: PlacedPairs, values: Float, dual: DualPoint, out: Float
    ) -> None:
        codes = self.blocks[placed.block].factor.codes
        rows = slice(None) if placed.kept is None else placed.kept
        links = dual.pair[placed.first : placed.first + placed.count]
        negated = codes[rows] < 0
        # The unary parts that folding negations moved into theta come back off the links.
        moved = np.where(negated[:, ::-1], values[rows][:, None], 0.0)
        out[rows] = np.where(negated, -links, links) - moved
        out[placed.single, placed.single_column] = -values[placed.single]


def graph_scores(graph: FactorGraph, changes: Mapping[Any, Any] | None = None) -> GraphScores:
    """The graph's scores, with ``changes`` (variables or handles to new scores) put in place."""
    theta = np.concatenate([np.zeros(0), *(v.scores for v in graph.variables)])
    pairs = {h: h.factor.scores for h in graph.handles if isinstance(h.factor, Pair)}
    for key, value in (changes or {}).items():
        if isinstance(key, (Literals, Categorical)):
            _change_unary(graph, theta, key, value)
        elif isinstance(key, Handle):
            if key not in pairs:
                raise ModelError(f"{key!r} has no scores in this graph to change")
            pairs[key] = fit_scores(clean_scores(value, "Pair"), key.shape, "Pair")
        else:
            raise TypeError(f"scores are given for variables or handles, not {key!r}")
    return GraphScores(theta, tuple(pairs.values()), graph.constant)


def _change_unary(graph: FactorGraph, theta: Float, key: Any, value: Any) -> None:
    if key.graph is not graph:
        raise ModelError(f"scores for {key!r}: these variables belong to another graph")
    if (key.codes < 0).any():
        raise ModelError("scores are given for variables, not for negated literals")
    name = repr(key)
    theta[key.codes.ravel()] = fit_scores(clean_scores(value, name), key.codes.shape, name)


# ---------------------------------------------------------------- compilation


def compile_graph(graph: FactorGraph, scores: GraphScores | None = None) -> Compiled:
    """Compile ``graph``; ``scores`` (default: its own) decide what ``-inf`` removes."""
    scores = scores or graph_scores(graph)
    forbids = scores.forbids()
    blocks = (*graph.handles, *_implied(graph))
    raw, never = _split_repeats(_raw_rows(blocks, forbids[1:]))
    never = np.concatenate([np.flatnonzero(forbids[0]).astype(np.int32), never])
    true = np.concatenate([graph.evidence(), ~never])
    fixed, conflict = _close(graph, blocks, raw, true)
    free = np.flatnonzero(fixed == FREE)
    column = np.full(graph.size, -1, np.int32)
    column[free] = np.arange(len(free), dtype=np.int32)
    if len(free) < graph.size:
        raw = [part for rows in raw for part in _reduce(rows, fixed)]
    placed, groups = _arrange([rows for rows in map(_active, raw) if len(rows.k)])
    placed_pairs, pair_codes = _place_pairs(blocks, fixed, forbids[1:])
    if len(free) < graph.size:
        pair_codes = [_renumber(codes, column) for codes in pair_codes]
        groups = [(form, _renumber(lits, column), k) for form, lits, k in groups]
    pair_var = _coordinates(pair_codes)
    problem = _make_problem(len(free), pair_var, groups)
    own_pair = _share_pairs(blocks, placed_pairs, problem) if len(free) == graph.size else None
    return Compiled(
        graph, problem, blocks, fixed, free, forbids, placed, placed_pairs, conflict, own_pair
    )


@dataclass(frozen=True)
class _Rows:
    """Logic factors of one form and size on their way into a group."""

    block: int
    rows: Int64 | None
    columns: Int64 | None
    form: int
    lits: Int32
    k: Int32

    def take(self, chosen: Any) -> _Rows:
        """The chosen factors only."""
        rows = np.arange(len(self.k)) if self.rows is None else self.rows
        columns = None if self.columns is None else self.columns[chosen]
        return _Rows(
            self.block, rows[chosen], columns, self.form, self.lits[chosen], self.k[chosen]
        )


def _implied(graph: FactorGraph) -> list[Handle]:
    """One ExactlyOne per categorical variable: it takes one of its states."""
    return [
        Handle(ExactlyOne(v.symbol.indicators, axis=-1), f"one state of {v.name}")
        for v in graph.variables
        if isinstance(v.symbol, Categorical) and _has_variables(v)
    ]


def _has_variables(variable: Variable) -> bool:
    return variable.scores.size > 0


def _raw_rows(
    blocks: tuple[Handle, ...], forbidden_pairs: tuple[NDArray[np.bool_], ...]
) -> list[_Rows]:
    raw = []
    pair_masks = iter(forbidden_pairs)
    for i, block in enumerate(blocks):
        factor: Factor = block.factor
        if not len(factor):
            if isinstance(factor, Pair):
                next(pair_masks)
            continue
        if isinstance(factor, Logic):
            form = factor.normal_form()
            raw.append(_Rows(i, None, None, form.form, form.literals(factor.codes), form.k))
            continue
        rows = np.flatnonzero(next(pair_masks))
        if len(rows):  # both true is forbidden: at most one
            raw.append(_Rows(i, rows, None, CAP, factor.codes[rows], np.ones(len(rows), np.int32)))
    return raw


def _split_repeats(raw: list[_Rows]) -> tuple[list[_Rows], Int32]:
    """Make the literals of every factor differ; also returns literals that can never hold.

    Writing ``x`` with ``~x`` puts a literal twice into a form that negates only the last column:
    ``Implies(x, ~x)`` reads "not all of (x, x)", ``Agree(x, ~x)`` reads "one of (x, x)".  The
    last then says nothing new, except that in a sum x would count as two.
    """
    parts, never = [], [np.zeros(0, np.int32)]
    for rows in raw:
        repeats = repeated_last(rows.form, rows.lits).any(axis=1)
        if not repeats.any():
            parts.append(rows)
            continue
        again = rows.take(np.flatnonzero(repeats))
        lits = np.ascontiguousarray(again.lits[:, :-1])
        columns = np.broadcast_to(np.arange(lits.shape[1]), lits.shape)
        k = again.k - np.int32(rows.form == CAP)
        parts += [rows.take(np.flatnonzero(~repeats)),
                  _Rows(rows.block, again.rows, columns, rows.form, lits, k)]  # fmt: skip
        if rows.form == SUM:
            never.append(again.lits[:, -1])
    return parts, np.concatenate(never)


def _close(
    graph: FactorGraph, blocks: tuple[Handle, ...], raw: list[_Rows], true: Int32
) -> tuple[NDArray[np.int8], Conflict | None]:
    """Values that evidence and forced factors imply, and the conflict they run into, if any."""
    values = np.full(graph.size, FREE, np.int8)
    values[np.where(true < 0, ~true, true)] = true >= 0
    clash = np.flatnonzero(values[np.where(true < 0, ~true, true)] != (true >= 0))
    if len(clash):
        code = int(true[clash[0]])
        reason = f"evidence asks for both {graph.describe_code(code)} and its opposite"
        return np.maximum(values, 0), Conflict((reason,))
    if not len(true) and not any(_forces(rows) for rows in raw):
        return values, None
    from assent.kernels import propagate

    placed, groups = _arrange(raw)
    problem = _make_problem(graph.size, np.zeros((0, 2), np.int32), groups)
    closed, factor = propagate.fix(problem, values)
    if factor < 0:
        return closed, None
    involved = explain_factor(problem, placed, blocks, factor)
    given = [f"evidence {graph.describe_code(int(c))}" for c in true[:8]]
    return np.maximum(closed, 0), Conflict((involved, *given))


def explain_factor(
    problem: Problem, placed: tuple[Placed, ...], blocks: tuple[Handle, ...], factor: int
) -> str:
    """Flat logic factor number ``factor`` in the words of the batch it came from."""
    block, row = origin(problem, placed, factor)
    return blocks[block].words(row)


def origin(problem: Problem, placed: tuple[Placed, ...], factor: int) -> tuple[int, int]:
    """The batch and the row in it that flat logic factor number ``factor`` came from."""
    group = int(np.searchsorted(problem.group_factor, factor, side="right")) - 1
    inside = factor - int(problem.group_factor[group])
    for part in placed:
        if part.group == group and part.first <= inside < part.first + part.count:
            row = inside - part.first
            return part.block, row if part.rows is None else int(part.rows[row])
    raise LookupError(f"logic factor {factor} was placed nowhere")


def _forces(rows: _Rows) -> bool:
    """Whether a factor of the batch fixes literals by itself."""
    size = rows.lits.shape[1]
    if rows.form == SUM:
        return bool(((rows.k == 0) | (rows.k == size)).any())
    return rows.form == CAP and bool((rows.k == 0).any())


def _reduce(raw: _Rows, fixed: NDArray[np.int8]) -> list[_Rows]:
    """Take fixed literals out; drop what is satisfied; one batch per remaining size."""
    values = fixed[np.where(raw.lits < 0, ~raw.lits, raw.lits)]
    free = values == FREE
    true = (values ^ (raw.lits < 0)) * ~free
    untouched = free.all(axis=1)
    parts = [raw.take(np.flatnonzero(untouched))]
    sizes = free.sum(axis=1)
    for size in np.unique(sizes[~untouched & (sizes > 0)]):
        chosen = np.flatnonzero((sizes == size) & ~untouched)
        sub = raw.take(chosen)
        columns = np.nonzero(free[chosen])[1].reshape(-1, size)
        lits = np.take_along_axis(sub.lits, columns, axis=1)
        if sub.columns is not None:
            columns = np.take_along_axis(sub.columns, columns, axis=1)
        if raw.form == ANYOF:
            parts += _reduce_anyof(sub, columns, lits, true[chosen], free[chosen])
        else:
            k = sub.k - true[chosen].sum(axis=1).astype(np.int32)
            parts.append(_Rows(sub.block, sub.rows, columns, raw.form, lits, k))
    return parts


def _active(rows: _Rows) -> _Rows:
    """Factors that still constrain something: a CAP of all its literals does not."""
    slack = rows.form == CAP and rows.k >= rows.lits.shape[1]
    return rows.take(np.flatnonzero(~slack)) if np.any(slack) else rows


def _reduce_anyof(
    sub: _Rows,
    columns: Int64,
    lits: Int32,
    true: NDArray[np.int8],
    free: NDArray[np.bool_],
) -> list[_Rows]:
    """A true output asks for at least one input; a free output stays an output."""
    size = lits.shape[1]
    output_free = free[:, -1]
    asks = ~output_free & (true[:, -1] == 1) & (true[:, :-1].sum(axis=1) == 0)
    ones = np.ones(len(lits), np.int32)
    full = _Rows(sub.block, sub.rows, columns, ANYOF, lits, ones)
    at_least_one = _Rows(sub.block, sub.rows, columns, CAP, ~lits, ones * np.int32(size - 1))
    return [full.take(np.flatnonzero(output_free)), at_least_one.take(np.flatnonzero(asks))]


def _arrange(
    parts: list[_Rows],
) -> tuple[tuple[Placed, ...], list[tuple[int, Int32, Int32]]]:
    """Merge batches of equal form and size into groups, in the order of the flat problem."""
    keys = sorted({(p.form, p.lits.shape[1]) for p in parts})
    placed, groups = [], []
    for number, key in enumerate(keys):
        members = [p for p in parts if (p.form, p.lits.shape[1]) == key]
        first = 0
        for part in members:
            count = len(part.k)
            placed.append(Placed(part.block, part.rows, part.columns, number, first, count))
            first += count
        lits = members[0].lits if len(members) == 1 else np.concatenate([p.lits for p in members])
        k = members[0].k if len(members) == 1 else np.concatenate([p.k for p in members])
        groups.append((key[0], lits, k))
    return tuple(placed), groups


def _pair(block: Handle) -> Pair:
    assert isinstance(block.factor, Pair)
    return block.factor


def _share_pairs(
    blocks: tuple[Handle, ...], placed: tuple[PlacedPairs, ...], problem: Problem
) -> Float | None:
    """Pair scores end to end, where all pairs are kept and none is negated; else None.

    The batches then read codes and scores from the flat arrays: ten million pairs are 160 MB of
    them, and once is enough.
    """
    factors = [_pair(blocks[part.block]) for part in placed]
    if any(p.kept is not None or (f.codes < 0).any() for p, f in zip(placed, factors, strict=True)):
        return None
    flat = np.concatenate([np.zeros(0), *(f.scores for f in factors)])
    for part, factor in zip(placed, factors, strict=True):
        rows = slice(part.first, part.first + part.count)
        factor.codes, factor.scores = problem.pair_var[rows], flat[rows]
    return flat


def _place_pairs(
    blocks: tuple[Handle, ...],
    fixed: NDArray[np.int8],
    forbidden: tuple[NDArray[np.bool_], ...],
) -> tuple[tuple[PlacedPairs, ...], list[Int32]]:
    placed, kept_codes = [], []
    first = 0
    anything_fixed = bool((fixed != FREE).any())
    pair_blocks = [i for i, block in enumerate(blocks) if isinstance(block.factor, Pair)]
    for i, never in zip(pair_blocks, forbidden, strict=True):
        codes = blocks[i].factor.codes
        if not anything_fixed and not never.any():
            part = _all_kept(i, first, len(codes))
            kept_codes.append(codes)
        else:
            part = _sort_pairs(i, first, codes, fixed, never)
            kept_codes.append(codes[part.kept])
        placed.append(part)
        first += part.count
    return tuple(placed), kept_codes


def _all_kept(block: int, first: int, count: int) -> PlacedPairs:
    none = np.zeros(0, np.int64)
    return PlacedPairs(block, None, first, count, none, none.astype(np.int32), none, none)


def _sort_pairs(
    block: int,
    first: int,
    codes: Int32,
    fixed: NDArray[np.int8],
    never: NDArray[np.bool_],
) -> PlacedPairs:
    values = fixed[np.where(codes < 0, ~codes, codes)]
    free = values == FREE
    true = ((values ^ (codes < 0)) == 1) & ~free
    kept = np.flatnonzero(free.all(axis=1) & ~never)
    single = np.flatnonzero((free.sum(axis=1) == 1) & true.any(axis=1) & ~never)
    column = free[single].argmax(axis=1)
    earned = np.flatnonzero(true.all(axis=1) & ~never)
    return PlacedPairs(block, kept, first, len(kept), single, codes[single, column], column, earned)


def _renumber(codes: Int32, column: Int32) -> Int32:
    return np.where(codes < 0, ~column[~codes], column[codes]).astype(np.int32)


def _coordinates(pair_codes: list[Int32]) -> Int32:
    if len(pair_codes) == 1 and not (pair_codes[0] < 0).any():
        return pair_codes[0]
    codes = np.concatenate([np.zeros((0, 2), np.int32), *pair_codes])
    return np.where(codes < 0, ~codes, codes)


def _fold_negations(
    codes: Int32, values: Float, column: Int64, theta: Float
) -> tuple[Float, float]:
    """Scores on both variables true, with what negations add to ``theta`` and the constant.

    ``s·(1−x)·y = s·y − s·x·y``: each negation flips the sign of the product and leaves a unary
    score behind.
    """
    negated = codes < 0
    if not negated.any():
        return values, 0.0
    flips = negated[:, 0] ^ negated[:, 1]
    for side in (0, 1):
        rows = np.flatnonzero(negated[:, 1 - side])
        code = codes[rows, side]
        share = np.where(code < 0, -values[rows], values[rows])
        np.add.at(theta, column[np.where(code < 0, ~code, code)], share)
    return np.where(flips, -values, values), float(values[negated.all(axis=1)].sum())


def _score_singles(placed: PlacedPairs, values: Float, column: Int64, theta: Float) -> float:
    """Pairs with one literal true: the other literal earns the score alone."""
    code, score = placed.single_code, values[placed.single]
    np.add.at(theta, column[np.where(code < 0, ~code, code)], np.where(code < 0, -score, score))
    return float(score[code < 0].sum())
