"""The public face: names, docstrings, and a quick import."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import assent as at

# What `import assent` may take, and how often to try on a busy machine.
IMPORT_SECONDS = 0.5
TRIES = 7

TIMER = (
    "import time; start = time.process_time(); import assent, sys; "
    "print(time.process_time() - start); "
    "print(*[m for m in ('numba', 'highspy', 'rich', 'matplotlib', 'scipy') if m in sys.modules])"
)


def modules():
    found = pkgutil.walk_packages(at.__path__, "assent.")
    return [m.name for m in found if not m.name.endswith("__main__")]


def test_every_public_name_exists():
    assert sorted(at.__all__) == list(at.__all__)
    for name in at.__all__:
        assert getattr(at, name).__name__ == name


def test_nothing_else_is_public():
    submodules = {m.name for m in pkgutil.iter_modules(at.__path__)}
    allowed = {*at.__all__, *submodules, "annotations", "TYPE_CHECKING", "Any"}
    assert {name for name in vars(at) if not name.startswith("_")} <= allowed


def test_unknown_names_are_refused_as_usual():
    with pytest.raises(AttributeError, match="module 'assent' has no attribute 'Nothing'"):
        _ = at.Nothing


def test_every_public_class_and_function_is_documented():
    missing = []
    for name in at.__all__:
        thing = getattr(at, name)
        if not inspect.getdoc(thing):
            missing.append(name)
        if inspect.isclass(thing):
            missing += [
                f"{name}.{method}"
                for method, function in inspect.getmembers(thing, inspect.isfunction)
                if not method.startswith("_") and not inspect.getdoc(function)
            ]
    assert missing == []


@pytest.mark.parametrize("name", modules())
def test_every_module_says_what_it_is(name):
    module = importlib.import_module(name)
    empty = not Path(str(module.__file__)).read_text().strip()
    assert empty or module.__doc__


def test_import_is_quick_and_loads_no_compiler():
    fastest = float("inf")
    for _ in range(TRIES):
        done = subprocess.run(
            [sys.executable, "-c", TIMER], capture_output=True, text=True, check=True
        )
        seconds, *heavy = done.stdout.splitlines()
        assert heavy in ([], [""])
        fastest = min(fastest, float(seconds))
        if fastest <= IMPORT_SECONDS:
            return
    pytest.fail(f"import assent took {fastest:.2f} s at best")
