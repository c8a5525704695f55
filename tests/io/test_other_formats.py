"""Formats that are read only: logarithms of UAI models, libDAI's factor graphs, cost networks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import assent as at
from assent.cli.info import describe
from assent.io import (
    FormatError,
    UaiModel,
    load_graph,
    load_models,
    read_fg,
    read_libdai,
    read_uai,
    read_wcsp,
    save_graph,
    write_uai,
)

LOGS = """MARKOV
2
2 3
2
1 0
2 0 1

2
 -1000.0 0.5
6
 1 2 -inf
 -4 0 6.5
"""

LIBDAI = """# two factors
2

2
3 7
2 3
5
0 0.5
1 1.0
2 2.0
3 4.0
5 8.0

1
3
2
2
0 1.0
1 3.0
"""

WCSP = """small 3 3 4 100
2 3 2
2 0 1 5 2
0 0 0
1 2 100
1 2 1 1
1 3
0 7 0
2 0 2 0 1
1 1 250
"""


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_logarithms_are_taken_as_they_are(write):
    model = read_uai(write("model.uai.LG", LOGS))
    assert model.score([1, 2]) == 7.0
    assert model.score([0, 0]) == -999.0
    assert model.score([0, 2]) == -np.inf
    assert load_graph(write("model.LG", LOGS)).size == 4


def test_logarithms_keep_what_potentials_cannot(tmp_path):
    model = UaiModel.from_factors([2], [[0]], [[-np.inf, 5000.0]])
    with pytest.raises(ValueError, match="write logarithms"):
        write_uai(model, tmp_path / "model.uai")
    write_uai(model, tmp_path / "model.LG.gz")
    assert read_uai(tmp_path / "model.LG.gz").log_tables.tolist() == [-np.inf, 5000.0]


def test_plus_infinity_is_refused(write):
    with pytest.raises(FormatError, match=r"line 9: expected a logarithm \(a number or -inf\)"):
        read_uai(write("model.LG", LOGS.replace("-1000.0", "inf")))


def test_libdai_runs_its_first_variable_fastest(write):
    model = read_libdai(write("model.fg", LIBDAI))
    assert model.cardinalities.tolist() == [2, 3]
    expected = np.log([[0.5, 2.0, 1e-300], [1.0, 4.0, 8.0]])
    expected[0, 2] = -np.inf
    np.testing.assert_allclose(model.table_of(0), expected)
    np.testing.assert_allclose(model.table_of(1), np.log([1.0, 3.0]))


def test_libdai_may_list_what_cannot_be(write):
    model = read_libdai(write("model.fg", LIBDAI.replace("1 1.0", "1 0.0")))
    assert model.table_of(0)[1, 0] == -np.inf


def test_both_kinds_of_fg_files_are_told_apart(write):
    (model,) = load_models(write("model.fg", LIBDAI))
    assert model.assignment(at.decode(model.graph)).tolist() == [1, 2]
    path = write("other.fg", "2\n1\n0.5\n1.0\nXOR 2 1 2\n")
    assert load_graph(path).size == read_fg(path)[0].n_variables == 2
    assert load_graph(write("empty.fg", "2\n0\n0.5\n1.0\n")).size == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3 7\n", "3 3\n", "line 5: expected another variable in factor 0, found '3'"),
        ("5 8.0", "6 8.0", "line 12: expected an index from 0 to 5 of factor 0, found '6'"),
        ("4.0", "-4.0", r"line 11: expected a potential \(not negative\) of factor 0"),
        ("3\n2\n2\n", "3\n3\n2\n", "line 16: expected the states of variable 3, 2 as before"),
        ("2 3\n5", "20000 30000\n5", "a table of 20000 × 30000 entries; tables of up to"),
    ],
)
def test_damaged_libdai_files(write, old, new, message):
    with pytest.raises(FormatError, match=message):
        read_libdai(write("model.fg", LIBDAI.replace(old, new, 1)))


def cost(x) -> float:
    """The network of the example, by hand; infinite where forbidden."""
    pair = {(0, 0): 0.0, (1, 2): np.inf}.get((x[0], x[1]), 5.0)
    return pair + (3.0 if x[2] == 1 else 1.0) + 7.0 + (np.inf if x[0] == x[2] == 1 else 0.0)


def test_costs_become_scores(write):
    path = write("model.wcsp", WCSP)
    model = read_wcsp(path)
    for x in product(range(2), range(3), range(2)):
        assert model.score(x) == -cost(x)
    result = at.decode(load_graph(path))
    assert result.status is at.Status.OPTIMAL
    assert result.value == -8.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1 2 100", "1 3 100", "line 5: expected a state or cost .* of factor 0, found '3'"),
        ("2 3 2\n", "2 4 2\n", "line 2: expected the states of variable 1, 1 to 3, found '4'"),
        ("0 1 5 2", "0 1 -1 salldiff", "factor 0 is a global constraint, .* 'salldiff'"),
        ("2 0 2 0 1", "2 0 5 0 1", "line 9: expected a variable of factor 3, 0 to 2, found '5'"),
        ("4 100", "4 0", "line 1: expected top"),
    ],
)
def test_damaged_networks(write, old, new, message):
    with pytest.raises(FormatError, match=message):
        read_wcsp(write("model.wcsp", WCSP.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("name", "text", "described"),
    [
        ("model.LG", LOGS, "UAI MARKOV, logarithms"),
        ("model.fg", LIBDAI, "libDAI factor graph"),
        ("model.wcsp", WCSP, "cost network"),
    ],
)
def test_models_are_described(write, name, text, described):
    facts = describe(write(name, text))
    assert (facts["format"], facts["zeros"]) == (described, {"model.wcsp": 2}.get(name, 1))


def test_networks_are_converted(write, tmp_path):
    path = write("model.wcsp", WCSP)
    save_graph(load_graph(path), tmp_path / "model.LG")
    assert at.decode(load_graph(tmp_path / "model.LG")).value == pytest.approx(-8.0)
