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
from assent.apps.summarization.detokenizer import kept_text
from assent.apps.summarization.model import (
    Units,
    make_units,
    relaxed_graph,
    summary_graph,
    summary_value,
)
from assent.apps.summarization.relax_and_search import Found, relax_and_search, restricted
from assent.compile.compiled import graph_scores
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
        units, concepts, budget, _ = self.problem
        flat = np.concatenate([np.empty(0, bool), *self.kept])
        kept = np.zeros(len(units.cost), bool)
        kept[units.of_word[flat]] = True
        value = summary_value(units, concepts, budget, kept)
        whole = bool((kept[units.of_word] == flat).all())
        if not whole or int(units.cost[kept].sum()) != self.words:
            return False
        if not np.isclose(value, self.value, rtol=1e-9, atol=1e-9):
            return False
        return self.problem.shows(self.bound)


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

    def shows(self, bound: float) -> bool:
        """Whether the certificate is one of this problem, or of its relaxation, with such a bound.

        The graph is built anew, and its claims are rechecked there.
        """
        own, its_concepts, _ = worthwhile(self.units, self.concepts)
        if not can_keep(own, self.budget):
            return bound == 0.0
        if self.certificate is None or self.certificate.bound > bound:
            return False
        for make in (relaxed_graph, summary_graph):
            graph = make(own, its_concepts, self.budget)
            compiled = graph.compile()
            its, new = self.certificate.compiled, compiled
            # As many numbers as this graph has variables and links.
            if len(its.fixed) == len(new.fixed) and its.problem.n_links == new.problem.n_links:
                return replace(
                    self.certificate, compiled=compiled, scores=graph_scores(graph)
                ).verify()
        return False


# Words beyond which a proof may take hours: it is given up after a time, unless one is asked for.
_LARGE = 10_000
_LARGE_SECONDS = 60.0


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
        words: the most that are kept.
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


def _solve(
    units: Units, concepts: Concepts, budget: int, exact: bool, time_limit: float | None
) -> Found:
    """Units that are kept, of sentences that have a concept."""
    own, its_concepts, places = worthwhile(units, concepts)
    if not can_keep(own, budget):
        return Found(np.zeros(len(units.cost), bool), 0.0, 0.0, None)
    solve = _prove if exact else relax_and_search
    found = solve(own, its_concepts, budget, time_limit)
    kept = np.zeros(len(units.cost), bool)
    kept[places[found.kept]] = True
    return found._replace(kept=kept)


def worthwhile(units: Units, concepts: Concepts) -> tuple[Units, Concepts, NDArray[np.int64]]:
    """The units of sentences that can be worth something, their concepts, and their numbers."""
    useful = np.ones(len(units.cost), bool)
    if (units.deletion <= 0.0).all():  # then sentences without a concept are worth nothing
        useful = np.isin(units.sentence, units.sentence[units.of_word[concepts.words[:, 0]]])
    return restricted(units, concepts, useful)


def can_keep(units: Units, budget: int) -> bool:
    """Whether there are words at all, and a budget for some."""
    return budget > 0 and bool((units.cost > 0).any())


def _prove(units: Units, concepts: Concepts, budget: int, time_limit: float | None) -> Found:
    """The best units, with a proof if there is time for it."""
    graph = summary_graph(units, concepts, budget)
    result = at.decode(graph, exact=True, time_limit=time_limit)
    if result.status is not at.Status.OPTIMAL:
        warnings.warn(
            f"the proof was not finished: this summary is worth {result.value:.6g}, and a "
            f"better one at most {result.bound:.6g}; a longer time limit helps",
            stacklevel=4,
        )
    kept = result[graph["unit"]] == 1 if result.feasible else np.zeros(len(units.cost), bool)
    value = summary_value(units, concepts, budget, kept)
    return Found(kept, value, max(result.bound, value), result.certificate)
