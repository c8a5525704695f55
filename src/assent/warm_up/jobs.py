"""What a warm-up goes through, one job after the other: solvers, questions, examples of the docs.

A job is known by its name, so that another process can be told to do it:

- ``solver AD3``: small models of every kind, decoded by that solver;
- ``questions MODEL``: everything else that can be asked of a small model;
- ``examples MODULE``: the examples in the docstrings of a module;
- ``chapter MODULE``: a chapter of the tour;
- ``page FILE``, ``example FILE``: in a clone, the pages and examples that come with it.
"""

from __future__ import annotations

import doctest
import io
import os
import pkgutil
import re
import runpy
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import assent as at
from assent.kernels import kernel_cache
from assent.kernels.compile_clock import compile_seconds
from assent.warm_up.small_models import MODELS, frustrated

# Those whose kernels take longest come first, so that no process is left with one at the end.
SOLVERS = (
    "AD3", "DepthFirst", "BranchAndCut", "BranchAndBound", "Elimination", "BoxMPLP", "TRWS", "MPLP",
    "StarDiffusion", "Accelerated", "Subgradient", "MaxProduct", "BoxSubgradient", "Tightened",
    "RoofDuality", "LinearProgram", "IntegerProgram", "Auto",
)  # fmt: skip

# The tour of `make demo`.
CHAPTERS = [
    "chapter restoration", "chapter timetable", "chapter convergence", "chapter sentence"
]  # fmt: skip

# Pairs beyond which AD3 works in blocks and with threads: a grid of this side has enough links.
LARGE_SIDE = 130

# A job is only there for what it compiles: no model is decoded for longer (seconds).
_LONG = 10.0

_CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def all_jobs() -> list[str]:
    """The names of all jobs, the longest first."""
    jobs = [f"solver {name}" for name in SOLVERS]
    jobs += [f"questions {model.__name__}" for model in MODELS]
    jobs += CHAPTERS
    root = Path(at.__file__).parents[2]
    if (root / "examples").is_dir() and (root / "README.md").is_file():
        jobs += [f"page {page}" for page in (root / "README.md", *sorted(root.glob("docs/*.md")))]
        jobs += [f"example {path}" for path in sorted(root.glob("examples/*.py"))]
    modules = pkgutil.walk_packages(at.__path__, "assent.")
    jobs += [f"examples {module.name}" for module in modules if _has_examples(module)]
    return jobs


def _has_examples(module: pkgutil.ModuleInfo) -> bool:
    source = Path(at.__file__).parent.joinpath(*module.name.split(".")[1:])
    paths = (source.with_suffix(".py"), source / "__init__.py")
    return any(path.is_file() and ">>> " in path.read_text("utf-8") for path in paths)


@dataclass(frozen=True)
class Done:
    """A job that is done."""

    job: str  # its name
    trouble: str  # what went wrong, if anything
    compile_seconds: float  # time it spent compiling
    loaded: tuple[Path, ...]  # files of kernels that it loaded


def do(job: str) -> Done:
    """Do a job by its name, in an empty folder.

    Example:
        >>> do("examples assent.trace").trouble
        ''
    """
    begun, before = time.perf_counter(), len(kernel_cache.loaded)
    trouble = _try(job)
    return Done(job, trouble, compile_seconds(begun), tuple(kernel_cache.loaded[before:]))


def _try(job: str) -> str:
    """Do a job; says what went wrong, if anything."""
    kind, _, argument = job.partition(" ")
    work = {
        "solver": _decode_with, "questions": _ask, "examples": _run_docstrings, "page": _run_page,
        "example": _run_example, "chapter": _tell_chapter,
    }[kind]  # fmt: skip
    shown = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings(),
        redirect_stdout(shown), redirect_stderr(shown),
    ):  # fmt: skip
        warnings.simplefilter("ignore")
        try:
            work(argument)
        except Exception as error:  # the other jobs are worth doing all the same
            return f"{type(error).__name__}: {error}"
    return ""


def _decode_with(name: str) -> None:
    solver = getattr(at, name)
    for model in MODELS:
        with suppress(at.ModelError):  # not every solver takes every kind
            _to_the_end(model(), solver=solver())
    if name == "AD3":
        large = frustrated(LARGE_SIDE)
        for threads in (1, 2):
            at.decode(large, at.AD3(max_iterations=20, threads=threads))


def _to_the_end(graph: at.FactorGraph, **how: Any) -> at.Result:
    """Decode until nothing is compiled on the way, which takes of the time there is."""
    while True:
        begun = time.perf_counter()
        result = at.decode(graph, **how, time_limit=_LONG)
        if not compile_seconds(begun):
            return result


def _ask(name: str) -> None:
    """Exactly, again under other scores, many at once, the best few, the nearest, what is left."""
    (model,) = (model for model in MODELS if model.__name__ == name)
    graph = model()
    questions: tuple[Callable[[], Any], ...] = (
        lambda: at.decode(graph, warm_start=at.decode(graph, at.AD3())).certificate.verify(),
        lambda: _to_the_end(graph, exact=True).certificate.verify(),
        lambda: at.decode_many([model(), graph]),
        lambda: at.decode_many([model(), graph], threads=2),
        lambda: at.k_best(graph, 3),
        lambda: at.presolve(graph),
        lambda: at.project(graph, {graph["x"]: np.zeros(graph["x"].shape)}),
    )
    for question in questions:
        try:
            question()
        except (ValueError, KeyError):  # not every kind answers all
            continue


def _run_docstrings(name: str) -> None:
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctest.DocTestFinder().find(import_module(name)):
        runner.run(test, out=lambda text: None)


def _run_page(path: str) -> None:
    """The code of a page, from top to bottom."""
    names: dict[str, Any] = {"__name__": "page"}
    for text in _CODE.findall(Path(path).read_text(encoding="utf-8")):
        exec(compile(text, path, "exec"), names)


def _run_example(path: str) -> None:
    runpy.run_path(path, run_name="__main__")


def _tell_chapter(name: str) -> None:
    from rich.console import Console

    import_module(f"assent.demo.{name}").tell(Console(file=io.StringIO()), 1, Path(os.curdir))
