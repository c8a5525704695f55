"""Examples run, and what README and docs show is what happens."""

import dataclasses
import doctest
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from assent.cli import main
from assent.factors import KINDS
from assent.kernels.problem import DualPoint, Problem, Scores
from assent.solvers.ad3.ad3 import Workspace

ROOT = Path(__file__).parents[1]
# Those from 30 on are everyday tasks, which have tests of their own.
EXAMPLES = sorted((ROOT / "examples").glob("[0-2]*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

# What a reader is promised to see, by example.
PROMISES = {
    "01_first_decode": ["Pack: tent, torch, batteries, book, camera", "OPTIMAL", "alone: True"],
    "02_image_restoration": ["Wrong pixels: 294 before", "OPTIMAL"],
    "03_timetable": ["poetry", "INFEASIBLE", "Ada's Monday", "The proof checks out: True"],
    "04_warm_start": ["first frame", "Warm starts needed"],
    "05_certificate": ["RELAXED", "bound by hand 1.5", "by the library 1.5", "OPTIMAL"],
    "06_entities_and_relations": ["Ada works for Byron Ltd", "Charlotte lives in Paris"],
    "07_tables": ["fish   noun   verb", "Wrong pixels: 81 before, 18 after"],
    "08_many_at_once": ["200 rounds:", "(200, 8, 4)", "agrees: True", "out: True", "of 3 problems"],
    "09_your_own_structure": ["best_tour agrees with enumeration", "tour: home", "OPTIMAL"],
    "10_sequences_that_agree": ["Jordan/place  signed", "Jordan/person  signed", "Bulls/team"],
    "11_parsing_with_trees": ["pizza\n        ├─ the\n        └─ with", "└─ friends"],
    "12_error_correcting_code": ["60 checks", "noise 0.6", "100.0% are proven most likely"],
    "13_templates": ["500 sentences, 16 graphs", "of at most 256", "sentence(5) was changed"],
    "20_sudoku_in_rules": ["5 1 9   7 4 8   6 3 2", "81 cells of 81", "no other"],
    "21_timetable_in_rules": ["pays 1: hard ones early", "INFEASIBLE", "Ada leaves early"],
    "22_entities_in_rules": ["Charlotte works for Turing Inc", "Byron Ltd    company   (alone"],
    "23_collective_classification": ["26 wrong", "2 wrong", "OPTIMAL", "stays on topic for x="],
    "24_easy_or_not": ["OPTIMAL, gap 0", "variables: one flow.", "exactly: OPTIMAL", "has 100%"],
    "25_exact_and_alternatives": ["RELAXED, value -19", "search: True", "-21  Ada", "~first[2])"],
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_shows_what_it_promises(path, capsys):
    runpy.run_path(str(path))
    shown = capsys.readouterr().out
    for promise in PROMISES[path.stem]:
        assert promise in shown


def test_warm_starts_save_iterations():
    names = runpy.run_path(str(ROOT / "examples" / "04_warm_start.py"))
    cold, warm = names["total"]
    assert warm < cold


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Fenced blocks of a page: language and text."""
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        yield match[1], match[2]


def assert_shown(expected: str, shown: str) -> None:
    same = doctest.OutputChecker().check_output(expected, shown, LOOSE)
    assert same, f"the page shows\n{expected}\nbut it is\n{shown}"


def commands(text: str) -> Iterator[tuple[list[str], str]]:
    """Lines ``$ assent …`` of a console block, each with the output shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield shlex.split(command, comments=True), output


def run_command(words: list[str]) -> str:
    assert words[0] == "assent"
    run = CliRunner().invoke(main, words[1:])
    assert run.exit_code in (0, 3), run.output
    return run.output


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_on_the_page_runs_and_prints_what_is_shown(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "page"}
    shown = ""
    for language, text in blocks(page):
        if language == "python":
            exec(compile(text, str(page), "exec"), names)
            shown = capsys.readouterr().out
        elif language == "text":
            assert_shown(text, shown)
        elif language == "console":
            for words, output in commands(text):
                assert_shown(output, run_command(words))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_the_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_notation_names_what_exists():
    page = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    for owner in (Problem, Scores, DualPoint, Workspace):
        named = set(re.findall(rf"`{owner.__name__}\.(\w+)", page))
        assert named, owner
        assert named <= {field.name for field in dataclasses.fields(owner)}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_is_in_the_tables(kind):
    """Formulas and papers' names are those the code states, form by form."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "factors.md").read_text(encoding="utf-8")
    section = page.split(f"## {kind.__name__}\n")[1].split("\n## ")[0]
    forms = [re.sub(r"^(with \w+|odd): ", "", f) for f in re.split(r";\s+", kind.formula)]
    for text in (*forms, *re.split(r";\s+", kind.paper_name)):
        assert f"| {text} |" in readme
        assert text in section
    for ability in kind.abilities:
        assert f"`{ability}`" in section


def test_the_table_of_questions_is_what_the_command_prints():
    """After a change of kinds, paste the output of the command named on the page."""
    page = (ROOT / "docs" / "factors.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- written by: (assent .*) -->\n(.*?)\n<!-- end -->", page, re.DOTALL)
    assert found
    assert run_command(shlex.split(found[1])) == found[2] + "\n"


def test_the_page_on_adding_a_factor_shows_the_example():
    kernel = (ROOT / "examples" / "09_your_own_structure.py").read_text("utf-8")
    page = (ROOT / "docs" / "add_a_factor.md").read_text("utf-8")
    assert kernel.split("# [kernel]\n")[1].strip() in page
