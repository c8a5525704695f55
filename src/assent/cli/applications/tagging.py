"""``assent tag``, and ``tagger`` and ``tags`` of the groups."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

import assent.cli.applications.consistent as consistent
import assent.cli.applications.sentence_arguments as shared
from assent.cli.applications.groups import evaluate, train
from assent.cli.model_arguments import EXISTING_FILE, FileCommand
from assent.cli.options import COUNT, json_option, quiet_option, training_seed_option

if TYPE_CHECKING:
    from assent.io import Sentence


@click.command(cls=FileCommand)
@shared.input_argument
@shared.model_option
@shared.output_option
@shared.lines_option
@consistent.consistent_options(has_heads=False)
@quiet_option
def tag(
    source: Path,
    model: Path | None,
    output: Path | None,
    by_line: bool,
    quiet: bool,
    whole: consistent.WholeText | None,
) -> None:
    """Tag the words of IN: CoNLL-U, raw text, or - for standard input.

    Everything but the tags stays as it is. Without --output, CoNLL-U goes to standard output, or
    words and tags are shown at a terminal. With --consistent the whole file is tagged as one
    problem, in which occurrences of a rare word tend to agree.
    """
    with shared.bad_sentences_reported():
        from assent.apps.pretrained import english_model
        from assent.apps.tagging import Tagger

        tagger = Tagger.load(model or english_model())
        if whole is not None:
            sentences = whole.tag(tagger, consistent.whole_text(source, by_line))
        else:
            sentences = tagger.tag(shared.read_sentences(source, by_line))
        shared.deliver(sentences, output, _show, "tagging", quiet)


def _show(sentences: Iterable[Sentence]) -> None:
    from rich.console import Console

    from assent.apps.tagging import show_tags

    console = Console(highlight=False)
    for sentence in sentences:
        console.print(show_tags(sentence.words, sentence.upos, console.width))
        console.print()


@train.command("tagger")
@shared.train_option
@shared.dev_option
@shared.new_model_option
@click.option(
    "--columns", default="upos,xpos", show_default=True,
    help="What it predicts, together: of upos, xpos and feats.",
)  # fmt: skip
@click.option(
    "--epochs", type=COUNT, default=10, show_default=True,
    help="Passes through the training sentences.",
)  # fmt: skip
@shared.runs_option
@click.option(
    "--clusters", type=EXISTING_FILE,
    help="Brown clusters of words: lines of path, word and count with tabs between.",
)  # fmt: skip
@training_seed_option
@quiet_option
def train_a_tagger(
    train_file: Path, dev: Path | None, output: Path, columns: str, clusters: Path | None,
    quiet: bool, **settings: int,
) -> None:  # fmt: skip
    """Learn a tagger by the averaged perceptron."""
    with shared.bad_sentences_reported():
        from assent.apps.tagging import PerceptronSettings, tag_scores, train_tagger
        from assent.apps.tagging.data import read_clusters
        from assent.io import read_conllu

        held_out = None if dev is None else list(read_conllu(dev))
        model = train_tagger(
            read_conllu(train_file),
            columns=tuple(name.strip() for name in columns.split(",")),
            dev=held_out,
            clusters=None if clusters is None else read_clusters(clusters),
            settings=PerceptronSettings(**settings),
            progress=not quiet,
        )
        model.save(output)
        if quiet:
            return
        click.echo(f"{output}: {len(model.labels)} labels, {output.stat().st_size:,} bytes")
        if held_out is not None:
            click.echo(f"development: {tag_scores(held_out, model.tag(held_out))}")


@evaluate.command("tags")
@click.argument("gold", type=shared.INPUT)
@click.argument("system", type=shared.INPUT)
@json_option
def evaluate_tags(gold: Path, system: Path, as_json: bool) -> None:
    """Accuracy of tags in SYSTEM, by column; both files are CoNLL-U with the same words."""
    with shared.bad_sentences_reported():
        from assent.apps.tagging import tag_scores
        from assent.io import read_conllu

        scores = tag_scores(read_conllu(gold), read_conllu(system))
        shared.refuse_nothing(gold, scores.words)
    click.echo(json.dumps(asdict(scores)) if as_json else str(scores))
