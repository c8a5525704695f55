"""Problems of summaries by several solvers: time, value and bound.

Ours and the peers solve `summary_graph`; HiGHS also the paper's own formulation, in which every
word and every token of a concept is a variable, and our relaxation without idle units, whose answer
is then filled up as ours is.  Seconds are processor time, models included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import assent as at
from assent.apps.summarization import Concepts, bigram_concepts, phrase_deletions, summarize
from assent.apps.summarization.concepts import is_word
from assent.apps.summarization.data.broadcast import CompressedSentence
from assent.apps.summarization.decode import worthwhile
from assent.apps.summarization.deletions import Deletions
from assent.apps.summarization.detokenizer import kept_text
from assent.apps.summarization.metrics import rouge_scores
from assent.apps.summarization.model import (
    idle_units,
    make_units,
    relaxed_graph,
    summary_graph,
    summary_value,
)
from assent.apps.summarization.relax_and_search import ITERATIONS, filled
from assent.io import Sentence
from assent.solvers.programs.trusted_core import search_core
from benchmarks.exact_peers import LOAD, PEERS, flat, value_of
from benchmarks.tables import DASH, circumstances, show

Pair = tuple[CompressedSentence, Sentence]

WORDS = 100
LIMIT = 60.0  # seconds for HiGHS and CP-SAT
WORD_SCORE = -0.3  # of a deleted word at word level, in sentences that share a concept
PROVEN = 5e-7  # the gap that exact solvers are asked for
# The size of TAC's problems, three times that, and all there is.
DOCUMENTS = {True: (10,), False: (10, 30, 50)}


def any_word(sentence: Sentence) -> NDArray[np.float64]:
    """The word-level model of the paper: every arc but a mark's may be cut."""
    return np.array([WORD_SCORE if is_word(word) else -np.inf for word in sentence.words])


MODELS: dict[str, Deletions | None] = {
    "whole sentences": None, "phrases": phrase_deletions, "words": any_word
}  # fmt: skip


class Task(NamedTuple):
    """A collection with what to cover, what may be deleted, and what people kept of all of it."""

    sentences: list[Sentence]
    concepts: Concepts
    deletions: Deletions | None
    references: list[str]

    def graph(self) -> at.FactorGraph:
        return summary_graph(make_units(self.sentences, self.deletions), self.concepts, WORDS)

    def text(self, kept: NDArray[np.bool_]) -> str:
        """The summary of words ``[words]``."""
        ends = np.cumsum([len(sentence) for sentence in self.sentences])[:-1]
        parts = zip(self.sentences, np.split(kept, ends), strict=True)
        return " ".join(kept_text(sentence, own) for sentence, own in parts if own.any())


class Outcome(NamedTuple):
    """What a solver took, found and proved; and the words ``[words]`` it keeps, if asked for."""

    seconds: float
    value: float
    bound: float
    kept: NDArray[np.bool_] | None = None

    @property
    def gap(self) -> float:
        return (self.bound - self.value) / (1.0 + abs(self.bound))


def task(documents: Sequence[Sequence[Pair]], deletions: Deletions | None) -> Task:
    """Documents as one collection."""
    pairs = [pair for document in documents for pair in document]
    sentences = [sentence for _, sentence in pairs]
    starts = np.cumsum([0, *map(len, documents[:-1])]).tolist()
    people = min(len(own.kept) for own, _ in pairs)
    references = [
        " ".join(w for own, _ in pairs for w in np.array(own.words)[own.kept[person]])
        for person in range(people)
    ]
    return Task(
        sentences, bigram_concepts(sentences, budget=WORDS, starts=starts), deletions, references
    )


def paper_graph(problem: Task) -> at.FactorGraph:
    """Section 1.3.2 as it is written: variables for words, concept tokens and concept types."""
    sentences, concepts, deletions, _ = problem
    assert deletions is not None  # of whole sentences there is no such form
    scores = np.concatenate([deletions(sentence) for sentence in sentences])
    offsets = np.cumsum([0, *map(len, sentences[:-1])])
    heads = np.concatenate([
        np.where(s.tree > 0, s.tree - 1 + o, -1) for s, o in zip(sentences, offsets, strict=True)
    ])  # fmt: skip
    below, tied = heads >= 0, (heads >= 0) & np.isneginf(scores)
    penalty = np.where(below & ~tied, scores, 0.0)
    reward = -penalty
    np.add.at(reward, heads[below], penalty[below])
    graph = at.FactorGraph()
    word = graph.binary(scores=reward, name="word")
    token = graph.binary(len(concepts.types), name="token")
    kind = graph.binary(scores=concepts.weights, name="type")
    graph.add(at.All(word[concepts.words], axis=1, output=token))
    graph.add(at.AtLeastOne(token, by=concepts.types, output=kind))
    graph.add(at.Implies(word[below], word[heads[below]]))
    if tied.any():
        graph.add(at.Implies(word[heads[tied]], word[tied]))
    counted = [is_word(w) for sentence in sentences for w in sentence.words]
    graph.add(at.Knapsack(word, weights=np.array(counted, float), capacity=WORDS))
    return graph


def ours(problem: Task) -> Outcome:
    """AD3, and a search among the sentences that it leaves in question."""
    sentences, concepts, deletions, _ = problem
    begun = time.process_time()
    options = {"extractive": True} if deletions is None else {"deletions": deletions}
    summary = summarize(sentences, WORDS, concepts=concepts, **options)
    seconds = time.process_time() - begun
    return Outcome(seconds, summary.value, summary.bound, np.concatenate(summary.kept))


def decoded(problem: Task, solver: at.solvers.Solver) -> Outcome:
    """A solver of the library alone, with its own rounding."""
    begun = time.process_time()
    result = at.decode(problem.graph(), solver)
    return Outcome(time.process_time() - begun, result.value, result.bound)


def highs(problem: Task, make: Callable[[Task], at.FactorGraph], gap: float) -> Outcome:
    """HiGHS on a formulation, until the gap is reached."""
    begun = time.process_time()
    graph = make(problem)
    compiled, flat_problem, scores = flat(graph)
    found = search_core(flat_problem, scores, LIMIT, gap)
    seconds = time.process_time() - begun
    assert found is not None  # the rules all have rows
    value = value_of(graph, found.assignment)
    if found.assignment is None:  # there was no time for one
        return Outcome(seconds, value, found.bound)
    answer = compiled.full(found.assignment) == 1
    if make is paper_graph:
        kept = answer[graph["word"].codes]
    else:
        units = make_units(problem.sentences, problem.deletions)
        kept = answer[graph["unit"].codes][units.of_word]
    return Outcome(seconds, value, found.bound, kept)


def without_idle_units(problem: Task) -> Outcome:
    """HiGHS on our relaxation, its answer filled up."""
    begun = time.process_time()
    units = make_units(problem.sentences, problem.deletions)
    own, concepts, places = worthwhile(units, problem.concepts)
    graph = relaxed_graph(own, concepts, WORDS)
    compiled, flat_problem, scores = flat(graph)
    found = search_core(flat_problem, scores, LIMIT, PROVEN)
    assert found is not None and found.assignment is not None
    kept = np.zeros(len(units.cost), bool)
    answer = compiled.full(found.assignment)[graph["unit"].codes] == 1
    kept[places] = filled(own, idle_units(own, concepts), answer, WORDS)
    value = summary_value(units, problem.concepts, WORDS, kept)
    return Outcome(time.process_time() - begun, value, found.bound, kept[units.of_word])


def cp_sat(problem: Task) -> Outcome:
    """CP-SAT; in a process of its own, as it brings another HiGHS."""
    LOAD["CP-SAT"]()
    begun = time.process_time()
    graph = problem.graph()
    answer = PEERS["CP-SAT"](graph)(LIMIT)
    return Outcome(time.process_time() - begun, value_of(graph, answer.assignment), answer.bound)


def in_own_process(solve: Callable[[Task], Outcome], problem: Task) -> Outcome:
    """A solver that may not share a process with others."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(solve, problem).result()


def outcomes(problem: Task) -> dict[str, Outcome]:
    """Every solver's outcome; the first decode, which loads kernels, is not counted."""
    ours(problem)
    own = ours(problem)
    alone = at.AD3(max_iterations=ITERATIONS)
    found = {
        "AD3 and search": own,
        "AD3 alone": decoded(problem, alone),
        "subgradient": decoded(problem, at.Subgradient(max_iterations=10 * ITERATIONS)),
        "HiGHS": highs(problem, Task.graph, PROVEN),
        "HiGHS, same gap": highs(problem, Task.graph, max(own.gap, PROVEN)),
    }
    if problem.deletions is not None:
        found["HiGHS, as in the paper"] = highs(problem, paper_graph, PROVEN)
        found["the same, same gap"] = highs(problem, paper_graph, max(own.gap, PROVEN))
        found["HiGHS, without idle words"] = without_idle_units(problem)
    if find_spec("ortools") is not None:
        found["CP-SAT"] = in_own_process(cp_sat, problem)
    return found


def run(console: Console, documents: Sequence[Sequence[Pair]], quick: bool) -> None:
    """A table per size and model, means over groups of documents."""
    for count in DOCUMENTS[quick]:
        for name, deletions in MODELS.items():
            groups = range(0, len(documents) - count + 1, count)
            problems = [task(documents[i : i + count], deletions) for i in groups]
            if not problems:
                continue
            found = [outcomes(problem) for problem in problems]
            units = np.mean([len(make_units(p.sentences, deletions).cost) for p in problems])
            sentences = np.mean([len(p.sentences) for p in problems])
            title = (
                f"Broadcast news, {WORDS} words of {count} documents, {name}: {len(problems)} "
                f"problems of {sentences:,.0f} sentences and {units:,.0f} units"
            )
            columns = "solver", "seconds", "times ours", "below the optimum", "gap", "ROUGE-2"
            show(console, title, columns, _rows(problems, found), caption=circumstances())
    if find_spec("ortools") is None:
        console.print('CP-SAT is left out: pip install "assent[bench]" brings it')


def _rows(problems: Sequence[Task], found: Sequence[dict[str, Outcome]]) -> list[list[str]]:
    """Means over problems.

    ROUGE-2 is the share of a summary's pairs of words that people kept in their compressions of
    the documents: nobody has summarized these ten together.
    """
    best = [max(outcome.value for outcome in own.values()) for own in found]
    rows = []
    for solver in found[0]:
        own = [each[solver] for each in found]
        seconds = np.mean([outcome.seconds for outcome in own])
        first = np.mean([each["AD3 and search"].seconds for each in found])
        below = np.mean([1.0 - o.value / b if b else 0.0 for o, b in zip(own, best, strict=True)])
        gap = np.mean([outcome.gap for outcome in own])
        rows.append([
            solver, f"{seconds:.2f}", f"{seconds / first:.1f}" if first else DASH,
            f"{100 * below:.2f} %", f"{100 * gap:.2f} %", _rouge(problems, own),
        ])  # fmt: skip
    return rows


def _rouge(problems: Sequence[Task], outcomes: Sequence[Outcome]) -> str:
    if find_spec("rouge_score") is None:
        return DASH
    scores = [
        rouge_scores(problem.text(own.kept), problem.references)["rouge2"].precision
        for problem, own in zip(problems, outcomes, strict=True)
        if own.kept is not None
    ]
    return f"{np.mean(scores):.4f}" if scores else DASH
