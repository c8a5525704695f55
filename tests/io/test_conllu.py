"""CoNLL-U is kept byte for byte, and errors name file and line."""

import gzip
import io
import itertools
import lzma
import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from assent.io import FormatError, Sentence, check_tree, read_conllu, write_conllu

TEXT = """# sent_id = 1
# text = They don't agree. 🙂
1\tThey\tthey\tPRON\tPRP\tCase=Nom\t4\tnsubj\t4:nsubj\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod:neg\t_\t_
4\tagree\tagree\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
4.1\tagree\tagree\tVERB\tVB\t_\t_\t_\t4:conj\t_
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_
6\t🙂\t🙂\tSYM\t.\t_\t4\tdiscourse\t_\tanything = at|all

# only a comment before an empty line

# sent_id = 2
1\tДа\tда\tINTJ\t_\t_\t0\troot\t_\t_

"""


def row(number, head="0", form="word"):
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\t_\t_\t_\n"


def sentences(text):
    return list(read_conllu(io.StringIO(text)))


def test_words_and_their_columns():
    first, second = sentences(TEXT)
    assert first.words == ["They", "do", "n't", "agree", ".", "🙂"]
    assert first.lemmas[2] == "not" and first.upos[3] == "VERB" and first.xpos[0] == "PRP"
    assert first.feats[0] == "Case=Nom" and first.deprels[2] == "advmod:neg"
    assert first.heads.tolist() == [4, 4, 4, 0, 4, 4]
    assert len(second) == 1 and second.line_of(0) == 15


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), "\n\n" + TEXT, ""])
def test_text_is_kept(text):
    found = io.StringIO()
    write_conllu(found, sentences(text))
    assert found.getvalue() == text


def test_a_missing_last_empty_line_is_added():
    found = io.StringIO()
    write_conllu(found, sentences(TEXT.rstrip("\n")))
    assert found.getvalue() == TEXT


@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)]
)
def test_files_are_read_and_written_as_they_are_named(tmp_path, suffix, pack):
    path, other = tmp_path / f"in.conllu{suffix}", tmp_path / f"out.conllu{suffix}"
    path.write_bytes(pack(b"\xef\xbb\xbf" + TEXT.encode()))
    write_conllu(other, read_conllu(path))
    assert [str(s) for s in read_conllu(other)] == [str(s) for s in sentences(TEXT)]
    write_conllu(other, read_conllu(other))  # onto itself
    assert len(list(read_conllu(other))) == 2
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, other.name])


def test_a_run_that_fails_leaves_no_file(tmp_path):
    with pytest.raises(FormatError):
        write_conllu(tmp_path / "out.conllu", sentences_lazily("1\tone\n"))
    assert list(tmp_path.iterdir()) == []


def sentences_lazily(text):
    return read_conllu(io.StringIO(text))


def test_only_the_columns_given_change():
    old = sentences(TEXT)[0]
    new = old.with_columns(upos=list("ABCDEF"), heads=np.arange(6))
    assert new.upos == list("ABCDEF") and new.heads.tolist() == list(range(6))
    changed = [i for i, (a, b) in enumerate(zip(old.lines, new.lines, strict=True)) if a != b]
    assert changed == list(old.places)
    assert old.with_columns(heads=old.heads, upos=old.upos) == old
    with pytest.raises(ValueError, match="xpos has 1 values for 6 words"):
        old.with_columns(xpos=["A"])
    with pytest.raises(TypeError, match="not 'words'"):
        old.with_columns(words=["A"])


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1\tone\n\n", 1, "expected 10 columns with tabs between them, found 2"),
        (row(1) + row(3), 2, "expected the word 2, a range from it, or an empty node 1.1, "),
        (row("x"), 1, "found 'x'"),
        (row("0"), 1, "found '0'"),
        (row("2-1"), 1, "found '2-1'"),
        (row("3.1"), 1, "found '3.1'"),
        (row(1, form=""), 1, "a word is empty"),
        (row(1) + "\n# the end\n", 3, "expected the words of the last sentence"),
    ],
)  # fmt: skip
def test_errors_of_lines(text, line, message):
    with pytest.raises(FormatError) as caught:
        sentences(text)
    assert message in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize("head", ["_", "-1", "3", "x", "1" * 30, "²"])
def test_errors_of_heads(head):
    sentence = sentences("# one\n" + row(1) + row(2, head))[0]
    with pytest.raises(FormatError, match="expected a head from 0 to 2") as caught:
        _ = sentence.heads
    assert caught.value.line == 3


def test_a_cycle_is_named_with_its_line(tmp_path):
    path = tmp_path / "cycle.conllu"
    path.write_text(row(1) + row(2, 3) + row(3, 2) + "\n")
    with pytest.raises(FormatError, match=r"cycle.conllu, line 2: no tree: words 2 -> 3 -> 2"):
        _ = next(read_conllu(path)).tree


def test_trees_are_told_from_other_heads_as_networkx_tells_them():
    for heads in itertools.product(range(5), repeat=4):
        graph = nx.DiGraph([(head, word) for word, head in enumerate(heads, start=1)])
        expected = graph.number_of_nodes() == 5 and nx.is_arborescence(graph)
        try:
            check_tree(heads)
            found = True
        except ValueError:
            found = False
        assert found == expected, heads
    with pytest.raises(ValueError, match="heads must be from 0 to 1"):
        check_tree([2])


def test_bytes_that_are_no_text_and_damaged_files(tmp_path):
    path = tmp_path / "bad.conllu"
    path.write_bytes(row(1).encode() + b"\xff\n")
    with pytest.raises(FormatError, match="line 2: expected text in UTF-8, found the byte 0xff"):
        list(read_conllu(path))
    path.write_bytes(gzip.compress(TEXT.encode())[:-12])
    with pytest.raises(FormatError, match="damaged"):
        list(read_conllu(path))
    with pytest.raises(TypeError, match="a path or a stream"):
        list(read_conllu(3))


def test_standard_input(monkeypatch):
    class Standard:
        buffer = io.BufferedReader(io.BytesIO(TEXT.encode()))

    monkeypatch.setattr("sys.stdin", Standard)
    assert len(list(read_conllu("-"))) == 2


def test_real_treebanks_are_kept_byte_for_byte():
    root = os.environ.get("ASSENT_DATA")
    if root is None or not (Path(root) / "ud").is_dir():
        pytest.skip("ASSENT_DATA is unset or has no folder 'ud': no treebanks at hand")
    for path in sorted(Path(root, "ud").glob("*/*-test.conllu.gz")):
        found = list(read_conllu(path))
        assert "".join(map(str, found)) == gzip.decompress(path.read_bytes()).decode()
        for sentence in found:
            check_tree(sentence.heads)


def test_sentences_from_words():
    sentence = Sentence.from_words(
        ["Hi", "!"], comments=["text = Hi!"], misc=["SpaceAfter=No", "_"]
    )
    assert str(sentence).splitlines()[:2] == [
        "# text = Hi!",
        "1\tHi" + "\t_" * 7 + "\tSpaceAfter=No",
    ]
    with pytest.raises(FormatError):
        Sentence.from_words(["a\tb"])
