"""``assent ground FILE``: the grounding of a file of rules."""

from __future__ import annotations

import json
from pathlib import Path

import click

from assent.cli.model_arguments import FileCommand, WritableFile, bad_files_reported
from assent.cli.options import COUNT, data_option, file_argument, json_option


@click.command(cls=FileCommand)
@file_argument
@data_option
@click.option(
    "--limit",
    type=COUNT,
    default=10_000_000,
    show_default=True,
    help="Bindings beyond which a rule is refused.",
)
@click.option("--output", type=WritableFile(), help="Write the graph (.fg).")
@json_option
def ground(file: Path, data: Path | None, limit: int, output: Path | None, as_json: bool) -> None:
    """Ground the rules of FILE and list the number of factors and variables of each."""
    with bad_files_reported():
        from assent.io import save_graph
        from assent.logic.rules_file import load_rules

        model = load_rules(file, data, limit=limit)
        if output is not None:
            save_graph(model.graph, output)
    report = model.rules.report()
    if as_json:
        columns = ("weight", "bindings", "factors", "auxiliaries", "merged")
        rules = [
            {"rule": rule.name} | {column: getattr(rule, column) for column in columns}
            for rule in report.rules
        ]
        click.echo(json.dumps({"variables": model.graph.size, "rules": rules}))
        return
    unknown = sum(v.scores.size for v in model.graph.variables) - report.auxiliaries
    click.echo(f"{unknown} unknowns, {report.auxiliaries} auxiliary variables, "
               f"{report.factors} factors\n\n{report}")  # fmt: skip
