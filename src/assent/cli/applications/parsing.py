"""``assent parse``, and ``parser``, ``parses`` and ``parse`` of the groups."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import assent.cli.applications.consistent as consistent
import assent.cli.applications.sentence_arguments as shared
from assent.cli.applications.groups import evaluate, show, train
from assent.cli.model_arguments import EXISTING_FILE, FileCommand, WritableFile
from assent.cli.options import COUNT, POSITIVE, json_option, quiet_option, training_seed_option

if TYPE_CHECKING:
    from assent.apps.parsing.model import Parse
    from assent.io import Sentence

# A page with more pictures is slow to open.
_MOST_SHOWN = 200


@click.command(cls=FileCommand)
@shared.input_argument
@shared.model_option
@shared.output_option
@click.option("--exact", is_flag=True, help="Go on until every tree is proven optimal.")
@click.option(
    "--time-limit", type=POSITIVE,
    help="With --exact: seconds for the proof of each sentence; then the best tree so far is "
    "taken, and its gap is told.",
)  # fmt: skip
@click.option("--keep-tags", is_flag=True, help="Take the tags that are in IN.")
@shared.lines_option
@consistent.consistent_options(has_heads=True)
@quiet_option
def parse(
    source: Path,
    model: Path | None,
    output: Path | None,
    exact: bool,
    time_limit: float | None,
    keep_tags: bool,
    by_line: bool,
    quiet: bool,
    whole: consistent.WholeText | None,
) -> None:
    """Parse the sentences of IN: CoNLL-U, raw text, or - for standard input.

    Words are tagged first. Everything but tags, heads and labels stays as it is. Without --output,
    CoNLL-U goes to standard output, or trees are shown at a terminal. With --consistent the whole
    file is tagged as one problem, in which occurrences of a rare word tend to agree; with a parser
    of arcs alone (preset basic) it is then parsed as one problem, too, in which words in the same
    context tend to have heads of the same tag.
    """
    if time_limit is not None and not exact:
        raise click.UsageError("--time-limit goes with --exact")
    proof: dict[str, Any] = {"exact": exact, "time_limit": time_limit}
    if exact and not quiet:
        proof["report"] = UnprovenTold(time_limit)
    with shared.bad_sentences_reported():
        from assent.apps.parsing.pipeline import Pipeline
        from assent.apps.pretrained import english_model

        pipeline = Pipeline.load(model or english_model())
        if whole is not None:
            text = consistent.whole_text(source, by_line)
            found = whole.parse(pipeline, text, keep_tags, **proof)
        else:
            sentences = shared.read_sentences(source, by_line)
            found = pipeline.parse(sentences, keep_tags=keep_tags, **proof)
        shared.deliver(found, output, _print, "parsing", quiet)


class UnprovenTold:
    """Tells on standard error which of the trees that it is given are not proven best."""

    def __init__(self, time_limit: float | None) -> None:
        self.within = "" if time_limit is None else f" within {time_limit:g} s"
        self.number = 0

    def __call__(self, parse: Parse) -> None:
        self.number += 1
        if not parse.proven:
            click.echo(
                f"sentence {self.number}: not proven{self.within}, value {parse.value:.6g} <= "
                f"optimum <= bound {parse.bound:.6g}, gap {parse.bound - parse.value:.3g}",
                err=True,
            )


@train.command("parser")
@shared.train_option
@click.option("--dev", type=EXISTING_FILE, help="CoNLL-U to report scores on.")
@shared.new_model_option
@click.option(
    "--preset", type=click.Choice(["basic", "standard", "full"]), default="full", show_default=True,
    help="Which parts score a tree: arcs, with siblings and grandparents, or all.",
)  # fmt: skip
@click.option(
    "--passes", type=COUNT, default=6, show_default=True,
    help="Through the training sentences.",
)  # fmt: skip
@shared.runs_option
@click.option(
    "--checkpoint", type=WritableFile(),
    help="Written after every pass; a training that was stopped goes on from it.",
)  # fmt: skip
@training_seed_option
@quiet_option
def train_a_parser(
    train_file: Path, dev: Path | None, output: Path, quiet: bool, **options: Any
) -> None:
    """Learn a tagger and a parser; both are in the model file."""
    with shared.bad_sentences_reported():
        from assent.apps.parsing.metrics import parse_scores
        from assent.apps.parsing.pipeline import train_pipeline
        from assent.io import read_conllu

        sentences = list(read_conllu(train_file))
        pipeline = train_pipeline(sentences, **options, progress=not quiet)
        pipeline.save(output)
        if quiet:
            return
        click.echo(f"{output}: {output.stat().st_size:,} bytes")
        if dev is not None:
            gold = list(read_conllu(dev))
            click.echo(f"development: {parse_scores(gold, pipeline.parse(gold))}")


@evaluate.command("parses")
@click.argument("gold", type=shared.INPUT)
@click.argument("system", type=shared.INPUT)
@json_option
def evaluate_parses(gold: Path, system: Path, as_json: bool) -> None:
    """UAS, LAS and tags of SYSTEM as CoNLL 2018 defines them, with and without punctuation.

    Both files are CoNLL-U with the same words; subtypes of labels do not count.
    """
    with shared.bad_sentences_reported():
        from assent.apps.parsing.metrics import parse_scores
        from assent.io import read_conllu

        scores = parse_scores(read_conllu(gold), read_conllu(system))
        shared.refuse_nothing(gold, scores.words)
    click.echo(json.dumps(scores.as_json()) if as_json else str(scores))


@show.command("parse")
@click.argument("source", metavar="IN", type=shared.INPUT)
@click.option(
    "--output", type=WritableFile(),
    help="A picture (.svg, of one sentence) or a page of all (.html).",
)  # fmt: skip
@click.option("--sentence", "number", type=COUNT, help="Only this one, counted from 1.")
def show_parse(source: Path, output: Path | None, number: int | None) -> None:
    """Show the parses in a CoNLL-U file."""
    suffix = "" if output is None else output.suffix.lower()
    if suffix not in ("", ".svg", ".html"):
        raise click.UsageError(f"--output takes a name that ends in .svg or .html, not {output}")
    with shared.bad_sentences_reported():
        from assent.apps.parsing.view import parse_html, parse_svg
        from assent.io import read_conllu
        from assent.io.line_streams import write_pieces

        first = 0 if number is None else number - 1
        last = first + (1 if number is not None or suffix == ".svg" else _MOST_SHOWN)
        sentences = list(islice(read_conllu(source), first, last))
        if not sentences:
            raise click.UsageError(f"{source} has no sentence {first + 1}")
        if output is None:
            _print(sentences)
        else:
            page = parse_svg(sentences[0]) if suffix == ".svg" else parse_html(sentences)
            write_pieces(output, [page])


def _print(sentences: Iterable[Sentence]) -> None:
    from rich.console import Console

    from assent.apps.parsing import view

    console = Console(highlight=False)
    for sentence in sentences:
        console.print(view.show_parse(sentence))
