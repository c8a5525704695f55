"""``assent info FILE``: the contents of a model file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assent.cli.model_arguments import FileCommand, bad_files_reported
from assent.cli.options import file_argument, json_option, plot_option

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from assent.io import Clauses, FgModel, UaiModel


@click.command(cls=FileCommand)
@file_argument
@json_option
@click.option("--presolve", is_flag=True, help="Tell how much of it presolving leaves.")
@plot_option("Draw the model, if it is small or a grid.")
def info(file: Path, as_json: bool, presolve: bool, plot: Path | None) -> None:
    """Describe FILE (.uai, .LG, .fg, .wcsp, .wcnf or .alist, also .gz or .xz)."""
    with bad_files_reported():
        facts = describe(file)
        if presolve:
            facts["presolved"] = _presolved(file)
        if plot is not None:
            from assent.io import load_graph

            load_graph(file).draw(path=plot)
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
    from assent.io import FormatError, read_alist, read_fg, read_wcnf
    from assent.io.load import FORMATS, READ_ONLY, RULES, format_of, read_tables

    suffix = format_of(file, (*FORMATS, *READ_ONLY, *RULES))
    if suffix in RULES:
        raise FormatError(file, "rules are described by `assent ground`")
    if suffix == ".alist":
        return _describe_code(read_alist(file))
    if suffix == ".wcnf":
        return _describe_clauses(read_wcnf(file))
    tables = read_tables(file)
    return _describe_fg(read_fg(file)) if tables is None else _describe_tables(*tables)


def _presolved(file: Path) -> str | list[str]:
    """What presolving leaves, in words; one sentence per graph."""
    from assent.io import load_models
    from assent.presolve import presolve

    told = [presolve(model.graph).summary() for model in load_models(file)]
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


def _describe_code(checks: csr_array) -> dict[str, Any]:
    import numpy as np

    return {
        "format": "parity-check matrix",
        "bits": checks.shape[1],
        "checks": checks.shape[0],
        "check_sizes": _counts(np.diff(checks.indptr).tolist(), "bit(s)"),
    }


def _describe_clauses(model: Clauses) -> dict[str, Any]:
    return {
        "format": "weighted clauses",
        "variables": model.n_variables,
        "hard_clauses": sum(weight == float("inf") for weight in model.weights),
        "soft_clauses": sum(weight < float("inf") for weight in model.weights),
        "clause_sizes": _counts([len(clause) for clause in model.clauses], "literal(s)"),
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
