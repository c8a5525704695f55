"""Running a benchmark in a test, and a small treebank for it."""

from __future__ import annotations

import zipfile

from click.testing import CliRunner

from benchmarks import treebank
from benchmarks.cli import main


def run(*arguments):
    """Output of ``python -m benchmarks ARGUMENTS`` without any data folder."""
    result = CliRunner(env={"ASSENT_DATA": ""}).invoke(main, arguments)
    assert result.exception is None, result.output
    return result.output


def write_treebank(folder):
    """Four sentences in two files."""
    old = (
        "( (S (NP-SBJ (DT The) (NN dog)) (VP (VBZ barks) (RB loudly)) (. .)))\n"
        "( (S (NP (DT A) (NN cat))\n   (VP (VBZ sleeps) (NP (-NONE- *))) (. .)))\n"
    )
    new = (
        "( (S (NP (DT The) (NN yak)) (VP (VBZ sleeps)) (. .)) )\n( (S (NP (DT A) (NN yak) "
        "(CC and\\/or) (NN gnu)) (VP (VBP bark))))"
    )
    (folder / "nltk").mkdir()
    with zipfile.ZipFile(treebank.archive(folder), "w") as file:
        file.writestr("treebank/combined/wsj_0001.mrg", old)
        file.writestr("treebank/combined/wsj_0002.mrg", new)
