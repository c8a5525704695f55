"""What people see in a notebook, in the log, and take elsewhere; reading and scoring by name."""

import json
import logging
import sys
import types
from html.parser import HTMLParser

import numpy as np
import pytest

import assent as at
from assent.progress import LiveLine, LoggedLine, decoding_line, live_display


class Texts(HTMLParser):
    """Texts of a page; raises where a tag is closed that is not open."""

    def __init__(self, page):
        super().__init__()
        self.open, self.texts, self.tags = [], [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in ("rect", "polyline"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def __contains__(self, text):
        return text in " ".join(self.texts)


def sentence():
    g = at.FactorGraph()
    tag = g.categorical(3, ["N", "V<1>"], scores=[[1.0, 0.0], [0.0, 2.0], [0.5, 0.4]], name="tag")
    x = g.binary(60, scores=-1.0, name="x")
    one = g.binary(scores=0.5, name="one & only")
    g.add(at.AtLeastOne(x), name="some")
    pair = g.add(at.Pair(x[0], one, scores=3.0), name="pair")
    return g, tag, x, one, pair


def test_graphs_variables_and_results_show_themselves():
    g, tag, x, _, _ = sentence()
    page = Texts(g._repr_html_())
    for text in ("tag", "V<1>", "60", "one & only", "AtLeastOne", "some", "0 to 2"):
        assert text in page
    assert "N, V<1>" in Texts(tag._repr_html_()) and "literals" in Texts(x[:3]._repr_html_())
    result = at.decode(g)
    page = Texts(result._repr_html_())
    for text in ("OPTIMAL", "N, V<1>, N", "true: [0]", "bound"):
        assert text in page
    assert "rect" in page.tags
    assert "bound" in Texts(result.certificate._repr_html_())


def test_a_graph_without_an_answer_shows_that():
    g = at.FactorGraph()
    x = g.binary(2, name="x")
    g.add(at.ExactlyOne(x))
    g.add(at.All(x))
    page = Texts(at.decode(g)._repr_html_())
    assert "INFEASIBLE" in page and "answer" not in page
    assert at.decode(g).to_dict()["answer"] is None and at.decode(g).to_dict()["value"] is None


def frustrated():
    rng = np.random.default_rng(0)
    g = at.FactorGraph()
    x = g.binary((6, 6), scores=rng.normal(size=(6, 6)), name="x")
    g.add(at.Pair(x[1:], x[:-1], scores=rng.normal(size=(5, 6)) * 2))
    g.add(at.Pair(x[:, 1:], x[:, :-1], scores=rng.normal(size=(6, 5)) * 2))
    return g


def test_traces_and_comparisons_show_themselves():
    result = at.decode(frustrated(), at.AD3(max_iterations=200))
    page = Texts(result.trace._repr_html_())
    assert page.tags.count("polyline") == 2 and "iteration" in page
    few = Texts(at.Trace()._repr_html_())
    assert "polyline" not in few.tags
    found = at.compare(frustrated(), [at.AD3(), at.BoxMPLP()], time_limit=2.0)
    page = Texts(found._repr_html_())
    assert "AD3" in page and "status" in page
    assert all(name in page for name in found.refused)


def test_names_stand_for_variables_and_factors():
    g, tag, x, one, pair = sentence()
    result = at.decode(g, scores={"tag": [[0.0, 1.0]] * 3, "pair": -5.0})
    assert result["tag"].tolist() == [1, 1, 1] == result[tag].tolist()
    assert result.labels["tag"].tolist() == ["V<1>"] * 3
    assert result.value == at.decode(g, scores={tag: [[0.0, 1.0]] * 3, pair: -5.0}).value
    assert np.array_equal(result.marginals["x"], result.marginals[x])
    assert np.array_equal(result.marginals["pair"], result.marginals[pair])
    assert result.least_violating["one & only"] == result[one]
    many = at.decode_many(g, scores={"tag": np.zeros((4, 3, 2))})
    assert many["x"].shape == (4, 60) and many.labels["tag"].shape == (4, 3)
    assert many.marginals["tag"].shape == (4, 3, 2)
    assert g["pair"] is pair
    for wrong in ("tags", ""):
        with pytest.raises(KeyError, match=r"nothing is called .*; there are tag, x, one & only"):
            result[wrong]
        with pytest.raises(KeyError, match="nothing is called"):
            at.decode(g, scores={wrong: 1.0})
    g.add(at.AtMostOne(x[:2]), name="some")
    with pytest.raises(KeyError, match="2 batches of factors are called 'some'"):
        g["some"]


def test_results_of_binarized_graphs_are_read_by_name():
    g = at.FactorGraph()
    tag = g.categorical(2, "ab", scores=[[0.0, 1.0], [2.0, 0.0]], name="tag")
    table = g.add(at.Dense(tag[0], tag[1], scores=np.eye(2)), name="table")
    made = at.binarize(g)
    restored = made.undo(at.decode(made.graph))
    assert np.array_equal(restored["tag"], restored[tag])
    assert restored.labels["tag"].tolist() == restored.labels[tag].tolist()
    assert np.array_equal(restored.marginals["table"], restored.marginals[table])


def test_a_result_as_plain_data():
    g, *_ = sentence()
    found = json.loads(json.dumps(at.decode(g).to_dict(), allow_nan=False))
    assert found["answer"]["tag"] == ["N", "V<1>", "N"]
    assert found["answer"]["one & only"] == 1 and sum(found["answer"]["x"]) == 1
    assert found["status"] == "OPTIMAL" and found["feasible"] and found["gap"] <= 1e-5
    assert found["value"] == pytest.approx(6.0)


def test_hidden_variables_are_no_part_of_it():
    g = at.FactorGraph()
    x = g.binary(3, scores=1.0, name="x")
    g.add(at.Soft(at.Knapsack(x, weights=[1.0, 2.0, 3.0], capacity=3.0), penalty=0.1))
    result = at.decode(g)
    assert list(result.to_dict()["answer"]) == ["x"]
    assert "auxiliary" not in Texts(result._repr_html_())
    assert "auxiliary" not in Texts(g._repr_html_())


def test_a_result_as_a_table(monkeypatch):
    made = {}
    fake = types.SimpleNamespace(DataFrame=lambda columns: made.update(columns) or columns)
    monkeypatch.setitem(sys.modules, "pandas", fake)
    g, tag, *_ = sentence()
    result = at.decode(g)
    result.to_frame()
    assert made["variable"][:4] == ["tag", "tag", "tag", "x"] and len(made["value"]) == 64
    assert made["index"][3] == (0,) and made["index"][-1] == ()
    assert made["value"][:3] == ["N", "V<1>", "N"]
    assert made["marginal"][:3] == pytest.approx(result.marginals[tag].max(axis=1))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        result.to_frame()


def test_pictures_are_drawn_on_axes():
    figure = pytest.importorskip("matplotlib.figure").Figure()
    result = at.decode(frustrated(), at.AD3(max_iterations=200))
    ax = figure.subplots()
    assert result.plot(ax=ax) is ax and len(ax.lines) == 2
    both = result.plot()
    assert [panel.get_xlabel() for panel in both] == ["seconds", "iteration"]
    g, *_ = sentence()
    (only,) = at.decode(g).plot()
    drawn = [text.get_text() for text in only.texts]
    assert [float(text) for text in drawn] == pytest.approx([6.0, 6.0])
    assert "OPTIMAL" in only.get_title()


def test_progress_goes_to_the_log_where_nothing_is_redrawn(caplog):
    display = live_display()
    assert isinstance(display, LoggedLine)
    with caplog.at_level(logging.INFO, logger="assent"):
        at.decode(frustrated(), at.AD3(max_iterations=300), progress=True)
    (record,) = caplog.records  # the next one is due only seconds later
    assert record.name == "assent" and "bound" in record.getMessage()


def test_a_notebook_has_a_live_line(monkeypatch):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert isinstance(live_display(decoding_line), LiveLine)
