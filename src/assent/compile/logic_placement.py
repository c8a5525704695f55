"""Where logic factors go: from batches as written to groups of the flat problem, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.factors.base import Logic
from assent.factors.normal_form import repeated_last
from assent.factors.pair import Pair
from assent.kernels.problem import (
    ANYOF,
    CAP,
    KNAPSACK,
    PARITY,
    SUM,
    Float,
    Int32,
    Int64,
    LogicGroups,
    Problem,
    assemble,
    make_logic,
)
from assent.model.variables import coordinates_of

if TYPE_CHECKING:
    from assent.model.graph import Handle

FREE = -1


class Placed(NamedTuple):
    """Where some rows of a batch went: ``members`` factors from ``first`` on in ``group``.

    ``rows`` and ``columns`` say which factors and which of their literals; ``None`` means all.
    """

    block: int
    rows: Int64 | None
    columns: Int64 | None  # [members, size]
    group: int
    first: int
    members: int


class LogicRows(NamedTuple):
    """Logic factors of one form and size on their way into a group.

    ``weights[m, size]`` and ``capacity[m]`` belong to KNAPSACKs.
    """

    block: int
    rows: Int64 | None
    columns: Int64 | None
    form: int
    lits: Int32
    k: Int32
    weights: Float | None = None
    capacity: Float | None = None

    def take(self, chosen: Any) -> LogicRows:
        """The chosen factors only."""
        rows = np.arange(len(self.k)) if self.rows is None else self.rows
        columns, weights, capacity = (
            None if own is None else own[chosen]
            for own in (self.columns, self.weights, self.capacity)
        )
        lits, k = self.lits[chosen], self.k[chosen]
        return LogicRows(self.block, rows[chosen], columns, self.form, lits, k, weights, capacity)


def raw_rows(
    blocks: tuple[Handle, ...], forbidden: tuple[Int64, ...]
) -> tuple[list[LogicRows], Int32]:
    """All logic factors in normal form, and literals that can never hold.

    A pair that is ``forbidden``, by batch, is an at-most-one.  The literals of a factor differ.
    """
    raw: list[LogicRows] = []
    mixed: dict[tuple[int, int], list[Int32]] = {}  # literals that were not written as they are
    for i, block in enumerate(blocks):
        factor = block.factor
        if isinstance(factor, Logic):
            if not len(factor.codes):
                continue
            normal, lits = factor.normal_form(), factor.codes
            form, k, size, flip_inputs, flip_last, weights, capacity = normal
            if flip_inputs or flip_last:
                lits = normal.literals(lits)
                if flip_inputs != flip_last:
                    mixed.setdefault((form, size), []).append(lits)
            raw.append(LogicRows(i, None, None, form, lits, k, weights, capacity))
        elif isinstance(factor, Pair):
            own = forbidden[i]
            if len(own):
                k = np.ones(len(own), np.int32)
                raw.append(LogicRows(i, own, None, CAP, factor.codes[own], k))
    for (form, _), batches in mixed.items():
        if np.count_nonzero(repeated_last(form, _joined(batches))):
            return _split_repeats(raw)
    return raw, np.zeros(0, np.int32)


def _split_repeats(raw: list[LogicRows]) -> tuple[list[LogicRows], Int32]:
    """Make the literals of every factor differ; also returns literals that can never hold.

    Writing ``x`` with ``~x`` puts a literal twice into a form that negates only the last column:
    ``Implies(x, ~x)`` reads "not all of (x, x)", ``Agree(x, ~x)`` reads "one of (x, x)".  The
    last then says nothing new, except that in a sum x would count as two.
    """
    parts, never = [], [np.zeros(0, np.int32)]
    for rows in raw:
        repeated = repeated_last(rows.form, rows.lits)
        if not repeated.any():
            parts.append(rows)
            continue
        repeats = repeated.any(axis=1)
        again = rows.take(np.flatnonzero(repeats))
        lits = np.ascontiguousarray(again.lits[:, :-1])
        columns = np.broadcast_to(np.arange(lits.shape[1]), lits.shape)
        k = again.k - np.int32(rows.form == CAP)
        parts += [rows.take(np.flatnonzero(~repeats)),
                  LogicRows(rows.block, again.rows, columns, rows.form, lits, k)]  # fmt: skip
        if rows.form == SUM:
            never.append(again.lits[:, -1])
    return [part for part in parts if len(part.k)], np.concatenate(never)


def origin(problem: Problem, placed: tuple[Placed, ...], factor: int) -> tuple[int, int]:
    """The batch and the row in it that flat logic factor number ``factor`` came from."""
    group = int(np.searchsorted(problem.group_factor, factor, side="right")) - 1
    inside = factor - int(problem.group_factor[group])
    for part in placed:
        if part.group == group and part.first <= inside < part.first + part.members:
            row = inside - part.first
            return part.block, row if part.rows is None else int(part.rows[row])
    raise LookupError(f"logic factor {factor} was placed nowhere")


def forces(rows: LogicRows) -> bool:
    """Whether a factor of the batch fixes literals by itself."""
    size = rows.lits.shape[1]
    if rows.form == SUM:
        return bool(((rows.k == 0) | (rows.k == size)).any())
    if rows.form == KNAPSACK:
        assert rows.weights is not None and rows.capacity is not None
        return bool(np.count_nonzero(rows.weights > rows.capacity[:, None]))
    return (rows.form == CAP and bool((rows.k == 0).any())) or (rows.form == PARITY and size == 1)


def left_over(raw: list[LogicRows], fixed: NDArray[np.int8]) -> Arranged:
    """What is left to satisfy once some values are fixed, in groups of the flat problem."""
    if np.count_nonzero(fixed != FREE):
        raw = [part for rows in raw for part in reduce_rows(rows, fixed)]
    return arrange([rows for rows in map(active, raw) if len(rows.k)])


def reduce_rows(raw: LogicRows, fixed: NDArray[np.int8]) -> list[LogicRows]:
    """Take fixed literals out; drop what is satisfied; one batch per remaining size."""
    values = fixed[coordinates_of(raw.lits)]
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
        sub = sub._replace(columns=columns)
        if raw.form == ANYOF:
            parts += _reduce_anyof(sub, lits, true[chosen], free[chosen])
        elif raw.form == PARITY:  # an odd number of true literals turns even into odd
            odd = true[chosen].sum(axis=1) % 2 == 1
            lits[odd, -1] = ~lits[odd, -1]
            parts.append(sub._replace(lits=lits))
        elif raw.form == KNAPSACK:
            parts.append(_reduce_knapsack(sub, lits, true[chosen], free[chosen]))
        else:
            k = sub.k - true[chosen].sum(axis=1).astype(np.int32)
            parts.append(sub._replace(lits=lits, k=k))
    return parts


def _reduce_knapsack(
    sub: LogicRows, lits: Int32, true: NDArray[np.int8], free: NDArray[np.bool_]
) -> LogicRows:
    """What is packed already takes its weight off the capacity."""
    assert sub.weights is not None and sub.capacity is not None
    packed = np.where(true == 1, sub.weights, 0.0).sum(axis=1)
    left = sub.weights[free].reshape(lits.shape)
    return sub._replace(lits=lits, weights=left, capacity=np.maximum(sub.capacity - packed, 0.0))


def active(rows: LogicRows) -> LogicRows:
    """Factors that still constrain something: a CAP of all its literals does not."""
    slack = _slack(rows)
    return rows.take(np.flatnonzero(~slack)) if slack.any() else rows


def _slack(rows: LogicRows) -> NDArray[np.bool_]:
    """Which factors hold whatever their literals are."""
    if rows.form == CAP:
        return rows.k >= rows.lits.shape[1]
    if rows.form == KNAPSACK:
        assert rows.weights is not None and rows.capacity is not None
        return rows.weights.sum(axis=1) <= rows.capacity
    return np.zeros(len(rows.k), bool)


def _reduce_anyof(
    sub: LogicRows, lits: Int32, true: NDArray[np.int8], free: NDArray[np.bool_]
) -> list[LogicRows]:
    """A true output asks for at least one input; a free output stays an output."""
    output_free = free[:, -1]
    asks = ~output_free & (true[:, -1] == 1) & (true[:, :-1].sum(axis=1) == 0)
    full = sub._replace(lits=lits)
    all_but_one = np.full(len(lits), lits.shape[1] - 1, np.int32)
    at_least_one = sub._replace(form=CAP, lits=~lits, k=all_but_one)
    return [full.take(np.flatnonzero(output_free)), at_least_one.take(np.flatnonzero(asks))]


class Arranged(NamedTuple):
    """Where logic factors went, and the groups of the flat problem they make."""

    placed: tuple[Placed, ...]
    logic: LogicGroups
    is_open: bool  # no factor fixes literals by itself, and none is sure to hold

    def alone(self, size: int) -> Problem:
        """The flat problem of these factors alone, over ``size`` coordinates."""
        return assemble(size, np.zeros((0, 2), np.int32), self.logic)


def arrange(parts: list[LogicRows]) -> Arranged:
    """Merge batches of equal form and size into groups, in the order of the flat problem."""
    by_key: dict[tuple[int, int], list[LogicRows]] = {}
    for part in parts:
        by_key.setdefault((part.form, part.lits.shape[1]), []).append(part)
    placed, shapes, ordered = [], [], []
    for number, key in enumerate(sorted(by_key)):
        first = 0
        for part in by_key[key]:
            count = len(part.k)
            placed.append(Placed(part.block, part.rows, part.columns, number, first, count))
            first += count
        shapes.append((*key, first))
        ordered += by_key[key]
    logic = make_logic(
        shapes, [part.lits for part in ordered], [part.k for part in ordered],
        [part.weights for part in ordered if part.weights is not None],
        [part.capacity for part in ordered if part.capacity is not None],
    )  # fmt: skip
    return Arranged(tuple(placed), logic, _are_open(parts, logic))


def _are_open(parts: list[LogicRows], logic: LogicGroups) -> bool:
    """Whether no factor fixes literals by itself, and none is sure to hold."""
    # The k of what does not count is 1: that settles a parity of one literal, and rightly so.
    if np.count_nonzero((logic.k <= 0) | (logic.k >= logic.size.repeat(logic.members))):
        return False
    heavy = (part for part in parts if part.form == KNAPSACK)
    return not any(forces(part) or np.count_nonzero(_slack(part)) for part in heavy)


def _joined(parts: list[Any]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def renumber(codes: Int32, column: Int32 | None) -> Int32:
    """Literal codes over coordinates as codes over columns; None: they are the same."""
    if column is None:
        return codes
    return np.where(codes < 0, ~column[~codes], column[codes]).astype(np.int32)


def restore_logic(problem: Problem, placed: Placed, codes: Int32, links: Float, out: Float) -> None:
    """Write the flat link scores of placed factors to ``out[m, size]`` of their batch."""
    own, where, same = _links_of(problem, placed, codes, links)
    out[where] = np.where(same, own, -own)


def gather_logic(
    problem: Problem, placed: Placed, codes: Int32, values: NDArray[Any], links: Float
) -> None:
    """The other way: from ``values[m, size]`` of a batch to the flat link scores."""
    own, where, same = _links_of(problem, placed, codes, links)
    own[:] = np.where(same, values[where], -values[where])


def _links_of(
    problem: Problem, placed: Placed, codes: Int32, links: Float
) -> tuple[Float, tuple[Int64, Int64], NDArray[np.bool_]]:
    """A view of the flat links, where they stand in the batch, and which are of the same sign."""
    p = problem
    m, size, start = p.group_count[placed.group], p.group_size[placed.group], p.group_link
    begin = int(start[placed.group])
    span = slice(begin, begin + int(m) * int(size))
    part = slice(placed.first, placed.first + placed.members)
    own = links[span].reshape(size, m)[:, part].T
    lits = p.lits[span].reshape(size, m)[:, part].T
    rows = np.arange(len(codes)) if placed.rows is None else placed.rows
    cols = np.arange(size)[None, :] if placed.columns is None else placed.columns
    where = rows[:, None], cols
    return own, where, (codes[where] < 0) == (lits < 0)
