"""Rows of dependency trees and head automata: flows, charts and paths.

    Arborescence      for every word a unit of flow from the root, along chosen arcs (O(n³) columns)
    ProjectiveTree    derivations of a chart: an item is made as often as it is used
    automata          a path over the modifiers in order, a copy for every grandparent
    tri-siblings      a path over pairs of neighbouring modifiers

All describe the hull, so that their corners are integral.
"""

from __future__ import annotations

import numpy as np

from assent.factors.grandparent_automaton import GrandparentAutomaton
from assent.factors.head_automaton import pair_count, pairs_of
from assent.factors.tri_sibling_automaton import triples_of
from assent.kernels.problem import Float, Int64, Model
from assent.solvers.programs.place_rows import NONE, add_places, put_known
from assent.solvers.programs.row_builder import RowBuilder


def add_arborescence(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    """Whatever every word is sent from the root has to get there along chosen arcs."""
    columns = add_places(builder, model, links)
    words, head, modifier = _arcs(model)
    possible = np.flatnonzero(np.isfinite(model.base))
    head, modifier, chosen = head[possible], modifier[possible], columns[:, possible]
    for word in range(1, words + 1):
        useful = head != word  # what has arrived does not leave again
        flow = builder.columns(np.zeros((len(links), int(useful.sum()))))
        rows = builder.rows(np.zeros(flow.shape))
        builder.put_column(rows, flow, 1.0)
        builder.put_column(rows, chosen[:, useful], -1.0)
        # What comes into a word leaves it, but for what is sent to it; row 0 is word 1.
        stays = np.tile(np.arange(1, words + 1) == word, (len(links), 1)).astype(float)
        rows = builder.rows(stays, lower=stays)
        builder.put_column(rows[:, modifier[useful] - 1], flow, 1.0)
        onwards = head[useful] > 0
        builder.put_column(rows[:, head[useful][onwards] - 1], flow[:, onwards], -1.0)
    _single_root(builder, model, columns)


def _arcs(model: Model) -> tuple[int, Int64, Int64]:
    """Number of words, and head and modifier of each place."""
    structure = model.structure
    words = int(structure.data[0])
    modifier = np.repeat(np.arange(1, words + 1), np.diff(structure.start))
    return words, structure.data[2:].astype(np.int64), modifier


def _single_root(builder: RowBuilder, model: Model, columns: Int64) -> None:
    """One arc from the root; there is one at least, so that this is a face of the hull."""
    if model.structure.data[1]:
        one = np.ones(len(columns))
        of_root = columns[:, _arcs(model)[1] == 0]
        put_known(builder, builder.rows(one, lower=one)[:, None], of_root, 1.0)


# Items of the chart over words i … j: complete or not, with their head on the left or the right.
COMPLETE, OPEN = 0, 1
LEFT, RIGHT = 0, 1


def add_projective(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    """A column per derivation of the chart (Eisner, 1996)."""
    columns = add_places(builder, model, links)
    words, head, modifier = _arcs(model)
    place = np.full((words + 1, words + 1), -1)
    possible = np.isfinite(model.base)
    place[head[possible], modifier[possible]] = np.flatnonzero(possible)
    made, used, arc = _derivations(words, place)
    derived = builder.columns(np.zeros((len(links), len(made))))
    # An item is made as often as it is used; the sentence itself is made once.
    items = sorted({*made, *(item for parts in used for item in parts)})
    item_of = {item: row for row, item in enumerate(items)}
    goal = (COMPLETE, LEFT, 0, words)
    once = np.tile([float(item == goal) for item in item_of], (len(links), 1))
    rows = builder.rows(once, lower=once)
    builder.put_column(rows[:, [item_of[item] for item in made]], derived, 1.0)
    uses = [(item_of[item], d) for d, items in enumerate(used) for item in items]
    item, derivation = np.array(uses, np.int64).reshape(-1, 2).T
    builder.put_column(rows[:, item], derived[:, derivation], -1.0)
    # An arc is chosen where one of its open items is made.
    chosen = np.flatnonzero(possible)
    rows = builder.rows(np.zeros((len(links), len(chosen))), lower=0.0)
    builder.put_column(rows, columns[:, chosen], -1.0)
    row_of = np.full(int(model.structure.start[-1]), -1)
    row_of[chosen] = np.arange(len(chosen))
    makes_arc = np.flatnonzero(np.array(arc) >= 0)
    places = np.array(arc)[makes_arc]
    builder.put_column(rows[:, row_of[places]], derived[:, makes_arc], 1.0)
    _single_root(builder, model, columns)


Item = tuple[int, int, int, int]


def _derivations(words: int, place: Int64) -> tuple[list[Item], list[list[Item]], list[int]]:
    """What each derivation makes, what it uses, and the place of the arc it draws (or -1)."""
    made: list[Item] = []
    used: list[list[Item]] = []
    arc: list[int] = []

    def derive(item: Item, first: Item, second: Item, drawn: int = -1) -> None:
        made.append(item)
        used.append([part for part in (first, second) if part[2] < part[3]])
        arc.append(drawn)

    for i in range(words + 1):
        for j in range(i + 1, words + 1):
            for side, drawn in ((LEFT, place[i, j]), (RIGHT, place[j, i])):
                for k in range(i, j) if drawn >= 0 else ():
                    between = (COMPLETE, LEFT, i, k), (COMPLETE, RIGHT, k + 1, j)
                    derive((OPEN, side, i, j), *between, int(drawn))
            for k in range(i + 1, j + 1):
                derive((COMPLETE, LEFT, i, j), (OPEN, LEFT, i, k), (COMPLETE, LEFT, k, j))
            for k in range(i, j):
                derive((COMPLETE, RIGHT, i, j), (COMPLETE, RIGHT, i, k), (OPEN, RIGHT, k, j))
    return made, used, arc


def add_automaton(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    """A path from "none yet" over the modifiers to "no more"; a copy for every grandparent."""
    structure = model.structure
    columns = add_places(builder, model, links)
    k, grandparents, tables = structure.data.tolist()
    above = isinstance(structure, GrandparentAutomaton)
    copies = grandparents if above else 1
    own, pairs = np.split(inner, [grandparents * k], axis=1)
    earlier, later = pairs_of(k)
    scores = np.broadcast_to(
        pairs.reshape(len(links), tables, -1), (len(links), copies, pair_count(k))
    ).copy()
    if above:
        inside = later <= k
        scores[:, :, inside] += own.reshape(len(links), copies, k)[:, :, later[inside] - 1]
    factor, copy, pair = np.nonzero(np.isfinite(scores))
    step = builder.columns(-scores[factor, copy, pair])
    # What comes into a modifier leaves it; what begins is the grandparent's.
    begins = np.zeros((len(links), copies, k + 1))
    begins[:, :, 0] = 0.0 if above else 1.0
    rows = builder.rows(begins, lower=begins)
    builder.put_column(rows[factor, copy, earlier[pair]], step, 1.0)
    arrives = later[pair] <= k
    factor_of, copy_of, modifier = factor[arrives], copy[arrives], later[pair][arrives]
    builder.put_column(rows[factor_of, copy_of, modifier], step[arrives], -1.0)
    if above:
        put_known(builder, rows[:, :, 0], columns[:, -copies:], -1.0)
    # A modifier is chosen where a path comes by.
    chosen = columns[:, 1 : 2 * k : 2]
    rows = builder.rows(np.zeros(chosen.shape), lower=0.0)
    put_known(builder, rows, chosen, -1.0)
    builder.put_column(rows[factor_of, modifier - 1], step[arrives], 1.0)


def add_triples(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    """A path over pairs of neighbouring positions: a column per pair, and per triple."""
    columns = add_places(builder, model, links)
    k = int(model.structure.data[0])
    earlier, later = pairs_of(k)
    first, middle, last = triples_of(k)
    scores, of_triples = np.split(inner, [pair_count(k)], axis=1)
    place = np.full((k + 2, k + 2), -1)
    place[earlier, later] = np.arange(len(earlier))
    pair, triple = _score_columns(builder, scores), _score_columns(builder, of_triples)
    one = np.ones((len(links), 1))
    put_known(builder, builder.rows(one, lower=one), pair[:, earlier == 0], 1.0)
    for whole, part in (
        (earlier > 0, place[middle, last]),  # what comes into a pair
        (later <= k, place[first, middle]),  # what leaves it
    ):
        row_of = np.cumsum(whole) - 1
        rows = builder.rows(np.zeros((len(links), int(whole.sum()))), lower=0.0)
        put_known(builder, rows, pair[:, whole], -1.0)
        put_known(builder, rows[:, row_of[part]], triple, 1.0)
    chosen = columns[:, 1 : 2 * k : 2]
    rows = builder.rows(np.zeros(chosen.shape), lower=0.0)
    put_known(builder, rows, chosen, -1.0)
    arrives = later <= k
    put_known(builder, rows[:, later[arrives] - 1], pair[:, arrives], 1.0)


def _score_columns(builder: RowBuilder, scores: Float) -> Int64:
    """A column for every score, NONE where it forbids."""
    columns, allowed = np.full(scores.shape, NONE), np.isfinite(scores)
    columns[allowed] = builder.columns(-scores[allowed])
    return columns
