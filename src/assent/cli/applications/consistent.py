"""``--consistent``: options and work that ``assent tag`` and ``assent parse`` share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial, wraps
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import assent.cli.applications.sentence_arguments as shared
from assent.cli.model_arguments import WritableFile
from assent.cli.options import AMOUNT
from assent.progress import live_display

if TYPE_CHECKING:
    from assent.apps.corpus import CorpusParsing, CorpusReport, CorpusTagging
    from assent.apps.parsing.pipeline import Pipeline
    from assent.apps.tagging import Tagger
    from assent.io import Sentence

_OPTIONS = (
    click.option(
        "--consistent", "is_consistent", is_flag=True,
        help="Take the file as a whole: rare words tend to be tagged alike.",
    ),
    click.option(
        "--changes", type=WritableFile(),
        help="With --consistent: write what that changed, and which words made it.",
    ),
    click.option(
        "--penalty", type=AMOUNT,
        help="With --consistent: what a word pays for differing from its like, in the model's "
        "scores.",
    ),
)  # fmt: skip
_HEAD_PENALTY = click.option(
    "--head-penalty", type=AMOUNT,
    help="With --consistent and a parser of arcs alone: what a word pays if the tag of its head "
    "differs from that of words in the same context.",
)  # fmt: skip


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


@dataclass(frozen=True)
class WholeText:
    """What was asked for with ``--consistent``."""

    changes: Path | None
    penalty: float | None
    head_penalty: float | None
    quiet: bool

    def tag(self, tagger: Tagger, text: Iterable[Sentence]) -> Iterator[Sentence]:
        """The tagged sentences; says on standard error what changed."""
        tagging = self._tagging(tagger, text)
        self._write(tagging)
        return iter(tagging)

    def parse(
        self, pipeline: Pipeline, text: Iterable[Sentence], keep_tags: bool, **proof: Any
    ) -> Iterator[Sentence]:
        """The parsed sentences; says on standard error what changed.

        Trees are one problem too where they are scored by their arcs alone; ``proof`` says whether
        and for how long those of single sentences are proven, as `Pipeline.parse` has it.
        """
        from assent.apps.parsing.parts import parts_of

        by_arcs = parts_of(pipeline.parser.settings.parts) == ("arcs",)
        if not by_arcs and (keep_tags or self.head_penalty is not None):
            raise click.UsageError(
                "with --keep-tags or --head-penalty, --consistent needs a parser of arcs alone: "
                "assent train parser --preset basic"
            )
        if by_arcs and proof["exact"]:
            raise click.UsageError(
                "--exact proves trees of single sentences; with --consistent and a parser of arcs "
                "alone the text is one problem, whose gap is told: leave one of them out"
            )
        if keep_tags and self.penalty is not None:
            raise click.UsageError("--penalty is what tags pay, and --keep-tags leaves them alone")
        tagging = None if keep_tags else self._tagging(pipeline.tagger, text)
        tagged = text if tagging is None else tagging
        if not by_arcs:
            self._write(tagging)
            return pipeline.parse(tagged, keep_tags=True, **proof)
        parsing = self._parsing(pipeline, tagged)
        self._write(tagging, parsing)
        return iter(parsing.sentences)

    def _tagging(self, tagger: Tagger, text: Iterable[Sentence]) -> CorpusTagging:
        from assent.apps.corpus import tag_corpus
        from assent.apps.corpus.tagging import PENALTY

        cost = PENALTY if self.penalty is None else self.penalty
        return self._solved(partial(tag_corpus, tagger, text, penalty=cost))

    def _parsing(self, pipeline: Pipeline, text: Iterable[Sentence]) -> CorpusParsing:
        from assent.apps.corpus import parse_corpus
        from assent.apps.corpus.corpus_parsing import HEAD_PENALTY

        cost = HEAD_PENALTY if self.head_penalty is None else self.head_penalty
        return self._solved(partial(parse_corpus, pipeline.parser, text, penalty=cost))

    def _solved(self, solve: Callable[..., Any]) -> Any:
        """What ``solve(callback=…)`` finds, with a live line and a summary."""
        from assent.apps.corpus import summary

        with live_display(_line) as display:
            found = solve(callback=None if self.quiet else display.show)
        if not self.quiet:
            click.echo(summary(found), err=True)
        return found

    def _write(self, *done: CorpusTagging | CorpusParsing | None) -> None:
        from assent.apps.corpus import write_changes

        if self.changes is not None:
            found = [change for text in done if text is not None for change in text.changes]
            write_changes(self.changes, found)


def consistent_options(has_heads: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Options of a verb, which is given ``whole``: a `WholeText`, or None without --consistent."""

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        @wraps(verb)
        def called(
            *, is_consistent: bool, changes: Path | None, penalty: float | None, quiet: bool,
            head_penalty: float | None = None, **others: Any,
        ) -> None:  # fmt: skip
            given = {"changes": changes, "penalty": penalty, "head-penalty": head_penalty}
            for name, value in given.items():
                if not is_consistent and value is not None:
                    raise click.UsageError(f"--{name} goes with --consistent")
            whole = WholeText(changes, penalty, head_penalty, quiet) if is_consistent else None
            verb(**others, quiet=quiet, whole=whole)

        for option in (*([_HEAD_PENALTY] if has_heads else []), *reversed(_OPTIONS)):
            called = option(called)
        return called

    return decorate


def _line(report: CorpusReport) -> str:
    right = "" if isnan(report.accuracy) else f"  {report.accuracy:.2f} % right"
    return (
        f"pass {report.iteration}  {report.calls:.1f} calls per sentence  "
        f"bound {report.bound:,.1f}{right}"
    )
