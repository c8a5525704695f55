"""Corpora decoded as one problem, against linear programs, enumeration and the general solvers."""

import dataclasses
import os
from itertools import product

import numpy as np
import pytest

import assent as at
from assent.apps.corpus import (
    BySets,
    CorpusComparison,
    CorpusModel,
    Processes,
    Threads,
    compare_solvers,
    consensus_sets,
    corpus_model,
    decode_corpus,
    summary,
    tag_corpus,
    word_keys,
    write_changes,
)
from assent.apps.corpus.comparison import Course
from assent.apps.corpus.model import voted
from assent.apps.tagging import PerceptronSettings, train_tagger
from assent.errors import ModelError
from assent.io import Sentence
from tests.apps.small_language import small_corpus

SOLVERS = [
    at.BoxMPLP(), at.MPLP(), BySets(at.BoxMPLP()), BySets(at.MPLP()), at.BoxSubgradient(),
    at.Subgradient(),
]  # fmt: skip


def random_corpus(seed, sentences=12, longest=5, states=3, types=4, penalty=1.5):
    """Chains with random scores; half of the words belong to a set, some to two."""
    random = np.random.default_rng(seed)
    lengths = random.integers(0, longest + 1, sentences)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    keys = [
        [int(key) for key in random.integers(types, size=random.choice(3, p=[0.5, 0.4, 0.1]))]
        for _ in range(ends[-1])
    ]
    return CorpusModel(
        ends,
        random.normal(size=(ends[-1], states)).astype(np.float32),
        random.normal(size=(states, states)),
        consensus_sets(keys, penalty=lambda key: penalty / (1 + key)),
    )


def by_name(solver):
    by_sets = isinstance(solver, BySets)
    return f"by_sets-{by_name(solver.solver)}" if by_sets else type(solver).__name__


def score(model, states, consensus):
    """The value of an answer, the obvious way."""
    total = 0.0
    for first, last in zip(model.ends[:-1], model.ends[1:], strict=True):
        own = states[first:last]
        total += model.scores[np.arange(first, last), own].sum(dtype=float)
        total += model.transitions[own[:-1], own[1:]].sum()
    own = model.sets
    return total - own.penalty[states[own.positions] != consensus[own.sets]].sum()


@pytest.mark.parametrize("solver", SOLVERS, ids=by_name)
@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_those_of_the_linear_program(solver, seed):
    """On such corpora coordinate descent, which may end above it, ends there too."""
    model = random_corpus(seed)
    optimum = at.decode(model.graph(), at.LinearProgram()).bound
    result = decode_corpus(model, solver, iterations=2000, gap_tolerance=1e-6, executor=Threads(1))
    assert result.bound >= optimum - 1e-6 * abs(optimum)
    assert result.bound <= optimum + 1e-3 * abs(optimum)


@pytest.mark.parametrize("solver", SOLVERS, ids=by_name)
def test_answers_are_legal_and_scored_right(solver):
    model = random_corpus(seed=9, sentences=30)
    result = decode_corpus(model, solver)
    assert result.value == pytest.approx(score(model, result.states, result.consensus))
    assert result.value <= result.bound + 1e-9
    apart = model.value(result.isolated, voted(model, result.isolated))
    assert result.value >= apart


@pytest.mark.parametrize("seed", range(5))
def test_values_and_bounds_enclose_the_best_of_all_answers(seed):
    model = random_corpus(seed, sentences=3, longest=3, states=2, types=2)
    words = int(model.ends[-1])
    answers = [np.array(own, np.int32) for own in product(range(2), repeat=words)]
    best = max(score(model, own, voted(model, own)) for own in answers)
    result = decode_corpus(model, iterations=100, gap_tolerance=0.0)
    assert result.value <= best + 1e-9 <= result.bound + 2e-9
    assert result.value == pytest.approx(best)  # as it happens, for these


def test_max_marginals_of_chains():
    """The best of all label sequences with each label fixed, less multipliers."""
    model = random_corpus(seed=2, sentences=3, longest=4, types=2)
    nu = np.random.default_rng(0).normal(size=(len(model.sets.sets), 3))
    found = np.full(model.scores.shape, np.nan)
    model.max_marginals(nu, np.flatnonzero(np.diff(model.ends)), found)
    own = model.scores.astype(float)
    np.subtract.at(own, model.sets.positions, nu)
    for first, last in zip(model.ends[:-1], model.ends[1:], strict=True):
        paths = np.array(list(product(range(3), repeat=last - first)), int)
        values = own[np.arange(first, last), paths].sum(axis=1)
        values += model.transitions[paths[:, :-1], paths[:, 1:]].sum(axis=1)
        for t, k in product(range(last - first), range(3)):
            assert found[first + t, k] == pytest.approx(values[paths[:, t] == k].max())


def test_what_is_apart_is_decoded_apart():
    model = random_corpus(seed=3, penalty=0.0)
    result = decode_corpus(model)
    np.testing.assert_array_equal(result.states, result.isolated)
    assert result.relative_gap == pytest.approx(0.0, abs=1e-9)


def test_a_high_penalty_makes_sets_agree():
    model = random_corpus(seed=4, penalty=1e3)
    result = decode_corpus(model, iterations=200)
    own = model.sets
    assert (result.states[own.positions] == result.consensus[own.sets]).all()


def assert_same(one, other):
    """Two results, to the last bit."""
    np.testing.assert_array_equal(one.states, other.states)
    np.testing.assert_array_equal(one.isolated, other.isolated)
    assert (one.value, one.bound, one.calls) == (other.value, other.bound, other.calls)


def test_threads_change_nothing():
    model = random_corpus(seed=5, sentences=60)
    assert_same(*(decode_corpus(model, executor=Threads(threads)) for threads in (1, 2)))


@pytest.fixture(scope="module")
def processes():
    """Started after threads have worked, as in a session that tries one and the other."""
    decode_corpus(random_corpus(seed=0, sentences=40), executor=Threads(2))
    with Processes(2) as own:
        yield own


@pytest.mark.parametrize("solver", SOLVERS, ids=by_name)
def test_processes_change_nothing(solver, processes):
    model = random_corpus(seed=5, sentences=60)
    assert_same(
        decode_corpus(model, solver, executor=Threads(1)),
        decode_corpus(model, solver, executor=processes),
    )


def test_a_share_that_fails_is_told(processes):
    """Errors come back as they are; a process that dies is named, and others take its place."""
    with pytest.raises(ZeroDivisionError):
        processes.run(reciprocal, [1, 0])
    assert processes.run(reciprocal, [2]) == [0.5]
    with pytest.raises(RuntimeError, match=r"ended before its time.*fewer processes"):
        processes.run(os._exit, [1])
    assert processes.run(reciprocal, [4, 2]) == [0.25, 0.5]


def reciprocal(number):
    return 1 / number


@pytest.mark.parametrize("solver", SOLVERS[:4], ids=by_name)
def test_bounds_fall_with_coordinate_descent_and_calls_grow(solver):
    model = random_corpus(seed=6, sentences=60, longest=8)
    reports = []
    decode_corpus(model, solver, gap_tolerance=0.0, callback=lambda r: reports.append(r[:3]))
    iterations, calls, bounds = map(np.array, zip(*reports, strict=True))
    assert (np.diff(bounds) <= 1e-9).all()
    assert (np.diff(calls) >= 0).all()
    assert iterations[0] == 0
    # Max-marginals count twice, and tell what every sentence says by itself: asked at once, or on
    # the way back before the first walk.
    filled = np.mean(np.diff(model.ends) > 0)
    linked = np.mean(np.diff(model.sets.start[model.ends]) > 0)
    if isinstance(solver, BySets):
        assert calls[0] == pytest.approx(filled + linked)
    else:
        assert calls[:2] == pytest.approx([filled, filled + linked])


@pytest.mark.parametrize("solver", SOLVERS, ids=by_name)
def test_solvers_begin_with_every_sentence_for_itself(solver):
    model = random_corpus(seed=7, sentences=40, longest=8)
    starts = []
    decode_corpus(
        model, solver, iterations=1, callback=lambda r: starts.append((r.bound, r.states.copy()))
    )
    bound, states = starts[0]
    apart = dataclasses.replace(model, sets=consensus_sets([()] * len(model.scores)))
    best = decode_corpus(apart, at.BoxSubgradient())
    assert bound == pytest.approx(best.value, rel=1e-12)
    assert (states == best.states).all()


def test_calls_to_parts_of_the_gain(tmp_path):
    """Read off made-up courses, and found for real ones."""
    one = Course(np.arange(1.0, 5.0), np.array([10.0, 6.0, 3.0, 0.0]), np.full(4, np.nan))
    two = Course(np.arange(1.0, 5.0), np.array([10.0, 1.0, 1.0, 1.0]), np.full(4, np.nan))
    found = CorpusComparison({"one": [one], "two": [two], "best of both": [one, two]})
    assert found.calls_to(0.8) == {"one": 4.0, "two": 2.0, "best of both": 2.0}
    assert found.calls_to(0.95) == {"one": 4.0, "two": np.inf, "best of both": 4.0}
    assert found.table().count("\n") == 4  # no accuracy is known

    model = random_corpus(seed=8, sentences=40)
    gold = decode_corpus(model).states
    own = compare_solvers(model, gold, {by_name(s): [s] for s in SOLVERS}, iterations=20)
    assert set(own.calls_to(0.8, "accuracy")) == set(map(by_name, SOLVERS))
    assert min(own.calls_to(0.9).values()) < np.inf
    assert "gain in accuracy" in own.table(markdown=True)
    own.plot(tmp_path / "courses.png")
    assert (tmp_path / "courses.png").stat().st_size > 1000


def test_callbacks_end_a_solve():
    model = random_corpus(seed=7)
    assert decode_corpus(model, callback=lambda report: report.iteration == 2).iterations == 2


@pytest.mark.parametrize("solver", SOLVERS, ids=by_name)
def test_a_corpus_without_sets_or_words(solver):
    nothing = consensus_sets([])
    empty = CorpusModel(np.zeros(1, np.int64), np.zeros((0, 3), np.float32), np.eye(3), nothing)
    result = decode_corpus(empty, solver)
    assert len(result.states) == 0
    assert result.value == result.bound == 0.0
    apart = consensus_sets([["a"], ["b"]])
    scores = np.array([[1.0, 0.0], [0.0, 0.5]], np.float32)
    result = decode_corpus(CorpusModel(np.arange(3), scores, np.zeros((2, 2)), apart), solver)
    assert result.states.tolist() == [0, 1] and result.value == result.bound == 1.5


def test_sets_of_keys():
    sets = consensus_sets([["a", "b"], ["b"], [], ["c"], ["a", "a"]], penalty={"a": 1, "b": 2}.get)
    assert sets.names == ("a", "b")
    assert sets.start.tolist() == [0, 2, 3, 3, 3, 4]
    assert sets.sets.tolist() == [0, 1, 1, 0]
    assert sets.penalty.tolist() == [1.0, 2.0, 2.0, 1.0]
    assert sets.with_penalty(3.0).penalty.tolist() == [3.0] * 4


@pytest.mark.parametrize("penalty", [-1.0, np.inf, np.nan])
def test_penalties_are_checked(penalty):
    with pytest.raises(ModelError, match=r"finite and at least 0.*'a'"):
        consensus_sets([["a"], ["a"]], penalty=penalty)


def test_penalties_that_would_drown_the_scores_are_refused():
    scores = np.array([[0.5, 0.0], [0.0, 0.25]], np.float32)
    for penalty in (1e9, 1e308):
        sets = consensus_sets([["a"], ["a"]], penalty=penalty)
        with pytest.raises(ModelError, match=r"too large beside scores of at most 0.5.*5e\+07"):
            decode_corpus(CorpusModel(np.array([0, 1, 2]), scores, np.zeros((2, 2)), sets))
    firm = sets.with_penalty(5e7)
    result = decode_corpus(CorpusModel(np.array([0, 1, 2]), scores, np.zeros((2, 2)), firm))
    assert result.states.tolist() == [0, 0]
    assert result.value == pytest.approx(0.5, abs=1e-6)
    assert result.bound == pytest.approx(0.5, abs=1e-6)


def test_errors_say_what_does_not_fit():
    model = random_corpus(seed=0)
    with pytest.raises(ModelError, match="keys for 1"):
        CorpusModel(model.ends, model.scores, model.transitions, consensus_sets([["a"]]))
    with pytest.raises(ModelError, match="3 labels need transitions"):
        CorpusModel(model.ends, model.scores, np.eye(2), model.sets)
    with pytest.raises(ModelError, match="not by AD3"):
        decode_corpus(model, at.AD3())
    with pytest.raises(ModelError, match=r"takes BoxMPLP\(\) or MPLP\(\), not BoxSubgradient"):
        BySets(at.BoxSubgradient())
    with pytest.raises(ModelError, match="at least 1"):
        decode_corpus(model, iterations=0)


@pytest.fixture(scope="module")
def tagged():
    """A tagger from few sentences, and a text with gold tags."""
    text = small_corpus(400, seed=1)
    settings = PerceptronSettings(epochs=4, table_bits=12)
    return train_tagger(small_corpus(15, seed=0), columns=["upos"], settings=settings), text


def test_rare_words_gain_from_agreement(tagged):
    """A golden score: few training sentences, and words that recur in the text."""
    tagger, text = tagged
    words = [sentence.words for sentence in text]
    keys = word_keys([word for own in words for word in own], tagger.frequent)
    model = corpus_model(tagger, words, consensus_sets(keys, penalty=10.0))
    result = decode_corpus(model)
    gold = tagger.labels.numbers(text)
    np.testing.assert_array_equal(result.isolated, np.concatenate(tagger.states(words)))
    apart, together = (100 * np.mean(own == gold) for own in (result.isolated, result.states))
    assert result.relative_gap < 5e-4
    assert together > apart


def test_a_text_is_tagged_and_every_change_has_a_reason(tagged, tmp_path):
    tagger, text = tagged
    bare = [sentence.with_columns(upos=["_"] * len(sentence)) for sentence in text]
    tagging = tag_corpus(tagger, bare, penalty=10.0)
    apart = list(tagger.tag(bare))
    differing = {
        (i + 1, t + 1, word, before, after)
        for i, (one, other) in enumerate(zip(apart, tagging.sentences, strict=True))
        for t, (word, before, after) in enumerate(zip(one.words, one.upos, other.upos, strict=True))
        if before != after
    }
    own = {(c.sentence, c.word, c.form, c.before, c.after) for c in tagging.changes}
    assert own == differing
    assert own
    for change in tagging.changes:
        assert 1 <= change.agreeing <= change.size
        occurrences = sum(sentence.words.count(change.key) for sentence in text)
        assert change.size == occurrences > 1
        assert change.key not in tagger.frequent
    path = tmp_path / "changes.tsv"
    write_changes(path, tagging.changes)
    lines = path.read_text().splitlines()
    assert lines[0].split("\t")[:5] == ["sentence", "word", "form", "before", "after"]
    assert len(lines) == 1 + len(tagging.changes)
    assert f"{len(tagging.changes):,} of" in summary(tagging)


@dataclasses.dataclass
class Reading:
    """A text that counts how often it was gone through."""

    sentences: list
    times: int = 0

    def __iter__(self):
        self.times += 1
        yield from self.sentences


def test_a_text_is_read_twice_and_not_kept(tagged, processes):
    tagger, text = tagged
    wanted = tag_corpus(tagger, text, penalty=10.0)
    read = Reading(text)
    found = tag_corpus(tagger, read, penalty=10.0, executor=processes)
    assert_same(found.result, wanted.result)
    assert found.changes == wanted.changes
    assert read.times == 1
    assert [sentence.upos for sentence in found] == [own.upos for own in wanted.sentences]
    assert read.times == 2
    once = tag_corpus(tagger, iter(text), penalty=10.0)
    assert [sentence.upos for sentence in once] == [own.upos for own in wanted.sentences]
    renamed = Sentence.from_words(["x" * len(word) for word in text[5].words])
    for other in (text[:-1], [*text, text[0]], [*text[:5], renamed, *text[6:]]):
        read.sentences = other
        with pytest.raises(ModelError, match="has changed since it was tagged, at sentence"):
            list(found)


def test_accuracy_is_told_where_gold_is_known(tagged):
    tagger, text = tagged
    reports = []
    tagging = tag_corpus(tagger, text, penalty=10.0, callback=lambda r: reports.append(r.accuracy))
    gold = tagger.labels.numbers(text)
    assert reports[0] == pytest.approx(100.0 * np.mean(tagging.result.isolated == gold))
    bare = [sentence.with_columns(upos=["_"] * len(sentence)) for sentence in text]
    reports.clear()
    tag_corpus(tagger, bare, callback=lambda r: reports.append(r.accuracy))
    assert np.isnan(reports).all()


def test_keys_of_ones_own(tagged):
    """All words in one set: whatever is not certain goes with the crowd."""
    tagger, text = tagged
    tagging = tag_corpus(tagger, text[:20], penalty=1e4, keys=lambda words: [["all"]] * len(words))
    assert len({tag for sentence in tagging.sentences for tag in sentence.upos}) == 1


def test_a_tagger_that_knows_no_frequent_words(tagged):
    tagger, text = tagged
    old = dataclasses.replace(tagger, frequent=None)
    with pytest.raises(ModelError, match="train it again"):
        tag_corpus(old, text)


def test_frequent_words_are_kept_in_files(tagged, tmp_path):
    tagger, _ = tagged
    tagger.save(tmp_path / "small.model")
    assert type(tagger).load(tmp_path / "small.model").frequent == tagger.frequent
    assert len(tagger.frequent) > 1
