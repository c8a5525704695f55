"""Rules in files: formulas as in Python, data beside them, errors with line numbers."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from click.testing import CliRunner

import assent as at
from assent import logic
from assent.cli import main
from assent.io import FormatError
from assent.logic.rules_file import load_rules, read_rules
from assent.logic.syntax import Parser, tokens_of
from tests.logic.test_random_formulas import declare
from tests.oracles.first_order import build, random_formula, random_world
from tests.oracles.sweep import sweep_seeds

EXAMPLE = """# who smokes, and who does which task
domain person = ann, bob, "eve"
domain task = 1..3
relation friend(person, person) = (ann, bob), (bob, eve)
unknown smokes(person) default -0.4
unknown trust(person, person) at friend
choice job(person): task default 0.5
observe smokes("ann"), ~trust("ann", "bob")
rule peers: friend(x, y) & smokes(x) => smokes(y)
    penalty 0.9
rule not all: at_most 2 x: smokes(x)
rule trust(x, y) := exists_one t: job(x, t) & job(y, t)  where friend(x, y) & x != "ann"
rule ~job(x, t + 1) | smokes(x)  for t in task where t < 3 weight abs(t - 2) * 0.5
"""


def as_text(node) -> str:
    """A random formula as a person would write it, with all parentheses."""
    op = node[0]
    if op == "atom":
        return f"{node[1]}({', '.join(map(str, node[2]))})"
    if op == "compare":
        return f"({node[2]} {node[1]} {node[3]})"
    if op == "not":
        return f"~({as_text(node[1])})"
    if op in ("implies", "iff"):
        sign = "=>" if op == "implies" else "<=>"
        return f"({as_text(node[1])}) {sign} ({as_text(node[2])})"
    if op in ("and", "or"):
        sign = " & " if op == "and" else " | "
        return sign.join(f"({as_text(part)})" for part in node[1:])
    if op == "one_of":
        return f"one_of({', '.join(as_text(part) for part in node[1:])})"
    _, k, name, where, body = node
    count = f" {k}" if op in ("at_most", "at_least", "exactly") else ""
    condition = "" if where is None else f" where {as_text(where)}"
    return f"{op}{count} {name}{condition}: {as_text(body)}"


@sweep_seeds(1.0)
def test_text_and_python_write_the_same_formulas(seeds):
    for seed in seeds:
        rng = np.random.default_rng(30_000 + seed)
        world = random_world(rng)
        declare(world, ("v0",))
        node = random_formula(rng, 3, ("v0",))
        text = as_text(node)
        parser = Parser("test", tokens_of("test", text), world.predicates)
        assert repr(parser.formula()) == repr(build(world, node)), text
        parser.finish()


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("p(x) & q(x) | p(y) => q(y) <=> p(x)", "(((p(x) & q(x)) | p(y)) >> q(y)) == p(x)"),
        ("~p(x) & q(x)", "~p(x) & q(x)"),
        ("p(x) => q(x) => p(y)", "p(x) >> (q(x) >> p(y))"),
        ("exists x: p(x) & q(x)", "exists x: p(x) & q(x)"),
        ("p(y) & exists x where x < y: p(x) | q(x)", "p(y) & (exists x where x < y: p(x) | q(x))"),
        ("(x + 1) * 2 == y - -1", "(x + 1) * 2 == y - -1"),
        ("abs(x - y) > 1", "abs(x - y) > 1"),
        ("p(2 * x + 1)", "p((2 * x) + 1)"),
    ],
)
def test_precedence(text, meaning):
    g = at.FactorGraph()
    names = {n: logic.predicate(g.binary(9, name=n)) for n in "pq"}
    assert repr(Parser("test", tokens_of("test", text), names).formula()) == meaning


def test_a_file_is_grounded_and_decoded(tmp_path):
    path = tmp_path / "model.rules"
    path.write_text(EXAMPLE)
    model = load_rules(path)
    names = [rule.name for rule in model.rules.rules]
    assert names == ["peers (line 9)", "not all (line 11)", "rule (line 12)", "rule (line 13)"]
    result = at.decode(model.graph)
    atoms = model.atoms(result)
    assert atoms["smokes"] == [("ann",), ("bob",)] or atoms["smokes"] == [("ann",)]
    assert len(atoms["job"]) == 3
    assert model.rules.rules[2].bindings == 1


FRIENDS = "a,b,s\nann,bob,0.9\nbob,eve,0.5\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "friend.csv").write_text(FRIENDS)
    with gzip.open(tmp_path / "seen.csv.gz", "wt") as out:
        out.write("who,yes\nann,1\neve,0\n")
    (tmp_path / "smokes.tsv").write_text("who\tscore\nbob\t0.25\n")
    return tmp_path


WITH_DATA = """domain person from friend.a, friend.b
relation friend(person, person)
table strength(person, person) from friend.csv default 0.1
unknown smokes(person) default -1
observe smokes from seen
rule peers: friend(x, y) & smokes(x) => smokes(y) penalty strength(x, y)
"""


def test_data_comes_from_files(folder):
    path = folder / "friends.txt"
    path.write_text(WITH_DATA)
    model = load_rules(path)
    assert model.domains["person"].labels == ["ann", "bob", "eve"]
    assert model.graph.variables[0].scores.tolist() == [-1.0, 0.25, -1.0]
    result = at.decode(model.graph)
    assert model.atoms(result) == {"smokes": [("ann",), ("bob",)]}
    assert result.value == pytest.approx(-1.0 + 0.25 - 0.5)


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_command_line_grounds_and_decodes(folder, tmp_path):
    path = tmp_path / "friends.rules"
    path.write_text(WITH_DATA)
    shown = run("ground", path, "--data", folder)
    assert shown.exit_code == 0 and "peers (line 6)" in shown.output
    facts = json.loads(run("ground", path, "--json", "--output", tmp_path / "out.fg").stdout)
    assert facts["rules"][0]["bindings"] == 2
    assert (tmp_path / "out.fg").is_file()
    decoded = run("decode", path, "--data", folder)
    assert decoded.exit_code == 0
    assert "smokes (ann) (bob)" in decoded.output
    assert "paid 0.5: peers (line 6) for x=bob, y=eve" in decoded.output
    answer = json.loads(run("decode", path, "--json").stdout)
    assert answer["atoms"] == {"smokes": [["ann"], ["bob"]]}
    assert answer["assignment"] == [1, 1, 0]
    assert run("decode", path, "--data", tmp_path / "nowhere").exit_code == 2
    assert "described by `assent ground`" in run("info", path).stderr


def test_parquet_without_pyarrow_says_what_to_install(folder, monkeypatch):
    monkeypatch.setattr("assent.logic.data_files.find_spec", lambda name: None)
    (folder / "edge.parquet").write_bytes(b"PAR1")
    with pytest.raises(FormatError, match=r'pip install "assent\[parquet\]"'):
        read_rules("r", "domain n from edge", folder)


def test_parquet_columns(folder):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"a": ["u", "v"], "b": [1, 2], "s": [0.5, 1.5]})
    parquet.write_table(table, folder / "edge.parquet")
    text = "domain n from edge\ndomain k from edge.b\ntable w(n, k) from edge\n"
    model = read_rules("r", text, folder)
    assert model.domains["k"].labels == [1, 2]
    assert model.names["w"].entries.tolist() == [[0.5, 0.0], [0.0, 1.5]]


HEAD = "domain d = 1..3\nunknown p(d)\nunknown q(d, d)\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rule p(x, y)", r"r, line 4: p takes 1 arguments \(d\), got 2: p\(x, y\)"),
        ("rule step: p(x) => z(x)", "r, line 4: unknown predicate 'z' .declared: p, q."),
        ("rule pp(x)", "r, line 4: unknown predicate 'pp'; did you mean 'p'"),
        ('rule q(x, "a")', r"r, line 4: q\(x, 'a'\): 'a' is not in domain 'd', which has 1, 2, 3"),
        (
            "rule step: p(x) => p(x + 1)",
            r"r, line 4: step \(line 4\): x \+ 1 in p\(x \+ 1\) is outside domain d.* for x=3",
        ),
        ("rule exists x in e: p(x)", "r, line 4: unknown domain 'e'"),
        ("rule p(x) where x < y", "r, line 4: .* variable y is unbound"),
        ("rule p(x)\n  & p(x", "r, line 5: expected ',' or '\\)', found the end of the statement"),
        ("rule exists x p(x)", "r, line 4: expected ':' and a formula, found 'p'"),
        ("rule p(x) weight", "r, line 4: expected a formula or an expression, found the end"),
        ("rule x + 1", "r, line 4: expected a comparison"),
        ("rule p(x) := ", "r, line 4: expected a formula"),
        ("rule p(x) & p(y) := p(x)", "r, line 4: .* only atoms are defined"),
        ("rule $", r"r, line 4: expected a name, number or operator, found '\$'"),
        ("rules p(x)", "r, line 4: expected one of domain, relation"),
        ("domain e =", "r, line 4: expected a member, found the end of the statement"),
        ("domain e = 3..1", "r, line 4: domain 'e' is empty"),
        ("domain e = 1..99999999999", "r, line 4: a domain of 99,999,999,999 members"),
        ("domain d = 1..2", "r, line 4: domain 'd' is declared twice"),
        ("relation p(d) = 1", "r, line 4: 'p' is declared twice"),
        ("relation r(d) = 7", "r, line 4: r, argument 1: 7 is not in domain 'd'"),
        ("relation r(e)", r"r, line 4: unknown domain 'e' \(declared: d\)"),
        ("relation r(d)", "r, line 4: there is no data file 'r'"),
        ("observe p(x)", r"r, line 4: observe: p\(x\) has variables"),
        (
            "observe p(1)\nrule none: ~p(x)",
            r"r, line 5: none \(line 5\): the rule contradicts what is known for x=1",
        ),
        ("rule " + "~" * 100 + "p(x)", "r, line 4: nested more than 50 deep"),
        ("rule p(12345678901234567)", "r, line 4: expected at most 15 digits"),
        ("rule p(1.5)", "r, line 4: .*1.5 is not in domain 'd'"),
        ("rule at_most 1.5 x: p(x)", "r, line 4: expected a whole number, found '1.5'"),
    ],
)
def test_errors_name_line_rule_and_binding(text, message):
    with pytest.raises(FormatError, match=message):
        read_rules("r", HEAD + text, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a,b\nann,bob,eve\n", "line 2: 3 columns where the header has 2"),
        ("a\nann\n", "2 columns are needed .person, person., there are 1"),
        ("a,b\nann,bob\nann,zoe\n", "line 3: expected a member of domain person.*found 'zoe'"),
        ("a,b,s\nann,bob,x\n", "line 2: expected a number, found 'x'"),
        ("a,a\nann,bob\n", "line 1: two columns have the same name"),
    ],
)
def test_errors_in_data_name_file_and_line(tmp_path, content, message):
    (tmp_path / "w.csv").write_text(content)
    text = "domain person = ann, bob\ntable w(person, person)\n"
    if "s\n" not in content and "x" not in content:
        text = text.replace("table", "relation")
    with pytest.raises(FormatError, match=rf"w\.csv.*{message}"):
        read_rules("r", text, tmp_path)


def test_too_many_variables_are_refused(tmp_path):
    text = "domain n = 1..5000\nunknown p(n, n)\n"
    with pytest.raises(FormatError, match="25,000,000 tuples are more than limit"):
        read_rules("r", text, None)
