"""``assent compare corpus``: the four solvers on a text that is tagged as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import click

import assent.cli.applications.sentence_arguments as shared
from assent.cli import options
from assent.cli.compare import compare


@compare.command("corpus")
@shared.input_argument
@shared.model_option
@click.option("--penalty", type=options.AMOUNT, help="As of `assent tag --consistent`.")
@click.option("--iterations", type=options.COUNT, default=100, show_default=True, help="Of each.")
@options.plot_option("Draw accuracy and bound against calls.")
@options.json_option
@options.markdown_option
def compare_on_corpus(
    source: Path,
    model: Path | None,
    penalty: float | None,
    iterations: int,
    plot: Path | None,
    as_json: bool,
    markdown: bool,
) -> None:
    """Tag IN as a whole by each solver; tags in IN are taken as gold.

    Shows how many calls to sentences each takes to parts of the best gain. Subgradient methods are
    run with eighteen kinds of steps, of which the best counts.
    """
    with shared.bad_sentences_reported():
        import numpy as np

        from assent.apps.corpus import compare_solvers, text_model
        from assent.apps.corpus.comparison import QUANTILES
        from assent.apps.corpus.tagging import PENALTY
        from assent.apps.pretrained import english_model
        from assent.apps.tagging import Tagger

        tagger = Tagger.load(model or english_model())
        text = list(shared.read_sentences(source))
        if not any(map(len, text)):
            raise click.UsageError(f"{source} has no words to tag")
        own = text_model(tagger, text, PENALTY if penalty is None else penalty)
        gold = tagger.labels.numbers(text)
        found = compare_solvers(own, gold if (gold >= 0).any() else None, iterations=iterations)
    if as_json:
        calls = {f"{part:.0%}": found.calls_to(part) for part in QUANTILES}
        known = {p: {n: c if np.isfinite(c) else None for n, c in r.items()}
                 for p, r in calls.items()}  # fmt: skip
        click.echo(json.dumps(known))
    else:
        click.echo(f"{own}\n\n{found.table(markdown)}")
    if plot is not None:
        found.plot(plot, title=source.name)
