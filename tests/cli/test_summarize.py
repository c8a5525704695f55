"""``assent summarize`` and ``assent evaluate summaries``."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from assent.apps import pretrained
from assent.cli import main
from assent.io import write_conllu
from tests.apps.small_language import small_corpus

TEXT = "Rooms are clean. The rooms are clean and quiet. It rained. Rooms are clean, we said."


def run(*arguments, input=None):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=input)


def test_whole_sentences_of_standard_input():
    done = run("summarize", "--extractive", "--words", 6, input=TEXT)
    assert (done.exit_code, done.output) == (0, "The rooms are clean and quiet.\n")
    about = json.loads(run("summarize", "--extractive", "--exact", "--json", input=TEXT).output)
    assert set(about) == {"summary", "words", "value", "bound", "gap", "seconds"}
    # "Rooms are clean." would add nothing.
    assert about["words"] == 13 and about["gap"] < 1e-9
    nothing = run("summarize", "--extractive", input="")
    assert (nothing.exit_code, nothing.stdout) == (0, "\n")
    tight = run("summarize", "--extractive", "--words", 1, input=TEXT)
    assert (tight.exit_code, tight.stdout) == (0, "\n")
    assert "the summary is empty" in tight.stderr and "the summary is empty" in nothing.stderr


def test_parsed_folders(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    write_conllu(folder / "one.conllu", small_corpus(20, seed=0))
    write_conllu(folder / "two.conllu.gz", small_corpus(20, seed=1))
    page = tmp_path / "page.html"
    done = run("summarize", folder, "--words", 30, "--json", "--html", page)
    assert done.exit_code == 0, done.output
    about = json.loads(done.output)
    assert 0 < about["words"] <= 30 and about["value"] <= about["bound"]
    assert page.read_text().startswith("<!doctype html>")


def test_a_proof_that_takes_too_long():
    random = np.random.default_rng(0)
    lines = [" ".join(random.choice(list("abcdefghij"), 12)) + "." for _ in range(200)]
    done = run(
        "summarize", "--extractive", "--lines", "--words", 60, "--exact", "--time-limit", 0.01,
        "--json", input="\n".join(lines),
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "Warning: the proof was not finished" in done.stderr
    about = json.loads(done.stdout)
    assert about["words"] <= 60 and about["value"] < about["bound"]


def test_errors_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(pretrained, "ENGLISH", tmp_path / "none")
    done = run("summarize", input=TEXT)
    assert done.exit_code == 2 and "no English model" in done.output
    assert "Traceback" not in done.output
    done = run("summarize", "--time-limit", 1, input=TEXT)
    assert done.exit_code == 2 and "goes with --exact" in done.output
    assert run("summarize", tmp_path / "missing").exit_code == 2


def test_evaluating(tmp_path):
    gold, system = tmp_path / "gold.txt", tmp_path / "system.txt"
    gold.write_text("clean rooms")
    system.write_text("clean quiet rooms")
    done = run("evaluate", "summaries", gold, system, "--json")
    scores = json.loads(done.output)
    assert scores["summaries"] == 1
    assert scores["rouge1"]["precision"] == pytest.approx(2 / 3)
    assert "rouge2  recall 0.0000" in run("evaluate", "summaries", gold, system).output
    done = run("evaluate", "summaries", gold, tmp_path)
    assert done.exit_code == 2 and "two files or two folders" in done.output
