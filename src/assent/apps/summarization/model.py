"""The factor graph of a summary: units of text, the concepts they cover, and a budget of words.

Martins et al. (2014), section 1.3.2, after Almeida and Martins (2013), with two savings that
change no answer.  Words that can only be kept or deleted together are one variable, a *unit*; and
a pair of words of which one hangs from the other is in the summary exactly if the lower one is.
Since a word is kept only with its head, a score for a deletion below a kept head is linear::

    maximize    Σ_types w_t y_t + Σ_units d_u (z_head(u) − z_u)
    subject to  z_u ≤ z_head(u),  y_t = some token of t is kept,  Σ_u words_u z_u ≤ budget

A unit of marks with no word above it is kept exactly if something that hangs from it is: alone it
would cost nothing.

Most units are *idle*: no concept needs them or anything below them.  `spare_items` says what they
can be worth, so that a relaxation does without them; see `relaxed_graph`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import assent as at
from assent.apps.summarization.concepts import Concepts, is_word
from assent.apps.summarization.deletions import Deletions
from assent.io.conllu import Sentence
from assent.model.graph import FactorGraph

Int64 = NDArray[np.int64]
Float = NDArray[np.float64]


@dataclass(frozen=True)
class Units:
    """What is kept or deleted together; heads come before what hangs from them."""

    of_word: Int64  # [words] unit of each word of the collection
    parents: Int64  # [units] unit of the head, -1 for one without
    deletion: Float  # [units] score of deleting it below a kept head; 0 for one without
    cost: Int64  # [units] its number of words
    sentence: Int64  # [units] the sentence it belongs to


def make_units(sentences: Sequence[Sentence], deletions: Deletions | None) -> Units:
    """The units of a collection; without deletions, whole sentences.

    Raises:
        FormatError: naming the line of a sentence that is no tree.

    Example:
        >>> from assent.apps.summarization.deletions import phrase_deletions
        >>> short = Sentence.from_words(["Very", "quiet", "rooms", "!"]).with_columns(
        ...     heads=[2, 3, 0, 3], deprels=["advmod", "amod", "root", "punct"])
        >>> units = make_units([short], phrase_deletions)
        >>> units.of_word.tolist(), units.parents.tolist(), units.cost.tolist()
        ([2, 1, 0, 0], [-1, 0, 1], [1, 1, 1])
    """
    lengths = np.array([len(sentence) for sentence in sentences], np.int64)
    sentence_of = np.repeat(np.arange(len(lengths)), lengths)
    counted = np.array([is_word(w) for sentence in sentences for w in sentence.words], bool)
    if deletions is None:
        cost = np.bincount(sentence_of, counted, len(lengths)).astype(np.int64)
        every = np.arange(len(lengths))
        return Units(sentence_of, np.full(len(lengths), -1), np.zeros(len(lengths)), cost, every)
    heads = _heads(sentences, lengths)
    scores = np.concatenate([np.empty(0), *map(deletions, sentences)])
    roots = np.flatnonzero(heads < 0)
    further = roots[np.diff(sentence_of[roots], prepend=-1) == 0]
    first = roots[np.searchsorted(sentence_of[roots], sentence_of[further])]
    heads[further], scores[further] = first, -np.inf  # they go with the first one
    opens = (heads < 0) | (scores > -np.inf)
    above = _sums_above(np.ones(len(heads), np.int64), heads)  # words up to the root
    order = np.lexsort((above, sentence_of))
    opening = order[opens[order]]
    number = np.full(len(heads), -1)
    number[opening] = np.arange(len(opening))
    own = np.where(opens, np.arange(len(heads)), heads)
    while not opens[own].all():  # words that do not open a unit are in their heads'
        own = own[own]
    of_word = number[own]
    parents = np.where(heads[opening] < 0, -1, of_word[heads[opening]])
    return Units(
        of_word, parents, np.where(parents < 0, 0.0, scores[opening]),
        np.bincount(of_word, counted, len(opening)).astype(np.int64), sentence_of[opening],
    )  # fmt: skip


def _heads(sentences: Sequence[Sentence], lengths: Int64) -> Int64:
    """Heads ``[words]`` as numbers in the collection, -1 for a root."""
    heads = np.concatenate([np.empty(0, np.int64), *(sentence.tree for sentence in sentences)])
    return np.where(heads > 0, heads - 1 + np.repeat(np.cumsum(lengths) - lengths, lengths), -1)


def _sums_above(values: Int64, heads: Int64) -> Int64:
    """Sums of each one's value and of those above it, twice as far up in every round."""
    sums = values.copy()
    while (below := heads >= 0).any():
        sums[below] += sums[heads[below]]
        heads = np.where(below, heads[heads], -1)
    return sums


class Items(NamedTuple):
    """What may be bought with words of the budget, whatever else is kept: ``[items]`` each."""

    gain: Float
    cost: Int64


def idle_units(units: Units, concepts: Concepts) -> NDArray[np.bool_]:
    """Units ``[units]`` of which no word, nor any below, belongs to a concept.

    What hangs from marks without a word above them is not idle: they need it to be kept.  None is,
    where deleting something earns: `spare_items` would not know their worth.
    """
    if (units.deletion > 0.0).any():
        return np.zeros(len(units.cost), bool)
    busy = _wordless(units)[1]
    busy[units.of_word[concepts.words]] = True
    return ~with_heads(units, busy)


def with_heads(units: Units, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Some units ``[units]`` and all that they hang from."""
    chosen = chosen.copy()
    heads = units.parents[chosen]
    while len(heads := heads[heads >= 0]):
        chosen[heads] = True
        heads = units.parents[heads]
    return chosen


def spare_items(units: Units, idle: NDArray[np.bool_], budget: int) -> Items:
    """What idle units can be worth: no set of them is better than some of these items.

    A phrase of idle units costs at least the words of its uppermost one, and gains at most that
    this one is not deleted: what is deleted further down earns nothing.  Many such phrases have
    the same gain and cost; k of them are items of 1, 2, 4, … and the rest.

    Example:
        >>> three = Units(np.arange(4), np.array([-1, 0, 0, 0]), np.array([0, -0.1, -0.1, -0.1]),
        ...               np.ones(4, np.int64), np.zeros(4, np.int64))
        >>> spare_items(three, np.array([False, True, True, True]), budget=9)
        Items(gain=array([0.1, 0.2]), cost=array([1, 2]))
    """
    tops = np.flatnonzero(idle & ~np.append(idle, True)[units.parents])
    phrases = np.stack([-units.deletion[tops], units.cost[tops]], axis=1)
    kinds, counts = np.unique(phrases, axis=0, return_counts=True)
    gains, costs = [], []
    for (gain, cost), count in zip(kinds.tolist(), counts.tolist(), strict=True):
        left, size = count if cost == 0 else min(count, int(budget // cost)), 1
        while left > 0:
            gains.append(gain * min(size, left))
            costs.append(int(cost) * min(size, left))
            left, size = left - size, 2 * size
    return Items(np.array(gains, float), np.array(costs, np.int64))


def relaxed_graph(
    units: Units, concepts: Concepts, budget: int, among: NDArray[np.bool_] | None = None
) -> FactorGraph:
    """A smaller problem, in which every summary is worth at least as much: without idle units.

    In their place are items that need no head.  With ``among``, only summaries of these units.
    """
    idle = idle_units(units, concepts)
    gone = idle if among is None else idle | ~among
    # What exceeds any budget goes whenever its head stays.
    busy = replace(units, cost=np.where(gone, budget + 1, units.cost))
    return summary_graph(busy, concepts, budget, spare_items(units, idle, budget))


def summary_graph(
    units: Units, concepts: Concepts, budget: int, spare: Items | None = None
) -> FactorGraph:
    """The problem as a graph; its variables ``graph["unit"]`` say which units are kept."""
    graph = FactorGraph()
    reward, above = -units.deletion, units.parents >= 0
    np.add.at(reward, units.parents[above], units.deletion[above])
    wordless, children = _wordless(units)
    too_long = _sums_above(units.cost, units.parents) > budget
    reward[too_long | (wordless & ~np.isin(np.arange(len(reward)), units.parents))] = -np.inf
    pairs, tokens = _literals(units, concepts)
    shared = np.bincount(tokens[:, 0], minlength=len(concepts.weights))[tokens[:, 0]] > 1
    single = ~shared
    gain = np.zeros(len(reward) + len(pairs))
    np.add.at(gain, tokens[single, 1], concepts.weights[tokens[single, 0]])
    unit = graph.binary(scores=reward + gain[: len(reward)], name="unit")
    literals = unit
    if len(pairs):
        both = graph.binary(scores=gain[len(reward) :], name="pair", auxiliary=True)
        graph.add(at.All(unit[pairs], axis=1, output=both))
        literals = at.concatenate([unit, both])
    if children.any():
        marks, group = np.unique(units.parents[children], return_inverse=True)
        graph.add(at.AtLeastOne(unit[children], by=group, output=unit[marks]))
    if (below := above & ~children).any():
        graph.add(at.Implies(unit[below], unit[units.parents[below]]))
    if shared.any():
        kinds, group = np.unique(tokens[shared, 0], return_inverse=True)
        covered = graph.binary(scores=concepts.weights[kinds], name="concept", auxiliary=True)
        graph.add(at.AtLeastOne(literals[tokens[shared, 1]], by=group, output=covered))
    bought, weights = unit, units.cost
    if spare is not None and len(spare.gain):
        items = graph.binary(scores=spare.gain, name="spare")
        bought, weights = at.concatenate([unit, items]), np.concatenate([weights, spare.cost])
    graph.add(at.Knapsack(bought, weights=weights, capacity=budget))
    return graph


def _wordless(units: Units) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Units ``[units]`` without a word in them or above, and those that hang from such ones."""
    wordless = _sums_above(units.cost, units.parents) == 0
    return wordless, np.append(wordless, False)[units.parents]


def _literals(units: Units, concepts: Concepts) -> tuple[Int64, Int64]:
    """Pairs of units ``[pairs, 2]``, and tokens ``[tokens, 2]`` as type and literal.

    Literals are units, and behind them pairs of which neither hangs from the other.
    """
    ends = units.of_word[concepts.words]
    found: list[int] = []
    pairs: dict[tuple[int, int], int] = {}
    for first, last in ends.tolist():
        low, high = max(first, last), min(first, last)
        walk = low
        while walk > high:  # heads come first: their numbers are smaller
            walk = int(units.parents[walk])
        if walk != high:
            low = len(units.parents) + pairs.setdefault((high, low), len(pairs))
        found.append(low)
    tokens = np.stack([concepts.types, np.array(found, np.int64)], axis=1)
    return np.array(list(pairs), np.int64).reshape(-1, 2), np.unique(tokens, axis=0)


def summary_value(units: Units, concepts: Concepts, budget: int, kept: NDArray[np.bool_]) -> float:
    """What some units ``[units]`` are worth, ``-inf`` if they are no summary.

    From the definition, without the graph: this is what a summary is rechecked with.
    """
    above = units.parents >= 0
    head_kept = kept[units.parents[above]]
    wordless, children = _wordless(units)
    alone = wordless & ~np.isin(np.arange(len(kept)), units.parents[children & kept])
    if (kept[above] & ~head_kept).any() or (kept & alone).any():
        return -np.inf
    if units.cost[kept].sum() > budget:
        return -np.inf
    covered = np.unique(concepts.types[kept[units.of_word[concepts.words]].all(axis=1)])
    deleted = units.deletion[above][head_kept & ~kept[above]]
    return float(concepts.weights[covered].sum() + deleted.sum())
