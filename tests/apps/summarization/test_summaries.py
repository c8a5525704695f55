"""Summaries against enumeration, and inputs at the edges."""

import itertools
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import assent as at
from assent.apps.summarization import bigram_concepts, phrase_deletions, summarize
from assent.apps.summarization.concepts import Concepts, is_word
from assent.apps.summarization.lp_branching import best_assignment
from assent.apps.summarization.model import (
    idle_units,
    make_units,
    relaxed_graph,
    spare_items,
    summary_graph,
    summary_value,
)
from assent.apps.summarization.relax_and_search import filled
from assent.errors import ModelError
from assent.io import Sentence
from assent.io.text import FormatError
from assent.proof.certify import check_assignment

LABELS = ["nsubj", "obj", "amod", "advmod", "obl", "conj", "punct", "nmod:poss"]
VOCABULARY = ["red", "room", "clean", "very", "bed", "the", ",", "and"]


def random_sentences(random, count, longest=5):
    """Trees with words of a small vocabulary, so that pairs come again."""
    found = []
    for _ in range(count):
        n = int(random.integers(1, longest + 1))
        order = random.permutation(n)
        heads, labels = np.zeros(n, int), ["root"] * n
        for place in range(1, n):
            heads[order[place]] = order[random.integers(place)] + 1
            labels[order[place]] = LABELS[random.integers(len(LABELS))]
        words = [VOCABULARY[i] for i in random.integers(len(VOCABULARY), size=n)]
        found.append(Sentence.from_words(words).with_columns(heads=heads, deprels=labels))
    return found


def value_of(sentences, kept, concepts, deletions):
    """The definition: weights of concepts with a kept token, and scores of deleted arcs.

    ``-inf`` for what the grammar forbids.
    """
    value = 0.0
    for sentence, own in zip(sentences, kept, strict=True):
        scores = deletions(sentence)
        for word, head in enumerate(sentence.heads):
            if head and own[word] and not own[head - 1]:
                return -np.inf
            if head and own[head - 1] and not own[word]:
                value += scores[word]
    flat = np.concatenate(kept)
    covered = concepts.types[flat[concepts.words].all(axis=1)]
    return value + concepts.weights[np.unique(covered)].sum()


def length_of(sentences, kept):
    return sum(
        int(k) for s, own in zip(sentences, kept, strict=True)
        for k, word in zip(own, s.words, strict=True) if is_word(word)
    )  # fmt: skip


def has_idle_mark(sentence, kept, deletions):
    """Whether marks are kept, no word above them is there, and nothing that hangs from them."""
    scores = deletions(sentence)
    unit = list(range(len(kept)))  # words that go only together are as one
    for word in sorted(range(len(kept)), key=lambda word: len(heads_above(sentence, word))):
        if sentence.heads[word] and scores[word] == -np.inf:
            unit[word] = unit[sentence.heads[word] - 1]
    for own in {unit[word] for word in np.flatnonzero(kept)}:
        inside = [word for word in range(len(kept)) if unit[word] == own]
        over = [*inside, *heads_above(sentence, own)]
        below = [word for word in np.flatnonzero(kept) if unit[word] != own
                 and sentence.heads[word] - 1 in inside]  # fmt: skip
        if not below and not any(is_word(sentence.words[word]) for word in over):
            return True
    return False


def heads_above(sentence, word):
    found = []
    while sentence.heads[word]:
        word = int(sentence.heads[word]) - 1
        found.append(word)
    return found


def best_value(sentences, budget, concepts, deletions):
    """The best of all sets of words."""
    ends = np.cumsum([len(sentence) for sentence in sentences])
    best = 0.0
    for truth in itertools.product((False, True), repeat=int(ends[-1])):
        kept = np.split(np.array(truth), ends[:-1])
        idle = any(has_idle_mark(s, k, deletions) for s, k in zip(sentences, kept, strict=True))
        if not idle and length_of(sentences, kept) <= budget:
            best = max(best, value_of(sentences, kept, concepts, deletions))
    return best


def any_word(sentence):
    """Every arc may be cut, at prices that differ."""
    return -0.1 * np.arange(1, len(sentence) + 1)


@pytest.mark.parametrize("deletions", [phrase_deletions, any_word])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_summary_by_enumeration(seed, deletions):
    random = np.random.default_rng(seed)
    sentences = random_sentences(random, 3, longest=4)
    concepts = bigram_concepts(sentences, least=1)
    if not len(concepts.weights):
        pytest.fail("the test needs concepts")
    for budget in (2, 4):
        best = best_value(sentences, budget, concepts, deletions)
        for exact in (False, True):
            found = summarize(
                sentences, budget, deletions=deletions, concepts=concepts, exact=exact
            )
            assert found.words == length_of(sentences, found.kept) <= budget
            assert found.value == pytest.approx(
                value_of(sentences, found.kept, concepts, deletions)
            )
            assert found.value <= best + 1e-9 <= found.bound + 1e-6
            assert found.verify()
            if exact:
                assert found.value == pytest.approx(best)


def test_whole_sentences_are_a_knapsack():
    """Each sentence has concepts of its own: the best set of items by enumeration."""
    random = np.random.default_rng(5)
    lengths, gains = random.integers(2, 8, 9), random.integers(1, 20, 9).astype(float)
    sentences = [Sentence.from_words(["a"] * n) for n in lengths]
    firsts = np.cumsum(lengths) - lengths
    concepts = Concepts(gains, np.arange(9), np.stack([firsts, firsts + 1], axis=1))
    found = summarize(sentences, 17, extractive=True, concepts=concepts, exact=True)
    sets = np.array(list(itertools.product((0, 1), repeat=9)))
    assert found.value == (sets @ gains)[sets @ lengths <= 17].max()
    assert found.bound == pytest.approx(found.value)
    assert all(own.all() or not own.any() for own in found.kept)


def test_large_collections_keep_the_budget_and_the_grammar():
    random = np.random.default_rng(1)
    sentences = random_sentences(random, 60, longest=15)
    concepts = bigram_concepts(sentences)
    found = summarize(sentences, 25, concepts=concepts)
    assert 0 < length_of(sentences, found.kept) <= 25
    value = value_of(sentences, found.kept, concepts, phrase_deletions)
    assert found.value == pytest.approx(value) and found.value <= found.bound
    proven = summarize(sentences, 25, concepts=concepts, exact=True, time_limit=20.0)
    assert 0.95 * proven.value <= found.value <= proven.bound + 1e-6
    assert proven.value <= found.bound + 1e-6
    assert found.verify() and proven.verify()


def test_false_claims_are_found_out():
    sentences = random_sentences(np.random.default_rng(3), 6)
    found = summarize(sentences, 6, concepts=bigram_concepts(sentences, least=1))
    assert found.verify() and found.value > 0
    assert not replace(found, value=found.value + 1.0).verify()
    assert not replace(found, words=found.words - 1).verify()
    assert not replace(found, bound=found.value - 1.0).verify()
    other = [~own for own in found.kept]
    assert not replace(found, kept=other).verify()
    assert not replace(found, problem=found.problem._replace(budget=found.words - 1)).verify()
    longer = summarize(sentences, 8, concepts=found.problem.concepts)
    for stranger in (longer, summarize(sentences[:5], 6)):  # with a certificate of its own
        certificate = stranger.problem.certificate
        own = found.problem._replace(certificate=certificate)
        assert not replace(found, problem=own, bound=certificate.bound - 1.0).verify()
    wrong = replace(longer.problem.certificate, bound=found.value, value=found.value)
    own = found.problem._replace(certificate=wrong)
    if found.value < found.bound:
        assert not replace(found, problem=own, bound=found.value).verify()


def test_a_mark_as_root_stays_with_what_hangs_from_it():
    mark = Sentence.from_words(["!", "Go"]).with_columns(heads=[0, 1], deprels=["root", "dep"])
    found = summarize([mark], 5, deletions=lambda own: np.array([-np.inf, -0.1]))
    assert found.verify() and found.kept[0].all() and found.words == 1
    alone = np.array([True, False])
    assert not replace(found, kept=[alone], words=0, value=-0.1).verify()


@pytest.mark.parametrize("seed", range(8))
def test_the_relaxation_is_worth_no_less(seed):
    """Without idle units: no better summary is lost, and their words are still spent."""
    random = np.random.default_rng(seed)
    sentences = random_sentences(random, 6, longest=8)
    prices = {id(own): -random.uniform(0.0, 1.0, len(own)).round(1) for own in sentences}
    concepts = bigram_concepts(sentences, least=3)
    units = make_units(sentences, lambda own: prices[id(own)])
    assert idle_units(units, concepts).any()
    for budget in (3, 8, 20):
        graph = summary_graph(units, concepts, budget)
        best = at.decode(graph, exact=True)
        relaxed = at.decode(relaxed_graph(units, concepts, budget), exact=True)
        assert relaxed.value >= best.value - 1e-9
        spare = spare_items(units, idle_units(units, concepts), budget).gain.sum()
        assert relaxed.value <= best.value + spare + 1e-9
        idle = idle_units(units, concepts)
        kept = filled(units, idle, best[graph["unit"]] == 1, budget)
        assert summary_value(units, concepts, budget, kept) >= best.value - 1e-9


def test_a_word_that_no_concept_needs_is_not_idle_below_a_mark_that_one_does():
    """The mark is kept only with something that hangs from it."""
    text = Sentence.from_words(["!", "rooms"])
    text = text.with_columns(heads=[0, 1], deprels=["root", "obl"])
    mark = Concepts(np.ones(1), np.zeros(1, np.int64), np.zeros((1, 2), np.int64))
    summary = summarize([text], 1, concepts=mark)
    assert summary.words == 1 and summary.value == 1.0 == pytest.approx(summary.bound)
    assert summary.verify()


@pytest.mark.parametrize("seed", range(6))
def test_branching_finds_the_best_assignment(seed):
    sentences = random_sentences(np.random.default_rng(seed), 25, longest=9)
    units = make_units(sentences, any_word)
    graph = summary_graph(units, bigram_concepts(sentences, least=2), 12)
    best = at.decode(graph, at.IntegerProgram())
    found = best_assignment(graph, seconds=20.0)
    check = check_assignment(graph.compile(), best.certificate.scores, found)
    assert check.feasible and check.value == pytest.approx(best.value)
    assert best_assignment(graph, seconds=0.0) is None


def test_edges():
    assert summarize([], 10).text == ""
    one = Sentence.from_words(["Stop", "!"]).with_columns(heads=[0, 1], deprels=["root", "punct"])
    assert summarize([one], 10).text == "Stop!"
    assert summarize([one], 0).text == "" and summarize([one], 0).verify()
    marks = Sentence.from_words(["!", "?"])
    assert summarize([marks], 10, extractive=True).words == 0
    chinese = [Sentence.from_words(list("房间很干净。")), Sentence.from_words(list("早餐好。"))]
    found = summarize(chinese, 5, extractive=True)
    assert found.words == 5 and found.text.endswith("。")
    long = Sentence.from_words(["word"] * 30)
    assert summarize([long], 10, extractive=True).text == ""
    with pytest.raises(ModelError, match="0 words or more"):
        summarize([one], -1)
    with pytest.raises(FormatError, match="cycle"):
        summarize([one.with_columns(heads=[2, 1])], 5)


def test_further_roots_go_with_the_first():
    two = Sentence.from_words(["Go", "home"]).with_columns(heads=[0, 0], deprels=["root", "root"])
    assert summarize([two], 1).words == 0
    assert summarize([two], 2).text == "Go home."


def test_the_only_predicate_stays():
    words = Sentence.from_words(["Owners", "fear", "losses"])
    tree = words.with_columns(heads=[0, 1, 2], deprels=["root", "acl", "obj"],
                              upos=["NOUN", "VERB", "NOUN"])  # fmt: skip
    assert phrase_deletions(tree)[1] == -np.inf
    clause = tree.with_columns(heads=[2, 0, 2], deprels=["nsubj", "root", "obl"])
    assert phrase_deletions(clause)[2] > -np.inf


def test_a_part_stays_with_what_it_is_of():
    words = Sentence.from_words(["Part", "of", "rooms", "of", "hotels"])
    tree = words.with_columns(heads=[0, 3, 1, 5, 3],
                              deprels=["root", "case", "nmod", "case", "nmod"])  # fmt: skip
    scores = phrase_deletions(tree)
    assert scores[2] == -np.inf and scores[4] > -np.inf


def test_concepts_are_pairs_that_several_sentences_have():
    lines = ["clean rooms", "very clean rooms", "clean rooms of the hotel", "of the"]
    sentences = [Sentence.from_words(line.split()) for line in lines]
    found = bigram_concepts(sentences)
    assert found.weights.tolist() == [3.0]
    assert found.words.tolist() == [[0, 1], [3, 4], [5, 6]]
    assert bigram_concepts(sentences, starts=[0]).weights.tolist() == [6.0]
    # Few concepts for a long summary: rarer pairs count, but "of the" never does.
    assert len(bigram_concepts(sentences, budget=10).weights) == 4


def test_real_topics():
    from assent.apps.summarization.data.opinosis import read_opinosis

    root = os.environ.get("ASSENT_DATA")
    if root is None or not Path(root, "summarization").is_dir():
        pytest.skip("ASSENT_DATA is unset or has no folder 'summarization'")
    (file,) = Path(root, "summarization", "opinosis").glob("*.zip")
    topics = read_opinosis(file)
    assert len(topics) == 51
    assert sum(len(topic.lines) for topic in topics) == 7086
    assert sum(len(topic.references) for topic in topics) == 238
