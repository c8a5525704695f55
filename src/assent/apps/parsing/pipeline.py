"""From words to trees: a tagger and a parser that was trained on its tags, in one file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assent.apps.model_file import join_models
from assent.apps.parsing.model import Parse, Parser, ParserSettings
from assent.apps.parsing.training import ParserTraining, TrainingProgress, train_parser
from assent.apps.tagging import Tagger, jackknife, train_tagger
from assent.apps.tagging.training import PerceptronSettings
from assent.errors import ModelError
from assent.io.conllu import Sentence
from assent.progress import live_display

# Runs of the tagger that are averaged: more bring nothing.
_RUNS = 4


@dataclass(frozen=True)
class Pipeline:
    """A tagger and a parser; made by `train_pipeline`, or read from a file."""

    tagger: Tagger
    parser: Parser

    def parse(
        self,
        sentences: Iterable[Sentence],
        *,
        exact: bool = False,
        time_limit: float | None = None,
        keep_tags: bool = False,
        report: Callable[[Parse], Any] = lambda parse: None,
    ) -> Iterator[Sentence]:
        """The sentences with tags, heads and labels, as they come.

        Args:
            sentences: with words.
            exact: go on until every tree is the best one.
            time_limit: seconds that the proof of one sentence may take; see `Parser.parse`.
            keep_tags: take the tags that the sentences have.
            report: called with every `Parse`, which tells whether the tree is proven best.
        """
        for sentence in sentences if keep_tags else self.tagger.tag(sentences):
            found = self.parser.parse(sentence, exact=exact, time_limit=time_limit)
            report(found)
            yield found.sentence

    def save(self, path: str | Path) -> None:
        """Write both to one file; `Tagger.load` and `Parser.load` read their own part of it."""
        with tempfile.TemporaryDirectory() as folder:
            parts = {"tagger": Path(folder, "tagger"), "parser": Path(folder, "parser")}
            self.tagger.save(parts["tagger"])
            self.parser.save(parts["parser"])
            join_models(path, parts)

    @classmethod
    def load(cls, path: str | Path) -> Pipeline:
        """Read a file that `save` wrote.

        Raises:
            ModelError: if the file is damaged, or of another kind or version.
        """
        return cls(Tagger.load(path), Parser.load(path))


def train_pipeline(
    sentences: Sequence[Sentence],
    *,
    preset: str = "full",
    passes: int = ParserTraining.passes,
    runs: int = 1,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    progress: bool = False,
) -> Pipeline:
    """Learn a tagger and a parser from a treebank.

    The parser is trained on tags of taggers that have not seen the sentence.

    Args:
        sentences: with tags, heads and labels.
        preset: parts of the parser, ``"basic"``, ``"standard"`` or ``"full"``.
        passes: of the parser through the sentences.
        runs: of the parser's training; see `ParserTraining`.
        seed: of both.
        checkpoint: a file that is written after every pass, and gone on from.
        progress: show a live line.

    Raises:
        FormatError: naming the line of a head that is none, or of a cycle, before anything else.
        ModelError: if there are fewer than two sentences.
    """
    if len(sentences) < 2:
        raise ModelError(f"a parser is trained on two sentences or more, got {len(sentences)}")
    for sentence in sentences:
        _ = sentence.tree
    has_xpos = any(tag != "_" for sentence in sentences for tag in sentence.xpos)
    columns = ["upos", "xpos"] if has_xpos else ["upos"]
    perceptron = PerceptronSettings(seed=seed, runs=_RUNS)
    fewer = PerceptronSettings(seed=seed, epochs=5)
    tagged = jackknife(sentences, columns=columns, settings=fewer, progress=progress)
    tagger = train_tagger(sentences, columns=columns, settings=perceptron, progress=progress)
    training = ParserTraining(passes, seed=seed, runs=runs)
    with live_display(_line) as line:
        parser = train_parser(
            tagged, ParserSettings(preset), training, checkpoint=checkpoint,
            report=line.show if progress else lambda step: None,
        )  # fmt: skip
    return Pipeline(tagger, parser)


def _line(step: TrainingProgress) -> str:
    return (
        f"parser, pass {step.training_pass}  sentence {step.sentences:,} of {step.of_sentences:,}  "
        f"heads right while learning {step.running_uas:.2f} %"
    )
