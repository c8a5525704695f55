"""``assent align``, and ``aligner``, ``alignments``, ``alignment`` of the groups."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

import assent.cli.options as shared
from assent.cli.applications.groups import evaluate, show, train
from assent.cli.model_arguments import (
    EXISTING_FILE,
    BadFile,
    FileCommand,
    WritableFile,
    bad_files_reported,
)

if TYPE_CHECKING:
    from assent.apps.alignment import Links, SentencePair

# Trainers by name, with settings that suit a hundred sentence pairs.
TRAINERS = ("mira", "perceptron", "frank-wolfe", "dual-extragradient", "projected-gradient",
            "quadratic-program")  # fmt: skip
# Those that need more of a model than its best outputs: projections, or linear rows.
ONE_TO_ONE = TRAINERS[3:]

source_option = click.option(
    "--source", type=EXISTING_FILE, required=True, help="Text, a sentence per line, words apart."
)
target_option = click.option(
    "--target", type=EXISTING_FILE, required=True, help="Its translation, line by line."
)
other_option = click.option(
    "--other",
    "others",
    type=EXISTING_FILE,
    multiple=True,
    help="Links of another aligner for the same lines; may be given several times.",
)
base_option = click.option(
    "--base",
    type=click.IntRange(0, 1),
    default=0,
    show_default=True,
    help="The number of a sentence's first word in Pharaoh's format.",
)


def _others(
    paths: tuple[Path, ...], pairs: list[SentencePair], base: int
) -> list[tuple[Links, ...]] | None:
    """The links of other aligners, for each sentence pair one of each."""
    from assent.apps.alignment import read_links

    if not paths:
        return None
    return list(zip(*(read_links(path, pairs, base=base) for path in paths), strict=True))


def _trainer(name: str, seed: int) -> Any:
    """The settings of a trainer."""
    from assent import learn

    makers: dict[str, Callable[[], Any]] = {
        "mira": lambda: learn.MIRA(C=0.05, max_iterations=10, seed=seed),
        "perceptron": lambda: learn.AveragedPerceptron(max_iterations=10, seed=seed),
        "frank-wolfe": lambda: learn.FrankWolfe(C=0.1, max_iterations=20, averaged=True, seed=seed),
        "dual-extragradient": lambda: learn.DualExtragradient(balance=0.2, max_iterations=400),
        "projected-gradient": lambda: learn.ProjectedGradient(balance=0.2, max_iterations=400),
        "quadratic-program": lambda: learn.QuadraticProgram(C=0.1, max_iterations=3),
    }
    return makers[name]()


@train.command("aligner")
@source_option
@target_option
@click.option("--gold", type=EXISTING_FILE, required=True, help="Links, sure and possible.")
@click.option("--bitext-source", type=EXISTING_FILE, help="More text, without links: the more")
@click.option("--bitext-target", type=EXISTING_FILE, help="the better; and its translation.")
@other_option
@base_option
@click.option(
    "--fertility",
    type=shared.COUNT,
    default=2,
    show_default=True,
    help="How many links a word has at most.",
)
@click.option("--adjacent", is_flag=True, help="Reward links of neighbouring words.")
@click.option("--trainer", type=click.Choice(TRAINERS), default="mira", show_default=True)
@shared.training_seed_option
@click.option("--output", type=WritableFile(), required=True, help="The model.")
@shared.quiet_option
def train_aligner(**arguments: Any) -> None:
    """Learn to align from sentence pairs whose links are known.

    GOLD is in Pharaoh's format (i-j sure, i?j, ipj or i-j-P possible) or in the Hansards' one.
    """
    given = SimpleNamespace(**arguments)
    if (given.bitext_source is None) != (given.bitext_target is None):
        raise click.UsageError("--bitext-source and --bitext-target belong together")
    if given.trainer in ONE_TO_ONE and (given.fertility > 1 or given.adjacent):
        raise click.UsageError(
            f"--trainer {given.trainer} is for one link per word: give --fertility 1, without "
            "--adjacent"
        )
    with bad_files_reported():
        from assent.apps import alignment

        pairs = list(alignment.read_bitext(given.source, given.target))
        gold = alignment.read_links(given.gold, pairs, base=given.base)
        others = _others(given.others, pairs, given.base)
        bitext: Any = ()
        if given.bitext_source is not None:
            bitext = alignment.Bitext(given.bitext_source, given.bitext_target)
        settings = alignment.AlignerSettings(
            given.fertility, given.adjacent, trainer=_trainer(given.trainer, given.seed)
        )
        sentences = alignment.LinkedSentences(pairs, gold, others)
        aligner = alignment.train_aligner(sentences, bitext, settings, progress=not given.quiet)
        alignment.write_aligner(given.output, aligner)
    if not given.quiet:
        sure = sum(len(links.sure) for links in gold)
        click.echo(
            f"{given.output}: {len(aligner.weights)} weights learnt from {_pairs(len(pairs))}, "
            f"{sure} sure links"
        )


@click.command(cls=FileCommand)
@click.option("--model", type=EXISTING_FILE, required=True, help="From `train aligner`.")
@source_option
@target_option
@other_option
@base_option
@click.option(
    "--output",
    type=WritableFile(),
    default=Path("-"),
    show_default="standard output",
    help="Links, in Pharaoh's format.",
)
@shared.quiet_option
def align(
    model: Path, source: Path, target: Path, others: tuple[Path, ...], base: int, output: Path,
    quiet: bool,
) -> None:  # fmt: skip
    """Align the words of SOURCE with those of TARGET: a line of links i-j per sentence pair."""
    with bad_files_reported():
        from assent.apps import alignment

        aligner = alignment.read_aligner(model)
        bitext: Any = alignment.Bitext(source, target)
        given = None
        if others or aligner.features.others:
            bitext = list(bitext)
            given = _others(others, bitext, base) or [()] * len(bitext)
        found = shared.counted(aligner.align(bitext, given), lambda n: f"sentence {n}", quiet)
        numbers = count()
        # Numbers are taken after links: the next one is how many there were.
        alignment.write_links(output, (links for links, _ in zip(found, numbers, strict=False)))
    if not quiet and output != Path("-"):
        click.echo(f"{output}: {_pairs(next(numbers))}")


def _pairs(number: int) -> str:
    """A number of sentence pairs in words."""
    return f"{number} sentence pair{'s' * (number != 1)}"


@evaluate.command("alignments")
@click.argument("gold", type=EXISTING_FILE)
@click.argument("system", type=EXISTING_FILE)
@base_option
@click.option("--reverse", is_flag=True, help="SYSTEM has target positions first.")
@shared.json_option
@shared.quiet_option
def evaluate_alignments(
    gold: Path, system: Path, base: int, reverse: bool, as_json: bool, quiet: bool
) -> None:
    """Compare the links of SYSTEM with those of GOLD: alignment error rate, precision, recall."""
    with bad_files_reported():
        from assent.apps.alignment import alignment_scores, compare_files

        scores = alignment_scores(*compare_files(gold, system, base=base, reverse=reverse))
    if as_json:
        click.echo(json.dumps(scores._asdict(), allow_nan=False))
    elif not quiet:
        named = scores._asdict().items()
        click.echo("\n".join(f"{name:<10}{value:.4f}" for name, value in named))


@show.command("alignment")
@source_option
@target_option
@click.option("--links", type=EXISTING_FILE, help="Predicted links.")
@click.option("--gold", type=EXISTING_FILE, help="Gold links.")
@base_option
@click.option("--first", type=shared.COUNT, default=1, help="The first sentence pair.")
@click.option("--count", type=shared.COUNT, default=1, help="How many of them.")
@click.option(
    "--output", type=WritableFile(), required=True, help="A picture or a page: .png, .svg, .html."
)
@shared.quiet_option
def show_alignment(**arguments: Any) -> None:
    """Draw sentence pairs as grids with their links, gold and predicted."""
    given = SimpleNamespace(**arguments)
    if given.links is None and given.gold is None:
        raise click.UsageError("there is nothing to draw without --links or --gold")
    if find_spec("matplotlib") is None:
        raise click.UsageError('drawing needs matplotlib: pip install "assent[plot]"')
    with bad_files_reported():
        from assent.apps import alignment

        pairs = list(alignment.read_bitext(given.source, given.target))
        links, gold = (
            [None] * len(pairs)
            if path is None
            else alignment.read_links(path, pairs, base=given.base)
            for path in (given.links, given.gold)
        )
        every = map(alignment.AlignedPair, pairs, links, gold)
        chosen = [one for one in every if min(one.pair.shape)][given.first - 1 :]
        if not chosen:
            raise BadFile(f"{given.source} has {len(pairs)} sentences, none is to be drawn")
        alignment.save_alignments(given.output, chosen[: given.count])
    if not given.quiet:
        click.echo(f"{given.output}: {_pairs(len(chosen[: given.count]))}")
