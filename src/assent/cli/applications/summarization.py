"""``assent summarize``, and ``compressor`` and ``summaries`` of the groups."""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import assent.cli.applications.sentence_arguments as shared
from assent.cli.applications.groups import evaluate, train
from assent.cli.model_arguments import EXISTING_FILE, FileCommand, InputFolder, WritableFile
from assent.cli.options import COUNT, POSITIVE, json_option, quiet_option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from assent.apps.summarization import Collection, Summary
    from assent.io import Sentence

_ANY_PATH = click.Path(exists=True, allow_dash=True, path_type=Path)


@click.command(cls=FileCommand)
@click.argument("sources", metavar="[FILES]...", nargs=-1, type=_ANY_PATH)
@click.option(
    "--words", type=COUNT, default=100, show_default=True,
    help="How many the summary has at most; marks do not count.",
)  # fmt: skip
@click.option("--extractive", is_flag=True, help="Whole sentences only; needs no parser.")
@click.option("--exact", is_flag=True, help="Go on until no better summary is possible.")
@click.option("--time-limit", type=POSITIVE, help="Seconds for --exact.")
@shared.model_option
@click.option(
    "--compressor", type=EXISTING_FILE,
    help="From `assent train compressor`: what may be left out, instead of by rules.",
)  # fmt: skip
@shared.lines_option
@json_option
@click.option("--html", "page", type=WritableFile(), help="Write a page with what was deleted.")
@quiet_option
def summarize(
    sources: tuple[Path, ...],
    words: int,
    extractive: bool,
    model: Path | None,
    compressor: Path | None,
    by_line: bool,
    as_json: bool,
    page: Path | None,
    quiet: bool,
    **options: Any,
) -> None:
    """Summarize FILES: raw text, CoNLL-U, folders of both, or - for standard input.

    All are one collection, of which the summary covers what is said most often. Sentences are
    compressed: what is left out at a terminal is grey.
    """
    if options["time_limit"] is not None and not options["exact"]:
        raise click.UsageError("--time-limit goes with --exact")
    if compressor is not None and extractive:
        raise click.UsageError("--extractive leaves nothing out: it needs no --compressor")
    with shared.bad_sentences_reported():
        from assent.apps.summarization import Compressor
        from assent.apps.summarization import summarize as summary_of

        learnt = None if compressor is None else Compressor.load(compressor)
        sentences, starts = _read(sources or (Path("-"),), by_line)
        if not extractive:
            sentences = _parsed(sentences, model, quiet)
        if learnt is not None:
            options["deletions"] = learnt.deletions
            options["concepts"] = learnt.concepts(sentences, words, starts)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UserWarning)
            summary = summary_of(sentences, words, extractive=extractive, starts=starts, **options)
        for warning in told:
            click.echo(f"Warning: {warning.message}", err=True)
        if page is not None:
            from assent.apps.summarization.view import summary_html
            from assent.io.line_streams import write_pieces

            write_pieces(page, [summary_html(summary)])
    _tell(summary, as_json, quiet)


def _read(sources: tuple[Path, ...], by_line: bool) -> tuple[list[Sentence], list[int]]:
    """All sentences, and the numbers of those with which files begin."""
    from assent.io.whole_file import visible_files

    files: list[Path] = []
    for source in sources:
        files += visible_files(source, deep=True) if source.is_dir() else [source]
    sentences: list[Sentence] = []
    starts = []
    for file in files:
        starts.append(len(sentences))
        sentences += shared.read_sentences(file, by_line)
    return sentences, starts


def _parsed(sentences: list[Sentence], model: Path | None, quiet: bool) -> list[Sentence]:
    """The sentences with heads and labels; those that have them stay as they are."""
    from assent.io.conllu import HEAD

    bare = [sentence for sentence in sentences if "_" in sentence.column(HEAD)]
    if not bare:
        return sentences
    from assent.apps.parsing.pipeline import Pipeline
    from assent.apps.pretrained import english_model

    pipeline = Pipeline.load(model or english_model())
    found = iter(shared.counted(pipeline.parse(bare), "parsing", quiet))
    return [next(found) if "_" in sentence.column(HEAD) else sentence for sentence in sentences]


def _tell(summary: Summary, as_json: bool, quiet: bool) -> None:
    if as_json:
        about = {
            "summary": summary.text, "words": summary.words, "value": summary.value,
            "bound": summary.bound, "gap": summary.gap, "seconds": summary.seconds,
        }  # fmt: skip
        click.echo(json.dumps(about, ensure_ascii=False))
    elif sys.stdout.isatty() and not quiet:
        from rich.console import Console

        from assent.apps.summarization.view import show_summary

        Console(highlight=False).print(show_summary(summary))
    else:
        click.echo(summary.text)
    if not (summary.words or quiet):
        click.echo("Warning: the summary is empty; nothing fits, or there is nothing", err=True)


@train.command("compressor")
@click.option(
    "--train", "train_file", type=EXISTING_FILE, required=True,
    help="Compressed sentences to learn from: JSON lines with id, text and summaries.",
)  # fmt: skip
@click.option(
    "--dev", type=EXISTING_FILE,
    help="More of them: the threshold is such that as much of them is kept as people kept.",
)  # fmt: skip
@click.option(
    "--summaries", type=InputFolder(lambda path: len(path.parts) > 1),
    help="Also learn what to mention: a folder per collection with texts, and in its folder "
         "`summaries` what people wrote.",
)  # fmt: skip
@click.option(
    "--words", type=COUNT, default=100, show_default=True,
    help="With --summaries: how long a summary is.",
)  # fmt: skip
@shared.model_option
@shared.new_model_option
@quiet_option
def train_a_compressor(
    train_file: Path,
    dev: Path | None,
    summaries: Path | None,
    words: int,
    model: Path | None,
    output: Path,
    quiet: bool,
) -> None:
    """Learn what people leave out of sentences.

    A line of the files has an "id" (a document, a dot and a number), a "text" and its "summaries",
    one or more of the text's words in order, with spaces between words. They are parsed first.
    """
    with shared.bad_sentences_reported():
        from assent.apps.summarization import (
            compression_scores,
            train_compressor,
            train_summarizer,
        )

        sentences, kept = _compressed(train_file, model, quiet)
        held_out = None if dev is None else _compressed(dev, model, quiet)
        collections = [] if summaries is None else _collections(summaries, model, quiet)
        learnt = train_compressor(sentences, kept, dev=held_out, progress=not quiet)
        if collections:
            weights = train_summarizer(
                collections, list(zip(sentences, kept, strict=True)),
                budget=words, deletions=learnt.deletions, progress=not quiet,
            )  # fmt: skip
            learnt = replace(learnt, summaries=weights)
        learnt.save(output)
        if quiet:
            return
        click.echo(f"{output}: {len(learnt.weights):,} weights, {output.stat().st_size:,} bytes")
        if held_out is not None:
            found = [learnt.compress(sentence) for sentence in held_out[0]]
            click.echo(f"development: {compression_scores(held_out[1], found)}")


def _collections(folder: Path, model: Path | None, quiet: bool) -> list[Collection]:
    """Collections with their summaries, a folder each."""
    from assent.apps.summarization import Collection
    from assent.errors import ModelError
    from assent.io.text import read_text
    from assent.io.whole_file import visible_files

    found = []
    folders = (path for path in folder.iterdir() if path.is_dir())
    for own in sorted(path for path in folders if not path.name.startswith(".")):
        texts, inside = visible_files(own), own / "summaries"
        written = visible_files(inside) if inside.is_dir() else []
        if not texts or not written:
            what = "texts" if not texts else "files in a folder `summaries`"
            raise ModelError(f"{own} is no collection with summaries: it has no {what}")
        sentences, starts = _read(tuple(texts), False)
        if not sentences:
            raise ModelError(f"{own} is no collection with summaries: its texts have no words")
        references = list(map(read_text, written))
        found.append(Collection(_parsed(sentences, model, quiet), references, starts))
    if not found:
        raise ModelError(f"{folder} has no folders, one for each collection with summaries")
    return found


def _compressed(
    file: Path, model: Path | None, quiet: bool
) -> tuple[list[Sentence], list[NDArray[np.bool_]]]:
    """Parsed sentences, and ``[people, n]`` what people kept of each."""
    from assent.apps.summarization.data.broadcast import read_compressions
    from assent.io import Sentence

    own = [sentence for document in read_compressions(file) for sentence in document]
    bare = [Sentence.from_words(sentence.words) for sentence in own]
    return _parsed(bare, model, quiet), [sentence.kept for sentence in own]


@evaluate.command("summaries")
@click.argument("gold", type=_ANY_PATH)
@click.argument("system", type=_ANY_PATH)
@json_option
def evaluate_summaries(gold: Path, system: Path, as_json: bool) -> None:
    """ROUGE-1, ROUGE-2 and ROUGE-L of SYSTEM, means over the references in GOLD.

    Both are text files, or folders in which files are matched by their names up to the first
    dot; in GOLD, several may match, or all in a folder of that name.
    """
    with shared.bad_sentences_reported():
        from assent.apps.summarization import metrics

        count, scores = metrics.evaluate_summaries(gold, system)
    if as_json:
        about = {kind: own._asdict() for kind, own in scores.items()}
        click.echo(json.dumps({"summaries": count, **about}))
        return
    for kind, own in scores.items():
        click.echo(
            f"{kind}  recall {own.recall:.4f}  precision {own.precision:.4f}  F1 {own.f1:.4f}"
        )
