"""``assent ground FILE``: what a file of rules becomes."""

from __future__ import annotations

import json
from pathlib import Path

import click

from assent.cli.model_arguments import (
    EXISTING_FILE,
    EXISTING_FOLDER,
    WritableFile,
    bad_files_reported,
)


@click.command()
@click.argument("file", type=EXISTING_FILE)
@click.option(
    "--data", type=EXISTING_FOLDER, help="Folder of the data files; by default the one FILE is in."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10_000_000,
    show_default=True,
    help="Bindings beyond which a rule is refused.",
)
@click.option("--output", type=WritableFile(), help="Write the graph (.fg).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def ground(file: Path, data: Path | None, limit: int, output: Path | None, as_json: bool) -> None:
    """Ground the rules of FILE and say which became how many factors and variables."""
    with bad_files_reported():
        from assent.io import save_graph
        from assent.logic.rules_file import load_rules

        model = load_rules(file, data, limit=limit)
        if output is not None:
            save_graph(model.graph, output)
    report = model.rules.report()
    if as_json:
        rules = [
            {
                "rule": rule.name,
                "weight": rule.weight,
                "bindings": rule.bindings,
                "factors": rule.factors,
                "auxiliaries": rule.auxiliaries,
                "merged": rule.merged,
            }
            for rule in report.rules
        ]
        click.echo(json.dumps({"variables": model.graph.size, "rules": rules}))
        return
    unknown = sum(v.scores.size for v in model.graph.variables) - report.auxiliaries
    click.echo(f"{unknown} unknowns, {report.auxiliaries} auxiliary variables, "
               f"{report.factors} factors\n\n{report}")  # fmt: skip
