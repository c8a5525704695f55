"""The kernels are ordinary Python as well: a small run with the compiler switched off."""

from __future__ import annotations

import os
import subprocess
import sys

SMALL_RUN = """
import numpy as np
from assent.kernels.core.propagate import fix, propagate
from assent.kernels.rounding.round_marginals import round_marginals
from tests.oracles.enumeration import naive_value, violated_factors
from tests.oracles.random_problems import LOGIC, random_problem, random_scores

assert not hasattr(propagate, "py_func"), "the compiler is still on"
for seed in range(20):
    rng = np.random.default_rng(seed)
    tables = seed % 4
    problem = random_problem(rng, complements=seed % 2 == 0, kinds=LOGIC, tables=tables)
    scores = random_scores(rng, problem, scale=1.0)
    fix(problem, np.full(problem.n, -1, np.int8))
    rounded = round_marginals(problem, scores, rng.random(problem.n), thorough=True)
    broken = violated_factors(problem, rounded.x)
    assert rounded.violated == len(broken)
    if not broken:
        assert abs(rounded.value - naive_value(problem, scores, rounded.x)) < 1e-9
"""


def test_kernels_run_without_the_compiler():
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", SMALL_RUN],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
