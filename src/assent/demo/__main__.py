"""Tell the story: warm up, restore a picture, make a timetable, watch a proof close."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click
from rich.console import Console
from rich.panel import Panel

import assent as at
from assent.demo import convergence, restoration, timetable


def warm_up() -> None:
    """Decode a tiny graph of every kind of step, so that all kernels are compiled or loaded."""
    graph = at.FactorGraph()
    x = graph.binary(6, scores=[1.0, 2.0, 0.5, 1.0, -1.0, 0.1])
    graph.add(at.Pair(x[:-1], x[1:], scores=-1.0))
    graph.add(at.ExactlyOne(x[:3]))
    graph.add(at.AtLeastOne(x[3:5], output=x[5]))
    graph.fix(x[4], 0)
    at.decode(graph, at.AD3())
    at.decode(graph)


def introduce(console: Console) -> None:
    """What this is, and the wait at first use."""
    console.print(
        Panel(
            "Many overlapping models, [bold]one answer they all agree on[/],\n"
            "and a proof of how good it is.",
            title="[bold]Assent[/]",
            expand=False,
            border_style="cyan",
        )
    )
    console.print("Getting ready: the very first run compiles the numerical kernels, once …")
    started = time.perf_counter()
    with console.status("compiling or loading kernels"):
        warm_up()
    console.print(f"Ready after {time.perf_counter() - started:.1f} s.\n")


def tell(console: Console, folder: Path) -> None:
    """All chapters in order; pictures go to ``folder``."""
    introduce(console)
    saved = []
    chapters = (restoration.tell, timetable.tell, convergence.tell)
    for number, chapter in enumerate(chapters, start=1):
        saved += chapter(console, number, folder)
        console.print()
    if saved:
        console.print("[bold]Pictures[/] saved in this folder:")
        for path in saved:
            console.print(f"  {path}", style="cyan", soft_wrap=True)
    else:
        console.print('No pictures without matplotlib: pip install "assent[plot]".')
    console.print("\nNext: the README, or the examples folder, one idea per file.")


@click.command()
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo_output"),
    show_default=True,
    help="Folder for the pictures; made if needed.",
)
def main(output: Path) -> None:
    """A short tour of Assent that saves three pictures."""
    # A pipe with a poor character set shows question marks instead of stopping the tour.
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    output.mkdir(parents=True, exist_ok=True)
    tell(Console(highlight=False), output)


if __name__ == "__main__":
    main()
