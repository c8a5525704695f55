"""The house rules: imports point one way, folders stay small, functions fit on a screen."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"

# From the bottom up: a module imports its own layer and those above it in this list, no other.
# The longest prefix decides, so `assent.result` is not `assent`.
LAYERS = (
    ("assent.errors", "assent.interrupts", "assent.arguments"),
    ("assent.kernels",),
    ("assent.notebook", "assent.trace", "assent.progress", "assent.text_table"),
    ("assent.model", "assent.factors"),
    ("assent.compile",),
    ("assent.proof", "assent.reductions"),
    ("assent.certificate", "assent.result"),
    ("assent.solvers.base",),
    ("assent.solvers.ad3", "assent.solvers.messages", "assent.solvers.direct"),
    ("assent.solvers.boxes", "assent.solvers.programs"),
    ("assent.solvers.cutting_planes",),
    ("assent.solvers.search",),
    ("assent.solvers.presolve",),
    ("assent.solvers.auto",),
    ("assent",),  # decode, decode_many, k_best, project, compare, presolve, binarize, results
    ("assent.logic", "assent.models", "assent.io"),
    ("assent.learn",),
    ("assent.apps",),
    ("assent.warm_up",),
    ("assent.cli", "assent.demo"),
)

# A method that a person expects on the lower thing, and whose work is done above it.
UPWARD = {
    ("assent.model.graph", "assent.compile.compiled"),  # graph.compile()
    ("assent.certificate", "assent.infeasible_subset"),  # certificate.conflict
}

# Statements, and what has statements in it.
NESTED = (ast.stmt, ast.excepthandler, ast.match_case)

# One file per kind, and what kinds are made of.
LARGE_FOLDERS = {"factors"}


@cache
def modules():
    """Path of every module, by its dotted name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


@cache
def statements(name):
    """Statements of a module, those within others included, but for types' sake alone."""
    found, waiting = [], [ast.parse(modules()[name].read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting += node.orelse
            continue
        found.append(node)
        waiting += (child for child in ast.iter_child_nodes(node) if isinstance(child, NESTED))
    return found


@cache
def imports(name):
    """Modules of the package that a module imports when it runs, at its top or later."""
    found = set()
    for node in statements(name):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("assent"):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in modules() else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in modules()}
    return frozenset(found - {name})


def layer(name):
    """Index of a module's layer."""
    prefixes = {prefix: i for i, layer in enumerate(LAYERS) for prefix in layer}
    while name not in prefixes:
        name = name.rpartition(".")[0]
    return prefixes[name]


def functions():
    for name, path in modules().items():
        for node in statements(name):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}", node


def test_imports_point_one_way():
    wrong = {
        (name, other)
        for name in modules()
        if name != "assent"  # the public face gathers everything
        for other in imports(name)
        if other != "assent" and layer(other) > layer(name)
    }
    assert wrong == UPWARD


def test_no_modules_import_each_other_in_a_circle():
    """Also where an import is put off until it is needed."""
    done, path = set(), []

    def visit(name):
        if name in path:
            pytest.fail(" -> ".join([*path[path.index(name) :], name]))
        if name in done:
            return
        path.append(name)
        for other in sorted(imports(name)):
            if (name, other) not in UPWARD and other != "assent":
                visit(other)
        path.pop()
        done.add(name)

    for name in modules():
        if name != "assent":
            visit(name)


def test_folders_have_twenty_modules_at_most():
    counts = Counter(path.parent for path in modules().values() if path.name != "__init__.py")
    large = {folder.name for folder, count in counts.items() if count > 20}
    assert large <= LARGE_FOLDERS


def test_every_folder_says_what_lives_there():
    for path in SOURCE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), path


def test_file_names_are_unique():
    """Verbs of the command line are named as the functions they call.

    Applications have the same modules in each: data, features, model, decode, metrics, view.
    """
    names = Counter(
        path.name
        for name, path in modules().items()
        if not path.name.startswith("__") and not name.startswith(("assent.cli.", "assent.apps."))
    )
    assert {name for name, count in names.items() if count > 1} == set()


# Public names: a structure of the flat problem and a model that is learned; a solver and a trainer;
# a table of scores and one of a file with rules.
SHARED_CLASS_NAMES = {"Model", "Subgradient", "Table"}


def test_class_names_are_unique():
    """So that a search finds one place; applications speak the words of their fields."""
    names = Counter(
        node.name
        for name, path in modules().items()
        if not name.startswith("assent.apps.")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    )
    assert {name for name, count in names.items() if count > 1} == SHARED_CLASS_NAMES


def test_functions_fit_on_a_screen():
    long = {where for where, node in functions() if node.end_lineno - node.lineno >= 60}
    assert long == set()
