"""Arguments and streams that the verbs on sentences share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assent.cli.model_arguments import EXISTING_FILE, BadFile, WritableFile, bad_files_reported
from assent.cli.options import COUNT

if TYPE_CHECKING:
    from assent.io import Sentence

INPUT = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)

input_argument = click.argument("source", metavar="IN", type=INPUT, default="-")
output_option = click.option(
    "--output",
    type=WritableFile(replaces=("source",)),
    help="Write CoNLL-U there (.gz, .xz are compressed).",
)
model_option = click.option("--model", type=EXISTING_FILE, help="Of your own, from `assent train`.")
lines_option = click.option(
    "--lines", "by_line", is_flag=True, help="In raw text, every line is a paragraph of its own."
)
runs_option = click.option(
    "--runs", type=COUNT, default=1, show_default=True,
    help="Times to train, in other orders; weights are averaged.",
)  # fmt: skip
train_option = click.option(
    "--train", "train_file", type=EXISTING_FILE, required=True, help="CoNLL-U to learn from."
)
dev_option = click.option(
    "--dev", type=EXISTING_FILE, help="CoNLL-U to choose by: the best epoch on it is kept."
)
new_model_option = click.option(
    "--output", type=WritableFile(), required=True, help="The model file to write."
)

_COLUMNS = 10


def read_sentences(source: Path, by_line: bool = False) -> Iterator[Sentence]:
    """Sentences of CoNLL-U or of raw text; the name tells, or else the first line with words."""
    from assent.apps.text.raw_text import read_text_lines
    from assent.io.conllu import read_conllu_lines
    from assent.io.line_streams import read_lines, source_name

    lines = read_lines(source)
    suffixes = {suffix.lower() for suffix in source.suffixes}
    is_conllu = ".conllu" in suffixes
    if not is_conllu and ".txt" not in suffixes:
        seen = []
        for line in lines:
            seen.append(line)
            if line.strip() and not line.startswith("#"):
                is_conllu = line.count("\t") == _COLUMNS - 1
                break
        lines = chain(seen, lines)
    if is_conllu:
        return read_conllu_lines(lines, source_name(source))
    return read_text_lines(lines, by_line=by_line, source=source_name(source))


@contextmanager
def bad_sentences_reported() -> Iterator[None]:
    """Turn errors in files into one line and exit code 2; end when the reader has gone."""
    with bad_files_reported():
        try:
            yield
        except BrokenPipeError:  # `assent tag … | head`
            # What is left to write goes nowhere, or Python would complain when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(0) from None


def refuse_nothing(gold: Path, words: int) -> None:
    """Raise where there is nothing to score: 0 percent would say that all is wrong."""
    if not words:
        raise BadFile(f"{gold} has no words to score")


def deliver(
    sentences: Iterable[Sentence],
    output: Path | None,
    show: Callable[[Iterable[Sentence]], None],
    verb: str,
    quiet: bool,
) -> None:
    """Write sentences to a file or to a pipe, counting them, or show them at a terminal."""
    from assent.io import write_conllu

    if output is None and sys.stdout.isatty():
        show(sentences)
    else:
        write_conllu(output or sys.stdout, counted(sentences, verb, quiet))


def counted(sentences: Iterable[Sentence], verb: str, quiet: bool) -> Iterator[Any]:
    """The sentences as they come, with a line at a terminal that counts them."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal
    columns = (
        SpinnerColumn(), TextColumn(verb), TextColumn("{task.completed:,} sentences"),
        TextColumn("{task.fields[words]:,} words"), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task, words = bar.add_task("", total=None, words=0), 0
        for sentence in sentences:
            words += len(sentence)
            bar.update(task, advance=1, words=words)
            yield sentence
