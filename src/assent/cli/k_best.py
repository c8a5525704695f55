"""``assent k-best FILE K``: the best answers in order."""

from __future__ import annotations

import json
from pathlib import Path

import click

import assent.cli.options as shared
from assent.cli.decode import EXIT_INFEASIBLE, describe, exit_code


@click.command("k-best")
@shared.file_argument
@click.argument("k", type=shared.COUNT)
@shared.evidence_option
@click.option("--time-limit", type=shared.POSITIVE, help="Stop after this many seconds in all.")
@shared.json_option
def k_best(
    file: Path, k: int, evidence: Path | None, time_limit: float | None, as_json: bool
) -> None:
    """Find the K best assignments of FILE, best first.

    A line per answer: its value and the values of the file's variables.
    """
    model = shared.load_single(file, evidence, "k-best")
    import assent

    try:
        results = assent.k_best(model.graph, k, time_limit=time_limit)
    except ValueError as error:  # a model or a number that it does not take
        raise click.UsageError(str(error)) from None
    if as_json:
        answers = [describe(model, result) for result in results]
        click.echo(json.dumps({"answers": answers}, allow_nan=False))
    else:
        for number, result in enumerate(results, start=1):
            values = model.assignment(result).tolist() if result.feasible else ["no answer"]
            note = "" if result.status.name == "OPTIMAL" else f"  ({result.status.name})"
            click.echo(f"{number}  {result.value:.9g}  {' '.join(map(str, values))}{note}")
        if not results:
            click.echo(f"no answer: `assent decode {file}` says what clashes", err=True)
    raise SystemExit(exit_code(results[0]) if results else EXIT_INFEASIBLE)
