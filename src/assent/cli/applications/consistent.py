"""``--consistent``: options and work that ``assent tag`` and ``assent parse`` share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

import assent.cli.applications.sentence_arguments as shared
from assent.cli.model_arguments import WritableFile
from assent.progress import live_display

if TYPE_CHECKING:
    from assent.apps.corpus import CorpusReport
    from assent.apps.tagging import Tagger
    from assent.io import Sentence

consistent_option = click.option(
    "--consistent", "is_consistent", is_flag=True,
    help="Tag the file as a whole: rare words tend to be tagged alike.",
)  # fmt: skip
changes_option = click.option(
    "--changes", type=WritableFile(),
    help="With --consistent: write what that changed, and which words made it.",
)  # fmt: skip
penalty_option = click.option(
    "--penalty", type=click.FloatRange(min=0.0),
    help="With --consistent: what a word pays for differing from its like, in the model's scores.",
)  # fmt: skip


def check_options(is_consistent: bool, changes: Path | None, penalty: float | None) -> None:
    """Options that mean nothing without ``--consistent`` are refused."""
    if not is_consistent and (changes is not None or penalty is not None):
        raise click.UsageError("--changes and --penalty go with --consistent")


@dataclass(frozen=True)
class FileSentences:
    """The sentences of IN, read anew whenever they are gone through."""

    source: Path
    by_line: bool

    def __iter__(self) -> Iterator[Sentence]:
        return shared.read_sentences(self.source, self.by_line)


def whole_text(source: Path, by_line: bool) -> Iterable[Sentence]:
    """The sentences of IN, which can be gone through twice: pipes are kept, files are not."""
    text = FileSentences(source, by_line)
    return text if source.is_file() else list(text)


def tag_as_a_whole(
    tagger: Tagger,
    text: Iterable[Sentence],
    penalty: float | None,
    changes: Path | None,
    quiet: bool,
) -> Iterator[Sentence]:
    """The tagged sentences; says on standard error what changed."""
    from assent.apps.corpus import summary, tag_corpus, write_changes
    from assent.apps.corpus.tagging import PENALTY

    with live_display(_line) as display:
        show = None if quiet else display.show
        cost = PENALTY if penalty is None else penalty
        tagging = tag_corpus(tagger, text, penalty=cost, callback=show)
    if changes is not None:
        write_changes(changes, tagging.changes)
    if not quiet:
        click.echo(summary(tagging), err=True)
    return iter(tagging)


def _line(report: CorpusReport) -> str:
    right = "" if isnan(report.accuracy) else f"  {report.accuracy:.2f} % right"
    return (
        f"pass {report.iteration}  {report.calls:.1f} calls per sentence  "
        f"bound {report.bound:,.1f}{right}"
    )
