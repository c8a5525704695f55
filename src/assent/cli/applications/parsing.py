"""``parses`` and ``parse`` of the groups."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import click

from assent.cli.applications.groups import evaluate, show
from assent.cli.applications.sentence_arguments import INPUT, bad_sentences_reported
from assent.cli.model_arguments import WritableFile
from assent.cli.options import json_option

# A page with more pictures is slow to open.
_MOST_SHOWN = 200


@evaluate.command("parses")
@click.argument("gold", type=INPUT)
@click.argument("system", type=INPUT)
@json_option
def evaluate_parses(gold: Path, system: Path, as_json: bool) -> None:
    """UAS, LAS and tags of SYSTEM as CoNLL 2018 defines them, with and without punctuation.

    Both files are CoNLL-U with the same words; subtypes of labels do not count.
    """
    with bad_sentences_reported():
        from assent.apps.parsing.metrics import parse_scores
        from assent.io import read_conllu

        scores = parse_scores(read_conllu(gold), read_conllu(system))
    click.echo(json.dumps(scores.as_json()) if as_json else str(scores))


@show.command("parse")
@click.argument("source", metavar="IN", type=INPUT)
@click.option(
    "--output", type=WritableFile(),
    help="A picture (.svg, of one sentence) or a page of all (.html).",
)  # fmt: skip
@click.option(
    "--sentence", "number", type=click.IntRange(min=1), help="Only this one, counted from 1."
)
def show_parse(source: Path, output: Path | None, number: int | None) -> None:
    """Show the parses in a CoNLL-U file."""
    suffix = "" if output is None else output.suffix.lower()
    if suffix not in ("", ".svg", ".html"):
        raise click.UsageError(f"--output takes a name that ends in .svg or .html, not {output}")
    with bad_sentences_reported():
        from assent.apps.parsing.view import parse_html, parse_svg
        from assent.io import read_conllu

        first = 0 if number is None else number - 1
        last = first + (1 if number is not None or suffix == ".svg" else _MOST_SHOWN)
        sentences = list(islice(read_conllu(source), first, last))
        if not sentences:
            raise click.UsageError(f"{source} has no sentence {first + 1}")
        if output is None:
            _print(sentences)
        else:
            page = parse_svg(sentences[0]) if suffix == ".svg" else parse_html(sentences)
            output.write_text(page, encoding="utf-8")


def _print(sentences: list) -> None:
    from rich.console import Console

    from assent.apps.parsing import view

    console = Console(highlight=False)
    for sentence in sentences:
        console.print(view.show_parse(sentence))
