"""A good summary by its relaxation: AD3 says which units are in question, these are searched."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import assent as at
from assent.apps.summarization.concepts import Concepts
from assent.apps.summarization.lp_branching import best_assignment
from assent.apps.summarization.model import (
    Float,
    Int64,
    Units,
    idle_units,
    relaxed_graph,
    summary_graph,
    summary_value,
    with_heads,
)

Chosen = NDArray[np.bool_]

# With these, bounds of problems with 5,000 words are within 0.02 % of the relaxation's.
ITERATIONS = 150
# Less in the relaxation is a rounding error of so few iterations.
_TRACE = 0.01
# Units of other sentences, those with most for their length, on which the rest of a budget goes.
_MORE_UNITS = 200
# Seconds for the best summary of the sentences in question; it mostly takes a tenth of one.
_SECONDS = 2.0


class Found(NamedTuple):
    """Units that are kept, what they are worth, and what nothing exceeds."""

    kept: Chosen  # [units]
    value: float
    bound: float
    certificate: at.Certificate | None

    def or_units(self, kept: Chosen, value: float) -> Found:
        """These units or others, whichever are worth more."""
        return self if value <= self.value else self._replace(kept=kept, value=value)


def relax_and_search(
    units: Units, concepts: Concepts, budget: int, time_limit: float | None
) -> Found:
    """Good units: the relaxation says which are in question, and these are searched."""
    graph = relaxed_graph(units, concepts, budget)
    # Left to itself AD3 begins with a penalty by the scores of all units, most of which are small.
    typical = float(np.abs(concepts.weights).mean())
    solver = at.AD3(max_iterations=ITERATIONS, penalty=typical or None)
    relaxed = at.decode(graph, solver, time_limit=time_limit)
    found = _read(relaxed, graph, units, concepts, budget)
    if found.bound - found.value <= solver.gap_tolerance * (1.0 + abs(found.bound)):
        return found
    near = units_in_question(units, concepts, relaxed.marginals[graph["unit"]])
    if (near | idle_units(units, concepts)).all():
        graph = summary_graph(units, concepts, budget)
        proven = at.decode(graph, at.IntegerProgram(time_limit=_SECONDS))
        better = _read(proven, graph, units, concepts, budget)
        if better.bound < found.bound:
            found = found._replace(bound=better.bound, certificate=better.certificate)
        return found.or_units(better.kept, better.value)
    own, its_concepts, places = restricted(
        units, concepts, np.isin(units.sentence, units.sentence[near])
    )
    part = relaxed_graph(own, its_concepts, budget, near[places])
    searched = best_assignment(part, _SECONDS)
    if searched is None:
        return found
    kept = np.zeros(len(units.cost), bool)
    idle = idle_units(own, its_concepts)
    kept[places] = filled(own, idle, searched[part["unit"].codes] == 1, budget)
    return found.or_units(kept, summary_value(units, concepts, budget, kept))


def _read(
    result: at.Result, graph: at.FactorGraph, units: Units, concepts: Concepts, budget: int
) -> Found:
    """The units that a result keeps, and what else there is room for."""
    kept = np.zeros(len(units.cost), bool)  # stopped too early: an empty summary always is one
    if result.feasible:
        idle = idle_units(units, concepts)
        kept = filled(units, idle, result[graph["unit"]] == 1, budget)
    value = summary_value(units, concepts, budget, kept)
    return Found(kept, value, max(result.bound, value), result.certificate)


def filled(units: Units, idle: Chosen, kept: Chosen, budget: int) -> Chosen:
    """Units ``[units]`` that are kept, and idle phrases below them for the rest of the budget.

    Those that gain most for their length come first.
    """
    kept = kept.copy()
    left = budget - int(units.cost[kept].sum())
    below = idle & ~kept & np.append(kept, False)[units.parents]
    top = np.where(below, np.arange(len(kept)), -1)
    for unit in np.flatnonzero(idle & ~kept & ~below & (units.parents >= 0)):  # heads first
        top[unit] = top[units.parents[unit]]
    cost = np.bincount(top[top >= 0], units.cost[top >= 0], len(kept))
    price = np.where(below, units.deletion / np.maximum(cost, 1.0), 0.0)
    for unit in np.argsort(price, kind="stable")[: below.sum()]:
        if cost[unit] <= left:
            kept[top == unit] = True
            left -= int(cost[unit])
    return kept


def units_in_question(units: Units, concepts: Concepts, marginals: Float) -> Chosen:
    """Units ``[units]`` that a good summary may use.

    They are of the sentences of which the relaxation has something, and of some others that have
    much for their length: the relaxation fills the budget to the last word, whole units seldom
    do.  Of these sentences, they are what the relaxation has, what concepts need, and their heads.
    """
    n = int(units.sentence[-1]) + 1
    share = np.zeros(n)
    np.maximum.at(share, units.sentence, marginals)
    there = np.unique(
        np.stack([concepts.types, units.sentence[units.of_word[concepts.words[:, 0]]]]), axis=1
    )
    worth = np.bincount(there[1], concepts.weights[there[0]], n)
    busy = ~idle_units(units, concepts)
    length = np.bincount(units.sentence[busy], units.cost[busy], n)
    near = share > _TRACE
    ratio = np.where(near, -np.inf, worth / np.maximum(length, 1.0))
    others = np.argsort(-ratio, kind="stable")
    size = np.cumsum(np.bincount(units.sentence[busy], minlength=n)[others])
    near[others[: np.searchsorted(size, _MORE_UNITS) + 1]] = True
    wanted = marginals > _TRACE
    wanted[units.of_word[concepts.words]] = True
    return with_heads(units, wanted) & near[units.sentence]


def restricted(units: Units, concepts: Concepts, inside: Chosen) -> tuple[Units, Concepts, Int64]:
    """Units and concepts of some sentences, whose units are inside, and the units' numbers before.

    Words of others have the unit -1.
    """
    places = np.flatnonzero(inside)
    number = np.full(len(inside) + 1, -1)  # the last is that of no head, -1
    number[places] = np.arange(len(places))
    own = Units(
        number[units.of_word], number[units.parents[places]], units.deletion[places],
        units.cost[places], units.sentence[places],
    )  # fmt: skip
    tokens = inside[units.of_word[concepts.words[:, 0]]]
    its = replace(concepts, types=concepts.types[tokens], words=concepts.words[tokens])
    return own, its, places
