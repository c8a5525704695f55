import json
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

import assent
from assent.cli import main
from assent.factors import KINDS
from assent.io import FgModel, UaiModel, read_fg, write_fg, write_uai

KEYS = {"status", "value", "bound", "gap", "feasible", "iterations", "seconds", "assignment"}


def run(*arguments, **settings):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], **settings)


@pytest.fixture
def chain(tmp_path):
    """Three variables in a row; the best assignment is 1 1 1 with score 5."""
    tables = [[0.0, -1.0], [0.0, 2.0], [[0.0, 0.0], [0.0, 2.0]], [[0.0, 0.0], [-np.inf, 2.0]]]
    path = tmp_path / "chain.uai"
    write_uai(UaiModel.from_factors([2] * 3, [[0], [1], [0, 1], [1, 2]], tables), path)
    return path


@pytest.fixture
def contradiction(tmp_path):
    path = tmp_path / "contradiction.fg"
    factors = [("XOR", [0], []), ("XOR", [~0, 1], []), ("ATMOSTONE", [0, 1], [])]
    write_fg(FgModel.from_factors([1.0, 1.0], factors), path)
    return path


@pytest.mark.parametrize("solver", ["ad3", "LP"])
def test_json_is_one_object(chain, solver):
    done = run("decode", chain, "--solver", solver, "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert set(answer) >= KEYS
    assert answer["status"] == "OPTIMAL"
    assert answer["feasible"] is True
    assert answer["value"] == pytest.approx(5.0)
    assert answer["value"] <= answer["bound"] + 1e-6
    assert answer["assignment"] == [1, 1, 1]


def test_summary_and_quiet(chain):
    done = run("decode", chain)
    assert done.exit_code == 0
    assert done.stdout.startswith("OPTIMAL: ")
    assert "assignment 1 1 1" in done.stdout
    assert done.stderr == ""  # not a terminal: no progress
    assert run("decode", chain, "--quiet").output == ""


def test_starting_and_reading_count_for_the_time_limit(chain, monkeypatch):
    load, decode, limits = assent.io.load_models, assent.decode, []

    def slowly(*arguments):
        time.sleep(0.3)
        return load(*arguments)

    def watched(*arguments, **settings):
        limits.append(settings["time_limit"])
        return decode(*arguments, **settings)

    monkeypatch.setattr(assent.io, "load_models", slowly)
    monkeypatch.setattr(assent, "decode", watched)
    assert run("decode", chain, "--time-limit", 60).exit_code == 0
    assert run("decode", chain, "--time-limit", 0.1).exit_code == 0
    begun = time.perf_counter() - 20.0
    assert run("decode", chain, "--time-limit", 60, obj=begun).exit_code == 0
    assert 0.0 < limits[0] <= 59.7 and 0.0 < limits[1] < 0.1 and 0.0 < limits[2] <= 39.7


def test_evidence_limits_and_files(chain, tmp_path):
    evidence = tmp_path / "chain.uai.evid"
    evidence.write_text("1 1 0\n")
    output, plot = tmp_path / "answer.txt", tmp_path / "run.png"
    done = run(
        "decode",
        chain,
        "--evidence",
        evidence,
        "--output",
        output,
        "--plot",
        plot,
        "--max-iterations",
        500,
        "--time-limit",
        20,
        "--tolerance",
        1e-4,
        "--seed",
        3,
        "--json",
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["assignment"][1] == 0
    assert output.read_text().split()[:3:2] == ["3", "0"]
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_infeasible(contradiction, tmp_path):
    output = tmp_path / "answer.txt"
    done = run("decode", contradiction, "--json", "--output", output)
    assert done.exit_code == 3, done.output
    answer = json.loads(done.stdout)
    assert answer["status"] == "INFEASIBLE"
    assert answer["feasible"] is False
    assert answer["value"] is None
    assert answer["assignment"] is None
    assert answer["conflict"]
    assert not output.exists()
    assert "involved: " in run("decode", contradiction).stdout


def test_nothing_feasible_found(tmp_path):
    """The relaxation alone cannot tell an odd cycle of disagreements from a feasible model."""
    factors = [("XOR", pair, []) for pair in ([0, 1], [1, 2], [0, 2])]
    path = tmp_path / "cycle.fg"
    write_fg(FgModel.from_factors([0.0] * 3, factors), path)
    done = run("decode", path, "--json", "--max-iterations", 200)
    assert done.exit_code == 4, done.output
    answer = json.loads(done.stdout)
    assert answer["value"] is None
    assert answer["feasible"] is False
    assert len(answer["least_violating"]) == 3
    assert answer["violated"]
    assert "violated: " in run("decode", path, "--max-iterations", 200).stdout


def test_several_graphs_in_one_file(tmp_path):
    path = tmp_path / "two.fg"
    model = FgModel.from_factors([1.0, 2.0], [("XOR", [0, 1], [])])
    write_fg([model, model], path)
    output = tmp_path / "answers.txt"
    answer = json.loads(run("decode", path, "--json", "--output", output).stdout)
    assert [each["assignment"] for each in answer["results"]] == [[0, 1], [0, 1]]
    assert [each["value"] for each in answer["results"]] == pytest.approx([2.0, 2.0])
    assert output.read_text() == "2 0 1\n2 0 1\n"
    summary = run("decode", path).stdout
    assert "graph 1 of 2\nOPTIMAL: " in summary
    assert "graph 2 of 2\nOPTIMAL: " in summary
    done = run("decode", path, "--plot", tmp_path / "run.png")
    assert done.exit_code == 2
    assert "holds 2 graphs" in done.stderr


def test_the_worst_of_several_graphs_is_the_exit_code(tmp_path):
    path, output = tmp_path / "two.fg", tmp_path / "answers.txt"
    fine = FgModel.from_factors([1.0], [])
    never = FgModel.from_factors([1.0], [("XOR", [0], []), ("XOR", [~0], [])])
    write_fg([never, fine], path)
    done = run("decode", path, "--json", "--output", output)
    assert done.exit_code == 3
    statuses = [each["status"] for each in json.loads(done.stdout)["results"]]
    assert statuses == ["INFEASIBLE", "OPTIMAL"]
    assert output.read_text() == "0\n1 1\n"


@pytest.fixture
def mixed(tmp_path):
    """A variable of three states before a binary one; the best assignment is 2 1, score 3."""
    path = tmp_path / "mixed.uai"
    tables = [[0.0, 0.5, 1.0], [[0.0, 0.5], [0.0, 0.5], [-np.inf, 2.0]]]
    write_uai(UaiModel.from_factors([3, 2], [[0], [0, 1]], tables), path)
    return path


def test_assignments_count_as_the_file_does(mixed):
    answer = json.loads(run("decode", mixed, "--solver", "lp", "--json").stdout)
    assert answer["bound"] == pytest.approx(3.0)
    assert answer["assignment"] == [2, 1]


def test_convert(mixed, tmp_path):
    fg, uai = tmp_path / "mixed.fg.gz", tmp_path / "again.uai"
    assert run("convert", mixed, fg).exit_code == 0
    [model] = read_fg(fg)
    assert model.n_variables == 5  # the binary one, three states, the opposite of the first
    answer = json.loads(run("decode", fg, "--solver", "lp", "--json").stdout)
    assert answer["bound"] == pytest.approx(3.0)
    assert run("convert", fg, uai).exit_code == 0
    answer = json.loads(run("decode", uai, "--solver", "lp", "--json").stdout)
    assert answer["bound"] == pytest.approx(3.0)


def test_convert_with_evidence(chain, tmp_path):
    evidence, target = tmp_path / "chain.evid", tmp_path / "copy.uai"
    evidence.write_text("1 1 0\n")
    assert run("convert", chain, target, "--evidence", evidence).exit_code == 0
    assert (tmp_path / "copy.uai.evid").read_text() == "1 1 0\n"


def test_what_cannot_be_converted_is_named(chain, tmp_path):
    done = run("convert", chain, tmp_path / "chain.txt")
    assert done.exit_code == 2
    assert "the name must end in .uai or .fg" in done.stderr
    wide, several = tmp_path / "wide.fg", tmp_path / "several.fg"
    model = FgModel.from_factors([0.0] * 20, [("XOR", list(range(20)), [])])
    write_fg(model, wide)
    write_fg([model, model], several)
    done = run("convert", wide, tmp_path / "wide.uai")
    assert done.exit_code == 2
    assert "ExactlyOne(x[0], x[1]," in done.stderr
    done = run("convert", several, tmp_path / "several.uai")
    assert done.exit_code == 2
    assert "a .uai file holds one graph, not 2" in done.stderr


def test_kinds_and_solvers_come_from_their_registries():
    table = run("kinds").stdout
    for kind in KINDS:
        assert kind.__name__ in table
        assert kind.formula in table
    markdown = run("kinds", "--markdown").stdout
    assert markdown.startswith("| kind")
    assert len(markdown.splitlines()) == len(KINDS) + 2
    for line, kind in zip(run("kinds", "--questions").stdout.splitlines()[2:], KINDS, strict=True):
        name, *answers = re.split(r"  +", line)
        assert name == kind.__name__
        assert answers.count("yes") == len(set(kind.abilities) - set(kind.if_given))
        assert answers.count("if given") == len(kind.if_given)
    table = run("solvers").stdout
    assert "AD3" in table
    assert "LinearProgram" in table
    assert run("solvers", "--markdown").stdout.startswith("| --solver")


@pytest.mark.parametrize("verb", ["decode", "info"])
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bad.uai", "MARKOV\n2\n2 x\n", "bad.uai, line 3: expected the cardinalities"),
        ("bad.fg", "1\n1\n0.5\nNOT 1 1\n", "bad.fg, line 4: expected the type of factor 1"),
        ("bad.dat", "", "the name must end in .uai or .fg"),
    ],
)
def test_bad_files(tmp_path, verb, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    done = run(verb, path)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["decode"],
        ["decode", "missing.uai"],
        ["decode", "FILE", "--solver", "magic"],
        ["decode", "FILE", "--time-limit", "0"],
        ["decode", "FILE", "--max-iterations", "many"],
        ["decode", "FILE", "--output", "no/such/folder/file"],
        ["solve", "FILE"],
    ],
)
def test_bad_usage(chain, arguments):
    assert run(*(chain if a == "FILE" else a for a in arguments)).exit_code == 2


def test_info(chain, contradiction):
    facts = json.loads(run("info", chain, "--json").stdout)
    assert facts["variables"] == 3
    assert facts["factor_sizes"] == {"1 variable(s)": 2, "2 variable(s)": 2}
    assert facts["zeros"] == 1
    facts = json.loads(run("info", contradiction, "--json").stdout)
    assert facts["factor_types"] == {"XOR": 2, "ATMOSTONE": 1}
    lines = run("info", contradiction).stdout.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["format", "graphs", "variables"]
    assert "2 of XOR, 1 of ATMOSTONE" in "\n".join(lines)
    assert "presolved" in run("info", chain, "--presolve").stdout
    facts = json.loads(run("info", chain, "--presolve", "--json").stdout)
    assert "of 3 variables left: " in facts["presolved"]
    line = run("info", contradiction, "--presolve").stdout.splitlines()[-1]
    assert line.split(maxsplit=1) == ["presolved", "nothing is possible"]


def test_help_needs_no_compiler():
    code = (
        "import sys\nfrom assent.cli import main\nmain(['--help'], standalone_mode=False)\n"
        "assert 'numba' not in sys.modules and 'scipy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "assent.cli", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert assent.__version__ in done.stdout


def test_the_best_few(chain, contradiction):
    done = run("k-best", chain, 3)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == "1  5  1 1 1"
    assert len(done.stdout.splitlines()) == 3
    answers = json.loads(run("k-best", chain, 3, "--json").stdout)["answers"]
    values = [answer["value"] for answer in answers]
    assert values == sorted(values, reverse=True) and len({*map(str, answers)}) == 3
    nothing = run("k-best", contradiction, 2)
    assert nothing.exit_code == 3
    assert "no answer: `assent decode" in nothing.stderr
    assert run("k-best", chain, 0).exit_code == 2
    done = run("k-best", chain, 2, "--time-limit", "nan")
    assert done.exit_code == 2 and "'nan' is no number" in done.output


def test_a_search_from_the_command_line(chain):
    done = run("decode", chain, "--solver", "branch-and-bound", "--max-iterations", 50, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["status"] == "OPTIMAL"


@pytest.mark.parametrize("solver", ["auto", "ad3"])
def test_exact_answers_from_the_command_line(chain, solver):
    done = run("decode", chain, "--solver", solver, "--exact", "--json")
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert answer["status"] == "OPTIMAL"
    assert answer["plan"].startswith("Elimination" if solver == "auto" else "The solver")


def test_auto_has_no_iterations_to_count(chain):
    done = run("decode", chain, "--exact", "--max-iterations", 5)
    assert done.exit_code == 2 and "solver by name" in done.output


def test_whose_word_is_taken_is_told(chain):
    assert "trusting HiGHS" in run("decode", chain, "--solver", "ip").stdout
    answer = json.loads(run("decode", chain, "--solver", "ip", "--json").stdout)
    assert answer["trusted"] == ["HiGHS"]


def test_several_graphs_are_not_decoded_exactly(chain, tmp_path):
    path = tmp_path / "two.fg"
    path.write_text("1\n0\n0.5\n\n1\n0\n-0.5\n")
    done = run("decode", path, "--exact")
    assert done.exit_code == 2
    assert "--exact takes one graph" in done.output


def test_info_draws_the_model(chain, tmp_path):
    done = run("decode", chain, "--plot", tmp_path / "model.xyz")
    assert done.exit_code == 2 and done.stdout == ""
    assert "should end in .png" in done.stderr
    done = run("info", chain, "--plot", tmp_path / "model.png")
    assert done.exit_code == 0
    assert (tmp_path / "model.png").read_bytes().startswith(b"\x89PNG")
