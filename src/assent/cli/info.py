"""``assent info FILE``: the contents of a model file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assent.cli.model_arguments import bad_files_reported
from assent.cli.options import file_argument, json_option

if TYPE_CHECKING:
    from assent.io import FgModel, UaiModel


@click.command()
@file_argument
@json_option
@click.option("--presolve", is_flag=True, help="Tell how much of it presolving leaves.")
def info(file: Path, as_json: bool, presolve: bool) -> None:
    """Describe FILE (.uai, .LG, .fg or .wcsp, also .gz or .xz)."""
    with bad_files_reported():
        facts = describe(file)
        if presolve:
            facts["presolved"] = _presolved(file)
    if as_json:
        click.echo(json.dumps(facts))
        return
    width = max(map(len, facts)) + 2
    for key, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{count} of {what}" for what, count in value.items()) or "none"
        if isinstance(value, list):
            value = "; ".join(value)
        click.echo(f"{key.replace('_', ' '):{width}}{value}")


def describe(file: Path) -> dict[str, Any]:
    """Facts about a model file."""
    from assent.io import FormatError, read_fg
    from assent.io.load import FORMATS, READ_ONLY, RULES, format_of, read_tables

    if format_of(file, (*FORMATS, *READ_ONLY, *RULES)) in RULES:
        raise FormatError(file, "rules are described by `assent ground`")
    tables = read_tables(file)
    return _describe_fg(read_fg(file)) if tables is None else _describe_tables(*tables)


def _presolved(file: Path) -> str | list[str]:
    """What presolving leaves, in words; one sentence per graph."""
    from assent.io import load_models
    from assent.presolve import presolve

    told = [presolve(model.graph).told() for model in load_models(file)]
    return told[0] if len(told) == 1 else told


def _describe_tables(name: str, model: UaiModel) -> dict[str, Any]:
    import numpy as np

    return {
        "format": name,
        "variables": model.n_variables,
        "states": _counts(model.cardinalities.tolist(), "state(s)"),
        "factors": model.n_factors,
        "factor_sizes": _counts(np.diff(model.scope_start).tolist(), "variable(s)"),
        "table_entries": len(model.log_tables),
        "zeros": int(np.isneginf(model.log_tables).sum()),
    }


def _describe_fg(models: list[FgModel]) -> dict[str, Any]:
    from assent.io.fg import TYPES

    types = Counter(TYPES[code] for model in models for code in model.types.tolist())
    return {
        "format": "AD3 factor graph",
        "graphs": len(models),
        "variables": sum(model.n_variables for model in models),
        "factors": sum(model.n_factors for model in models),
        "factor_types": dict(types),
        "links": sum(len(model.literals) for model in models),
    }


def _counts(numbers: list[int], unit: str) -> dict[str, int]:
    return {f"{number} {unit}": count for number, count in sorted(Counter(numbers).items())}
