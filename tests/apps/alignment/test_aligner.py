"""Aligners on a little bitext: what they find, and what their files keep."""

from __future__ import annotations

import numpy as np
import pytest

from assent.apps.alignment import (
    AlignerSettings,
    LinkedSentences,
    Links,
    SentencePair,
    alignment_scores,
    read_aligner,
    train_aligner,
    write_aligner,
)
from assent.errors import ModelError
from tests.apps.alignment.little_bitext import draw_bitext

PAIRS, GOLD = draw_bitext(40)
TEST, TEST_GOLD = draw_bitext(15, seed=1)


def learn(settings, others=None):
    sentences = LinkedSentences(PAIRS[:20], GOLD[:20], others)
    return train_aligner(sentences, PAIRS[20:], settings)


@pytest.fixture(scope="module")
def aligner():
    return learn(AlignerSettings())


def test_the_links_of_new_sentences_are_found(aligner):
    scores = alignment_scores(TEST_GOLD, list(aligner.align(TEST)))
    assert scores.aer < 0.05
    assert scores.recall > 0.9  # also the second link of words that have two


def test_one_link_per_word():
    single = learn(AlignerSettings(fertility=1, linked=False))
    for links in single.align(TEST):
        assert len({i for i, _ in links.sure}) == len({j for _, j in links.sure}) == len(links.sure)
    scores = alignment_scores(TEST_GOLD, list(single.align(TEST)))
    assert scores.precision > 0.95 and scores.recall > 0.8


def test_adjacent_links_and_other_aligners():
    adjacent = learn(AlignerSettings(adjacent=True), [(links,) for links in GOLD[:20]])
    found = list(adjacent.align(TEST, [(links,) for links in TEST_GOLD]))
    assert alignment_scores(TEST_GOLD, found).aer < 0.05
    with pytest.raises(ModelError, match="trained with the links of 1 other aligner"):
        list(adjacent.align(TEST))
    with pytest.raises(ModelError, match=r"links of 2 other aligner\(s\) are given, and 1"):
        list(adjacent.align(TEST[:1], [(TEST_GOLD[0], TEST_GOLD[0])]))


def test_empty_sentences_and_unknown_words(aligner):
    strange = [SentencePair((), ("x",)), SentencePair(("§",), ("$",)), SentencePair((), ())]
    found = list(aligner.align(strange))
    assert found[0] == found[2] == Links(frozenset())
    assert len(found) == 3


def test_files_keep_what_was_learnt(aligner, tmp_path):
    write_aligner(tmp_path / "a", aligner)
    write_aligner(tmp_path / "b", aligner)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    again = read_aligner(tmp_path / "a")
    assert list(again.align(TEST)) == list(aligner.align(TEST))
    tables, kept = aligner.features.tables(TEST[0]), again.features.tables(TEST[0])
    assert list(tables) == list(kept)
    for name, table in tables.items():
        assert kept[name] == pytest.approx(table, abs=1e-4), name


def test_training_is_reproducible(aligner):
    assert np.array_equal(learn(AlignerSettings()).weights, aligner.weights)


def test_a_damaged_file_is_told(aligner, tmp_path):
    write_aligner(tmp_path / "a", aligner)
    raw = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(raw[: len(raw) // 2])
    with pytest.raises(ModelError, match="is damaged or no file of"):
        read_aligner(tmp_path / "a")


def test_nothing_to_learn_from():
    with pytest.raises(ModelError, match="no sentence pair has a sure link"):
        LinkedSentences(PAIRS[:1], [Links(frozenset())])
    with pytest.raises(ModelError, match="2 sentence pairs, and links of 1"):
        LinkedSentences(PAIRS[:2], GOLD[:1])
