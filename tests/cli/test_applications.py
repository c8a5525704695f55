"""The verbs of the applications: files in, files out, and errors in one line."""

import gzip
import json
import os
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from assent.apps.tagging import PerceptronSettings, train_tagger
from assent.cli import main
from assent.io import read_conllu, write_conllu
from tests.apps.small_language import small_corpus


def run(*arguments, input=None):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=input)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Sentences to train on and to test, and a tagger."""
    folder = tmp_path_factory.mktemp("applications")
    write_conllu(folder / "train.conllu", small_corpus(80, seed=0))
    write_conllu(folder / "test.conllu", small_corpus(30, seed=1))
    train_tagger(
        small_corpus(80, seed=0), settings=PerceptronSettings(epochs=2, table_bits=10)
    ).save(folder / "tagger.model")
    return folder


def test_tagging_a_file(folder, tmp_path):
    gold, model, out = folder / "test.conllu", folder / "tagger.model", tmp_path / "out.conllu.gz"
    done = run("tag", gold, "--model", model, "--output", out)
    assert (done.exit_code, done.output) == (0, ""), done.output  # no terminal: no progress
    text = gzip.decompress(out.read_bytes()).decode()
    assert run("tag", gold, "--model", model).stdout == text
    assert run("tag", "-", "--model", model, input=gold.read_text()).stdout == text
    assert run("tag", "--model", model, input=gold.read_text()).stdout == text

    scores = json.loads(run("evaluate", "tags", gold, out, "--json").stdout)
    assert 80 < scores["accuracy"]["upos"] < 100
    assert f"upos {scores['accuracy']['upos']:.2f}" in run("evaluate", "tags", gold, out).stdout
    parses = json.loads(run("evaluate", "parses", gold, out, "--json").stdout)
    assert (parses["UAS"], parses["LAS"]) == (100.0, 100.0)
    assert parses["UPOS"] == scores["accuracy"]["upos"]
    assert "without punctuation: UAS 100.00" in run("evaluate", "parses", gold, out).stdout


def test_tagging_raw_text(folder, tmp_path):
    model, text = folder / "tagger.model", "Ti kaka isn't 🙂. O lolo?\n\nNew\nNewer"
    found = run("tag", "-", "--model", model, input=text).stdout
    (tmp_path / "found.conllu").write_text(found)
    sentences = list(read_conllu(tmp_path / "found.conllu"))
    assert sentences[0].words == ["Ti", "kaka", "is", "n't", "🙂", "."]
    assert [s.words for s in sentences[1:]] == [["O", "lolo", "?"], ["New", "Newer"]]
    assert "_" not in {tag for s in sentences for tag in s.upos}
    (tmp_path / "text.txt").write_text(text)
    assert run("tag", tmp_path / "text.txt", "--model", model).stdout == found
    assert run("tag", "-", "--lines", "--model", model, input=text).stdout.count("newpar") == 3
    assert run("tag", "-", "--model", model, input="").output == ""


def test_tagging_a_file_as_a_whole(folder, tmp_path):
    gold, model, changes = folder / "test.conllu", folder / "tagger.model", tmp_path / "changes"
    apart = run("tag", gold, "--model", model).stdout
    together = ("tag", gold, "--model", model, "--consistent")
    done = run(*together, "--penalty", 10, "--changes", changes)
    assert done.exit_code == 0, done.output
    assert "words are tagged otherwise" in done.stderr
    lines = changes.read_text().splitlines()
    differing = sum(map(str.__ne__, apart.splitlines(), done.stdout.splitlines()))
    assert len(lines) - 1 == differing > 0
    assert run(*together, "--penalty", 0, "--quiet").output == apart
    refused = run("tag", gold, "--model", model, "--changes", changes)
    assert refused.exit_code == 2
    assert "--changes goes with --consistent" in refused.output
    before = gold.read_bytes()
    for lost in (gold, model, tmp_path / "tagged"):
        refused = run(*together, "--output", tmp_path / "tagged", "--changes", lost)
        assert refused.exit_code == 2 and "would be written over" in refused.output
    assert gold.read_bytes() == before
    refused = run("tag", gold, "--model", model, "--output", model)
    assert refused.exit_code == 2 and "--output would be written over" in refused.output
    assert run("tag", "-", "--model", model, "--consistent", "--quiet", input="").output == ""


def test_comparing_solvers_on_a_text(folder, tmp_path):
    gold, model, picture = folder / "test.conllu", folder / "tagger.model", tmp_path / "a.svg"
    arguments = ("compare", "corpus", gold, "--model", model, "--iterations", 3, "--penalty", 10)
    done = run(*arguments, "--plot", picture)
    assert done.exit_code == 0, done.output
    assert "CorpusModel(30 sentences" in done.stdout
    assert done.stdout.count("\nBoxSubgradient ") == 2
    assert picture.read_text().count("<svg") == 1
    calls = json.loads(run(*arguments, "--json").stdout)
    assert calls["80%"]["BoxMPLP along chains"] > 1.0
    empty = run("compare", "corpus", "-", "--model", model, input="")
    assert empty.exit_code == 2
    assert "no words to tag" in empty.output


def test_a_reader_who_has_gone_ends_it_quietly(folder, tmp_path):
    """`assent tag … | head`: more than a pipe holds, of which nobody reads but a line."""
    write_conllu(tmp_path / "long.conllu", small_corpus(3000, seed=2))
    command = [sys.executable, "-m", "assent.cli", "tag", tmp_path / "long.conllu"]
    command += ["--model", folder / "tagger.model"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("redirected", "code", "out", "says"),
    [
        ("tag - <&-", 2, "", "standard input is closed"),
        ("tag text.txt >&-", 0, "", ""),
        ("summarize text.txt --extractive >/dev/full", 2, "", "No space left"),
        ("tag text.txt", 0, "# text = Zażółć gęś.\n", ""),  # whatever the locale
    ],
)
def test_streams_that_are_closed_full_or_of_another_encoding(
    folder, tmp_path, redirected, code, out, says
):
    (tmp_path / "text.txt").write_text("Zażółć gęś.\n", encoding="utf-8")
    model = "" if "summarize" in redirected else f"--model {folder / 'tagger.model'}"
    done = subprocess.run(
        f"{sys.executable} -m assent.cli {redirected} {model}",
        shell=True, cwd=tmp_path, capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii",
             "PYTHONPATH": os.pathsep.join([os.path.abspath("src"), *sys.path])},
    )  # fmt: skip
    told = done.stderr.decode()
    assert done.returncode == code, told
    assert out in done.stdout.decode("utf-8")
    assert says in told and "Traceback" not in told and len(told.splitlines()) == bool(says)


def test_training_a_tagger(folder, tmp_path):
    arguments = ("train", "tagger", "--train", folder / "train.conllu", "--epochs", 2, "--output")
    done = run(*arguments, tmp_path / "one", "--dev", folder / "test.conllu")
    assert done.exit_code == 0, done.output
    assert "8 labels" in done.stdout and "development: upos" in done.stdout
    assert run(*arguments, tmp_path / "two", "--quiet", "--columns", "upos").output == ""
    assert run("tag", folder / "test.conllu", "--model", tmp_path / "two").exit_code == 0


def test_training_and_running_a_parser(folder, tmp_path):
    model, gold, out = tmp_path / "both.model", folder / "test.conllu", tmp_path / "out.conllu"
    done = run(
        "train", "parser", "--train", folder / "train.conllu", "--dev", gold, "--output", model,
        "--preset", "basic", "--passes", 2,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "development: UAS" in done.stdout
    done = run("parse", gold, "--model", model, "--output", out)
    assert (done.exit_code, done.output) == (0, ""), done.output
    scores = json.loads(run("evaluate", "parses", gold, out, "--json").stdout)
    assert scores["UAS"] > 80 and scores["LAS"] > 75 and 80 < scores["UPOS"] < 100
    assert f"UAS {scores['UAS']:.2f}  LAS {scores['LAS']:.2f}" in str(
        run("evaluate", "parses", gold, out).stdout
    )
    kept = run("parse", gold, "--model", model, "--keep-tags", "--exact").stdout
    (tmp_path / "kept.conllu").write_text(kept)
    assert (
        json.loads(run("evaluate", "tags", gold, tmp_path / "kept.conllu", "--json").stdout)[
            "accuracy"
        ]["upos"]
        == 100.0
    )

    text = "Ti kaka loloen. 🙂 Да!\n\nx"
    (tmp_path / "text.conllu").write_text(run("parse", "-", "--model", model, input=text).stdout)
    found = list(read_conllu(tmp_path / "text.conllu"))
    assert [len(sentence.tree) for sentence in found] == [4, 3, 1]
    assert run("tag", "-", "--model", model, input=text).exit_code == 0  # its tagger
    assert run("parse", "-", "--model", model, input="").output == ""

    together = run("parse", gold, "--model", model, "--consistent", "--quiet").stdout
    (tmp_path / "together.conllu").write_text(together)
    tagged = run("tag", gold, "--model", model, "--consistent", "--quiet").stdout
    (tmp_path / "tagged.conllu").write_text(tagged)
    parsed = list(read_conllu(tmp_path / "together.conllu"))
    assert all(len(sentence.tree) == len(sentence) for sentence in parsed)
    assert [s.upos for s in parsed] == [s.upos for s in read_conllu(tmp_path / "tagged.conllu")]


def test_a_proof_that_takes_too_long_ends_with_the_best_tree_and_its_gap(tmp_path):
    """AD3 alone does not prove a tree of these words best."""
    text, out = "for with that run in the of the", tmp_path / "out.conllu"
    done = run("parse", "-", "--exact", "--time-limit", 1e-3, "--output", out, input=text)
    assert done.exit_code == 0, done.output
    told = r"sentence 1: not proven within 0.001 s, value \S+ <= optimum <= bound \S+, gap 0\.\d+\n"
    assert re.fullmatch(told, done.stderr), done.stderr
    (sentence,) = read_conllu(out)
    assert len(sentence.tree) == 8
    quiet = run("parse", "-", "--exact", "--time-limit", 1e-3, "--quiet", input=text)
    assert quiet.stderr == "" and quiet.stdout == out.read_text()
    refused = run("parse", "-", "--time-limit", 1, input=text)
    assert refused.exit_code == 2 and "--time-limit goes with --exact" in refused.output


def test_parsing_a_file_as_a_whole(folder, tmp_path):
    """Trees of arcs alone are one problem, too; the pretrained parser has larger parts."""
    gold, model, changes = folder / "test.conllu", tmp_path / "arcs.model", tmp_path / "changes"
    arguments = ("--train", folder / "train.conllu", "--output", model, "--quiet")
    assert run("train", "parser", *arguments, "--preset", "basic", "--passes", 1).exit_code == 0
    together = ("parse", gold, "--model", model, "--consistent", "--keep-tags")
    done = run(*together, "--head-penalty", 3, "--changes", changes)
    assert done.exit_code == 0, done.output
    assert "words have other heads" in done.stderr
    (tmp_path / "apart.conllu").write_text(
        run("parse", gold, "--model", model, "--keep-tags").stdout
    )
    (tmp_path / "together.conllu").write_text(done.stdout)
    apart, own = (list(read_conllu(tmp_path / f"{n}.conllu")) for n in ("apart", "together"))
    assert all(len(sentence.tree) == len(sentence) for sentence in own)
    differing = [
        (str(i), str(t), word, str(after))
        for i, (one, other) in enumerate(zip(apart, own, strict=True), start=1)
        for t, (word, before, after) in enumerate(
            zip(one.words, one.heads, other.heads, strict=True), start=1
        )
        if before != after
    ]
    table = [line.split("\t") for line in changes.read_text().splitlines()[1:]]
    assert differing
    assert [(*row[:3], row[4].split()[0].replace("<root>", "0")) for row in table] == differing
    assert {row[-1] for row in table} == {"head"}
    unchanged = run(*together, "--head-penalty", 0, "--quiet").output
    assert unchanged == (tmp_path / "apart.conllu").read_text()
    for text in ("", "\n", "x", "Ti kaka loloen. 🙂 Да!\n\nx"):  # tags, then trees
        done = run("parse", "-", "--model", model, "--consistent", "--quiet", input=text)
        assert done.exit_code == 0, done.output
        (tmp_path / "text.conllu").write_text(done.stdout)
        words = sum(len(sentence.tree) for sentence in read_conllu(tmp_path / "text.conllu"))
        assert words == {0: 0, 1: min(len(text.strip()), 1)}.get(len(text), 8)
    for option in (["--keep-tags"], ["--head-penalty", 1]):
        refused = run("parse", gold, "--consistent", *option)
        assert refused.exit_code == 2
        assert "needs a parser of arcs alone" in refused.output
    for option, why in (
        (["--exact"], "the text is one problem"),
        (["--penalty", 1], "what tags pay"),
    ):
        refused = run(*together, *option)
        assert refused.exit_code == 2
        assert why in refused.output


def test_showing_parses(folder, tmp_path):
    gold, picture, page = folder / "test.conllu", tmp_path / "a.svg", tmp_path / "a.html"
    assert run("show", "parse", gold, "--output", picture, "--sentence", 2).exit_code == 0
    assert picture.read_text().startswith("<svg")
    assert run("show", "parse", gold, "--output", page).exit_code == 0
    assert page.read_text().count("<svg") == 30
    shown = run("show", "parse", gold, "--sentence", 1).stdout
    assert shown.count("root") == 1 and "└── " in shown


CYCLE = "1\ta\t_\t_\t_\t_\t2\t_\t_\t_\n2\tb\t_\t_\t_\t_\t1\t_\t_\t_\n\n"


@pytest.mark.parametrize(
    ("arguments", "content", "message"),
    [
        (["show", "parse", "FILE"], CYCLE, "line 1: no tree: words 1 -> 2 -> 1 form a cycle"),
        (["show", "parse", "FILE"], "1\ta\n", "line 1: expected 10 columns"),
        (["show", "parse", "FILE", "--sentence", "3"], "", "has no sentence 3"),
        (["show", "parse", "FILE", "--output", "a.png"], CYCLE, "ends in .svg or .html"),
        (["evaluate", "parses", "FILE", "FILE"], CYCLE, "no tree"),
        (["evaluate", "parses", "FILE", "FILE"], "", "FILE has no words to score"),
        (["evaluate", "tags", "FILE", "FILE"], "", "FILE has no words to score"),
        (["evaluate", "tags", "FILE", "missing"], CYCLE, "does not exist"),
        (["tag", "FILE", "--model", "FILE"], CYCLE, "no file of a tagger"),
        (["parse", "FILE", "--model", "FILE"], CYCLE, "no file of a tagger"),
        (["train", "tagger", "--train", "FILE", "--output", "m"], CYCLE, "nothing in the column"),
        (["train", "tagger", "--train", "FILE", "--output", "m"], "", "no sentences"),
    ],
)
def test_errors_are_one_line(tmp_path, monkeypatch, arguments, content, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "FILE").write_text(content)
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output
    assert not (tmp_path / "m").exists()
