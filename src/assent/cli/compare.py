"""``assent compare FILE``: several solvers on one model, side by side."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from assent.cli.model_arguments import EXISTING_FILE, WritableFile, bad_files_reported
from assent.cli.options import POSITIVE, evidence_option, seed_option
from assent.cli.solvers import SOLVERS


@click.command()
@click.argument("file", type=EXISTING_FILE)
@evidence_option
@click.option("--solvers", "names", help="Names as in `assent solvers`, with commas between.")
@click.option(
    "--time-limit",
    type=POSITIVE,
    default=10.0,
    show_default=True,
    help="Seconds for each solver.",
)
@seed_option
@click.option("--plot", type=WritableFile(), help="Draw bounds and values of all runs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
def compare(
    file: Path,
    evidence: Path | None,
    names: str | None,
    time_limit: float,
    seed: int,
    plot: Path | None,
    as_json: bool,
    markdown: bool,
) -> None:
    """Run several solvers on FILE and show what each found, proved and took."""
    if plot is not None and find_spec("matplotlib") is None:
        raise click.UsageError('--plot needs matplotlib: pip install "assent[plot]"')
    chosen = _chosen(names)
    with bad_files_reported():
        from assent.io import load_models

        models = load_models(file, evidence)
    if len(models) > 1:
        raise click.UsageError(f"compare takes one graph, and {file} holds {len(models)}")
    import assent

    solvers = None if chosen is None else {n: getattr(assent, SOLVERS[n])() for n in chosen}
    found = assent.compare(models[0].graph, solvers, time_limit=time_limit, seed=seed)
    click.echo(json.dumps(_described(found)) if as_json else found.table(markdown))
    if plot is not None:
        found.plot(plot, title=file.name)


def _chosen(names: str | None) -> list[str] | None:
    if names is None:
        return None
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in SOLVERS]
    if unknown or not chosen:
        raise click.UsageError(
            f"--solvers: no solver is called {', '.join(unknown) or repr(names)}; "
            f"there are {', '.join(SOLVERS)}"
        )
    return chosen


def _described(found: Any) -> dict[str, Any]:
    """What is infinite or missing is null."""
    return {
        "solvers": {
            name: {
                "status": result.status.name,
                "value": _finite(result.value),
                "bound": _finite(result.bound),
                "iterations": result.iterations,
                "calls": int(result.trace.calls[-1]) if len(result.trace) else 0,
                "seconds": result.seconds,
            }
            for name, result in found.results.items()
        },
        "refused": dict(found.refused),
    }


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
