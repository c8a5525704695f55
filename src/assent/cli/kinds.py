"""``assent kinds``: the kinds of factors, from their registry."""

from __future__ import annotations

import click

from assent.cli.tables import format_table


@click.command()
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
def kinds(markdown: bool) -> None:
    """List the kinds of factors: what each says and which questions it answers."""
    from assent.factors import KINDS

    rows = [
        (
            kind.__name__,
            _first_sentence(kind),
            kind.formula,
            kind.paper_name,
            ", ".join(kind.abilities),
        )
        for kind in KINDS
    ]
    header = ("kind", "says", "formula", "papers", "questions")
    click.echo(format_table(header, rows, markdown))


def _first_sentence(kind: type) -> str:
    """What a kind says: the headline of its docstring, without quotes and the papers' name."""
    headline = " ".join((kind.__doc__ or "").split("\n\n")[0].split())
    return headline.split(" (")[0].rstrip(".").replace("``", "")
