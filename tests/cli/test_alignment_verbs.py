"""``train aligner``, ``align``, ``evaluate alignments`` and ``show alignment``, file to file."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from assent.apps.alignment import write_links
from assent.cli import main
from tests.apps.alignment.little_bitext import draw_bitext


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A bitext, its links, and a trained aligner."""
    path = tmp_path_factory.mktemp("alignment")
    pairs, gold = draw_bitext(30)
    for suffix, side in (("src", 0), ("tgt", 1)):
        text = "".join(" ".join(pair[side]) + "\n" for pair in pairs)
        (path / f"text.{suffix}").write_text(text)
    write_links(path / "gold.links", gold)
    result = run("train", "aligner", *texts(path), "--gold", path / "gold.links",
                 "--output", path / "model")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "learnt from 30 sentence pairs" in result.output
    return path


def texts(path):
    return "--source", path / "text.src", "--target", path / "text.tgt"


def test_from_texts_to_scores_and_pictures(folder):
    out = folder / "out.links"
    result = run("align", "--model", folder / "model", *texts(folder), "--output", out)
    assert result.exit_code == 0 and "30 sentence pairs" in result.output
    result = run("evaluate", "alignments", folder / "gold.links", out, "--json")
    scores = json.loads(result.output)
    assert set(scores) == {"aer", "precision", "recall"}
    assert scores["aer"] < 0.05
    shown = run("evaluate", "alignments", folder / "gold.links", out)
    assert shown.output.split()[::2] == ["aer", "precision", "recall"]
    for name in ("a.png", "a.html"):
        result = run("show", "alignment", *texts(folder), "--links", out, "--gold",
                     folder / "gold.links", "--count", 2, "--output", folder / name)  # fmt: skip
        assert result.exit_code == 0, result.output
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "a.html").read_text()
    assert page.count("<svg") == 2 and "the</text>" in page


def test_standard_output_has_links_and_nothing_else(folder):
    out = folder / "piped.links"
    done = run("align", "--model", folder / "model", *texts(folder), "--output", out)
    assert done.exit_code == 0
    for more in ((), ("--output", "-")):
        assert run("align", "--model", folder / "model", *texts(folder), *more).stdout == (
            out.read_text()
        )


def test_quiet_says_nothing(folder):
    result = run("align", "--model", folder / "model", *texts(folder), "--output", folder / "q",
                 "--quiet")  # fmt: skip
    assert (result.exit_code, result.output) == (0, "")


def test_hansards_against_pharaoh(folder, tmp_path):
    (tmp_path / "gold.wa").write_text("0001 1 1 S\n0002 2 1 P\n")
    (tmp_path / "system").write_text("0-0\n1-0\n")
    result = run("evaluate", "alignments", tmp_path / "gold.wa", tmp_path / "system", "--json")
    assert json.loads(result.output) == {"aer": 0.0, "precision": 1.0, "recall": 1.0}


def test_bad_files_are_named_with_their_line(folder, tmp_path):
    short = tmp_path / "short"
    short.write_text("only one\n")
    bad = tmp_path / "bad"
    bad.write_text("0-0 x\n")
    empty = tmp_path / "empty"
    empty.write_text("")
    model, out = folder / "model", tmp_path / "out"
    source, target = folder / "text.src", folder / "text.tgt"
    for arguments, message in (
        (["align", "--model", model, "--source", source, "--target", short, "--output", out],
         "short, line 2: the text ends after 1 lines"),
        (["align", "--model", model, "--source", empty, "--target", empty, "--output", out],
         "empty: the file is empty"),
        (["align", "--model", source, "--source", source, "--target", target, "--output", out],
         "text.src is damaged or no file of an aligner"),
        (["align", "--model", model, *texts(folder), "--other", folder / "gold.links", "--output",
          out], "links of 1 other aligner(s) are given, and 0 are needed"),
        (["train", "aligner", *texts(folder), "--gold", bad, "--output", out],
         "bad, line 1: expected a link i-j"),
        (["train", "aligner", *texts(folder), "--gold", empty, "--output", out],
         "empty, line 1: the links end, there are 30 sentences"),
        (["evaluate", "alignments", empty, bad], "empty: the file is empty"),
        (["show", "alignment", *texts(folder), "--gold", folder / "gold.links", "--first", 99,
          "--output", out], "has 30 sentences, none is to be drawn"),
    ):  # fmt: skip
        result = run(*arguments)
        assert result.exit_code == 2, arguments
        assert message in result.output
        assert not out.exists()


def test_options_that_belong_together(folder, tmp_path):
    result = run("train", "aligner", *texts(folder), "--gold", folder / "gold.links",
                 "--bitext-source", folder / "text.src", "--output", tmp_path / "m")  # fmt: skip
    assert result.exit_code == 2 and "belong together" in result.output
    result = run("train", "aligner", *texts(folder), "--gold", folder / "gold.links",
                 "--trainer", "dual-extragradient", "--output", tmp_path / "m")  # fmt: skip
    assert result.exit_code == 2 and "is for one link per word" in result.output
    result = run("show", "alignment", *texts(folder), "--output", tmp_path / "a.png")
    assert result.exit_code == 2 and "nothing to draw" in result.output
