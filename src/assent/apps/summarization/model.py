"""The factor graph of a summary: units of text, the concepts they cover, and a budget of words.

Martins et al. (2014), section 1.3.2, after Almeida and Martins (2013), with two savings that
change no answer.  Words that can only be kept or deleted together are one variable, a *unit*; and
a pair of words of which one hangs from the other is in the summary exactly if the lower one is.
Since a word is kept only with its head, a score for a deletion below a kept head is linear::

    maximize    Σ_types w_t y_t + Σ_units d_u (z_head(u) − z_u)
    subject to  z_u ≤ z_head(u),  y_t = some token of t is kept,  Σ_u words_u z_u ≤ budget
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    """What is kept or deleted together; heads come before what hangs from them.

    Attributes:
        of_word: ``[words]`` unit of each word of the collection.
        parents: ``[units]`` unit of the head, -1 for one without.
        deletion: ``[units]`` score of deleting it below a kept head; 0 for one without.
        cost: ``[units]`` its number of words.
        sentence: ``[units]`` the sentence it belongs to.
    """

    of_word: Int64
    parents: Int64
    deletion: Float
    cost: Int64
    sentence: Int64


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
    of_word: list[int] = []
    parents: list[int] = []
    deletion: list[float] = []
    sentence_of: list[int] = []
    for number, sentence in enumerate(sentences):
        own = np.zeros(len(sentence), np.int64)
        if deletions is None:
            own[:] = len(parents)
            parents.append(-1)
            deletion.append(0.0)
        else:
            heads, scores = sentence.tree, deletions(sentence)
            root = int(np.flatnonzero(heads == 0)[0])
            for word in _heads_first(heads):
                head = int(heads[word]) - 1
                if word == root or (head >= 0 and scores[word] > -np.inf):
                    own[word] = len(parents)
                    parents.append(-1 if word == root else int(own[head]))
                    deletion.append(0.0 if word == root else float(scores[word]))
                else:  # further roots go with the first one
                    own[word] = own[head if head >= 0 else root]
        sentence_of += [number] * (len(parents) - len(sentence_of))
        of_word += own.tolist()
    counted = [is_word(word) for sentence in sentences for word in sentence.words]
    cost = np.bincount(np.array(of_word, np.int64), counted, len(parents)).astype(np.int64)
    return Units(
        np.array(of_word, np.int64), np.array(parents, np.int64), np.array(deletion, float), cost,
        np.array(sentence_of, np.int64),
    )  # fmt: skip


def _heads_first(heads: Int64) -> Int64:
    """Words ``[n]`` by their depth, the first root before others."""
    depth = np.zeros(len(heads), np.int64)
    above = heads.copy()
    while above.any():
        depth += above > 0
        above = np.where(above > 0, heads[above - 1], 0)
    return np.argsort(depth, kind="stable")


def summary_graph(units: Units, concepts: Concepts, budget: int) -> FactorGraph:
    """The problem as a graph; its variables ``graph["unit"]`` say which units are kept."""
    graph = FactorGraph()
    reward, above = -units.deletion, units.parents >= 0
    np.add.at(reward, units.parents[above], units.deletion[above])
    reward[_too_long(units, budget)] = -np.inf
    pairs, tokens = _literals(units, concepts)
    single, shared = _by_type(tokens, len(concepts.weights))
    gain = np.zeros(len(reward) + len(pairs))
    np.add.at(gain, tokens[single, 1], concepts.weights[tokens[single, 0]])
    unit = graph.binary(scores=reward + gain[: len(reward)], name="unit")
    literals = unit
    if len(pairs):
        both = graph.binary(scores=gain[len(reward) :], name="pair", auxiliary=True)
        graph.add(at.All(unit[pairs], axis=1, output=both))
        literals = at.concatenate([unit, both])
    if above.any():
        graph.add(at.Implies(unit[above], unit[units.parents[above]]))
    if shared.any():
        kinds, group = np.unique(tokens[shared, 0], return_inverse=True)
        covered = graph.binary(scores=concepts.weights[kinds], name="concept", auxiliary=True)
        graph.add(at.AtLeastOne(literals[tokens[shared, 1]], by=group, output=covered))
    graph.add(at.Knapsack(unit, weights=units.cost, capacity=budget))
    return graph


def _too_long(units: Units, budget: int) -> NDArray[np.bool_]:
    """Units ``[units]`` that exceed the budget with what they hang from, or have no word."""
    least = units.cost.copy()
    for unit in np.flatnonzero(units.parents >= 0):  # heads come first
        least[unit] += least[units.parents[unit]]
    return (least > budget) | (least == 0)


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


def _by_type(tokens: Int64, types: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tokens ``[tokens]`` that are their type's only one, and the others."""
    single = np.bincount(tokens[:, 0], minlength=types)[tokens[:, 0]] == 1
    return single, ~single
