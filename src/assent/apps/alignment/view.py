"""Alignments as pictures: a grid per sentence pair, with gold and predicted links."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assent.apps.alignment.data.bitext import SentencePair
from assent.apps.alignment.data.links import Links
from assent.io.text import PathLike

RIGHT, WRONG, PLAIN, GOLD = "#2a7f62", "#c8553d", "#33658a", "#d9b44a"
INCHES = 0.27  # of a cell: its word is then written in letters of 9 points


class AlignedPair(NamedTuple):
    """A sentence pair with its links; either kind may be missing."""

    pair: SentencePair
    predicted: Links | None = None
    gold: Links | None = None


def draw_alignment(axes: Any, aligned: AlignedPair) -> None:
    """Draw a grid into Matplotlib's axes: source words downwards, target words across.

    Predicted links are filled squares, right or wrong by their colour where gold is given; gold
    links are frames, possible ones dotted.
    """
    from matplotlib.patches import Rectangle

    pair, predicted, gold = aligned
    n, m = pair.shape
    found = frozenset() if predicted is None else predicted.sure | predicted.possible
    for i, j in sorted(found):
        colour = PLAIN
        if gold is not None:
            colour = RIGHT if (i, j) in gold.sure | gold.possible else WRONG
        axes.add_patch(Rectangle((j + 0.2, i + 0.2), 0.6, 0.6, color=colour, lw=0))
    for links, style in ((gold.possible, ":"), (gold.sure, "-")) if gold is not None else ():
        for i, j in sorted(links):
            axes.add_patch(
                Rectangle((j + 0.06, i + 0.06), 0.88, 0.88, fill=False, ec=GOLD, ls=style, lw=1.6)
            )
    axes.set(xlim=(0, m), ylim=(n, 0), aspect="equal")
    axes.set_xticks([j + 0.5 for j in range(m)], _plain(pair.target), rotation=90, fontsize=9)
    axes.set_yticks([i + 0.5 for i in range(n)], _plain(pair.source), fontsize=9)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for position in range(max(n, m) + 1):
        axes.axhline(position, color="#dddddd", lw=0.6, zorder=0)
        axes.axvline(position, color="#dddddd", lw=0.6, zorder=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _plain(words: Sequence[str]) -> list[str]:
    """Words as Matplotlib draws them: a dollar is no formula."""
    return [word.replace("$", r"\$") for word in words]


def _legend(axes: Any, with_gold: bool, with_predicted: bool) -> None:
    """What the colours mean, below the grid."""
    from matplotlib.patches import Patch

    marks = []
    if with_predicted:
        marks += [Patch(color=RIGHT, label="right"), Patch(color=WRONG, label="wrong")] if (
            with_gold) else [Patch(color=PLAIN, label="link")]  # fmt: skip
    if with_gold:
        marks += [Patch(fill=False, ec=GOLD, label="sure", lw=1.6),
                  Patch(fill=False, ec=GOLD, ls=":", label="possible", lw=1.6)]  # fmt: skip
    axes.legend(
        handles=marks, loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=len(marks), fontsize=8,
        frameon=False, handlelength=1.2, columnspacing=1.2, borderaxespad=0.2,
    )  # fmt: skip


def draw_figure(sentences: Sequence[AlignedPair]) -> Any:
    """A Matplotlib figure with a grid per sentence pair, one below the other."""
    from matplotlib.figure import Figure

    heights = [INCHES * len(aligned.pair.source) + 1.6 for aligned in sentences]
    width = INCHES * max(len(aligned.pair.target) for aligned in sentences) + 2.2
    figure = Figure(figsize=(max(width, 4.0), sum(heights)), layout="constrained")
    grids = figure.subplots(len(sentences), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, aligned in zip(grids, sentences, strict=True):
        draw_alignment(axes, aligned)
        _legend(axes, aligned.gold is not None, aligned.predicted is not None)
        axes.set_title(f"sentence {aligned.pair.number}", loc="left", fontsize=9, pad=8)
    return figure


def save_alignments(path: PathLike, sentences: Sequence[AlignedPair]) -> None:
    """Write a picture (``.png``, ``.svg``, ``.pdf``) or a page (``.html``) of sentence pairs."""
    target = Path(path)
    if target.suffix == ".html":
        pictures = [_svg([aligned], "none") for aligned in sentences]
        figures = "\n".join(f"<figure>\n{text[text.index('<svg') :]}</figure>" for text in pictures)
        target.write_text(
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
            f"<title>{html.escape(target.stem)}</title>\n{figures}\n</html>\n",
            encoding="utf-8",
        )
    elif target.suffix == ".svg":
        target.write_text(_svg(sentences, "path"), encoding="utf-8")
    else:
        draw_figure(sentences).savefig(target, dpi=150)


def _svg(sentences: Sequence[AlignedPair], fonts: str) -> str:
    """A figure as SVG, the same text for the same links; ``fonts``: words as text or as paths."""
    from matplotlib import rc_context

    raw = io.StringIO()
    with rc_context({"svg.fonttype": fonts, "svg.hashsalt": "assent"}):
        draw_figure(sentences).savefig(raw, format="svg", metadata={"Date": None})
    return raw.getvalue()
