"""What a fresh process pays before its first answer: import, first decode, second decode."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from rich.console import Console

from benchmarks import tables

SCRIPT = """
import json, time
begun = time.perf_counter()
import assent as at
imported = time.perf_counter()
def answer():
    g = at.FactorGraph()
    x = g.binary(4, scores=[1.0, -0.5, 0.3, 0.2])
    g.add(at.Pair(x[:-1], x[1:], scores=[1.0, -2.0, 0.5]))
    g.add(at.AtMost(2, x))
    begun = time.perf_counter()
    at.decode(g)
    return time.perf_counter() - begun
print(json.dumps([imported - begun, answer(), answer()]))
"""


def run(console: Console) -> list[list[float]]:
    """Twice with the same cache folder: empty at first, filled the second time."""
    rows, figures = [], []
    with tempfile.TemporaryDirectory() as cache:
        for name in ("empty cache: kernels are compiled", "filled cache: kernels are loaded"):
            with console.status(f"cold start, {name}"):
                seconds = in_fresh_process(cache)
            figures.append(seconds)
            rows.append((name, *map(tables.duration, seconds)))
    columns = ("fresh process", "import", "first decode", "second decode")
    tables.show(console, "Cold start", columns, rows)
    return figures


def in_fresh_process(cache: str) -> list[float]:
    """Seconds of import, first and second decode; NaN if the process fails."""
    env = {**os.environ, "ASSENT_CACHE": cache}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        return [float("nan")] * 3
    return json.loads(done.stdout)
