"""What regions can be worth after their loans: the maximum of each; imports no solver."""

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
from assent.model.variables import Categorical
from assent.proof.bucket_elimination import Piece, maximum
from assent.proof.projected_constraints import Rule, possible

# Digits to which loans of size one are told apart.
ALIKE = 13

# Joint states that a rule is asked about, times its literals: no search names rules with more.
MOST_ASKED = 1 << 26


class Loans(NamedTuple):
    """Loans in the terms of the graph, ``T`` of them.

    Attributes:
        region: ``[T]`` who lends.
        block: ``[T]`` the batch of factors, -1 for a coordinate.
        row: ``[T]`` the factor's row in it, or the coordinate.
        joint: ``[T]`` the flat joint state of a table; 0 for pairs and coordinates.
        amount: ``[T]`` how much.
    """

    region: Int64
    block: Int64
    row: Int64
    joint: Int64
    amount: Float


def region_maxima(
    compiled: Compiled,
    loans: Loans,
    count: int,
    known: NDArray[np.int8],
    memory: dict[Any, float],
    rules: Mapping[int, tuple[Rule, ...]] | None = None,
) -> list[float]:
    """The most that every region can be worth after its loans, ``max(-f)``, under its ``rules``.

    A cycle is lent more in one case and less in another: ``memory``, of one graph, holds the maxima
    of loans of size one.
    """
    owner, size = _owners(compiled)
    literals = _literals(compiled, loans)
    order = np.argsort(loans.region, kind="stable")
    ends = np.searchsorted(loans.region[order], np.arange(count + 1))
    maxima = []
    for region, (begin, end) in enumerate(pairwise(ends)):
        own = order[begin:end]
        held = () if rules is None else rules.get(region, ())
        terms, amounts = tuple(literals[t] for t in own), -loans.amount[own]
        largest = float(np.abs(amounts).max(initial=0.0)) or 1.0
        unit = np.round(amounts / largest, ALIKE)
        named = {max(code, ~code) for term in terms for code in term}
        names = {int(owner[c]) for c in named.union(*(rule.spoken for rule in held))}
        values = tuple(known[name : name + size[name]].tobytes() for name in sorted(names))
        key = (terms, unit.tobytes(), values, _told(held, known))
        if key not in memory:
            memory[key] = _region_maximum(terms, amounts / largest, owner, size, known, held)
        maxima.append(memory[key] * largest)
    return maxima


def _told(rules: tuple[Rule, ...], known: NDArray[np.int8]) -> tuple[Any, ...]:
    """All that a region's maximum depends on through its rules."""
    return tuple(
        (r.form, r.k, r.lits.tobytes(), r.spoken, _values(r, known).tobytes(),
         None if r.weights is None else r.weights.tobytes(), r.capacity)
        for r in rules
    )  # fmt: skip


def _values(rule: Rule, known: NDArray[np.int8]) -> NDArray[np.int8]:
    """What is known of a rule's coordinates."""
    return known[np.where(rule.lits < 0, ~rule.lits, rule.lits)]


def _owners(compiled: Compiled) -> tuple[Int64, Int64]:
    """The variable of every coordinate, told by its first one, and how many it has."""
    owner = np.arange(len(compiled.fixed))
    size = np.ones(len(compiled.fixed), np.int64)
    for variable in compiled.graph.variables:
        codes = variable.symbol.codes
        if isinstance(variable.symbol, Categorical) and codes.size:
            owner[codes] = codes[..., :1]
            size[codes] = codes.shape[-1]
    return owner, size


def _literals(compiled: Compiled, loans: Loans) -> list[tuple[int, ...]]:
    """The literals that are true together where a loan counts."""
    out: list[tuple[int, ...]] = [()] * len(loans.row)
    own = np.flatnonzero(loans.block < 0)
    for t, coordinate in zip(own.tolist(), loans.row[own].tolist(), strict=True):
        out[t] = (coordinate,)
    for number in np.unique(loans.block[loans.block >= 0]).tolist():
        factor = compiled.blocks[number].factor
        own = np.flatnonzero(loans.block == number)
        codes = factor.codes[loans.row[own]]
        if isinstance(factor, Table):
            codes = _state_codes(factor, codes, loans.joint[own])
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
    rules: tuple[Rule, ...],
) -> float:
    """The largest sum of amounts whose literals are all true, by elimination.

    A variable's states are the coordinates that are spoken of, and "none of these" if there are
    more; two states of one variable are never true together.  Nor are literals of which a rule
    allows one: these make a variable too.
    """
    owner = _merged(rules, owner, size)
    spoken: dict[int, list[int]] = {}
    named = {c if c >= 0 else ~c for term in terms for c in term}
    for coordinate in sorted(named.union(*(rule.spoken for rule in rules))):
        spoken.setdefault(int(owner[coordinate]), []).append(coordinate)
    names = sorted(spoken)
    place = {name: i for i, name in enumerate(names)}
    masks = [_possible(spoken[name], name, int(size[name]), known) for name in names]
    pieces: dict[tuple[int, ...], Float] = {
        (i,): np.where(mask, 0.0, -np.inf) for i, mask in enumerate(masks)
    }
    for term, amount in zip(terms, amounts.tolist(), strict=True):
        truth: dict[int, NDArray[np.bool_]] = {}
        for code in term:
            coordinate = code if code >= 0 else ~code
            i = place[int(owner[coordinate])]
            own = np.zeros(len(masks[i]), bool)
            own[spoken[names[i]].index(coordinate)] = True
            truth[i] = truth.get(i, True) & (own if code >= 0 else ~own)
        scope = tuple(sorted(truth))
        table = pieces.setdefault(scope, np.zeros([len(masks[i]) for i in scope]))
        table[np.ix_(*(truth[i] for i in scope))] += amount
    allowed = [_allowed(rule, spoken, place, owner, known) for rule in rules]
    return maximum([*(Piece(scope, table) for scope, table in pieces.items()), *allowed])


def _merged(rules: tuple[Rule, ...], owner: Int64, size: Int64) -> Int64:
    """Owners of coordinates, with binary ones of which a rule allows one as states of a variable.

    Whether none of them can be true, the rule tells by itself.
    """
    merged: dict[int, int] = {}
    for rule in rules:
        if rule.form in (CAP, SUM) and rule.k == 1:
            states = [c for c in rule.lits.tolist() if c in rule.spoken and size[c] == 1]
            states = [c for c in states if c not in merged]
            if len(states) > 2:
                merged.update(dict.fromkeys(states, min(states)))
    if not merged:
        return owner
    changed = owner.copy()
    changed[list(merged)] = list(merged.values())
    return changed


def _allowed(
    rule: Rule,
    spoken: dict[int, list[int]],
    place: dict[int, int],
    owner: Int64,
    known: NDArray[np.int8],
) -> Piece:
    """Zero where a rule can hold, ``-inf`` elsewhere, over the variables it is spoken of by.

    One that is spoken of by too many is left out: a region may be worth more without it.
    """
    names = sorted({int(owner[coordinate]) for coordinate in rule.spoken})
    shape = [len(spoken[name]) + 1 for name in names]
    if math.prod(shape) * len(rule.lits) > MOST_ASKED:
        return Piece((), np.zeros(()))
    states = np.indices(shape).reshape(len(names), -1)
    values = _values(rule, known)
    truth = np.broadcast_to(values == 1, (states.shape[1], len(values))).copy()
    loose = values == -1
    own = np.where(rule.lits < 0, ~rule.lits, rule.lits)
    for coordinate in rule.spoken:
        name, columns = int(owner[coordinate]), own == coordinate
        told = states[names.index(name)] == spoken[name].index(coordinate)
        truth[:, columns] = told[:, None]
        loose[columns] = False
    truth ^= rule.lits < 0
    fits = possible(rule.form, rule.k, truth, loose, rule.weights, rule.capacity)
    return Piece(tuple(place[name] for name in names), np.where(fits, 0.0, -np.inf).reshape(shape))


def _possible(
    spoken: list[int], first: int, size: int, known: NDArray[np.int8]
) -> NDArray[np.bool_]:
    """Which states can be: those spoken of, and last "none of these"."""
    values = known[spoken]
    if (values == 1).any():
        return np.append(values == 1, False)
    others = set(range(first, first + size)) - set(spoken)
    return np.append(values != 0, size == 1 or any(known[other] != 0 for other in others))
