"""``assent solvers``: the solvers and what they are for."""

from __future__ import annotations

from dataclasses import fields

import click

from assent.cli.options import markdown_option
from assent.text_table import format_table

# The name of each solver on the command line, and in the library.
SOLVERS = {
    "ad3": "AD3",
    "auto": "Auto",
    "lp": "LinearProgram",
    "ip": "IntegerProgram",
    "branch-and-bound": "BranchAndBound",
    "tightened": "Tightened",
    "branch-and-cut": "BranchAndCut",
    "roof-duality": "RoofDuality",
    "depth-first": "DepthFirst",
    "elimination": "Elimination",
    "subgradient": "Subgradient",
    "mplp": "MPLP",
    "star-diffusion": "StarDiffusion",
    "trws": "TRWS",
    "max-product": "MaxProduct",
    "accelerated": "Accelerated",
    "box-subgradient": "BoxSubgradient",
    "box-mplp": "BoxMPLP",
}


@click.command()
@markdown_option
def solvers(markdown: bool) -> None:
    """List the solvers, what each does and its settings."""
    import assent

    rows = []
    for option, name in SOLVERS.items():
        settings = getattr(assent, name)
        headline = " ".join((settings.__doc__ or "").split("\n\n")[0].split()).rstrip(".")
        rows.append((option, name, headline, ", ".join(item.name for item in fields(settings))))
    click.echo(format_table(("--solver", "solver", "does", "settings"), rows, markdown))
