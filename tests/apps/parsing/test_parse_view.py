"""Pictures of parses: well-formed, with every label, and nothing on top of anything else."""

import itertools
import re
from xml.etree import ElementTree

import pytest

from assent.apps.parsing.view import parse_html, parse_svg, show_parse, stacked_arcs
from assent.io import FormatError, Sentence
from tests.apps.small_language import small_corpus

CROSSING = Sentence.from_words(["A", "<b>", "漢字漢字", "&", "🙂"]).with_columns(
    heads=[3, 4, 0, 3, 2], deprels=["nsubj", "a long label", "root", "obj", "dep"]
)


@pytest.mark.parametrize("sentence", [CROSSING, *small_corpus(5, seed=3)])
def test_pictures_are_well_formed_and_show_everything(sentence):
    root = ElementTree.fromstring(parse_svg(sentence))
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    for shown in (*sentence.words, *sentence.deprels):
        assert shown in texts
    words = [node for node in root.iter() if node.get("class") == "word"]
    places = [float(node.get("x")) for node in words]
    assert places == sorted(places)
    assert float(root.get("width")) > places[-1]


def test_arcs_that_overlap_have_levels_of_their_own():
    for heads in itertools.product(range(5), repeat=4):
        if any(head == word for word, head in enumerate(heads, start=1)):
            continue
        arcs = stacked_arcs(heads, [""] * 4)
        assert len(arcs) == sum(head > 0 for head in heads)
        for one, other in itertools.combinations(arcs, 2):
            if one.left < other.right and other.left < one.right:
                assert one.level != other.level
            if one.left <= other.left and other.right <= one.right and one.level < other.level:
                assert (one.left, one.right) == (other.left, other.right)


def test_labels_fit_between_their_words():
    """A label over two neighbours moves them apart."""
    long = Sentence.from_words(["a", "b"]).with_columns(heads=[2, 0], deprels=["x" * 30, "root"])
    root = ElementTree.fromstring(parse_svg(long))
    first, second = (float(n.get("x")) for n in root.iter() if n.get("class") == "word")
    assert second - first > 30 * 7


def test_no_tree_no_picture():
    cycle = CROSSING.with_columns(heads=[3, 4, 0, 2, 2])
    for view in (parse_svg, show_parse):
        with pytest.raises(FormatError, match="no tree"):
            view(cycle)


def test_pages_hold_all_sentences():
    page = parse_html(small_corpus(3, seed=3))
    assert len(re.findall("<svg", page)) == 3
    assert page.startswith("<!DOCTYPE html>")
