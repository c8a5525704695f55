"""One exact solver on one model, in a process of its own: ``python -m benchmarks.exact_worker``.

Libraries that carry the same code inside do not meet this way, a solver that overruns its time or
memory ends alone, and CPU time is its own.  Prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

import assent as at
from benchmarks.constrained import constrained
from benchmarks.cpu_clock import count_processor_time, processor_seconds
from benchmarks.exact_peers import LOAD, PEERS, Answer, Refused, value_of

OURS = "assent"
# Loading code is no part of solving: the model is decoded for a while first, and built again, as
# graphs remember what was found out about them.
WARM_UP = 2.0
# A process that works this many seconds beyond its limit is stopped by the system.
GRACE = 40


def build(name: str, data: str) -> at.FactorGraph:
    """The model with a name: ``uai/…``, ``instances/…`` or of a constrained family."""
    if name.startswith("uai/"):
        from benchmarks.uai import load_model

        return load_model(Path(data) / "uai", name.removeprefix("uai/"))
    if name.startswith("instances/"):
        from benchmarks.instances import load_graph

        return load_graph(Path(data) / f"{name}.npz")
    _, size, seed = name.rsplit("_", 2)
    found = dict(constrained((int(size),), (int(seed.removeprefix("s")),)))
    return found[name]()


def ours(graph: at.FactorGraph, limit: float) -> tuple[Answer, list[str]]:
    """`decode(exact=True)`, and whose word the proof rests on."""
    result = at.decode(graph, exact=True, time_limit=limit)
    x = result.certificate.assignment[graph.compile().free] if result.feasible else None
    proven = result.status is at.Status.OPTIMAL
    return Answer(x, result.bound, proven), list(result.certificate.trusted)


def run(name: str, solver: str, limit: float, data: str) -> dict[str, object]:
    """What came out, as JSON has it."""
    graph = build(name, data)
    graph.compile()
    trusted: list[str] = []
    if solver in (OURS, "HiGHS"):
        count_processor_time()
    try:
        if solver == OURS:
            at.decode(graph, exact=True, time_limit=WARM_UP)
            graph = build(name, data)
            graph.compile()
        else:
            LOAD[solver]()
            solve = PEERS[solver](graph)
        spent = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(spent + limit) + GRACE,) * 2)
        began = processor_seconds()
        if solver == OURS:
            answer, trusted = ours(graph, limit)
        else:
            answer = solve(limit)
    except Refused as why:
        return {"refused": str(why)}
    seconds = processor_seconds() - began
    value = value_of(graph, answer.assignment)
    return {
        "value": value if np.isfinite(value) else None,
        "bound": answer.bound if np.isfinite(answer.bound) else None,
        "proven": bool(answer.proven),
        "seconds": seconds,
        "trusted": trusted,
    }


if __name__ == "__main__":
    # What solvers print themselves goes elsewhere.
    answer_to = os.dup(1)
    os.dup2(2, 1)
    line = json.dumps(run(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]))
    os.write(answer_to, f"{line}\n".encode())
