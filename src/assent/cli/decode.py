"""``assent decode FILE``: the best assignment of a model, with its certificate."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

import assent.cli.options as shared
from assent.cli.model_arguments import FileCommand, WritableFile, bad_files_reported
from assent.cli.solvers import SOLVERS

if TYPE_CHECKING:
    from assent.io import FileModel
    from assent.logic.rules_file import RuleModel
    from assent.result import Result

EXIT_INFEASIBLE = 3
EXIT_NOTHING_FOUND = 4

# An assignment up to this long is printed in the summary; longer ones are for --output.
_SHOWN_VALUES = 64
_SHOWN_PAID = 5  # soft rules that cost most

# Seconds for a decode where reading has taken all there were.
_LEAST_TIME = 1e-3


@click.command(cls=FileCommand)
@shared.file_argument
@shared.evidence_option
@shared.data_option
@click.option(
    "--solver",
    type=click.Choice(list(SOLVERS), case_sensitive=False),
    default="auto",
    show_default=True,
    help="Which decoder; `assent solvers` lists them.",
)
@click.option("--exact", is_flag=True, help="Go on until the answer is proven optimal.")
@click.option(
    "--tolerance",
    type=shared.AMOUNT,
    default=1e-6,
    show_default=True,
    help="Proven optimal means: bound - value <= tolerance * (typical score + |bound|).",
)
@click.option(
    "--absolute",
    is_flag=True,
    help="The tolerance is in units of score: bound - value <= tolerance.",
)
@click.option("--max-iterations", type=shared.COUNT, help="Stop after this many.")
@click.option(
    "--time-limit",
    type=shared.POSITIVE,
    help="Use up to this many seconds, starting and reading included.",
)
@click.option(
    "--threads",
    type=shared.COUNT,
    default=1,
    show_default=True,
    help="Threads for a large problem, or for several graphs (AD3 only).",
)
@shared.seed_option
@click.option(
    "--output",
    type=WritableFile(),
    help="Write the assignment: its length, its values; a line per graph.",
)
@shared.json_option
@shared.plot_option("Draw the run of a single graph.")
@shared.quiet_option
def decode(**arguments: Any) -> None:
    """Find the best assignment of FILE: .uai, .LG, .fg, .wcsp, .wcnf, .alist or .rules.

    Names may end in .gz or .xz.
    A .fg file may hold several graphs: they are decoded together, the time limit is for all.
    """
    begun = click.get_current_context().find_object(float) or time.perf_counter()
    options = SimpleNamespace(**arguments)
    with bad_files_reported():
        from assent.io import load_models

        models = load_models(options.file, options.evidence, options.data)
    for option, given in (("--exact", options.exact), ("--plot", options.plot is not None)):
        if given and len(models) > 1:
            raise click.UsageError(
                f"{option} takes one graph, and {options.file} holds {len(models)} graphs"
            )
    if options.time_limit is not None:  # starting and reading count
        left = options.time_limit - (time.perf_counter() - begun)
        options.time_limit = max(left, _LEAST_TIME)
    results = _results(models, options)
    if options.as_json:
        described = list(map(describe, models, results))
        answer = described[0] if len(models) == 1 else {"results": described}
        click.echo(json.dumps(answer, allow_nan=False))
    elif not options.quiet:
        click.echo(_report(models, results))
    if options.output is not None:
        _write_assignments(models, results, options.output)
    if options.plot is not None:
        results[0].plot(options.plot)
    raise SystemExit(max(map(exit_code, results)))


def _results(models: list[FileModel], options: SimpleNamespace) -> Sequence[Result]:
    import assent

    limits: dict[str, Any] = {
        "time_limit": options.time_limit, "seed": options.seed, "progress": not options.quiet
    }  # fmt: skip
    try:
        solver = _solver(len(models), options)
        if len(models) == 1:
            return [assent.decode(models[0].graph, solver, exact=options.exact, **limits)]
        graphs = [model.graph for model in models]
        return assent.decode_many(graphs, solver=solver, threads=options.threads, **limits)
    except ValueError as error:  # a model or a number that the solver does not take
        raise click.UsageError(str(error)) from None


def _write_assignments(models: list[FileModel], results: Sequence[Result], output: Path) -> None:
    """A line per graph: length and values, or 0 where there is no answer; no file without any."""
    if not any(result.feasible for result in results):
        return
    lines = []
    for model, result in zip(models, results, strict=True):
        values = model.assignment(result).tolist() if result.feasible else []
        lines.append(" ".join(map(str, [len(values), *values])) + "\n")
    with bad_files_reported():
        from assent.io.line_streams import write_pieces

        write_pieces(output, lines)


def exit_code(result: Result) -> int:
    """0 if there is a feasible assignment, otherwise why there is none."""
    if result.feasible:
        return 0
    return EXIT_INFEASIBLE if result.status.name == "INFEASIBLE" else EXIT_NOTHING_FOUND


def describe(model: FileModel, result: Result) -> dict[str, Any]:
    """The result as a JSON object; infinite or missing numbers are null.

    ``assignment`` lists the values of the file's variables in its order.
    """
    values = model.assignment(result).tolist()
    atoms = {} if model.rules is None else {"atoms": model.rules.atoms(result)}
    return atoms | {
        "status": result.status.name,
        "message": result.message,
        "value": shared.finite(result.value),
        "bound": shared.finite(result.bound),
        "gap": shared.finite(result.gap),
        "relative_gap": shared.finite(result.certificate.relative_gap),
        "feasible": result.feasible,
        "plan": result.plan,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "compile_seconds": result.trace.compile_seconds,
        "assignment": values if result.feasible else None,
        "least_violating": None if result.feasible else values,
        "violated": list(result.violated),
        "conflict": list(result.certificate.conflict),
        "trusted": list(result.certificate.trusted),
    }


def _solver(graphs: int, options: SimpleNamespace) -> Any:
    """The solver's settings; Auto has no iterations and one thread, so AD3 takes its place."""
    import assent

    name, limit = options.solver, options.max_iterations
    counted = limit is not None or options.threads > 1 or graphs > 1
    if name == "auto" and counted and not options.exact:
        name = "ad3"
    tolerance = assent.AbsoluteGap(options.tolerance) if options.absolute else options.tolerance
    settings: dict[str, Any] = {"gap_tolerance": tolerance}
    if limit is not None:  # for a search, the number of nodes
        if name == "auto":
            raise click.UsageError(
                "--max-iterations is for a solver by name: with --exact, such as "
                "--solver branch-and-bound"
            )
        settings["max_nodes" if name == "branch-and-bound" else "max_iterations"] = limit
    if options.threads > 1:
        if name != "ad3":
            raise click.UsageError(f"--threads is for --solver ad3; {name} runs on one")
        settings["threads"] = options.threads
    return getattr(assent, SOLVERS[name])(**settings)


def _report(models: list[FileModel], results: Sequence[Result]) -> str:
    """A summary of each graph, under its number where there are several."""
    parts = list(map(_summary, models, results))
    if len(parts) == 1:
        return parts[0]
    return "\n\n".join(
        f"graph {number} of {len(parts)}\n{part}" for number, part in enumerate(parts, start=1)
    )


def _summary(model: FileModel, result: Result) -> str:
    lines = [f"{result.status.name}: {result.message}"]
    if result.feasible:
        lines.append(
            f"value {result.value:.9g} <= optimum <= bound {result.bound:.9g}, gap {result.gap:.3g}"
        )
    elif math.isfinite(result.bound):
        lines.append(f"no feasible assignment found; none scores above {result.bound:.9g}")
    lines += [f"trusting {name}: not rechecked here" for name in result.certificate.trusted]
    conflict = result.certificate.conflict
    lines += [f"involved: {words}" for words in conflict[:_SHOWN_VALUES]]
    if len(conflict) > _SHOWN_VALUES:
        lines.append(f"involved: {len(conflict) - _SHOWN_VALUES} more; --json lists all")
    lines += [f"violated: {words}" for words in result.violated[:10]]
    if result.trace.compile_seconds:
        lines.append(f"compiled kernels for {result.trace.compile_seconds:.3g} seconds")
    lines.append(f"{result.iterations} iterations, {result.seconds:.3g} seconds")
    values = model.assignment(result).tolist() if result.feasible else []
    if model.rules is not None:
        return "\n".join([*lines, *_rules_summary(model.rules, result)])
    if 0 < len(values) <= _SHOWN_VALUES:
        lines.append("assignment " + " ".join(map(str, values)))
    return "\n".join(lines)


def _rules_summary(model: RuleModel, result: Result) -> list[str]:
    """The atoms that hold, and the soft rules with the largest costs."""
    lines = []
    for name, found in model.atoms(result).items() if result.feasible else ():
        shown = [f"({', '.join(map(str, row))})" for row in found[:_SHOWN_VALUES]]
        more = f" … {len(found)} in all" if len(found) > _SHOWN_VALUES else ""
        lines.append(f"{name} {' '.join(shown) or 'nowhere'}{more}")
    paid = model.rules.explain(result).paid
    lines += [f"paid {finding.amount:.4g}: {finding}" for finding in paid[:_SHOWN_PAID]]
    return lines
