"""The labeler: labels of neighbours are chosen together."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from assent.apps.parsing.labels import train_labeler
from assent.apps.parsing.training import read_examples
from assent.io.conllu import Sentence
from assent.kernels.parsing.label_scores import best_chain


@pytest.mark.parametrize("k", [1, 2, 4])
def test_chains_are_the_best_of_all(k):
    rng = np.random.default_rng(k)
    for _ in range(10):
        scores, pairs = rng.normal(size=(k, 3)), rng.normal(size=(k + 1, 16))
        found = np.empty(k, np.int64)
        best_chain(scores, pairs, np.empty((k, 3)), found)

        def value(labels, scores=scores, pairs=pairs):
            padded = np.array([3, *labels, 3])
            single = scores[np.arange(len(labels)), list(labels)].sum()
            return single + pairs[np.arange(len(labels) + 1), 4 * padded[:-1] + padded[1:]].sum()

        assert tuple(found) == max(product(range(3), repeat=k), key=value)


def flat(words: int, label) -> Sentence:
    """Equal words, all of which hang on the first."""
    labels = ["root", *(label(i) for i in range(1, words))]
    heads = [0] + [1] * (words - 1)
    return Sentence.from_words(["x"] * words).with_columns(
        upos=["X"] * words, heads=heads, deprels=labels
    )


def test_what_only_neighbours_tell_is_learned():
    """Labels by turns, of words that nothing but the labels beside them tells apart."""
    names = ["a", "b", "root"]
    sentences = [flat(words, lambda i: "ab"[i % 2]) for words in (9, 10, 11, 12)]
    examples = read_examples(sentences, names, False)
    labeler = train_labeler(examples * 10, names, seed=0)
    for sentence, example in zip(sentences, examples, strict=True):
        assert labeler.labels(example.tokens, example.heads) == sentence.deprels
