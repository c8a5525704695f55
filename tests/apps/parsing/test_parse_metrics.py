"""Scores as the script of CoNLL 2018 defines them."""

import pytest

from assent.apps.parsing.metrics import parse_scores
from assent.errors import ModelError
from assent.io import FormatError, Sentence

GOLD = Sentence.from_words(["We", "sang", "our", "songs", "."]).with_columns(
    upos=["PRON", "VERB", "PRON", "NOUN", "PUNCT"],
    xpos=["PRP", "VBD", "PRP$", "NNS", "."],
    heads=[2, 0, 4, 2, 2],
    deprels=["nsubj", "root", "nmod:poss", "obj", "punct"],
)


def test_all_right():
    scores = parse_scores([GOLD], [GOLD])
    assert {scores.uas, scores.las, scores.upos, scores.xpos, scores.whole_trees} == {100.0}
    assert (scores.words, scores.words_without_punctuation) == (5, 4)


def test_each_measure_by_hand():
    system = GOLD.with_columns(
        heads=[2, 0, 2, 2, 4],  # two wrong, one of them punctuation
        deprels=["obj", "root", "nmod", "obj:lvc", "punct"],  # one wrong: subtypes do not count
        upos=["PRON", "VERB", "DET", "NOUN", "PUNCT"],
    )
    scores = parse_scores([GOLD, GOLD], [GOLD, system])
    assert scores.uas == pytest.approx(100 * 8 / 10)
    assert scores.las == pytest.approx(100 * 7 / 10)
    assert scores.upos == pytest.approx(100 * 9 / 10)
    assert scores.xpos == 100.0
    assert scores.whole_trees == 50.0
    assert scores.uas_without_punctuation == pytest.approx(100 * 7 / 8)
    assert scores.las_without_punctuation == pytest.approx(100 * 6 / 8)
    assert scores.as_json()["LAS"] == scores.las
    assert "UAS 80.00  LAS 70.00" in str(scores)


def test_labels_count_only_with_the_right_head():
    system = GOLD.with_columns(heads=[4, 0, 4, 2, 2])
    assert parse_scores([GOLD], [system]).las == 80.0


def test_bad_sentences_are_told():
    cycle = GOLD.with_columns(heads=[2, 1, 4, 2, 2])
    with pytest.raises(FormatError, match="line 1: no tree"):
        parse_scores([cycle], [GOLD])
    assert parse_scores([GOLD], [cycle]).uas == 80.0  # a system may err in any way
    with pytest.raises(FormatError, match="expected a head from 0 to 5, found '_'"):
        parse_scores([GOLD], [GOLD.with_columns(heads=["_"] * 5)])
    with pytest.raises(ModelError, match="sentences differ"):
        parse_scores([GOLD], [Sentence.from_words(["We"])])
    assert parse_scores([], []).words == 0
