"""``assent convert IN OUT``: a model in another format."""

from __future__ import annotations

from pathlib import Path

import click

from assent.cli.model_arguments import (
    EXISTING_FILE,
    FileCommand,
    WritableFile,
    bad_files_reported,
)
from assent.cli.options import evidence_option


@click.command(cls=FileCommand)
@click.argument("source", metavar="IN", type=EXISTING_FILE)
@click.argument("target", metavar="OUT", type=WritableFile(replaces=("source",)))
@evidence_option
def convert(source: Path, target: Path, evidence: Path | None) -> None:
    """Write the model IN as OUT; suffixes name the formats (also .gz or .xz).

    Read: .uai, .LG (its logarithms), .fg (AD3's and libDAI's), .wcsp, .wcnf, .alist, .rules;
    written: .uai, .LG, AD3's .fg, .wcnf, .alist. Evidence becomes part of a .fg or .wcnf model and
    a file of its own, OUT.evid, beside a .uai model.
    """
    with bad_files_reported():
        from assent.io import load_models, save_graph
        from assent.io.load import format_of

        format_of(target)  # a name without a format is refused before any work is done
        models = load_models(source, evidence)
        save_graph([model.graph for model in models], target)
