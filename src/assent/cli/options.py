"""Options that several commands share."""

from __future__ import annotations

import click

from assent.cli.model_arguments import EXISTING_FILE

# Seconds of a time limit.
POSITIVE = click.FloatRange(min=0, min_open=True)

evidence_option = click.option(
    "--evidence", type=EXISTING_FILE, help="Observed states, for a .uai model."
)

seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="For the randomized part of rounding.",
)
