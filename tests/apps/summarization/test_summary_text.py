"""Readers, text of what is kept, ROUGE and pages."""

import io
import json
import zipfile

import numpy as np
import pytest

from assent.apps.summarization import Concepts, summarize
from assent.apps.summarization.data.broadcast import read_compressions
from assent.apps.summarization.data.opinosis import read_opinosis
from assent.apps.summarization.detokenizer import kept_text
from assent.apps.summarization.metrics import evaluate_summaries, rouge_scores
from assent.apps.summarization.view import show_summary, summary_html
from assent.apps.text.raw_text import read_text_lines
from assent.errors import ModelError
from assent.io import Sentence
from assent.io.text import FormatError


@pytest.mark.parametrize(
    ("text", "deleted", "expected"),
    [
        ("But we didn't go.", [0], "We didn't go."),
        ("He left, smiling, today.", [3, 4], "He left today."),
        ("He left, smiling, today.", [2, 3], "He left today."),
        ("He left, smiling, today.", [3], "He left today."),
        ("The (very) big room costs $ 5.", [], "The (very) big room costs $5."),
        ("Well, yes", [0], "Yes."),
        ("He said: “Go!”", [], "He said: “Go!”"),
    ],
)
def test_text_of_what_is_kept(text, deleted, expected):
    (sentence,) = read_text_lines([text])
    kept = np.ones(len(sentence), bool)
    kept[deleted] = False
    assert kept_text(sentence, kept) == expected


def test_marks_of_lists_stay():
    words = Sentence.from_words(["ham", ",", "eggs", ",", "toast", "and", "tea"])
    listed = words.with_columns(deprels=["root", "punct", "conj", "punct", "conj", "cc", "conj"])
    for kept in ([1, 0, 0, 1, 1, 1, 1], [1, 1, 0, 1, 1, 1, 1]):
        assert kept_text(listed, np.array(kept, bool)) == "Ham, toast and tea."


def test_compressions_in_order(tmp_path):
    rows = [("d.1", "a b", ["a"]), ("d.10", "c", ["c"]), ("d.2", "a , b a", [", a", "b a"])]
    file = tmp_path / "compressions.jsonl"
    lines = [json.dumps({"id": i, "text": t, "summaries": s}) for i, t, s in rows]
    file.write_text("\n".join(lines))
    ((one, two, three),) = read_compressions(file)
    assert (one.number, two.number, three.number) == (1, 2, 10)
    assert two.kept.astype(int).tolist() == [[0, 1, 0, 1], [0, 0, 1, 1]]
    file.write_text(lines[0] + "\n" + lines[0].replace('["a"]', '["b a"]'))
    with pytest.raises(FormatError, match=r"line 2.*'a' does not follow"):
        read_compressions(file)
    for before, after, problem in (('"a b"', '""', "words"), ('["a"]', "[]", "summaries")):
        file.write_text(lines[0].replace('["a"]', "[]").replace(before, after))
        with pytest.raises(FormatError, match=f"line 1.*it has no {problem}"):
            read_compressions(file)


def test_topics_with_old_bytes(tmp_path):
    file = tmp_path / "topics.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("topics/food.txt.data", b"It\x92s good\r\n\r\nVery good\r\n")
        archive.writestr("summaries-gold/food/food.1.gold", "Good food")
    (topic,) = read_opinosis(file)
    assert topic == ("food", ["It’s good", "Very good"], ["Good food"])
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("topics/view.txt.data", "Nice")
    with pytest.raises(FormatError, match="topic view has no summary"):
        read_opinosis(file)


def test_rouge_by_hand(tmp_path):
    scores = rouge_scores("the cat sat", ["the cat sat down", "a dog"])
    assert scores["rouge1"].recall == pytest.approx((3 / 4 + 0) / 2)
    assert scores["rouge2"].recall == pytest.approx((2 / 3 + 0) / 2)
    gold, system = tmp_path / "gold", tmp_path / "system"
    (gold / "two").mkdir(parents=True)
    system.mkdir()
    (gold / "one.1.txt").write_text("a b")
    (gold / "one.2.txt").write_text("a c")
    (gold / "two" / "any").write_text("x y")
    (system / "one.txt").write_text("a b")
    (system / "two.txt").write_text("x y")
    count, scores = evaluate_summaries(gold, system)
    assert (count, scores["rouge1"].recall) == (2, pytest.approx((0.75 + 1.0) / 2))
    (system / "three.txt").write_text("z")
    with pytest.raises(ModelError, match=r"three.txt has no reference"):
        evaluate_summaries(gold, system)


def test_deleted_words_are_grey():
    tree = Sentence.from_words(["Quiet", "<rooms>", "!"]).with_columns(
        heads=[2, 0, 2], deprels=["amod", "root", "punct"]
    )
    rooms = Concepts(np.ones(1), np.zeros(1, int), np.array([[1, 1]]))
    summary = summarize([tree], 1, concepts=rooms)
    page = summary_html(summary)
    assert "<del>Quiet</del> &lt;rooms&gt;!" in page
    assert "<blockquote>&lt;rooms&gt;!</blockquote>" in page
    text = show_summary(summary)
    assert text.plain.startswith("Quiet <rooms>!\n1 words of 1 sentences")
    (grey,) = [span for span in text.spans if span.style == "bright_black"]
    assert text.plain[grey.start : grey.end] == "Quiet"


def test_spaces_come_from_the_file():
    text = "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    rows = ["1\tdo", "2\tnot", "3\t-", "4\tgo"]
    text += "".join(row + "\t_" * 8 + "\n" for row in rows) + "\n"
    from assent.io import read_conllu

    (sentence,) = read_conllu(io.StringIO(text))
    assert kept_text(sentence, np.ones(4, bool)) == "Donot- go."
