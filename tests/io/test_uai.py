import numpy as np
import pytest

from assent.io import FormatError, UaiModel, read_evidence, read_uai, write_evidence, write_uai

EXAMPLE = """MARKOV
3
2 2 3
2
1 0
2 1 2

2
 0.25 0.75
6
 1 2 3
 4 0 6
"""


@pytest.fixture
def example(tmp_path):
    path = tmp_path / "example.uai"
    path.write_text(EXAMPLE)
    return path


def test_last_variable_runs_fastest_and_zeros_are_forbidden(example):
    model = read_uai(example)
    assert model.kind == "MARKOV"
    assert model.cardinalities.tolist() == [2, 2, 3]
    assert [model.scope_of(f).tolist() for f in range(2)] == [[0], [1, 2]]
    np.testing.assert_allclose(model.table_of(0), np.log([0.25, 0.75]))
    assert model.table_of(1)[1, 1] == -np.inf
    assert model.score([1, 1, 2]) == pytest.approx(np.log(0.75) + np.log(6))


def test_comments_and_bayes(tmp_path):
    path = tmp_path / "example.uai"
    path.write_text("c a comment\nBAYES\nc\n1\n2\n1\n1 0\n2\nc 3\n 0.5 0.5\n")
    assert read_uai(path).kind == "BAYES"
    path.write_bytes(b"c\r\nMARKOV\r\nc two\r\n1\r\n2\r\n0\r\n")
    assert read_uai(path).cardinalities.tolist() == [2]
    path.write_text("comment\nMARKOV 1 2 0")
    with pytest.raises(FormatError, match="expected MARKOV or BAYES, found 'comment'"):
        read_uai(path)


def test_logarithms_by_name_or_by_request(tmp_path):
    text = "MARKOV 1 2 1 1 0 2 0.5 {}"
    for name in ("model.LG", "model.lg", "model.uai.LG.gz", "model.LG.xz"):
        (tmp_path / name).write_text(text.format("-inf"))  # the content decides on compression
        assert read_uai(tmp_path / name).log_tables.tolist() == [0.5, -np.inf]
        (tmp_path / name).write_text(text.format("1.0"))
        assert read_uai(tmp_path / name, logs=False).log_tables.tolist() == [np.log(0.5), 0.0]
    (tmp_path / "model.uai").write_text(text.format("-inf"))
    assert read_uai(tmp_path / "model.uai", logs=True).log_tables.tolist() == [0.5, -np.inf]
    for bad in ("inf", "nan"):
        (tmp_path / "bad.LG").write_text(text.format(bad))
        with pytest.raises(FormatError, match=f"expected a logarithm .*, found '{bad}'"):
            read_uai(tmp_path / "bad.LG")


def test_a_factor_without_variables_is_a_constant(tmp_path):
    path = tmp_path / "example.uai"
    path.write_text("MARKOV 0 1 0 1 0.5")
    assert read_uai(path).score([]) == pytest.approx(np.log(0.5))


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
@pytest.mark.parametrize("seed", range(5))
def test_round_trip(tmp_path, suffix, seed):
    rng = np.random.default_rng(seed)
    cardinalities = rng.integers(1, 4, size=5).tolist()
    scopes = [rng.permutation(5)[: rng.integers(0, 4)].tolist() for _ in range(6)]
    tables = [rng.normal(size=[cardinalities[v] for v in scope]) for scope in scopes]
    tables = [np.where(rng.random(t.shape) < 0.2, -np.inf, t) for t in tables]
    model = UaiModel.from_factors(cardinalities, scopes, tables, kind="BAYES")
    path = tmp_path / f"model.uai{suffix}"
    write_uai(model, path)
    again = read_uai(path)
    assert again.kind == "BAYES"
    np.testing.assert_array_equal(again.cardinalities, model.cardinalities)
    for f in range(model.n_factors):
        np.testing.assert_array_equal(again.scope_of(f), model.scope_of(f))
        np.testing.assert_allclose(again.table_of(f), model.table_of(f), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("score", [1000.0, -1000.0])
def test_potentials_out_of_range_are_refused(tmp_path, score):
    model = UaiModel.from_factors([2], [[0]], [[0.0, score]])
    with pytest.raises(ValueError, match=f"factor 0 has the log-potential {score}"):
        write_uai(model, tmp_path / "model.uai")


def test_tables_must_fit_their_scope():
    with pytest.raises(ValueError, match=r"factor 0 over variables \[0\] needs .* \(2,\)"):
        UaiModel.from_factors([2], [[0]], [[0.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match=r"needs a table of shape \(2, 3\), got \(3, 2\)"):
        UaiModel.from_factors([2, 3], [[0, 1]], [np.zeros((3, 2))])


@pytest.mark.parametrize(
    ("text", "observed"),
    [
        ("0", {}),
        ("1 0", {}),
        ("2 0 1 2 2", {0: 1, 2: 2}),
        ("1\n2 0 1 2 2\n", {0: 1, 2: 2}),
        ("1 2 1", {2: 1}),
        ("1\n1 2 1", {2: 1}),
    ],
)
def test_both_evidence_dialects(example, tmp_path, text, observed):
    path = tmp_path / "example.uai.evid"
    path.write_text(text)
    assert read_evidence(path, [2, 2, 3]) == observed
    assert read_uai(example, evidence=path).evidence == observed
    assert read_uai(example, evidence=observed).evidence == observed
    write_evidence(observed, path)
    assert read_evidence(path, [2, 2, 3]) == observed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the number of observed variables, found the end of the file"),
        ("1 3 0", "expected a variable between 0 and 2, found '3'"),
        ("1 5 0", "expected a variable between 0 and 2, found '5'"),
        ("1 1 2", "expected a state of variable 1, 0 to 1, found '2'"),
        ("2 0 1", "found the end of the file"),
        ("2 0 1 0 0", "expected state 1 again for variable 0, found '0'"),
        ("1 0 1 9", "expected the end of the file"),
    ],
)
def test_bad_evidence(tmp_path, text, message):
    path = tmp_path / "bad.evid"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_evidence(path, [2, 2, 3])


@pytest.mark.parametrize(("v", "x"), [(7, 0), (3, 0), (-1, 0), (0, 2), (0, -1)])
def test_evidence_given_directly_is_checked(example, v, x):
    with pytest.raises(ValueError, match=f"has no variable {v} with a state {x}"):
        read_uai(example, evidence={v: x})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("MARKOV", "NETWORK", "line 1: expected MARKOV or BAYES, found 'NETWORK'"),
        ("2 2 3", "2 0 3", "line 3: expected the cardinalities .*, found '0'"),
        ("2 1 2", "2 1 3", "line 6: expected a variable, 0 to 2, in factor 1, found '3'"),
        ("2 1 2", "2 1 -1", "line 6: expected a variable, 0 to 2, in factor 1, found '-1'"),
        ("2 1 2", "2 1 0.5", "line 6: expected a variable, 0 to 2, in factor 1, found '0.5'"),
        ("2 1 2", "2 1 1", "line 6: expected another variable in factor 1, found '1'"),
        ("2 1 2", "3 1 2 1", "line 6: expected another variable in factor 1, found '1'"),
        ("2\n 0.25", "1\n 0.25", "line 8: expected 2, the table size of factor 0, found '1'"),
        ("2\n 0.25", "3\n 0.25", "line 8: expected 2, the table size of factor 0, found '3'"),
        ("0.75", "x.75", "line 9: expected a potential .* in factor 0, found 'x.75'"),
        ("4 0 6", "4 -1 6", "line 12: expected a potential .* in factor 1, found '-1'"),
        ("4 0 6", "4 nan 6", "line 12: expected a potential .* in factor 1, found 'nan'"),
        ("4 0 6", "4 1e999 6", "line 12: expected a potential .* in factor 1, found '1e999'"),
        ("4 0 6", "4 0", "expected 6 potentials of factor 1, found the end of the file"),
        ("4 0 6", "4 0 6 7", "line 12: expected the end of the file, found '7'"),
        ("3\n2 2 3", "1000000000000\n2 2 3", "cardinalities .* of 1000000000000 variables"),
        ("2 2 3", "2 100000 100000", "expected the .* or more entries of factor 1's table"),
        ("2 2 3", "2 2 99999999999999999999", "found '99999999999999999999'"),
    ],
)
def test_bad_models(tmp_path, old, new, message):
    path = tmp_path / "bad.uai"
    path.write_text(EXAMPLE.replace(old, new, 1))
    with pytest.raises(FormatError, match=message):
        read_uai(path)
