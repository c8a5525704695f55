"""The corpus that the applications' tests learn from."""

from assent.io import check_tree
from tests.apps.small_language import small_corpus


def test_sentences_are_trees_and_the_same_for_the_same_seed():
    corpus = small_corpus(200, seed=1)
    for sentence in corpus:
        check_tree(sentence.heads)
        assert (sentence.heads == 0).sum() == 1
        assert sentence.deprels[int((sentence.heads == 0).argmax())] == "root"
    assert corpus == small_corpus(200, seed=1)
    assert corpus != small_corpus(200, seed=2)
