"""The benchmarks of applications run on made-up texts."""

from __future__ import annotations

import gzip
import json
import zipfile

import numpy as np
import pytest
from rich.console import Console

from assent.apps.alignment.model.alignment_model import AlignmentInput, AlignmentModel
from assent.apps.parsing import ParserSettings, ParserTraining, train_parser
from assent.apps.segmentation import Scene
from assent.io import write_conllu
from benchmarks import (
    alignment_quadratic,
    chunking,
    compressing,
    corpus,
    corpus_calls,
    corpus_samples,
    parsing_data,
    parsing_solvers,
    segmentation_methods,
    segmentation_scans,
    summarization,
    summary_learning,
    summary_solvers,
    tagging,
    turbo_parsing,
)
from benchmarks.tables import new_console
from tests.apps.small_language import small_corpus
from tests.benchmark_runs import run, write_treebank


def test_corpus_on_a_treebank(tmp_path, monkeypatch):
    write_treebank(tmp_path)
    monkeypatch.setattr(corpus_samples, "TRAINED_FROM", 2)
    monkeypatch.setattr(corpus_samples, "TABLE_BITS", 10)
    monkeypatch.setattr(corpus, "SIZES", {True: (50,)})
    monkeypatch.setattr(corpus, "SENTENCES", {True: (3, 6)})
    (tmp_path / "ud" / "UD_English-Small").mkdir(parents=True)
    write_conllu(tmp_path / "ud" / "UD_English-Small" / "a.conllu", small_corpus(4, seed=0))
    monkeypatch.setattr(corpus_calls, "MOST_ITERATIONS", 3)
    with Console(record=True, width=200) as console:
        corpus.run(console, tmp_path, quick=True)
    text = console.export_text()
    assert "79.0" in text and "BoxMPLP" in text and "2 sentences, 9 words" in text
    assert "steps of other texts" in text and "Growth with the text" in text
    assert "no data" in run("corpus", "--quick")


def test_chunking_on_made_up_sentences(tmp_path, monkeypatch):
    assert "no data" in run("chunking", "--quick")
    sentence = "the DT B-NP\nold JJ I-NP\ndog NN I-NP\nran VBD B-VP\n. . O\n\n"
    (tmp_path / "nltk").mkdir()
    with zipfile.ZipFile(tmp_path / "nltk" / "conll2000.zip", "w") as file:
        file.writestr("conll2000/train.txt", sentence * 4)
        file.writestr("conll2000/test.txt", sentence)
    ours = {name: make for name, make in chunking.systems().items() if "crfsuite" not in name}
    monkeypatch.setattr(chunking, "systems", lambda: ours)
    console = Console(record=True, width=150)
    rows = chunking.run(console, tmp_path, True)
    assert [row.f1 for row in rows] == [100.0, 100.0]
    assert "4 sentences to learn from, 1 to test" in console.export_text()


class _Paths:
    """A parser that hangs every word from the one before it."""

    def parse(self, sentences):
        for sentence in sentences:
            labels = ["root"] + ["obl"] * (len(sentence) - 1)
            yield sentence.with_columns(heads=range(len(sentence)), deprels=labels)


def test_summaries_of_made_up_documents(tmp_path, capsys, monkeypatch):
    (tmp_path / "compression").mkdir()
    (tmp_path / "opinosis").mkdir()
    text = ["good clean rooms in a hotel", "good clean rooms for a week", "very good clean rooms"]
    rows = [
        {"id": f"d{document}.{i}", "text": line, "summaries": [line, "clean rooms"]}
        for document in range(10) for i, line in enumerate(text)
    ]  # fmt: skip
    with gzip.open(tmp_path / "compression" / "broadcast.jsonl.gz", "wt") as file:
        file.write("\n".join(map(json.dumps, rows)))
    with zipfile.ZipFile(tmp_path / "opinosis" / "topics.zip", "w") as archive:
        archive.writestr("topics/rooms.txt.data", "\n".join(text))
        archive.writestr("summaries-gold/rooms/rooms.1.gold", "good clean rooms")
    console = new_console()
    documents = summarization.broadcast(tmp_path, _Paths())
    monkeypatch.setattr(compressing, "DEV", 6)
    monkeypatch.setattr(compressing, "TEST", 8)
    learnt = compressing.run(console, documents)
    assert "people, one against another" in capsys.readouterr().out
    monkeypatch.setattr(summary_solvers, "find_spec", lambda name: None)
    topics, parsed = summarization.read_topics(tmp_path, True, _Paths())
    summarization.opinosis(console, topics, parsed, True, learnt)
    shown = capsys.readouterr().out
    assert shown.count("1.0000") == 5  # recall of all
    compressions = [(sentence, own.kept) for own, sentence in documents[0]]
    summary_learning.run(console, topics * 3, parsed * 3, compressions, [5])
    assert capsys.readouterr().out.count("1.0000") == 3
    problem = summary_solvers.task(documents, summary_solvers.any_word)
    values = [outcome.value for outcome in summary_solvers.outcomes(problem).values()]
    assert values == pytest.approx([values[0]] * 8)  # also of the paper's formulation
    summary_solvers.run(console, documents, True)
    assert capsys.readouterr().out.count("0.00 %") >= 12  # all are optima
    summarization.run(console, None, True, tmp_path)
    assert "no data" in capsys.readouterr().out


def test_tagging_of_made_up_treebanks(tmp_path):
    folder = tmp_path / "ud" / "UD_Czech-CLTT"
    folder.mkdir(parents=True)
    for seed, part in enumerate(("train", "dev", "test")):
        write_conllu(folder / f"x-{part}.conllu", small_corpus(40, seed))
    console = Console(record=True, width=150)
    tagging.run(console, tagging.treebanks(tmp_path, quick=True))
    shown = console.export_text()
    assert "UD_Czech-CLTT" in shown and "words/s" in shown
    assert tagging.treebanks(None, quick=True) == []


def test_alignments_against_highs():
    """Integer programs of alignments have the values of our decodings, rewards included."""
    assert "no data" in run("alignment")
    rng = np.random.default_rng(0)
    for adjacent in (0, 2):
        inputs = [
            AlignmentInput(rng.normal(size=(n, m, 1)), rng.normal(size=(n, 1)),
                           rng.normal(size=(m, 1)), rng.normal(size=(n - 1, m - 1, adjacent)))
            for n, m in ((3, 4), (5, 4), (1, 3))
        ]  # fmt: skip
        model = AlignmentModel(2).shaped(inputs, [])
        weights = rng.normal(size=model.size)
        assert alignment_quadratic.with_prices(model, inputs, weights).proven == 1.0
        found = alignment_quadratic.with_limits(model, inputs, weights)  # some are fractional
        assert found.proven > 0.5 and found.own > 0.0 and found.peer > 0.0


def made_up_scan(seed):
    """60 noisy nodes in a row."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 0, 1], 15)
    line = np.stack([np.arange(59), np.arange(1, 60)], axis=1)
    return Scene(labels[:, None] + rng.normal(0.0, 0.5, (60, 2)), line, np.ones((59, 1)), labels)


def test_scans_that_are_made_up(monkeypatch):
    for name, number in (("PASSES", 3), ("FEW_PASSES", 2), ("STRETCH", 5), ("SIXTH", 2)):
        monkeypatch.setattr(segmentation_scans, name, number)
    thin = segmentation_scans.thinned(made_up_scan(0))
    assert len(thin.nodes) == 30 and len(thin.edges) == 6 * 4
    assert (np.diff(thin.edges) == 1).all() and not (thin.edges[:, 0] % 5 == 4).any()
    console, seen = Console(record=True, width=150), [made_up_scan(seed) for seed in range(3)]
    rows = segmentation_scans.compare_scans(console, seen)
    names = [row.name for row in rows]
    assert "DualExtragradient, jointly, on a sixth" in names
    assert "DualExtragradient, jointly" not in names and "MIRA, jointly" in names
    rows += segmentation_scans.compare_points(console, seen)
    assert rows[-1].name == "DualExtragradient, jointly"
    assert all((row.errors < 0.5).any() for row in rows)
    assert "3 passes of dual extragradient over all scans" in console.export_text()


def test_a_regression_learns_once_from_the_same_scenes(monkeypatch):
    seen, other = [made_up_scan(0), made_up_scan(1)], made_up_scan(2)
    regressions = segmentation_methods.Regressions(2, 2)
    alone = regressions.alone(seen)
    monkeypatch.setattr(segmentation_methods, "fit_classifier", None)
    averages = regressions.averages(seen)
    scores = regressions.of(seen).scores(other.nodes)
    assert (alone(other) == scores.argmax(axis=1)).all()
    around = segmentation_methods.averaged(scores, other.edges).argmax(axis=1)
    assert (averages(other) == around).all()


def test_parsing_of_made_up_treebanks(tmp_path):
    folder = tmp_path / "ud" / "UD_Czech-CLTT"
    folder.mkdir(parents=True)
    for seed, part in enumerate(("train", "dev", "test")):
        write_conllu(folder / f"x-{part}.conllu", small_corpus(20, seed))
    console = Console(record=True, width=150)
    parsers = {preset: ParserSettings(preset, table_bits=12) for preset in ("basic", "standard")}
    paths = list(parsing_data.treebanks(tmp_path).values())
    turbo_parsing.run(console, paths, parsers, ParserTraining(1, folds=2), 60, "test")
    shown = console.export_text()
    assert "UD_Czech-CLTT" in shown and "standard" in shown and "words/s" in shown
    # Of two sentences drawn with repetition, one in four samples has the first one twice.
    gain = turbo_parsing.gain_interval(*np.array([[2, 3], [1, 3], [3, 3]]))
    assert gain == pytest.approx((100 / 6, 0.0, 100 / 3))


def test_solvers_on_made_up_sentences(tmp_path, monkeypatch):
    monkeypatch.setattr(parsing_solvers, "LENGTHS", {(2, 6): 2, (6, 20): 2})
    monkeypatch.setattr(parsing_solvers, "VARIANT_ITERATIONS", 2)
    own = small_corpus(20, 0)
    parser = train_parser(own, ParserSettings("standard", table_bits=12), ParserTraining(1))
    console, chosen = Console(record=True, width=250), parsing_solvers.choose(own, 1)
    found = parsing_solvers.race(console, parser, chosen)
    assert all(attempt.proven for attempt in found["AD3, then search"].all)
    parsing_solvers.show_race(console, "small", found)
    parsing_solvers.show_proofs(console, "small", found)
    parsing_solvers.show_variants(console, parser, chosen[:1])
    shown = console.export_text()
    assert "subgradient" in shown and "integral" in shown and "cold starts" in shown
    assert parsing_solvers.draw(found, tmp_path).exists()


def test_the_penn_sample(tmp_path):
    (tmp_path / "nltk").mkdir()
    sentence = "He\tPRP\t2\nran\tVBD\t0\n.\t.\t2\n"
    with zipfile.ZipFile(tmp_path / "nltk" / "dependency_treebank.zip", "w") as file:
        for number, sentences in ((150, 2), (151, 1), (170, 1), (171, 3)):
            file.writestr(
                f"dependency_treebank/wsj_0{number}.dp", "\n".join([sentence] * sentences)
            )
    (path,) = parsing_data.treebanks(tmp_path).values()
    own = parsing_data.read_penn(path)
    assert {part: len(sentences) for part, sentences in own.items()} == {
        "train": 2, "dev": 2, "test": 3,
    }  # fmt: skip
    first = own["train"][0]
    assert first.upos == ["PRP", "VBD", "PUNCT"] and first.heads.tolist() == [2, 0, 2]
    assert len(parsing_data.spread(own["test"], most_words=7)) == 2
