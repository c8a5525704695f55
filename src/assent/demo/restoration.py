"""Chapter: a noisy picture restored by a grid of attractive pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.panel import Panel
from rich.table import Table

import assent as at
from assent.demo import pictures

Picture = NDArray[np.bool_]

HEIGHT, WIDTH = 128, 144
FLIPPED = 0.2  # proportion of pixels that noise flips
AGREEMENT = 0.9  # the score of two equal neighbours; that of a pixel's evidence is log 4 = 1.39

# Dots of a braille character (2 wide, 4 high), by row and column, as offsets of its code.
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_BRAILLE = 0x2800


def draw() -> Picture:
    """A sailing boat under the sun: ``[HEIGHT, WIDTH]``, True is ink."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    sun = np.hypot(y - 26, x - 114) < 15
    main_sail = (x > 67 - 0.66 * (y - 12)) & (x < 67) & (y > 12) & (y < 81)
    fore_sail = (x > 80) & (x < 80 + 0.5 * (y - 20)) & (y > 20) & (y < 81)
    mast = (abs(x - 73) < 2.5) & (y > 6) & (y < 92)
    hull = (y > 87) & (y < 104) & (x > 22 + 0.9 * (y - 87)) & (x < 122 - 1.3 * (y - 87))
    swell = 108 + 4 * np.sin(x / 7.0)
    waves = (abs(y - swell) < 2.6) | (abs(y - swell - 11) < 2.6)
    return sun | main_sail | fore_sail | mast | hull | waves


def add_noise(picture: Picture, seed: int = 7) -> Picture:
    """The picture with a proportion of its pixels flipped."""
    return picture ^ (np.random.default_rng(seed).random(picture.shape) < FLIPPED)


def restore(noisy: Picture) -> tuple[Picture, at.FactorGraph, at.Result]:
    """The most probable picture: measured pixels against agreement of neighbours."""
    log_odds = np.log((1.0 - FLIPPED) / FLIPPED)
    graph = at.FactorGraph()
    ink = graph.binary(scores=np.where(noisy, log_odds, -log_odds), name="ink")
    for a, b in ((ink[:, :-1], ink[:, 1:]), (ink[:-1], ink[1:])):
        graph.add(at.Pair(a, b, scores=AGREEMENT))
        graph.add(at.Pair(~a, ~b, scores=AGREEMENT))
    result = at.decode(graph)
    return result[ink].astype(bool), graph, result


def braille(picture: Picture) -> str:
    """The picture in text, eight pixels to a character (sides divisible by 4 and 2)."""
    height, width = picture.shape
    cells = picture.reshape(height // 4, 4, width // 2, 2)
    codes = _BRAILLE + np.einsum("abcd,bd->ac", cells, _DOTS)
    return "\n".join("".join(map(chr, row)) for row in codes)


def side_by_side(noisy: Picture, restored: Picture) -> Table:
    """Both pictures at half size, in 76 columns."""
    panels = [
        Panel(braille(picture[::2, ::2]), title=title, border_style=color, padding=0, expand=False)
        for picture, title, color in ((noisy, "measured", "red"), (restored, "restored", "green"))
    ]
    grid = Table.grid()
    grid.add_row(*panels)
    return grid


def tell(console: Console, number: int, folder: Path) -> list[Path]:
    """Show the chapter; returns the pictures saved."""
    console.rule(f"[bold]{number}. A picture restored[/]", align="left")
    clean = draw()
    noisy = add_noise(clean)
    restored, graph, result = restore(noisy)
    console.print(
        f"Noise turned over {FLIPPED:.0%} of the pixels. One variable per pixel; neighbours earn "
        f"a bonus when they agree: [bold]{graph.n_factors:,}[/] factors."
    )
    console.print(side_by_side(noisy, restored))
    wrong = [float((picture != clean).mean()) for picture in (noisy, restored)]
    console.print(
        f"Wrong pixels: [red]{wrong[0]:.1%}[/] before, [green]{wrong[1]:.1%}[/] after. "
        f"[bold]{result.status.name}[/] after {result.seconds:.1f} s: no picture scores more."
    )
    titles = ("drawn", f"measured ({wrong[0]:.1%} wrong)", f"restored ({wrong[1]:.1%} wrong)")
    shown = dict(zip(titles, (clean, noisy, restored), strict=True))
    return pictures.save_gallery(shown, folder / "restoration.png")
