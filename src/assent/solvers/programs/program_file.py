"""Linear and integer programs as files that any solver reads."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from assent.arguments import shown
from assent.compile.compiled import Compiled, graph_scores
from assent.errors import ModelError
from assent.model.graph import FactorGraph
from assent.solvers.programs.compact_lp import build_lp
from assent.solvers.programs.highs import import_highspy, load_highs

SUFFIXES = (".lp", ".mps")
# Names of columns stay readable and within what every reader of the formats takes.
LONGEST_NAME = 200


def write_program(graph: FactorGraph, path: str | Path, *, integer: bool) -> None:
    """Write a graph's relaxation, or its integer program, to an ``.lp`` or ``.mps`` file."""
    if not isinstance(graph, FactorGraph):
        raise TypeError(f"a program is written of a FactorGraph, got {type(graph).__name__}")
    if not isinstance(path, (str, Path)):
        raise TypeError(f"the name of a program is a path, got {shown(path)}")
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise ValueError(f"the name of a program ends in .lp or .mps, got {path.name!r}")
    compiled = graph.compile()
    if compiled.conflict is not None:
        raise ModelError("nothing to write: the constraints contradict each other")
    scores = compiled.flat_scores(graph_scores(graph))
    lp = build_lp(compiled.problem, scores, integer)
    if lp.rows.priced:
        from_end = lp.rows.priced[0].table - len(compiled.problem.tables.kind)
        kind = compiled.problem.models[from_end].structure.kind  # structures come last
        raise ModelError(
            f"{kind} has no rows of its own: its columns are generated while solving, and "
            "cannot be written to a file"
        )
    n = compiled.problem.n
    integral = np.append(np.full(n, integer), integer & lp.rows.integral)
    highs = load_highs(lp, {}, integral if integer else None)
    highspy = import_highspy()
    columns = np.arange(len(lp.cost), dtype=np.int32)
    highs.changeColsCost(len(columns), columns, -lp.scale * lp.cost)
    highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
    highs.changeObjectiveOffset(lp.offset)
    for column, name in enumerate(column_names(compiled)):
        highs.passColName(column, name)
    if highs.writeModel(str(path)) == highspy.HighsStatus.kError:
        raise OSError(f"HiGHS could not write {path}")


def column_names(compiled: Compiled) -> list[str]:
    """One name per free coordinate, made of letters, digits, ``_`` and ``.``; all different."""
    taken: set[str] = set()
    names = []
    for v, code in enumerate(compiled.free):
        words = compiled.graph.describe_code(int(code))
        name = re.sub(r"[^A-Za-z0-9_.]+", "_", words).strip("_.")[:LONGEST_NAME]
        # An e followed by a digit would read as a number's exponent.
        if not name or name in taken or re.match(r"[0-9.]|[eE]\d", name):
            name = f"x_{v}_{name}"
        taken.add(name)
        names.append(name)
    return names
