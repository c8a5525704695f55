"""From sentences to a summary with a certificate."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import assent as at
from assent.apps.summarization.concepts import Concepts, bigram_concepts
from assent.apps.summarization.deletions import Deletions, phrase_deletions
from assent.apps.summarization.model import Units, make_units, summary_graph, summary_value
from assent.apps.summarization.text_of_kept import kept_text
from assent.errors import ModelError
from assent.io.conllu import Sentence


@dataclass(frozen=True)
class Summary:
    """A summary: what is kept, what it is worth, and what no summary can exceed.

    Attributes:
        sentences: all that was read.
        kept: which words of each are kept.
        words: number of words kept; marks do not count.
        value: of the summary; no other is worth more than ``bound``.
        bound: on the value of every summary within the budget.
        seconds: that were spent on modelling and decoding.
        problem: what was solved, and the certificate of the bound; see `verify`.
    """

    sentences: Sequence[Sentence]
    kept: list[NDArray[np.bool_]]
    words: int
    value: float
    bound: float
    seconds: float
    problem: Problem = field(repr=False)

    @property
    def chosen(self) -> list[int]:
        """Numbers of the sentences of which something is kept."""
        return [number for number, kept in enumerate(self.kept) if kept.any()]

    @property
    def lines(self) -> list[str]:
        """What is kept, a line for each sentence."""
        return [kept_text(self.sentences[number], self.kept[number]) for number in self.chosen]

    @property
    def text(self) -> str:
        """The summary."""
        return " ".join(self.lines)

    @property
    def gap(self) -> float:
        """How much a better summary could gain at most, relative to ``1 + |bound|``."""
        return (self.bound - self.value) / (1.0 + abs(self.bound))

    def verify(self) -> bool:
        """Recompute all claims: length, grammar and value from the words, the bound from its proof.

        Where ``problem.certificate.trusted`` names HiGHS, its search is believed.
        """
        units, concepts, budget, certificate = self.problem
        flat = np.concatenate([np.empty(0, bool), *self.kept])
        kept = np.zeros(len(units.cost), bool)
        kept[units.of_word[flat]] = True
        value = summary_value(units, concepts, budget, kept)
        whole = bool((kept[units.of_word] == flat).all())
        if not whole or int(units.cost[kept].sum()) != self.words:
            return False
        if not np.isclose(value, self.value, rtol=1e-9, atol=1e-9):
            return False
        if certificate is None:  # there is nothing that could be kept
            return self.bound == 0.0
        return certificate.bound <= self.bound and certificate.verify()


class Problem(NamedTuple):
    """What a summary is the answer of.

    Attributes:
        units: what is kept or deleted together.
        concepts: what to cover.
        budget: in words.
        certificate: of the bound, on the sentences that have a concept: others are worth nothing.
            None where nothing can be kept.
    """

    units: Units
    concepts: Concepts
    budget: int
    certificate: at.Certificate | None


# Bounds of problems with 5,000 words are within 0.1 % of the relaxation's after so many.
ITERATIONS = 300
# Less in the relaxation is a rounding error of so few iterations.
_TRACE = 0.01
# The rest of a budget is spent in other sentences, those with most for their length: so many units.
_MORE_UNITS = 60
# Words beyond which a proof may take hours: it is given up after a time, unless one is asked for.
_LARGE = 10_000
_LARGE_SECONDS = 60.0
# Seconds for the best summary of the sentences in question; it mostly takes a tenth of one.
_SECONDS = 2.0


def summarize(
    sentences: Sequence[Sentence],
    words: int = 100,
    *,
    extractive: bool = False,
    deletions: Deletions = phrase_deletions,
    concepts: Concepts | None = None,
    starts: Sequence[int] = (0,),
    exact: bool = False,
    time_limit: float | None = None,
) -> Summary:
    """The best summary within a number of words, made of sentences or parts of them.

    Args:
        sentences: of one document or several, in order; with heads and labels, unless extractive.
        words: at most so many are kept.
        extractive: whole sentences only.
        deletions: scores of what may be left out of a sentence, by default by rules.
        concepts: what to cover, by default pairs of words that occur in several sentences.
        starts: numbers of the sentences with which documents begin.
        exact: go on until the summary is proven to be the best.
        time_limit: seconds for that; a minute for collections of more than 10,000 words, if none
            is given, with a warning where it ends without a proof.

    Example:
        >>> text = ["Rooms are clean .", "Rooms are clean and quiet .", "It rained .",
        ...         "Clean and quiet rooms , rooms are nice ."]
        >>> summary = summarize([Sentence.from_words(line.split()) for line in text], 5,
        ...                     extractive=True)
        >>> summary.text, summary.words, round(summary.gap, 9)
        ('Rooms are clean and quiet.', 5, 0.0)
    """
    if words < 0:
        raise ModelError(f"a summary has 0 words or more, not {words}")
    begun = time.perf_counter()
    units = make_units(sentences, None if extractive else deletions)
    if concepts is None:
        concepts = bigram_concepts(sentences, budget=words, starts=starts)
    if not len(concepts.weights):  # single words: as many as possible
        every = np.arange(len(units.of_word))
        concepts = Concepts(np.ones(len(every)), every, np.stack([every, every], axis=1))
    if time_limit is None and len(units.of_word) > _LARGE:
        time_limit = _LARGE_SECONDS
    found = _solve(units, concepts, words, exact, time_limit)
    ends = np.cumsum([len(sentence) for sentence in sentences])[:-1]
    kept = np.split(found.kept[units.of_word], ends) if len(sentences) else []
    return Summary(
        sentences, kept, int(units.cost[found.kept].sum()), found.value, found.bound,
        time.perf_counter() - begun, Problem(units, concepts, words, found.certificate),
    )  # fmt: skip


class _Found(NamedTuple):
    kept: NDArray[np.bool_]  # [units]
    value: float
    bound: float
    certificate: at.Certificate | None


def _solve(
    units: Units, concepts: Concepts, budget: int, exact: bool, time_limit: float | None
) -> _Found:
    """Units that are kept, of sentences that have a concept."""
    useful = np.ones(len(units.cost), bool)
    if (units.deletion <= 0.0).all():  # then other sentences are worth nothing
        useful = np.isin(units.sentence, units.sentence[units.of_word[concepts.words[:, 0]]])
    if not (units.cost[useful] > 0).any() or budget == 0:
        return _Found(np.zeros(len(units.cost), bool), 0.0, 0.0, None)
    own, its_concepts, places = restricted(units, concepts, useful)
    solve = _prove if exact else _relax_and_search
    found = solve(own, its_concepts, budget, time_limit)
    kept = np.zeros(len(units.cost), bool)
    kept[places[found.kept]] = True
    return found._replace(kept=kept)


def _prove(units: Units, concepts: Concepts, budget: int, time_limit: float | None) -> _Found:
    """The best units, with a proof if there is time for it."""
    graph = summary_graph(units, concepts, budget)
    result = at.decode(graph, exact=True, time_limit=time_limit)
    if result.status is not at.Status.OPTIMAL:
        warnings.warn(
            f"the proof was not finished: this summary is worth {result.value:.6g}, and a "
            f"better one at most {result.bound:.6g}; a longer time limit helps",
            stacklevel=4,
        )
    return _read(result, graph)


def _relax_and_search(
    units: Units, concepts: Concepts, budget: int, time_limit: float | None
) -> _Found:
    """Good units: the relaxation says which are in question, and these are searched."""
    graph = summary_graph(units, concepts, budget)
    relaxed = at.decode(graph, at.AD3(max_iterations=ITERATIONS), time_limit=time_limit)
    found = _read(relaxed, graph)
    if relaxed.status is at.Status.OPTIMAL:
        return found
    near = units_in_question(units, concepts, relaxed.marginals[graph["unit"]])
    inside = np.isin(units.sentence, units.sentence[near])
    # What is not in question goes whenever its head stays: it would exceed any budget.
    smaller = replace(units, cost=np.where(near, units.cost, budget + 1))
    own, its_concepts, places = restricted(smaller, concepts, inside)
    part = summary_graph(own, its_concepts, budget)
    better = _read(at.decode(part, at.IntegerProgram(time_limit=_SECONDS)), part)
    if near.all() and better.bound < found.bound:  # that was a search of everything
        found = found._replace(bound=better.bound, certificate=better.certificate)
    if better.value <= found.value:
        return found
    kept = np.zeros(len(units.cost), bool)
    kept[places[better.kept]] = True
    return found._replace(kept=kept, value=better.value)


def _read(result: at.Result, graph: at.FactorGraph) -> _Found:
    bound, certificate = result.bound, result.certificate
    if not result.feasible:  # stopped too early: an empty summary always is
        return _Found(np.zeros(graph["unit"].shape, bool), 0.0, bound, certificate)
    return _Found(result[graph["unit"]] == 1, result.value, bound, certificate)


def units_in_question(
    units: Units, concepts: Concepts, marginals: NDArray[np.float64]
) -> NDArray[np.bool_]:
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
    length = np.bincount(units.sentence, units.cost, n)
    near = share > _TRACE
    ratio = np.where(near, -np.inf, worth / np.maximum(length, 1.0))
    others = np.argsort(-ratio, kind="stable")
    size = np.cumsum(np.bincount(units.sentence, minlength=n)[others])
    near[others[: np.searchsorted(size, _MORE_UNITS) + 1]] = True
    wanted = marginals > _TRACE
    wanted[units.of_word[concepts.words]] = True
    for unit in np.flatnonzero(units.parents >= 0)[::-1]:  # heads come first
        wanted[units.parents[unit]] |= wanted[unit]
    return wanted & near[units.sentence]


def restricted(
    units: Units, concepts: Concepts, inside: NDArray[np.bool_]
) -> tuple[Units, Concepts, NDArray[np.int64]]:
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
