"""Tell the story: make a timetable, watch a proof close, restore a picture, parse a sentence."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.panel import Panel

from assent.demo import convergence, pictures, restoration, sentence, timetable


def introduce(console: Console) -> None:
    """What this is."""
    console.print(
        Panel(
            "Many overlapping models, [bold]one answer they all agree on[/],\n"
            "and a proof of how good it is.",
            title="[bold]Assent[/]",
            expand=False,
            border_style="cyan",
        )
    )
    console.print()


def tell(console: Console, folder: Path) -> None:
    """All chapters in order; pictures go to ``folder``."""
    introduce(console)
    saved = []
    # What needs no compiler comes first: at a first run the picture takes some seconds of it.
    chapters = (timetable.tell, convergence.tell, restoration.tell, sentence.tell)
    for number, chapter in enumerate(chapters, start=1):
        saved += chapter(console, number, folder)
        console.print()
    console.print("[bold]Pictures[/] saved in this folder:")
    for path in saved:
        console.print(f"  {path}", style="cyan", soft_wrap=True)
    if not pictures.can_draw():
        console.print('Other pictures need matplotlib: pip install "assent[plot]".')
    console.print("\nNext: the README, or the examples folder, one idea per file.")
