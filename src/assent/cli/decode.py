"""``assent decode FILE``: the best assignment of a model, with its certificate."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assent.cli.files import EXISTING_FILE, WritableFile, bad_files_reported

if TYPE_CHECKING:
    from assent.graph import FactorGraph
    from assent.result import Result

EXIT_INFEASIBLE = 3
EXIT_NOTHING_FOUND = 4

# An assignment up to this long is printed in the summary; longer ones are for --output.
_SHOWN_VALUES = 64

_positive = click.FloatRange(min=0, min_open=True)


@click.command()
@click.argument("file", type=EXISTING_FILE)
@click.option("--evidence", type=EXISTING_FILE, help="Observed states, for a .uai model.")
@click.option("--solver", type=click.Choice(["ad3", "lp"]), default="ad3", show_default=True,
              help="AD3, or the linear program through HiGHS.")
@click.option("--tolerance", type=click.FloatRange(min=0), default=1e-6, show_default=True,
              help="Proven optimal means: bound - value <= tolerance * (1 + |bound|).")
@click.option("--max-iterations", type=click.IntRange(min=1), help="Stop after this many.")
@click.option("--time-limit", type=_positive, help="Stop after this many seconds.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
              help="For the randomized part of rounding.")
@click.option("--output", type=WritableFile(), help="Write the assignment: its length, its values.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--plot", type=WritableFile(), help="Draw the run into a picture file.")
@click.option("--quiet", is_flag=True, help="No progress, no summary.")
def decode(
    file: Path, evidence: Path | None, solver: str, tolerance: float, max_iterations: int | None,
    time_limit: float | None, seed: int, output: Path | None, as_json: bool, plot: Path | None,
    quiet: bool,
) -> None:
    """Find the best assignment of FILE (.uai or .fg, also .gz or .xz)."""
    if plot is not None and find_spec("matplotlib") is None:
        raise click.UsageError('--plot needs matplotlib: pip install "assent[plot]"')
    with bad_files_reported():
        from assent.io import load_graph

        graph = load_graph(file, evidence)
    import assent

    result = assent.decode(
        graph,
        _solver(solver, tolerance, max_iterations),
        time_limit=time_limit,
        seed=seed,
        progress=not quiet,
    )
    if as_json:
        click.echo(json.dumps(describe(graph, result), allow_nan=False))
    elif not quiet:
        click.echo(_summary(graph, result))
    if output is not None and result.feasible:
        values = _assignment(graph, result)
        output.write_text(" ".join(map(str, [len(values), *values])) + "\n")
    if plot is not None:
        result.plot(plot)
    raise SystemExit(exit_code(result))


def exit_code(result: Result) -> int:
    """0 if there is an answer, otherwise why there is none."""
    if result.feasible:
        return 0
    return EXIT_INFEASIBLE if result.status.name == "INFEASIBLE" else EXIT_NOTHING_FOUND


def describe(graph: FactorGraph, result: Result) -> dict[str, Any]:
    """The result as a JSON object; what is infinite or missing is null.

    ``assignment`` lists the values of the file's variables in its order.
    """
    return {
        "status": result.status.name,
        "message": result.message,
        "value": _finite(result.value),
        "bound": _finite(result.bound),
        "gap": _finite(result.gap),
        "relative_gap": _finite(result.certificate.relative_gap),
        "feasible": result.feasible,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "assignment": _assignment(graph, result) if result.feasible else None,
        "least_violating": None if result.feasible else _assignment(graph, result),
        "violated": list(result.violated),
        "conflict": list(result.certificate.conflict),
    }


def _solver(name: str, tolerance: float, max_iterations: int | None) -> Any:
    import assent

    settings: dict[str, Any] = {"gap_tolerance": tolerance}
    if max_iterations is not None:
        settings["max_iterations"] = max_iterations
    return assent.AD3(**settings) if name == "ad3" else assent.LinearProgram(**settings)


def _assignment(graph: FactorGraph, result: Result) -> list[int]:
    arrays = (result.least_violating[variable.symbol] for variable in graph.variables)
    return [int(value) for array in arrays for value in array.ravel()]


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def _summary(graph: FactorGraph, result: Result) -> str:
    lines = [f"{result.status.name}: {result.message}"]
    if result.feasible:
        lines.append(f"value {result.value:.9g} <= optimum <= bound {result.bound:.9g}, "
                     f"gap {result.gap:.3g}")
    elif math.isfinite(result.bound):
        lines.append(f"no feasible assignment found; none scores above {result.bound:.9g}")
    lines += [f"involved: {words}" for words in result.certificate.conflict]
    lines += [f"violated: {words}" for words in result.violated[:10]]
    lines.append(f"{result.iterations} iterations, {result.seconds:.3g} seconds")
    values = _assignment(graph, result) if result.feasible else []
    if 0 < len(values) <= _SHOWN_VALUES:
        lines.append("assignment " + " ".join(map(str, values)))
    return "\n".join(lines)
