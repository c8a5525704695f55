import numpy as np
import pytest

from assent.io import FgModel, FormatError, read_fg, write_fg
from assent.io.fg import FEWEST_LITERALS, UNSIGNED

EXAMPLE = """3  # variables
6
0.75
1.25
-0.5
OR 3 1 2 3
PAIR 2 1 2 -1.05
XOR 2 1 -3
BUDGET 3 -1 -2 -3 2
KNAPSACK 2 1 -2 0.5 2 1.5
DENSE 3 1 2 3 2 1 2 0.25 -inf
"""


def random_model(rng, n=5, factors=8):
    triples = []
    for _ in range(factors):
        name = str(rng.choice(list(FEWEST_LITERALS)))
        most = 2 if name == "PAIR" else 4
        size = int(rng.integers(FEWEST_LITERALS[name], most + 1))
        literals = rng.permutation(n)[:size]
        if name not in UNSIGNED:
            literals = np.where(rng.random(size) < 0.4, ~literals, literals)
        triples.append((name, literals.tolist(), random_numbers(rng, name, size)))
    return FgModel.from_factors(rng.normal(size=n), triples)


def random_numbers(rng, name, size):
    if name == "PAIR":
        return [rng.normal()]
    if name == "BUDGET":
        return [rng.integers(0, size + 1)]
    if name == "KNAPSACK":
        return [*rng.integers(0, 3, size), 1.5]
    if name == "DENSE":
        shape = [size] if size < 2 or rng.random() < 0.5 else [1, size - 1]
        table = rng.normal(size=int(np.prod(shape)))
        table[1:][rng.random(len(table) - 1) < 0.2] = -np.inf
        return [len(shape), *shape, *table]
    return []


def same(a, b):
    return all(np.array_equal(getattr(a, key), getattr(b, key)) for key in vars(a))


def test_example(tmp_path):
    path = tmp_path / "example.fg"
    path.write_text(EXAMPLE)
    [model] = read_fg(path)
    expected = FgModel.from_factors(
        [0.75, 1.25, -0.5],
        [
            ("OR", [0, 1, 2], []),
            ("PAIR", [0, 1], [-1.05]),
            ("XOR", [0, ~2], []),
            ("BUDGET", [~0, ~1, ~2], [2.0]),
            ("KNAPSACK", [0, ~1], [0.5, 2.0, 1.5]),
            ("DENSE", [0, 1, 2], [2, 1, 2, 0.25, -np.inf]),
        ],
    )
    assert same(model, expected)


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_round_trip_of_several_graphs(tmp_path, suffix):
    rng = np.random.default_rng(0)
    models = [random_model(rng) for _ in range(4)]
    path = tmp_path / f"models.fg{suffix}"
    write_fg(models, path)
    again = read_fg(path)
    assert len(again) == 4
    assert all(map(same, models, again))


def test_forbidden_variables_survive(tmp_path):
    path = tmp_path / "model.fg"
    write_fg(FgModel.from_factors([-np.inf, 1.0], []), path)
    assert read_fg(path)[0].scores.tolist() == [-np.inf, 1.0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3  #", "x  #", "line 1: expected the number of variables, found 'x'"),
        ("1.25", "nan", "line 4: expected the log-potentials .*, found 'nan'"),
        ("1.25", "inf", "line 4: expected the log-potentials .*, found 'inf'"),
        ("OR 3", "NOR 3", "line 6: expected the type of factor 1, one of PAIR, .*, found 'NOR'"),
        ("OR 3", "SEQUENCE 3", "found 'SEQUENCE'"),
        ("OR 3", "OR 0", r"line 6: expected the number \(at least 1\) .* of a OR, found '0'"),
        ("OR 3", "OR 4", "line 7: expected a variable from 1 to 3, or minus one, found 'PAIR'"),
        ("OR 3 1", "OR 3 0", "line 6: expected a variable from 1 to 3, or minus one, found '0'"),
        ("OR 3 1 2", "OR 3 1 1", "line 6: expected distinct literals in a OR, found '1'"),
        ("PAIR 2 1", "PAIR 2 -1", "line 7: expected a variable from 1 to 3, found '-1'"),
        ("PAIR 2 1", "PAIR 1 1", "line 7: expected 2, the number of literals of a PAIR"),
        ("-1.05", "", "line 8: expected the score of a PAIR .*, found 'XOR'"),
        ("-3 2\n", "-3 -2\n", "line 9: expected the limit of a BUDGET, found '-2'"),
        ("-3 2\n", "-3\n", "line 10: expected the limit of a BUDGET, found 'KNAPSACK'"),
        ("0.5 2 1.5", "0.5 -2 1.5", "line 10: expected the 2 weights .* a KNAPSACK, found '-2'"),
        ("0.5 2 1.5", "0.5 2 -1", "line 10: expected the 2 weights .*, found '-1'"),
        ("0.5 2 1.5", "0.5 2", "line 11: expected the 2 weights .* a KNAPSACK, found 'DENSE'"),
        ("3 1 2 3 2 1 2 0", "3 1 -2 3 2 1 2 0", "line 11: expected a variable from 1 to 3, found"),
        ("1 2 3 2 1 2", "1 2 3 4 1 2", "line 11: expected the number of .*, found '4'"),
        ("1 2 3 2 1 2", "1 2 3 2 1 1", "line 11: expected numbers of states of 2 .*, found '1'"),
        ("1 2 3 2 1 2", "1 2 3 2 3 2", "line 11: expected numbers of states of 2 .*, found '3'"),
        ("0.25 -inf", "0.25 inf", "line 11: expected the 2 scores .* of a DENSE, found 'inf'"),
        ("0.25 -inf", "0.25", "expected the 2 scores .* of a DENSE, found the end of the file"),
        ("6\n", "1000000000000\n", "expected the type of factor 7, found the end of the file"),
        ("3  #", "1000000000000 #", "of 1000000000000 variables, found the end of the file"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    path = tmp_path / "bad.fg"
    path.write_text(EXAMPLE.replace(old, new, 1))
    with pytest.raises(FormatError, match=message):
        read_fg(path)


def test_the_other_fg_format_is_recognised(tmp_path):
    path = tmp_path / "libdai.fg"
    path.write_text("1\n\n2\n0 1\n2 2\n4\n0 1.0\n1 2.0\n2 3.0\n3 4.0\n")
    with pytest.raises(FormatError, match="libDAI's format: read_libdai"):
        read_fg(path)


def test_an_empty_file_is_an_error(tmp_path):
    path = tmp_path / "empty.fg"
    path.write_text("")
    with pytest.raises(FormatError, match="expected the number of variables, found the end"):
        read_fg(path)
