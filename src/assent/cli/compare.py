"""``assent compare FILE``: several solvers on one model, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

import assent.cli.options as shared
from assent.cli.model_arguments import FileCommand
from assent.cli.solvers import SOLVERS

_FILE = "file"


class FileByDefault(click.Group):
    """A group whose first argument may be a file: what names no command goes to that of files."""

    command_class = FileCommand

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the command of files first, unless another is named."""
        named = bool(args) and args[0] in self.commands
        return super().parse_args(ctx, args if named else [_FILE, *args])


@click.group(cls=FileByDefault)
def compare() -> None:
    """Run several solvers on a model, or on a text as a whole."""


@compare.command(_FILE)
@shared.file_argument
@shared.evidence_option
@click.option("--solvers", "names", help="Names as in `assent solvers`, with commas between.")
@click.option(
    "--time-limit",
    type=shared.POSITIVE,
    default=10.0,
    show_default=True,
    help="Seconds for each solver.",
)
@shared.seed_option
@shared.plot_option("Draw bounds and values of all runs.")
@shared.json_option
@shared.markdown_option
def compare_on_file(
    file: Path,
    evidence: Path | None,
    names: str | None,
    time_limit: float,
    seed: int,
    plot: Path | None,
    as_json: bool,
    markdown: bool,
) -> None:
    """Run several solvers on FILE and show the value, bound and time of each.

    `assent compare corpus` does it on the sentences of a text that is tagged as a whole.
    """
    chosen = _chosen(names)
    model = shared.load_single(file, evidence, "compare")
    import assent

    solvers = None if chosen is None else {n: getattr(assent, SOLVERS[n])() for n in chosen}
    found = assent.compare(model.graph, solvers, time_limit=time_limit, seed=seed)
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
    """The comparison as a JSON object."""
    return {
        "solvers": {
            name: {
                "status": result.status.name,
                "value": shared.finite(result.value),
                "bound": shared.finite(result.bound),
                "iterations": result.iterations,
                "calls": int(result.trace.calls[-1]) if len(result.trace) else 0,
                "seconds": result.seconds,
            }
            for name, result in found.results.items()
        },
        "refused": dict(found.refused),
    }
