"""The tagger on a small language: what it learns, and that the fast path is the model's answer."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest

import assent as at
from assent.apps.model_file import read_model, write_model
from assent.apps.tagging import (
    PerceptronSettings,
    Tagger,
    jackknife,
    show_tags,
    tag_scores,
    train_tagger,
)
from assent.apps.tagging.data import read_clusters
from assent.errors import ModelError
from assent.io import FormatError, Sentence, read_conllu
from assent.learn import MIRA, LogLikelihood
from tests.apps.small_language import small_corpus

TRAIN, TEST = small_corpus(150, seed=0), small_corpus(100, seed=1)
SMALL = PerceptronSettings(epochs=4, table_bits=12)


@pytest.fixture(scope="module")
def tagger():
    return train_tagger(TRAIN, settings=SMALL)


def accuracy(tagger):
    return tag_scores(TEST, tagger.tag(TEST)).accuracy


def test_golden_score(tagger):
    """Found by this very training; a change of features or updates may raise it."""
    assert accuracy(tagger)["upos"] == pytest.approx(97.53, abs=0.2)
    assert accuracy(tagger)["xpos"] == accuracy(tagger)["upos"]  # one tag each here


def test_only_the_tags_change(tagger):
    before = TEST[0].with_columns(upos=["X"] * len(TEST[0]))
    after = next(tagger.tag([before]))
    assert after.with_columns(upos=TEST[0].upos, xpos=TEST[0].xpos) == TEST[0]


def test_the_fast_path_is_the_best_assignment_of_the_graph(tagger):
    words = [sentence.words for sentence in TEST[:5]]
    graph = tagger.graph(words)
    result = at.decode(graph)
    assert result.status.name == "OPTIMAL"
    found = np.concatenate(tagger.states(words))
    np.testing.assert_array_equal(result[graph["tag"]], found)
    assert result.value == pytest.approx(
        sum(
            tagger.scores(own)[np.arange(len(own)), states].sum()
            + tagger.transitions[states[:-1], states[1:]].sum()
            for own, states in zip(words, tagger.states(words), strict=True)
        )
    )
    assert graph["tag"].shape == (sum(map(len, words)),)


def test_training_is_the_same_for_the_same_seed(tagger):
    same = train_tagger(TRAIN, settings=SMALL)
    np.testing.assert_array_equal(same.table(), tagger.table())
    other = train_tagger(TRAIN, settings=dataclasses.replace(SMALL, seed=1))
    assert (other.table() != tagger.table()).any()


def test_several_runs_are_averaged():
    settings = dataclasses.replace(SMALL, epochs=2)
    alone = [
        train_tagger(TRAIN, settings=dataclasses.replace(settings, seed=seed)) for seed in (4, 5, 6)
    ]
    found = train_tagger(TRAIN, settings=dataclasses.replace(settings, seed=4, runs=3))
    expected = np.mean([tagger.table() for tagger in alone], axis=0)
    np.testing.assert_allclose(found.table(), expected, atol=1e-5)
    expected = np.mean([tagger.transitions for tagger in alone], axis=0)
    np.testing.assert_allclose(found.transitions, expected)


def test_averages_are_those_of_a_perceptron_written_plainly():
    """Three sentences, two epochs, against weights that are kept after every single step."""
    corpus = small_corpus(3, seed=5)
    settings = PerceptronSettings(epochs=2, table_bits=8, margin=1.0, dropout=0.5, seed=3)
    found = train_tagger(corpus, settings=settings, columns=("upos",))
    labels = found.labels
    random = np.random.default_rng(3)
    weights, transitions = np.zeros((256, len(labels))), np.zeros((len(labels),) * 2)
    kept = []
    plain = Tagger.of(labels, np.zeros((256, len(labels))), transitions)
    every_row = plain._rows([sentence.words for sentence in corpus])[0]
    ends = np.cumsum([0, *map(len, corpus)])
    for _ in range(2):
        kept_rows = random.random(every_row.shape, np.float32) >= 0.5
        for c in random.permutation(np.arange(3)):
            gold = labels.numbers([corpus[c]])
            own = slice(ends[c], ends[c + 1])
            rows, used = every_row[own], kept_rows[own]
            scores = (weights[rows] * used[:, :, None]).sum(axis=1)
            scores[np.arange(len(gold)), gold] -= 1.0
            states = _viterbi(scores, transitions)
            for y, sign in ((gold, 1.0), (states, -1.0)):
                np.add.at(weights, (rows, y[:, None]), sign * used)
                np.add.at(transitions, (y[:-1], y[1:]), sign)
            kept.append((weights.copy(), transitions.copy()))
    # A change counts from the step after it: the average is over the weights before each step,
    # but for the first one, which are zero.
    total = [sum(pair[i] for pair in kept[:-1]) / len(kept) for i in (0, 1)]
    np.testing.assert_allclose(found.table(), total[0], atol=1e-5)
    np.testing.assert_allclose(found.transitions, total[1], atol=1e-9)


def _viterbi(scores, transitions):
    best, back = scores[0], []
    for row in scores[1:]:
        through = best[:, None] + transitions
        back.append(through.argmax(axis=0))
        best = through.max(axis=0) + row
    states = [int(best.argmax())]
    for pointers in reversed(back):
        states.append(int(pointers[states[-1]]))
    return np.array(states[::-1])


@pytest.mark.parametrize("trainer", [LogLikelihood(max_iterations=30), MIRA(max_iterations=3)])
def test_trainers_of_the_library(trainer):
    found = train_tagger(TRAIN[:100], settings=SMALL, trainer=trainer, columns=("upos",))
    assert accuracy(found)["upos"] > 93.0


def test_the_best_epoch_on_development_sentences_is_kept():
    dev = small_corpus(60, seed=2)
    lengths = [dataclasses.replace(SMALL, epochs=n) for n in range(1, 5)]
    taggers = [train_tagger(TRAIN[:80], settings=settings) for settings in lengths]
    best = max(tag_scores(dev, tagger.tag(dev)).accuracy["upos"] for tagger in taggers)
    found = train_tagger(TRAIN[:80], dev=dev, settings=dataclasses.replace(SMALL, epochs=4))
    assert tag_scores(dev, found.tag(dev)).accuracy["upos"] == best


def test_jackknifed_tags_are_those_of_taggers_that_have_not_seen_them():
    own = TRAIN[:90]
    settings = dataclasses.replace(SMALL, epochs=2)
    tagged = jackknife(own, folds=3, settings=settings)
    assert [s.words for s in tagged] == [s.words for s in own]
    seen = tag_scores(own, train_tagger(own, settings=settings).tag(own)).accuracy["upos"]
    assert 85 < tag_scores(own, tagged).accuracy["upos"] < seen
    with pytest.raises(ModelError, match="at least 2 sentences"):
        jackknife(own[:1])


def test_files(tagger, tmp_path):
    path = tmp_path / "tagger.model"
    tagger.save(path)
    found = Tagger.load(path)
    assert found.labels == tagger.labels
    assert abs(accuracy(found)["upos"] - accuracy(tagger)["upos"]) < 0.5
    tagger.save(path, eight_bits=False)
    np.testing.assert_array_equal(Tagger.load(path).table(), tagger.table())


@pytest.mark.parametrize("missing", ["state", "lengths", "transitions", "columns", "clusters"])
def test_damaged_files_are_told(tagger, tmp_path, missing):
    path = tmp_path / "tagger.model"
    tagger.save(path)
    settings, arrays = read_model(path, "tagger")
    settings.pop(missing, None)
    arrays.pop(missing, None)
    write_model(path, "tagger", settings, arrays)
    with pytest.raises(ModelError, match=f"damaged or no file of a tagger .*{missing}"):
        Tagger.load(path)


def test_weights_that_do_not_fit_the_labels_are_told(tagger, tmp_path):
    path = tmp_path / "tagger.model"
    tagger.save(path)
    settings, arrays = read_model(path, "tagger")
    for name, other in (("state", arrays["state"] + 99), ("lengths", arrays["lengths"][1:])):
        write_model(path, "tagger", settings, {**arrays, name: other})
        with pytest.raises(ModelError, match="do not fit"):
            Tagger.load(path)


def test_clusters_tell_of_words_that_are_new(tmp_path):
    """Two words that look alike everywhere, told apart by clusters alone."""
    path = tmp_path / "paths"
    path.write_text("0110\tbaba\t7\n0110\tkaka\t1\n10\tdada\t3\n10\tgaga\n")
    train = [
        Sentence.from_words([word]).with_columns(upos=[tag])
        for word, tag in (("baba", "NOUN"), ("dada", "VERB"))
    ]
    plain = dataclasses.replace(SMALL, dropout=0.0)
    found = train_tagger(train, columns=["upos"], clusters=read_clusters(path), settings=plain)
    found.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model")
    assert loaded.tag_words([["kaka"], ["gaga"], ["Gaga"]]) == [["NOUN"], ["VERB"], ["VERB"]]
    path.write_text("0110\tbaba\n2\tkaka\n")
    with pytest.raises(FormatError, match="line 2: expected a path of 0 and 1"):
        read_clusters(path)


def test_any_words_are_tagged(tagger):
    words = [["🙂"], ["", "漢字", "ß", "a" * 5000], ["\ud800"], []]
    found = tagger.tag_words(words)
    assert list(map(len, found)) == [1, 4, 1, 0]
    assert {tag for own in found for tag in own} <= {label[0] for label in tagger.labels.labels}
    assert tagger.tag_words([]) == []


def test_bad_training_data():
    bare = Sentence.from_words(["a"])
    with pytest.raises(ModelError, match="no sentences"):
        train_tagger([])
    with pytest.raises(ModelError, match="nothing in the column upos"):
        train_tagger([bare])
    with pytest.raises(ModelError, match="not 'heads'"):
        train_tagger([bare], columns=("heads",))
    with pytest.raises(ModelError, match="epochs and runs must be"):
        PerceptronSettings(epochs=0)
    with pytest.raises(ModelError, match="dropout must be"):
        PerceptronSettings(dropout=1.0)
    with pytest.raises(ModelError, match="table_bits must be"):
        PerceptronSettings(table_bits=40)


def test_scores_are_for_the_same_words():
    one, two = Sentence.from_words(["a", "b"]), Sentence.from_words(["a", "c"])
    with pytest.raises(ModelError, match="line 2: 2 words with 'b' and 2 words with 'c'"):
        tag_scores([one], [two])
    with pytest.raises(ModelError, match="no answer to"):
        tag_scores([one], [])
    with pytest.raises(ModelError, match="without a gold one"):
        tag_scores([], [one])
    assert tag_scores([], []).words == 0


def test_tags_are_shown_in_columns():
    shown = show_tags(["漢字", "is", "writing"], ["NOUN", "AUX", "NOUN"], width=12).plain
    assert shown.split("\n") == ["漢字 is", "NOUN AUX", "writing", "NOUN"]
    assert show_tags([], []).plain == ""


def test_progress_is_shown_in_the_log(caplog):
    with caplog.at_level("INFO", logger="assent"):
        train_tagger(TRAIN[:10], settings=SMALL, progress=True)
    assert "epoch 1 of 4  training errors" in caplog.text


def test_real_sentences():
    """A tenth of a treebank, three epochs: far from the full score, near enough to see a break."""
    root = os.environ.get("ASSENT_DATA")
    if root is None or not (Path(root) / "ud").is_dir():
        pytest.skip("ASSENT_DATA is unset or has no folder 'ud': no treebanks at hand")
    folder = Path(root) / "ud" / "UD_English-EWT"
    train = list(read_conllu(folder / "en_ewt-ud-train.conllu.gz"))[::10]
    dev = list(read_conllu(folder / "en_ewt-ud-dev.conllu.gz"))[::4]
    found = train_tagger(train, settings=PerceptronSettings(epochs=3, table_bits=16))
    assert tag_scores(dev, found.tag(dev)).accuracy["upos"] > 89.0
