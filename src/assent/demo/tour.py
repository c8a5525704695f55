"""Tell the story: restore a picture, make a timetable, watch a proof close, parse a sentence."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.panel import Panel

from assent.demo import convergence, pictures, restoration, sentence, timetable
from assent.kernels.ad3.advance import advance
from assent.kernels.kept_code import is_kept
from assent.warm_up.jobs import CHAPTERS
from assent.warm_up.workers import do_all


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
    if not is_kept(advance):  # the largest of the kernels that follow
        console.print("Getting ready: the very first run compiles the numerical kernels, once …")
        begun = time.perf_counter()
        with console.status("compiling kernels"):
            do_all(CHAPTERS)
        console.print(f"Compiled after {time.perf_counter() - begun:.1f} s.")
    console.print()


def tell(console: Console, folder: Path) -> None:
    """All chapters in order; pictures go to ``folder``."""
    introduce(console)
    saved = []
    chapters = (restoration.tell, timetable.tell, convergence.tell, sentence.tell)
    for number, chapter in enumerate(chapters, start=1):
        saved += chapter(console, number, folder)
        console.print()
    console.print("[bold]Pictures[/] saved in this folder:")
    for path in saved:
        console.print(f"  {path}", style="cyan", soft_wrap=True)
    if not pictures.can_draw():
        console.print('Other pictures need matplotlib: pip install "assent[plot]".')
    console.print("\nNext: the README, or the examples folder, one idea per file.")
