"""The maxima of regions less their cut multipliers, by elimination; imports no solver."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.compile.compiled import Compiled
from assent.factors.table import Table
from assent.kernels.problem import CAP, SUM, Float, Int64
from assent.model.variables import Categorical, coordinates_of
from assent.proof.bucket_elimination import Piece, maximum
from assent.proof.projected_constraints import ProjectedConstraint, possible

# Decimals of multipliers, scaled to at most one, that tell memorised regions from one another.
MEMORY_DECIMALS = 13

# Joint states of a constraint's table times its literals: no search names larger ones.
MOST_TABULATED = 1 << 26


class CutMultipliers(NamedTuple):
    """Multipliers in the terms of the graph, ``T`` of them.

    Attributes:
        region: ``[T]`` whose cut it belongs to.
        block: ``[T]`` the batch of factors, -1 for a coordinate.
        row: ``[T]`` the factor's row in it, or the coordinate.
        joint: ``[T]`` the flat joint state of a table; 0 for pairs and coordinates.
        amount: ``[T]`` what it adds to the score.
    """

    region: Int64
    block: Int64
    row: Int64
    joint: Int64
    amount: Float


def region_maxima(
    compiled: Compiled,
    multipliers: CutMultipliers,
    count: int,
    known: NDArray[np.int8],
    memory: dict[Any, float],
    rules: Mapping[int, tuple[ProjectedConstraint, ...]] | None = None,
) -> list[float]:
    """The maximum ``max(-f)`` of every region under its ``rules``.

    The nodes of a search scale the multipliers of a cycle: ``memory``, of one graph, holds the
    maxima for multipliers scaled to a largest one of 1.
    """
    owner, size = _owners(compiled)
    literals = _literals(compiled, multipliers)
    order = np.argsort(multipliers.region, kind="stable")
    ends = np.searchsorted(multipliers.region[order], np.arange(count + 1))
    maxima = []
    for region, (begin, end) in enumerate(pairwise(ends)):
        own = order[begin:end]
        held = () if rules is None else rules.get(region, ())
        terms, amounts = tuple(literals[t] for t in own), -multipliers.amount[own]
        largest = float(np.abs(amounts).max(initial=0.0)) or 1.0
        unit = np.round(amounts / largest, MEMORY_DECIMALS)
        named = {max(code, ~code) for term in terms for code in term}
        names = {int(owner[c]) for c in named.union(*(rule.mentioned for rule in held))}
        values = tuple(known[name : name + size[name]].tobytes() for name in sorted(names))
        key = (terms, unit.tobytes(), values, _rules_key(held, known))
        if key not in memory:
            memory[key] = _region_maximum(terms, amounts / largest, owner, size, known, held)
        maxima.append(memory[key] * largest)
    return maxima


def _rules_key(rules: tuple[ProjectedConstraint, ...], known: NDArray[np.int8]) -> tuple[Any, ...]:
    """All that a region's maximum depends on through its rules."""
    return tuple(
        (r.form, r.k, r.lits.tobytes(), r.mentioned, _values(r, known).tobytes(),
         None if r.weights is None else r.weights.tobytes(), r.capacity)
        for r in rules
    )  # fmt: skip


def _values(rule: ProjectedConstraint, known: NDArray[np.int8]) -> NDArray[np.int8]:
    """What is known of a rule's coordinates."""
    return known[coordinates_of(rule.lits)]


def _owners(compiled: Compiled) -> tuple[Int64, Int64]:
    """The variable of every coordinate, named by its first one, and its number of coordinates."""
    owner = np.arange(len(compiled.fixed))
    size = np.ones(len(compiled.fixed), np.int64)
    for variable in compiled.graph.variables:
        codes = variable.symbol.codes
        if isinstance(variable.symbol, Categorical) and codes.size:
            owner[codes] = codes[..., :1]
            size[codes] = codes.shape[-1]
    return owner, size


def _literals(compiled: Compiled, multipliers: CutMultipliers) -> list[tuple[int, ...]]:
    """The literals whose conjunction each multiplier scores."""
    out: list[tuple[int, ...]] = [()] * len(multipliers.row)
    own = np.flatnonzero(multipliers.block < 0)
    for t, coordinate in zip(own.tolist(), multipliers.row[own].tolist(), strict=True):
        out[t] = (coordinate,)
    for number in np.unique(multipliers.block[multipliers.block >= 0]).tolist():
        factor = compiled.blocks[number].factor
        own = np.flatnonzero(multipliers.block == number)
        codes = factor.codes[multipliers.row[own]]
        if isinstance(factor, Table):
            codes = _state_codes(factor, codes, multipliers.joint[own])
        for t, together in zip(own.tolist(), codes.tolist(), strict=True):
            out[t] = tuple(together)
    return out


def _state_codes(factor: Table, codes: NDArray[np.int32], joint: Int64) -> NDArray[np.int32]:
    """Literals ``[T, slots]`` of joint states of tables over literals ``codes[T, links]``."""
    states = np.unravel_index(joint, factor.states)
    every, out = np.arange(len(codes)), []
    for place, first, state in zip(factor.slot_links(), factor.first, states, strict=True):
        if first:
            code = codes[:, place.start]
            out.append(np.where(state == 1, code, ~code))
        else:
            out.append(codes[every, place.start + state])
    return np.stack(out, axis=1)


def _region_maximum(
    terms: tuple[tuple[int, ...], ...],
    amounts: Float,
    owner: Int64,
    size: Int64,
    known: NDArray[np.int8],
    rules: tuple[ProjectedConstraint, ...],
) -> float:
    """The largest sum of amounts whose literals are all true, by elimination.

    A variable's states are the coordinates that are mentioned, and "none of these" if there are
    more; two states of one variable are never true together.  Nor are literals of which a rule
    allows one: these make a variable too.
    """
    owner = _merged(rules, owner, size)
    mentioned: dict[int, list[int]] = {}
    named = {c if c >= 0 else ~c for term in terms for c in term}
    for coordinate in sorted(named.union(*(rule.mentioned for rule in rules))):
        mentioned.setdefault(int(owner[coordinate]), []).append(coordinate)
    names = sorted(mentioned)
    place = {name: i for i, name in enumerate(names)}
    masks = [_possible(mentioned[name], name, int(size[name]), known) for name in names]
    pieces: dict[tuple[int, ...], Float] = {
        (i,): np.where(mask, 0.0, -np.inf) for i, mask in enumerate(masks)
    }
    for term, amount in zip(terms, amounts.tolist(), strict=True):
        truth: dict[int, NDArray[np.bool_]] = {}
        for code in term:
            coordinate = code if code >= 0 else ~code
            i = place[int(owner[coordinate])]
            own = np.zeros(len(masks[i]), bool)
            own[mentioned[names[i]].index(coordinate)] = True
            truth[i] = truth.get(i, True) & (own if code >= 0 else ~own)
        scope = tuple(sorted(truth))
        table = pieces.setdefault(scope, np.zeros([len(masks[i]) for i in scope]))
        table[np.ix_(*(truth[i] for i in scope))] += amount
    allowed = [_allowed(rule, mentioned, place, owner, known) for rule in rules]
    return maximum([*(Piece(scope, table) for scope, table in pieces.items()), *allowed])


def _merged(rules: tuple[ProjectedConstraint, ...], owner: Int64, size: Int64) -> Int64:
    """Owners of coordinates, with binary ones of which a rule allows one as states of a variable.

    Whether none of them can be true follows from the rule's own table.
    """
    merged: dict[int, int] = {}
    for rule in rules:
        if rule.form in (CAP, SUM) and rule.k == 1:
            states = [c for c in rule.lits.tolist() if c in rule.mentioned and size[c] == 1]
            states = [c for c in states if c not in merged]
            if len(states) > 2:
                merged.update(dict.fromkeys(states, min(states)))
    if not merged:
        return owner
    changed = owner.copy()
    changed[list(merged)] = list(merged.values())
    return changed


def _allowed(
    rule: ProjectedConstraint,
    mentioned: dict[int, list[int]],
    place: dict[int, int],
    owner: Int64,
    known: NDArray[np.int8],
) -> Piece:
    """Zero where a rule can hold, ``-inf`` elsewhere, over the variables that it mentions.

    One over too many is left out: the region's maximum can only grow.
    """
    names = sorted({int(owner[coordinate]) for coordinate in rule.mentioned})
    shape = [len(mentioned[name]) + 1 for name in names]
    if math.prod(shape) * len(rule.lits) > MOST_TABULATED:
        return Piece((), np.zeros(()))
    states = np.indices(shape).reshape(len(names), -1)
    values = _values(rule, known)
    truth = np.broadcast_to(values == 1, (states.shape[1], len(values))).copy()
    free = values == -1
    own = coordinates_of(rule.lits)
    for coordinate in rule.mentioned:
        name, columns = int(owner[coordinate]), own == coordinate
        is_true = states[names.index(name)] == mentioned[name].index(coordinate)
        truth[:, columns] = is_true[:, None]
        free[columns] = False
    truth ^= rule.lits < 0
    fits = possible(rule.form, rule.k, truth, free, rule.weights, rule.capacity)
    return Piece(tuple(place[name] for name in names), np.where(fits, 0.0, -np.inf).reshape(shape))


def _possible(
    mentioned: list[int], first: int, size: int, known: NDArray[np.int8]
) -> NDArray[np.bool_]:
    """Which states are possible: those mentioned, and last "none of these"."""
    values = known[mentioned]
    if (values == 1).any():
        return np.append(values == 1, False)
    others = set(range(first, first + size)) - set(mentioned)
    return np.append(values != 0, size == 1 or any(known[other] != 0 for other in others))
