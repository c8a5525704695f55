"""Pruners: what their probabilities are, and which arcs they leave."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from assent.apps.parsing.data import encode, label_names
from assent.apps.parsing.pruner import Pruner, train_pruner
from assent.apps.parsing.training import read_examples
from assent.io.conllu import Sentence
from tests.apps.small_language import small_corpus
from tests.oracles.sentence_trees import list_trees

SIZE = 1 << 12


@pytest.mark.parametrize("spread", [0.1, 1.0, 10.0])  # from even chances to 1e-100 and less
@pytest.mark.parametrize("words", [1, 2, 5])
def test_probabilities_in_trees_are_sums_over_all_trees(words, spread):
    rng = np.random.default_rng(words)
    tokens = encode(Sentence.from_words([f"w{i}" for i in range(words)]))
    weights = rng.normal(scale=spread, size=SIZE).astype(np.float32)
    alone = np.log(Pruner(weights).posteriors(tokens) + 1e-300)
    trees = list_trees(words, single_root=True)
    values = alone[np.arange(words), trees].sum(axis=1)
    expected = np.zeros((words, words + 1))
    for heads, value in zip(trees, values, strict=True):
        expected[np.arange(words), heads] += np.exp(value - logsumexp(values))
    np.testing.assert_allclose(Pruner(weights, True).posteriors(tokens), expected, atol=1e-9)


@pytest.mark.parametrize("of_trees", [False, True])
def test_pruners_learn_and_keep_what_they_must(of_trees):
    sentences = small_corpus(60, seed=0)
    examples = read_examples(sentences, label_names(sentences), False)
    pruner = train_pruner(examples, 0, of_trees)
    kept = words = heads = 0
    for own in examples:
        arcs = pruner.arcs(own.tokens)
        pairs = set(zip(arcs.head.tolist(), arcs.modifier.tolist(), strict=True))
        assert {(m - 1, m) for m in range(1, len(own.heads) + 1)} <= pairs
        kept += sum((h, m) in pairs for m, h in enumerate(own.heads.tolist(), 1))
        heads, words = heads + len(pairs), words + len(own.heads)
    assert kept >= 0.99 * words
    assert heads <= 4 * words


def test_right_heads_are_kept_if_given():
    own = small_corpus(1, seed=0)[0]
    tokens, gold = encode(own), np.asarray(own.heads, np.int64)
    weights = np.random.default_rng(0).normal(scale=10.0, size=SIZE).astype(np.float32)
    arcs = Pruner(weights, most=1).arcs(tokens, gold)
    pairs = set(zip(arcs.head.tolist(), arcs.modifier.tolist(), strict=True))
    assert {(int(h), m) for m, h in enumerate(gold, 1)} <= pairs
    assert len(pairs) <= 3 * len(gold)
