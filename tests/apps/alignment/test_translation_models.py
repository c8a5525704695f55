"""Alignment models: posteriors and counts by enumeration, statistics by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from assent.apps.alignment.data import SentencePair
from assent.apps.alignment.features.cooccurrence import count_words
from assent.apps.alignment.features.translation_model import train_translation
from assent.apps.alignment.features.vocabulary import number_bitext, word_form
from assent.kernels.alignment.agreement import Direction, PairTable, expected_counts
from assent.kernels.alignment.hidden_markov import hidden_markov_posteriors
from assent.kernels.alignment.spelling import spelling_similarity


def enumerate_paths(emission, null_emission, jumps, null):
    """Posteriors and expected jumps by going through all alignments, null ones with positions."""
    observed, states = emission.shape
    reach = len(jumps) // 2
    posterior, counts, total = np.zeros((observed, states)), np.zeros(len(jumps)), 0.0

    def jump(i, k):
        weights = [jumps[np.clip(s - i, -reach, reach) + reach] for s in range(states)]
        return (1.0 - null) * weights[k] / sum(weights)

    for path in itertools.product(range(states), range(2), repeat=observed):
        places, linked = path[::2], path[1::2]
        value, moves = 1.0, []
        for j in range(observed):
            if j == 0:
                value *= (1.0 - null) / states if linked[0] else null / states
            elif linked[j]:
                value *= jump(places[j - 1], places[j])
                moves.append(np.clip(places[j] - places[j - 1], -reach, reach) + reach)
            else:
                value *= null * (places[j] == places[j - 1])
            value *= emission[j, places[j]] if linked[j] else null_emission[j]
        total += value
        for j in range(observed):
            posterior[j, places[j]] += value * linked[j]
        for move in moves:
            counts[move] += value
    return posterior / total, counts / total


@pytest.mark.parametrize("seed", range(6))
def test_hidden_markov_posteriors_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    observed, states = rng.integers(1, 4, 2)
    emission, none, jumps = rng.random((observed, states)), rng.random(observed), rng.random(5)
    posterior, counts = np.empty((observed, states)), np.zeros(5)
    hidden_markov_posteriors(emission, none, jumps, 0.3, posterior, counts)
    expected, jumped = enumerate_paths(emission, none, jumps, 0.3)
    assert posterior == pytest.approx(expected)
    assert counts == pytest.approx(jumped)


def test_long_sentences_do_not_leave_the_range_of_numbers():
    emission = np.full((400, 60), 1e-9)
    posterior = np.empty_like(emission)
    hidden_markov_posteriors(emission, np.full(400, 1e-9), np.ones(5), 0.2, posterior, np.zeros(5))
    assert posterior.sum(axis=1) == pytest.approx(0.8)


def test_expected_counts_of_model_1_by_hand():
    """Two source and one target word: all three ways to explain it, both directions."""
    table = PairTable(np.array([0, 1, 2]), np.array([0, 0], np.int32))
    forward = Direction(np.array([0.5, 0.25]), np.array([0.1]), np.zeros(0))
    backward = Direction(np.array([0.4, 0.2]), np.array([0.3, 0.3]), np.zeros(0))
    counts = tuple(Direction(*map(np.zeros_like, own)) for own in (forward, backward))
    text = (np.array([0, 1], np.int32), np.array([0, 2]), np.array([0], np.int32), np.array([0, 1]))
    expected_counts(table, forward, backward, 0.2, 0.0, text, counts)
    total = 0.4 * 0.5 + 0.4 * 0.25 + 0.2 * 0.1
    ahead = np.array([0.4 * 0.5, 0.4 * 0.25]) / total
    back = np.array([0.8 * 0.4 / (0.8 * 0.4 + 0.2 * 0.3), 0.8 * 0.2 / (0.8 * 0.2 + 0.2 * 0.3)])
    assert counts[0].pairs == pytest.approx(ahead * back)
    assert counts[1].pairs == pytest.approx(ahead * back)
    assert counts[0].null == pytest.approx([1.0 - ahead.sum()])
    assert counts[1].null == pytest.approx(1.0 - back)


def test_words_in_another_order_are_found():
    """A little language whose verb comes last; every word has one translation."""
    rng = np.random.default_rng(0)
    nouns, verbs = [f"n{i}" for i in range(8)], [f"v{i}" for i in range(8)]
    pairs = []
    for _ in range(60):
        a, b, v = rng.choice(nouns), rng.choice(nouns), rng.choice(verbs)
        pairs.append(SentencePair((f"{a}", v, f"{b}"), (f"{a}x", f"{b}x", f"{v}x")))
    source, target, text = number_bitext(pairs, word_form)
    counts = count_words(text, len(source), len(target))
    for model in train_translation(text, counts):
        for pair in pairs[:5]:
            words = source.find(pair.source), target.find(pair.target)
            _, forward, backward = model.posteriors(*words)
            if len(set(pair.source)) == 3:
                assert (forward * backward).argmax(axis=1).tolist() == [0, 2, 1]


def test_unknown_words_have_posteriors_too():
    pairs = [SentencePair(("a", "b"), ("x", "y"))] * 3
    source, target, text = number_bitext(pairs, word_form)
    model = train_translation(text, count_words(text, len(source), len(target)))[1]
    index, forward, backward = model.posteriors(source.find(["a", "new"]), target.find(["new"]))
    assert index.tolist() == [[-1], [-1]]
    assert np.isfinite(forward).all() and np.isfinite(backward).all()


def test_counts_do_not_depend_on_blocks(monkeypatch):
    rng = np.random.default_rng(1)
    pairs = [
        SentencePair(tuple(rng.choice(list("abcd"), 3)), tuple(rng.choice(list("vwxyz"), 4)))
        for _ in range(30)
    ]
    source, target, text = number_bitext(pairs, word_form)
    whole = count_words(text, len(source), len(target))
    monkeypatch.setattr("assent.apps.alignment.features.cooccurrence.BLOCK", 10)
    parts = count_words(text, len(source), len(target))
    assert whole.together.tolist() == parts.together.tolist()
    assert whole.table.target.tolist() == parts.table.target.tolist()
    together = sum("a" in pair.source and "z" in pair.target for pair in pairs)
    row = slice(*whole.table.start[source.find(["a"])[0] :][:2])
    at = row.start + whole.table.target[row].tolist().index(target.find(["z"])[0])
    assert whole.together[at] == together


def longest_common(a, b):
    if not a or not b:
        return 0
    if a[0] == b[0]:
        return 1 + longest_common(a[1:], b[1:])
    return max(longest_common(a[1:], b), longest_common(a, b[1:]))


def test_spelling_by_recursion():
    rng = np.random.default_rng(2)
    words = [[rng.integers(0, 3, rng.integers(1, 7)).tolist() for _ in range(5)] for _ in range(2)]
    letters = [np.concatenate(side) for side in words]
    start = [np.cumsum([0, *map(len, side)]) for side in words]
    prefix, common = spelling_similarity(letters[0], start[0], letters[1], start[1])
    for i, a in enumerate(words[0]):
        for j, b in enumerate(words[1]):
            assert common[i, j] * max(len(a), len(b)) == pytest.approx(longest_common(a, b))
            letters_of = zip(a, b, strict=False)
            same = sum(1 for _ in itertools.takewhile(lambda ab: ab[0] == ab[1], letters_of))
            assert prefix[i, j] * max(len(a), len(b)) == pytest.approx(same)
