"""Bitexts and links: what is read, and what files that are wrong are told."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from assent.apps.alignment.data import Bitext, Links, SentencePair, read_links, write_links
from assent.io.text import FormatError

PAIRS = [
    SentencePair(("le", "chat"), ("the", "cat"), 1),
    SentencePair(("il", "ne", "dort", "pas"), ("it", "sleeps", "not"), 2),
]


def links(*sure, possible=()):
    return Links(frozenset(sure), frozenset(possible))


@pytest.fixture
def write(tmp_path):
    def make(name, text):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return make


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_bitexts(write, suffix):
    bitext = Bitext(
        write(f"a.fr{suffix}", "le chat\nil ne dort pas\n"),
        write(f"a.en{suffix}", "the  cat\r\nit sleeps not"),
    )
    assert list(bitext) == PAIRS
    assert list(bitext) == PAIRS  # it can be read again


def test_numbered_sentences_and_empty_lines(write):
    source = write("a.fr", "<s snum=0007> le chat </s>\n\n")
    target = write("a.en", '<s snum="7"> the cat  </s>\nit\n')
    first, second = Bitext(source, target)
    assert first == SentencePair(("le", "chat"), ("the", "cat"), 7)
    assert second.shape == (0, 1)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a\nb\n", "a\n", r"a\.en, line 2: the text ends after 1 lines, and .*a\.fr goes on"),
        ("a\n", "a\nb\n", r"a\.fr, line 2: the text ends after 1 lines"),
        ("", "", r"a\.fr: the file is empty"),
        ("<s snum=1> a </s>", "<s snum=2> a </s>", "line 1: sentence 2 stands beside sentence 1"),
    ],
)
def test_bitexts_that_do_not_fit(write, source, target, message):
    bitext = Bitext(write("a.fr", source), write("a.en", target))
    with pytest.raises(FormatError, match=message):
        list(bitext)


def test_pharaoh_links_of_all_kinds(write):
    path = write("a.links", "0-0 1-1-P\n0-0 1?2 3p2 2-1-S 1-2-P 2?1\n")
    first, second = read_links(path, PAIRS)
    assert first == links((0, 0), possible=[(1, 1)])
    assert second == links((0, 0), (2, 1), possible=[(1, 2), (3, 2)])  # sure wins


def test_links_from_one_and_reversed(write):
    path = write("a.links", "1-1 2-2\n3-4\n")
    assert read_links(path, PAIRS, base=1, reverse=True)[1] == links((3, 2))


def test_hansards_links(write):
    path = write("a.wa", "0001 1 1 S\n2 4 3 P\n2 2 3\n2 3 2 S 0.75\n1 0 2\n")
    assert read_links(path, PAIRS) == [
        links((0, 0)),
        links((1, 2), (2, 1), possible=[(3, 2)]),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0-0\n0:1\n", r"line 2: expected a link i-j, i\?j, ipj or i-j-P, found '0:1'"),
        ("0-0\n", "line 2: the links end, there are 2 sentences"),
        ("0-0\n\n1-1\n", "line 3: there are 2 sentences, and more lines"),
        ("0-0\n4-0\n", "line 2: a link of words 4 and 0 .* 4 source and 3 target words"),
        ("0-0\n0?0-P\n", "line 2: expected a link"),
        ("1 1 1\n3 1 1\n", "line 2: there is no sentence 3"),
        ("1 1 1\n1 x 1\n", "line 2: expected a link: sentence"),
        ("1 1 1\n1 3 1\n", "line 2: a link of words 2 and 0"),
    ],
)
def test_bad_links_are_named_with_their_line(write, text, message):
    with pytest.raises(FormatError, match=message):
        read_links(write("a.links", text), PAIRS)


def test_links_that_start_at_zero_where_one_is_the_first(write):
    with pytest.raises(FormatError, match="expected positions counted from 1, found '0-1'"):
        read_links(write("a.links", "0-1\n\n"), PAIRS, base=1)


def test_links_are_written_as_they_are_read(tmp_path):
    both = [links((0, 0), (1, 1)), links((3, 2), possible=[(1, 2)])]
    write_links(tmp_path / "a.links.gz", both)
    assert read_links(tmp_path / "a.links.gz", PAIRS) == both


def test_tables():
    sure, possible = links((0, 1), possible=[(1, 0)]).tables((2, 2))
    assert sure.tolist() == [[False, True], [False, False]]
    assert possible.tolist() == [[False, False], [True, False]]
    assert Links.of_table(np.eye(2)) == links((0, 0), (1, 1))
