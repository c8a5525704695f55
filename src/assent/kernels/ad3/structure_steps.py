"""All structures of a problem in one compiled sweep: an AD3 step, a bound, what an answer is worth.

The counterpart of :mod:`assent.kernels.ad3.table_steps` for joint states that are searched.
Evidence leaves a structure as it is: what cannot be has the ``base`` score -inf, which is added to
the scores before every search, and only places with a free coordinate have a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from assent.kernels.ad3.active_set import project
from assent.kernels.ad3.state import StructureGroups
from assent.kernels.ad3.table_steps import (
    Layout,
    group_rows,
    group_support,
    group_work,
    make_flat_work,
    make_layout,
)
from assent.kernels.core.bound_sweep import DualState, add_compensated
from assent.kernels.core.memo import remembered
from assent.kernels.core.structure_addresses import (
    NONE,
    call_projection,
    function_address,
    raise_pending,
)
from assent.kernels.core.vertices import Slots, Work, maximize
from assent.kernels.jit import (
    jit_inline,
    jit_inline_llvm,
    jit_internal_no_allocation,
    jit_no_allocation,
)
from assent.kernels.problem import Float, Int64, Model, Problem, Scores, Tables, no_tables

# Vertices kept per structure.  Supports are much smaller than Proposition 1.7 of Martins et al.
# (2015) allows where slots have many states: a few dozen for the trees of long sentences.
LARGEST_ROOM = 128

# The first consensus is not worth exact projections: iteration t searches for at most
# 1 + t / GROWTH vertices.  Sentences of 40 words need no more iterations for it, and three quarters
# of the time; exact projections on the trees of 500 words would need more vertices than there is
# room for, and ten times as long.  With fewer than MANY_LINKS, searches take no time worth saving,
# and t vertices settle the marginals sooner.
GROWTH = 5
MANY_LINKS = 500


class Models(NamedTuple):
    """What groups of structures have beside ``Tables``; see ``problem.Model``."""

    address: np.ndarray  # int64[S] of their maximize
    data: np.ndarray  # int32, group s has data[data_at[s]:data_at[s + 1]], and so on
    data_at: np.ndarray
    place: np.ndarray  # int32, one per link of a factor
    place_at: np.ndarray
    base: np.ndarray  # float64, one per place
    base_at: np.ndarray
    projection: np.ndarray  # int64[S] address of their own project, or NONE
    memory_at: np.ndarray  # int64[S + 1]: what these keep: the last solution, then their memory


def searched(t: Tables, structures: int) -> Tables:
    """The last groups of a problem's tables, its structures; see ``Problem.written``."""
    count = len(t.kind) - structures
    slots, links = int(t.slot[count]), int(t.link[count])
    own = Tables(
        t.kind[count:], t.slot[count:] - slots, t.states[slots:], t.first[slots:],
        t.link[count:] - links, t.entry[count:] - t.entry[count],
        t.factor[count:] - t.factor[count], t.lits[links:],
    )  # fmt: skip
    for array in own:  # as all tables: kernels are compiled once
        array.flags.writeable = False
    return own


def make_models(tables: Tables, given: Sequence[Model]) -> Models:
    """The models of a problem as arrays, ``tables`` being their groups."""
    data, data_at = _joined([m.structure.data for m in given], np.int32)
    place, place_at = _joined([m.place for m in given], np.int32)
    base, base_at = _joined([m.base for m in given], np.float64)
    address, projection = (
        np.array([function_address(m.structure, name) for m in given], np.int64)
        for name in ("maximize", "project")
    )
    return Models(
        address, data, data_at, place, place_at, base, base_at, projection,
        _memory_places(np.diff(tables.factor), given, projection),
    )  # fmt: skip


def _memory_places(counts: Int64, given: Sequence[Model], projection: Int64) -> Int64:
    """Where the memory of each group of structures that project for themselves begins."""
    sizes = [
        0 if own == NONE else int(count) * (len(model.base) + model.structure.memory())
        for model, count, own in zip(given, counts, projection, strict=True)
    ]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _joined(parts: list[np.ndarray], dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Arrays end to end, read-only, and where each begins."""
    whole = np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)
    whole.flags.writeable = False
    return whole, np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)


class Groups(NamedTuple):
    """What the structures of a problem are, whatever its other tables."""

    tables: Tables
    models: Models
    layout: Layout
    order: np.ndarray  # int64[S], in which they choose
    room: list[int]  # of their scratch


def _make_groups(tables: Tables, given: Sequence[Model]) -> Groups:
    own = searched(tables, len(given))
    models = make_models(own, given)
    # One that projects for itself keeps its inner value there, as if it were a vertex's.
    layout = make_layout(own, np.where(models.projection == NONE, LARGEST_ROOM, 1))
    order = np.argsort(-np.diff(models.place_at), kind="stable")  # most coordinates first
    return Groups(own, models, layout, order, list(map(len, make_flat_work(own, layout))))


@cache
def _no_groups() -> Groups:
    """Those of all problems without structures, which are many."""
    return _make_groups(no_tables(), ())


class Searcher:
    """The structures of a problem, ready for the kernels; made once, used by any thread."""

    def __init__(self, problem: Problem) -> None:
        tables, given = problem.tables, problem.models
        own = _make_groups(tables, given) if given else _no_groups()
        self.tables, self.models, self.layout, self.order, self._room = own
        self.first_link = len(tables.lits) - len(self.tables.lits)
        self.first_entry = int(tables.entry[-1] - self.tables.entry[-1])

    @property
    def n_structures(self) -> int:
        return int(self.tables.factor[-1])

    def groups(self) -> StructureGroups:
        """The structures, with scratch for one call at a time."""
        return make_groups(self.tables, self.models, self.layout, Work(*map(np.zeros, self._room)))

    def links(self, values: Float) -> Float:
        """The part of an array over all tables' links that belongs to structures."""
        return values[self.first_link :]

    def entries(self, scores: Scores) -> Float:
        """Scores of inner parts, as kernels take them."""
        own = scores.table[self.first_entry :]
        own.flags.writeable = False
        return own

    def values(self, scores: Scores, x: np.ndarray) -> Float:
        """Inner score of every structure at an assignment ``x[n]``, -inf if it forbids it."""
        out = np.empty(self.n_structures)
        structure_values(self.groups(), self.entries(scores), x, out)
        raise_pending()
        return out

    def settle(self, scores: Scores, wish: Float, scale: float) -> np.ndarray:
        """Values ``int8[n]`` that structures give their coordinates, -1 for all others.

        They choose by ``wish[n]``, what being 1 is worth, and ``scale`` times their inner scores.
        """
        x = np.empty(len(wish), np.int8)
        settle_structures(self.groups(), self.entries(scores), self.order, wish, scale, x)
        raise_pending()
        return x

    def bound(self, scores: Scores, dual: DualState, residual: Float) -> float:
        """Best values of all structures at a dual point; see ``bound_models``."""
        best = bound_models(
            self.groups(), self.entries(scores), dual, self.links(dual.table), residual
        )
        raise_pending()
        return best


@remembered
def searcher_of(problem: Problem) -> Searcher:
    """The problem's searcher, made at the first call."""
    return Searcher(problem)


def make_groups(tables, models, layout, work):
    """Structures with scratch for one at a time.  Plain Python, which batches compile."""
    masked, states = np.empty(work.a.size), np.zeros((2, tables.states.size), np.int32)
    return StructureGroups(tables, models, layout, work, masked, states)


class ModelGroup(NamedTuple):
    """One group of ``m`` structures, cut out of the flat arrays."""

    kind: int
    slots: Slots
    place: np.ndarray  # int32[links]
    lits: np.ndarray  # int32[m, links]
    entries: np.ndarray  # float64[m, parts]: scores of inner parts, or what belongs to them
    work: Work
    states: np.ndarray  # int32[d]: scratch
    found: np.ndarray  # int32[d]: the same


@jit_inline
def view_group(groups, entries, s):
    """Group ``s`` of a ``state.StructureGroups``."""
    tables, models, layout = groups.tables, groups.models, groups.layout
    first, last = tables.slot[s], tables.slot[s + 1]
    count = tables.factor[s + 1] - tables.factor[s]
    base = models.base[models.base_at[s] : models.base_at[s + 1]]
    slots = Slots(
        layout.start[first + s : last + s + 1], tables.first[first:last], models.address[s],
        models.data[models.data_at[s] : models.data_at[s + 1]], base, groups.masked[: len(base)],
        False,
    )  # fmt: skip
    return ModelGroup(
        tables.kind[s], slots, models.place[models.place_at[s] : models.place_at[s + 1]],
        group_rows(tables.lits, tables.link, s, count), group_rows(entries, tables.entry, s, count),
        group_work(groups.work, slots.start[-1], layout.room[s]),
        groups.states[0][: last - first], groups.states[1][: last - first],
    )  # fmt: skip


@jit_inline_llvm
def gather_links(own, f, values, factor, p):
    """The point ``values + factor * p`` of structure ``f``, in literal space, into ``work.a``."""
    for link in range(len(own.place)):
        lit = own.lits[f, link]
        at = factor * p[np.uint32(lit ^ (lit >> 31))]
        own.work.a[own.place[link]] = values[f, link] + (factor - at if lit < 0 else at)


@jit_inline_llvm
def move_links(own, f, alpha, w, total):
    """``w += alpha * (p - q)`` for structure ``f``; returns the sum of ``(p - q)^2``."""
    squares, place, work = 0.0, own.place, own.work
    for link in range(len(place)):
        lit = own.lits[f, link]
        # p - q, since a = w + 2 p
        gap = 0.5 * (work.a[place[link]] - w[f, link]) - work.q[place[link]]
        squares += gap * gap
        w[f, link] += alpha * gap
        total[np.uint32(lit ^ (lit >> 31))] += gap if lit < 0 else -gap
    return squares


@jit_inline_llvm
def project_itself(address, slots, table, scale, support, f, work, memory):
    """Project ``work.a`` by the structure's own function, into ``work.q``."""
    places = len(work.q)
    support.inner[f, 0] = call_projection(
        address, slots.start, slots.data, slots.base, work.a, table, scale, memory[places:], work.q
    )
    support.weight[f, 0] = 1.0
    support.size[f] = 1
    for place in range(places):
        memory[place] = work.q[place]


@jit_internal_no_allocation
def step_models(own, table, w, sweep, consensus, t):
    """Steps 1 and 2 of AD3 for the active structures (all in a full sweep), in iteration ``t``.

    ``own`` are ``state.Structures``; ``table`` and ``w`` are those of tables as well.  Adds
    ``q - p`` to the consensus and returns its squares; see ``active_set_steps.step_structures``.
    """
    squares, scores, links = 0.0, table[own.first_entry :], w[own.first_link :]
    groups, rho, vertices = own.groups, sweep.inverse_rho, most_searches(t, len(links))
    tables, models = groups.tables, groups.models
    for s in range(len(tables.kind)):
        group = view_group(groups, scores, s)
        slots, work, count = group.slots, group.work, len(group.lits)
        own_w = group_rows(links, tables.link, s, count)
        support = group_support(tables, groups.layout, own.supports, s)
        memory = group_rows(own.memory, models.memory_at, s, count)
        inactive, projection = own.inactive[tables.factor[s] :], models.projection[s]
        for f in range(count):
            if inactive[f] and not sweep.full:
                continue
            gather_links(group, f, own_w, 2.0, consensus.p)
            inner = group.entries[f]
            if projection == NONE:
                project(group.kind, slots, inner, rho, support, f, work, vertices)
            else:
                project_itself(projection, slots, inner, rho, support, f, work, memory[f])
            moved = move_links(group, f, sweep.alpha, own_w, consensus.total)
            if sweep.full:
                inactive[f] = moved <= sweep.limit * own_w.shape[1]
            squares += moved
    return squares


@jit_internal_no_allocation
def most_searches(t, links):
    """How many vertices structures of ``links`` links may search for in iteration ``t``."""
    return t + 1 if links < MANY_LINKS else 1 + (t - 1) // GROWTH


@jit_no_allocation
def bound_models(groups, scores, dual, values, residual):
    """Best values of all structures at a ``bound_sweep.DualState``, with ``values`` on their links.

    Takes the link scores off ``residual[n]``.
    """
    best, carry, scale = 0.0, 0.0, dual.scales[-1]
    for s in range(len(groups.tables.kind)):
        own = view_group(groups, scores, s)
        a, links = own.work.a, group_rows(values, groups.tables.link, s, len(own.lits))
        for f in range(len(own.lits)):
            gather_links(own, f, links, dual.factor, dual.p)
            top, _ = maximize(own.kind, own.slots, a, own.entries[f], 1.0 / scale, own.states)
            part = scale * top
            for link in range(len(own.place)):
                lit = own.lits[f, link]
                score = scale * a[own.place[link]]
                # score * (1 - x) = score - score * x
                residual[np.uint32(lit ^ (lit >> 31))] += score if lit < 0 else -score
                part -= score if lit < 0 else 0.0
            best, carry = add_compensated(best, carry, part)
    return best + carry


@jit_inline_llvm
def inner_at(own, f, states):
    """Inner score that the vertex ``states[d]`` has in structure ``f``, -inf if there is none."""
    slots, a = own.slots, own.work.a
    for place in range(len(a)):
        a[place] = -np.inf
    for slot in range(len(states)):
        a[slots.start[slot] + states[slot]] = 0.0
    value, inner = maximize(own.kind, slots, a, own.entries[f], 1.0, own.found)
    return inner if value > -np.inf else -np.inf


@jit_no_allocation
def rescore_models(groups, scores, supports):
    """Give the supports the inner scores they have now; one that is forbidden now is emptied."""
    for s in range(len(groups.tables.kind)):
        own = view_group(groups, scores, s)
        support = group_support(groups.tables, groups.layout, supports, s)
        for f in range(len(own.lits) if groups.models.projection[s] == NONE else 0):
            for i in range(support.size[f]):
                inner = inner_at(own, f, support.states[f, i])
                support.inner[f, i] = inner
                if inner == -np.inf:
                    support.size[f] = 0
                    support.kept[f] = 0
                    break


@jit_internal_no_allocation
def read_states(own, f, x):
    """Write the states of structure ``f`` at an assignment ``x[n]``; whether it spells a vertex.

    A slot without a true coordinate is at the place that needs none: the false of a literal, or
    what evidence has left.
    """
    slots, states, chosen = own.slots, own.states, own.work.q
    chosen[:] = 0.0
    for link in range(len(own.place)):
        lit = own.lits[f, link]
        true = x[lit] if lit >= 0 else 1 - x[~lit]
        chosen[own.place[link]] = 1.0 if true else -1.0
    for slot in range(len(slots.first)):
        state, number = -1, 0
        for at in range(slots.start[slot], slots.start[slot + 1]):
            if chosen[at] == 1.0:
                state = at - slots.start[slot]
                number += 1
        for at in range(slots.start[slot], slots.start[slot + 1]):
            if number == 0 and chosen[at] == 0.0 and slots.base[at] == 0.0:
                state = at - slots.start[slot]
                number = 1
        if number != 1:
            return False
        states[slot] = state
    return True


@jit_no_allocation
def structure_values(groups, scores, x, out):
    """Inner score ``out[factors]`` of every structure at an assignment, -inf if it forbids it."""
    for s in range(len(groups.tables.kind)):
        own, own_out = view_group(groups, scores, s), out[groups.tables.factor[s] :]
        for f in range(len(own.lits)):
            own_out[f] = -np.inf
            if read_states(own, f, x):
                own_out[f] = inner_at(own, f, own.states)


@jit_inline_llvm
def wish_for(own, f, wish, x):
    """Scores of the places of structure ``f``: what they are worth, -inf against ``x``."""
    slots, place, a = own.slots, own.place, own.work.a
    a[:] = 0.0
    link = 0
    for slot in range(len(slots.first)):
        true = -1
        while link < len(place) and place[link] < slots.start[slot + 1]:
            lit = own.lits[f, link]
            v = np.uint32(lit ^ (lit >> 31))
            a[place[link]] = -wish[v] if lit < 0 else wish[v]
            if x[v] >= 0 and (x[v] == 1) == (lit < 0):
                a[place[link]] = -np.inf
            elif x[v] >= 0:
                true = place[link]
            link += 1
        for at in range(slots.start[slot], slots.start[slot + 1]):
            if true >= 0 and at != true:
                a[at] = -np.inf


@jit_no_allocation
def settle_structures(groups, scores, order, wish, scale, x):
    """Give the coordinates of structures values, ``x[n]``, -1 for all others.

    Every structure takes the vertex that ``wish[n]`` and its inner scores favour most among those
    that agree with the structures before it, in the given ``order`` of groups.
    """
    x[:] = -1
    for s in order:
        own = view_group(groups, scores, s)
        chosen = own.work.q
        for f in range(len(own.lits)):
            wish_for(own, f, wish, x)
            value, _ = maximize(own.kind, own.slots, own.work.a, own.entries[f], scale, own.states)
            chosen[:] = 0.0
            for slot in range(len(own.states)):
                chosen[own.slots.start[slot] + own.states[slot]] = 1.0
            for link in range(len(own.place)):
                lit, at = own.lits[f, link], own.place[link]
                v = np.uint32(lit ^ (lit >> 31))
                if x[v] < 0 and value > -np.inf:
                    x[v] = chosen[at] if lit >= 0 else 1.0 - chosen[at]
