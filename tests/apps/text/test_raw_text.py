"""Raw text: tokens with offsets, sentences, and CoNLL-U that says where everything stood."""

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from assent.apps.text.raw_text import read_text_lines
from assent.apps.text.sentence_splitter import split_sentences
from assent.apps.text.tokenizer import tokenize
from assent.io import read_conllu

RANGE = re.compile(r"^[\d-]+\t(\S+).*TokenRange=(\d+):(\d+)", re.MULTILINE)


def words(text):
    return " ".join("|".join(token.words) for token in tokenize(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I can't, won't.", "I ca|n't , wo|n't ."),
        ("She's sure they'd've gone", "She|'s sure they|'d|'ve gone"),
        ("cannot gonna dont", "can|not gon|na do|nt"),
        ("O'Brien’s dogs'", "O'Brien|’s dogs '"),
        ("Dr. J. Smith, U.S. and Acme Inc. met", "Dr. J. Smith , U.S. and Acme Inc. met"),
        ("No. We saw the sun.", "No . We saw the sun ."),
        ("No. 5 on Sept. 3.", "No. 5 on Sept. 3 ."),
        ("well-known pre-war e-mail", "well - known pre-war e-mail"),
        ("$1,000.50 at 10:30pm, 2nd of the 1990s", "$ 1,000.50 at 10:30 pm , 2nd of the 1990s"),
        ("713-853-3989 on 11/28/2000", "713-853-3989 on 11/28/2000"),
        ("http://a.org/b?c=1, or x.y@z.com.", "http://a.org/b?c=1 , or x.y@z.com ."),
        ("What?!! Yes... :-) <3", "What ?!! Yes ... :-) <3"),
        ("AT&T and/or (you)", "AT&T and / or ( you )"),
        ("👍🏽👨‍👩‍👧🇵🇹!", "👍🏽 👨‍👩‍👧 🇵🇹 !"),
        ("café naïve e\u0301te\u0301 Ærø", "café naïve e\u0301te\u0301 Ærø"),
        ("Привет, мир! 你好。", "Привет , мир ! 你好 。"),
    ],
)  # fmt: skip
def test_tokens(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("Is it? It is. Yes!", [3, 3, 2]),
        ('He said "No." Then he left.', [6, 4]),
        ("Mr. Bean went to Washington D.C. in May.", [9]),
        ("It ended at 5 p.m. The end.", [5, 3]),
        ("Costs $4.50. (Really.) OK", [4, 4, 1]),
        ("One... two... Three.", [4, 2]),
        ("你好。再见！", [2, 2]),
        ("", []),
        ("...", [1]),
    ],
)
def test_sentences(text, lengths):
    assert list(map(len, split_sentences(text, tokenize(text)))) == lengths


NASTY = (
    "\u200db \ufeff x\ud800y \x00 🙂🙂\t'' ``” ((( ’s n't 'll @#$%^& © e\u0301 ﷽ \u202eabc ..!!??"
)


def test_offsets_and_coverage():
    """Tokens are where they say, in order, and together are all but white space."""
    for text in (NASTY, NASTY[::-1], *(NASTY[i:] for i in range(len(NASTY)))):
        tokens = tokenize(text)
        assert all(text[t.start : t.end] == t.text for t in tokens)
        assert "".join(t.text for t in tokens) == re.sub(r"\s", "", text)
        assert sorted(t.start for t in tokens) == [t.start for t in tokens]


def test_conllu_of_a_text():
    text = "  We don't.\nDo we?\n\nYes\n"
    found = list(read_text_lines(text.splitlines(keepends=True)))
    assert [s.words for s in found] == [["We", "do", "n't", "."], ["Do", "we", "?"], ["Yes"]]
    assert str(found[0]).splitlines() == [
        "# newpar",
        "# sent_id = 1",
        "# text = We don't.",
        "1\tWe\t_\t_\t_\t_\t_\t_\t_\tTokenRange=2:4",
        "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=5:10",
        "2\tdo" + "\t_" * 8,
        "3\tn't" + "\t_" * 8,
        "4\t.\t_\t_\t_\t_\t_\t_\t_\tTokenRange=10:11",
        "",
    ]
    for sentence in found:
        for form, start, end in RANGE.findall(str(sentence)):
            assert text[int(start) : int(end)] == form
    assert [len(s) for s in read_text_lines(["a b\n", "c\n"], by_line=True)] == [2, 1]
    assert list(read_text_lines([])) == list(read_text_lines(["\n", "  \n"])) == []


def test_real_text():
    """Words of a treebank's sentences are found again, but for its slips of the pen."""
    root = os.environ.get("ASSENT_DATA")
    if root is None or not (Path(root) / "ud").is_dir():
        pytest.skip("ASSENT_DATA is unset or has no folder 'ud': no treebanks at hand")
    right = gold = system = 0
    for sentence in read_conllu(Path(root, "ud/UD_English-EWT/en_ewt-ud-dev.conllu.gz")):
        text = re.search("# text = (.*)", str(sentence))[1]
        found = [word for token in tokenize(text) for word in token.words]
        one, other = spans(sentence.words), spans(found)
        right, gold, system = right + len(one & other), gold + len(one), system + len(other)
    assert 2 * right / (gold + system) > 0.985


def spans(words):
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word))
    return set(pairwise(ends))
