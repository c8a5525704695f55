"""What a fresh process pays before its first answer, for every snippet of the README and example.

From the wheel in an environment of its own, from the sources with an empty cache, and from the
sources with the cache that was filled by that: what takes long there, and whether anything is
compiled.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

from benchmarks import tables

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What earlier snippets have made, and a later one uses.
PREAMBLE = "import numpy as np\nimport assent as at\nrng = np.random.default_rng(0)\n"

# Runs a program until its first answer, asks for that once more, and prints seconds: of the import,
# of the first answer, of the second, from the start of the process to the first, what of that the
# processor was busy with it (others may be), of compiling.
TIMED = """
import io, json, os, sys, time
from contextlib import redirect_stdout
origin, path = float(sys.argv[1]), sys.argv[2]
begun = time.time()
import assent as at
imported = time.time()

class Answered(Exception):
    pass

def timed(question):
    def ask(*args, **kwargs):
        started = time.time()
        question(*args, **kwargs)
        first, busy = time.time(), time.process_time()
        question(*args, **kwargs)
        raise Answered(imported - begun, first - started, time.time() - first, first - origin, busy)
    return ask

for name in ("decode", "decode_many", "k_best", "project"):
    setattr(at, name, timed(getattr(at, name)))
program = compile(open(path).read(), path, "exec")
if "assent.learn" in program.co_names or "StructuredPredictor" in program.co_names:
    from assent.learn import StructuredPredictor
    StructuredPredictor.fit = timed(StructuredPredictor.fit)
try:
    with redirect_stdout(io.StringIO()):
        exec(program, {"__name__": "__main__", "__file__": path})
    end = time.time() - origin, time.process_time()
    figures = (imported - begun, float("nan"), float("nan"), *end)
except Answered as answered:
    figures = answered.args
from assent.kernels.compile_clock import compile_seconds
print(json.dumps([*figures, compile_seconds()]))
"""


def programs() -> dict[str, str]:
    """Source of every program by its name; a snippet without a graph goes on from the last one."""
    found: dict[str, str] = {}
    whole = PREAMBLE
    blocks = FENCE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    for number, block in enumerate(blocks, start=1):
        has_own = "FactorGraph()" in block or "import" in block
        whole = PREAMBLE + block if has_own else whole + block
        found[f"README {number}"] = whole
    for path in sorted((ROOT / "examples").glob("*.py")):
        found[path.stem] = path.read_text(encoding="utf-8")
    return found


def run(console: Console, wheel: Path | None = None, cold: bool = True) -> dict[str, dict]:
    """One table per way to install; returns the figures by way, then program.

    Without ``cold`` the sources use whatever is compiled already.
    """
    figures: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        site, path = Path(folder) / "site", Path(folder) / "program.py"
        if wheel is not None:
            install = ["pip", "install", "--quiet", "--no-deps", "--target", str(site)]
            subprocess.run([sys.executable, "-m", *install, str(wheel)], check=True)
        for number, (name, source) in enumerate(programs().items()):
            path.write_text(source, encoding="utf-8")
            cache = {"ASSENT_CACHE": str(Path(folder) / str(number))}
            sources = {"PYTHONPATH": str(ROOT / "src"), **(cache if cold else {})}
            ways = {"nothing compiled": sources, "compiled before": sources}
            if wheel is not None:
                ways = {"from the wheel": {"PYTHONPATH": str(site), **cache}, **ways}
            for way, environment in ways.items():
                with console.status(f"{name}, {way}"):
                    figures.setdefault(way, {})[name] = in_fresh_process(path, environment)
                if way == "from the wheel":
                    shutil.rmtree(cache["ASSENT_CACHE"], ignore_errors=True)
    columns = ("program", "import", "first", "second", "from process start", "busy", "compiling")
    for way, found in figures.items():
        if cold or way != "nothing compiled":
            rows = [(name, *map(tables.duration, seconds)) for name, seconds in found.items()]
            tables.show(console, f"Cold start, {way}", columns, rows)
    return figures


def in_fresh_process(path: Path, environment: dict[str, str]) -> list[float]:
    """Seconds of import, first and second answer, from the start, busy, compiling; or NaN."""
    command = [sys.executable, "-c", TIMED, str(time.time()), str(path)]
    done = subprocess.run(
        command, env={**os.environ, **environment}, cwd=path.parent, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        return [float("nan")] * 6
    return json.loads(done.stdout.splitlines()[-1])
