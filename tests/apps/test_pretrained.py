"""The English model that comes along: it fits this version's features, and works from the start."""

import pytest
from click.testing import CliRunner

from assent.apps.pretrained import ENGLISH, english_model
from assent.cli import main
from assent.io import read_conllu

LARGEST = 15e6  # bytes

# Plain sentences of ours: words, tags, heads, labels.
GOLD = """
We learned a lesson in 1987 .
PRON VERB DET NOUN ADP NUM PUNCT
2 0 4 2 6 2 2
nsubj root det obj case obl punct

The old farmer sold his two cows
DET ADJ NOUN VERB PRON NUM NOUN
3 3 4 0 7 7 4
det amod nsubj root nmod nummod obj

She did not see that he left
PRON AUX PART VERB SCONJ PRON VERB
4 4 4 0 7 7 4
nsubj aux advmod root mark nsubj ccomp

My sister lives near the station .
PRON NOUN VERB ADP DET NOUN PUNCT
2 3 0 6 6 3 3
nmod nsubj root case det obl punct
"""


def gold():
    for block in GOLD.strip().split("\n\n"):
        words, tags, heads, labels = (line.split() for line in block.splitlines())
        yield words, tags, list(map(int, heads)), labels


def parse(text, *arguments):
    done = CliRunner().invoke(main, ["parse", "-", *arguments], input=text)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_plain_sentences_are_parsed(tmp_path):
    """A model of other features than the code's would get next to nothing right."""
    text = "\n\n".join(" ".join(words) for words, *_ in gold())
    (tmp_path / "found.conllu").write_text(parse(text))
    found = list(read_conllu(tmp_path / "found.conllu"))
    total = right_tags = right_heads = right_labels = 0
    for sentence, (words, tags, heads, labels) in zip(found, gold(), strict=True):
        assert sentence.words == words
        kinds = [label.partition(":")[0] for label in sentence.deprels]
        total += len(words)
        right_tags += sum(map(str.__eq__, tags, sentence.upos))
        right_heads += sum(map(int.__eq__, heads, sentence.tree.tolist()))
        right_labels += sum(map(str.__eq__, labels, kinds))
    assert right_tags >= 0.95 * total
    assert right_heads >= 0.9 * total
    assert right_labels >= 0.85 * total


def test_it_is_small_and_its_licence_is_beside_it():
    assert english_model().stat().st_size <= LARGEST
    assert "CC BY-SA 4.0" in ENGLISH.with_name("NOTICE.md").read_text()


def test_odd_texts_get_trees(tmp_path):
    text = "🙂\n\nx\n\n???\n\nДа, 漢字 ok\n\n" + "very " * 120 + "long.\n"
    (tmp_path / "found.conllu").write_text(parse(text))
    found = list(read_conllu(tmp_path / "found.conllu"))
    assert [len(sentence.tree) for sentence in found] == [1, 1, 1, 4, 122]
    assert parse("") == parse(" \n\n") == ""


def test_tags_come_from_the_same_file():
    done = CliRunner().invoke(main, ["tag", "-"], input="We learned a lesson.")
    assert [line.split("\t")[3] for line in done.stdout.splitlines() if line[:1].isdigit()] == [
        "PRON", "VERB", "DET", "NOUN", "PUNCT"
    ]  # fmt: skip


def test_without_the_model_the_way_out_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("assent.apps.pretrained.ENGLISH", tmp_path / "missing")
    with pytest.raises(FileNotFoundError, match="train one with `assent train parser`"):
        english_model()
    done = CliRunner().invoke(main, ["parse", "-"], input="Yes.")
    assert done.exit_code == 2 and "has no English model" in done.output
