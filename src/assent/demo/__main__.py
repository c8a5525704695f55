"""``python -m assent.demo``: the tour, in a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console

from assent.demo.tour import tell


@click.command()
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo_output"),
    show_default=True,
    help="Folder for the pictures; made if needed.",
)
def main(output: Path) -> None:
    """A short tour of Assent that saves four pictures."""
    # A pipe with a poor character set shows question marks instead of stopping the tour.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    output.mkdir(parents=True, exist_ok=True)
    tell(Console(highlight=False), output)


if __name__ == "__main__":
    main()
