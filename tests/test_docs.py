"""The documentation names what exists, and the reference names everything."""

import pkgutil
import re
from pathlib import Path

import pytest

import assent as at
import assent.io
import assent.learn
import assent.logic
import assent.models
from assent.proof import depth_first_proof, elimination_proof, proof_tree, regions

ROOT = Path(__file__).parents[1]
GUIDE = sorted((ROOT / "docs").glob("*.md"))
REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))
FRONT = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
PUBLIC = (at, assent.io, assent.learn, assent.logic, assent.models)

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
BACKTICKS = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w./-]+(?:\.(?:py|md|toml|tsv|yml|c)|/)")
DOTTED = re.compile(r"assent(?:\.\w+)+")
# Folders that commands write.
WRITTEN = {"results/", "site/"}


def in_backticks(page):
    return BACKTICKS.findall(FENCE.sub("", page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("package", PUBLIC, ids=lambda package: package.__name__)
def test_every_public_name_is_in_the_reference(package):
    """By what it is: a name that is public twice (losses) is described once."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE)
    shown = [pkgutil.resolve_name(name) for name in re.findall(r"^::: (\S+)$", text, re.MULTILINE)]
    described = {id(thing) for thing in shown}
    missing = [name for name in package.__all__ if id(getattr(package, name)) not in described]
    assert missing == []


def test_nothing_is_in_the_reference_twice():
    text = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE)
    names = re.findall(r"^::: (\S+)$", text, re.MULTILINE)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("page", FRONT + GUIDE + REFERENCE, ids=lambda page: page.name)
def test_paths_and_modules_on_the_page_exist(page):
    roots = (ROOT, ROOT / "src" / "assent")
    named = in_backticks(page)
    paths = [text for text in named if PATH.fullmatch(text) and text not in WRITTEN]
    missing = [path for path in paths if not any((root / path).exists() for root in roots)]
    assert missing == []
    for name in filter(DOTTED.fullmatch, named):
        pkgutil.resolve_name(name)


@pytest.mark.parametrize("page", GUIDE + REFERENCE, ids=lambda page: page.name)
def test_every_page_begins_with_who_needs_it(page):
    title, empty, first = page.read_text(encoding="utf-8").split("\n")[:3]
    assert title.startswith("# ")
    assert empty == ""
    assert first.startswith("*Who needs this: ")


def test_every_node_of_a_proof_on_the_page_exists():
    page = (ROOT / "docs" / "exact.md").read_text(encoding="utf-8")
    section = page.split("## The proof\n")[1].split("\n## ")[0]
    named = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    modules = (depth_first_proof, elimination_proof, proof_tree, regions)
    assert named
    for name in named:
        assert any(hasattr(module, name) for module in modules), name


def test_every_example_is_on_the_page_of_examples():
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    for path in (ROOT / "examples").glob("*.py"):
        assert f"(../examples/{path.name})" in page, path.name


def test_every_page_has_a_place_in_the_site():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:")[1]
    for page in GUIDE + REFERENCE:
        assert f"- {page.relative_to(ROOT / 'docs').as_posix()}\n" in nav
