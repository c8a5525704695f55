"""Parses for people: trees in a terminal, arcs over words as SVG and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from rich.cells import cell_len
from rich.text import Text
from rich.tree import Tree

from assent.io.conllu import Sentence

# Lengths in pixels at a font size of 16; widths of letters are those of common sans-serif fonts,
# somewhat too large so that nothing touches.
_FONT, _LETTER = 16, 9.4
_SMALL_FONT, _SMALL_LETTER = 12, 7.8
_GAP = 18  # between words
_MARGIN = 16
_LEVEL = 30  # between an arc and the next above it
_CORNER = 9  # radius
_FOOT = 6  # between two arcs at the same word
_ABOVE_WORDS = 8
_ARROW = 4.5

_STYLE = """
.parse { color: #1d2433; background: #ffffff; font-family: "DejaVu Sans", Arial, sans-serif; }
.parse .arc { fill: none; stroke: #5a6b8c; stroke-width: 1.4; }
.parse .arc.root { stroke: #b04a3a; }
.parse .tip { fill: #5a6b8c; }
.parse .tip.root { fill: #b04a3a; }
.parse .label { font-size: 12px; fill: #33415c; text-anchor: middle; }
.parse .word { font-size: 16px; fill: #1d2433; text-anchor: middle; }
.parse .tag { font-size: 12px; fill: #7483a0; text-anchor: middle; }
"""


def show_parse(sentence: Sentence) -> Tree:
    """A parse as a tree for `rich.print`: a word, its tag and its label in every line.

    Example:
        >>> import rich
        >>> birds = Sentence.from_words(["Birds", "sing"]).with_columns(
        ...     heads=[2, 0], deprels=["nsubj", "root"], upos=["NOUN", "VERB"])
        >>> rich.print(show_parse(birds))
        Birds sing
        └── sing VERB root
            └── Birds NOUN nsubj
    """
    nodes = [Tree(Text(" ".join(sentence.words)), guide_style="dim")]
    for word, tag, label in zip(sentence.words, sentence.upos, sentence.deprels, strict=True):
        nodes.append(Tree(Text.assemble(word, " ", (tag, "cyan"), " ", (label, "dim"))))
    for child, head in zip(nodes[1:], sentence.tree.tolist(), strict=True):
        nodes[head].children.append(child)
    return nodes[0]


@dataclass(frozen=True)
class Arc:
    """An arc over the words from ``left`` to ``right``, counted from 1, as it is drawn."""

    left: int
    right: int
    downwards: int  # the word with the arrow
    label: str
    level: int


def stacked_arcs(heads: Sequence[int], labels: Sequence[str]) -> list[Arc]:
    """Arcs with levels, shorter ones below; those that cross or are nested never share one."""
    spans = [
        (min(word, head), max(word, head), word, label)
        for word, (head, label) in enumerate(zip(heads, labels, strict=True), start=1)
        if head
    ]
    found: list[Arc] = []
    for left, right, word, label in sorted(spans, key=lambda span: (span[1] - span[0], span[0])):
        below = [arc.level for arc in found if arc.left < right and left < arc.right]
        found.append(Arc(left, right, word, label, 1 + max(below, default=0)))
    return found


def parse_svg(sentence: Sentence) -> str:
    """A parse as a picture: arcs from heads to words, their labels, words and tags below.

    Raises:
        FormatError: if the heads of the sentence form no tree.
    """
    heads = sentence.tree.tolist()
    arcs = stacked_arcs(heads, sentence.deprels)
    centres = _centres(sentence, arcs)
    feet = _feet(arcs, centres, heads)
    top = max((arc.level for arc in arcs), default=0) + 1
    base = _MARGIN + top * _LEVEL + _ABOVE_WORDS
    shapes = []
    for arc in sorted(arcs, key=lambda arc: -arc.level):
        shapes += _draw_arc(arc, feet, base)
    for word, head in enumerate(heads, start=1):
        if head == 0:
            shapes += _draw_root(centres[word], sentence.deprels[word - 1], base, top)
    for form, tag, x in zip(sentence.words, sentence.upos, centres[1:], strict=True):
        shapes.append(_text("word", x, base + _FONT + 4, form))
        shapes.append(_text("tag", x, base + 2 * _FONT + 6, tag if tag != "_" else ""))
    last = len(sentence)
    width = centres[last] + _width(sentence, last) / 2 + _MARGIN
    height = base + 2 * _FONT + _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="parse" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n'
        f"<title>{escape(' '.join(sentence.words))}</title>\n<style>{_STYLE}</style>\n"
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(shapes) + "\n</svg>\n"
    )


def parse_html(sentences: Iterable[Sentence]) -> str:
    """A page with the pictures of all sentences; wide ones scroll by themselves."""
    parts = [
        f'<figure><figcaption>{number}</figcaption><div class="scroll">{parse_svg(sentence)}</div>'
        "</figure>"
        for number, sentence in enumerate(sentences, start=1)
    ]
    style = (
        "body { margin: 2rem; font-family: sans-serif; color: #33415c; background: #f4f6fa; }\n"
        "figure { margin: 0 0 1.5rem; }\nfigcaption { font-size: 12px; margin-bottom: 4px; }\n"
        ".scroll { overflow-x: auto; background: #ffffff; border-radius: 8px; }\n"
    )
    return (
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>Parses</title>\n'
        f"<style>{style}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def _width(sentence: Sentence, word: int) -> float:
    """Of a word and its tag, whichever is wider."""
    tag = sentence.upos[word - 1]
    return max(cell_len(sentence.words[word - 1]) * _LETTER, cell_len(tag) * _SMALL_LETTER)


def _centres(sentence: Sentence, arcs: Sequence[Arc]) -> list[float]:
    """Where words stand, from 1: apart enough for themselves, and for the labels of arcs."""
    room: dict[int, list[Arc]] = {}
    for arc in arcs:
        room.setdefault(arc.right, []).append(arc)
    centres = [0.0]
    for word in range(1, len(sentence) + 1):
        half = _width(sentence, word) / 2
        if word == 1:
            root = cell_len(sentence.deprels[0]) * _SMALL_LETTER / 2
            centres.append(_MARGIN + max(half, root))
            continue
        x = centres[-1] + _width(sentence, word - 1) / 2 + _GAP + half
        for arc in room.get(word, ()):
            label = cell_len(arc.label) * _SMALL_LETTER + 2 * _CORNER + 4 * _FOOT
            x = max(x, centres[arc.left] + label)
        centres.append(x)
    return centres


def _feet(
    arcs: Sequence[Arc], centres: Sequence[float], heads: Sequence[int]
) -> dict[tuple[Arc, int], float]:
    """Where each arc meets its two words: side by side, in an order in which none cross."""
    feet: dict[tuple[Arc, int], float] = {}
    for word, head in enumerate(heads, start=1):
        middle = 0.5 if head else 0.0  # the arrow from the root stands in the middle
        to_right = sorted((a for a in arcs if a.left == word), key=lambda a: -a.level)
        to_left = sorted((a for a in arcs if a.right == word), key=lambda a: -a.level)
        for place, arc in enumerate(to_right, start=1):
            feet[arc, word] = centres[word] + (place - middle) * _FOOT
        for place, arc in enumerate(to_left, start=1):
            feet[arc, word] = centres[word] - (place - middle) * _FOOT
    return feet


def _draw_arc(arc: Arc, feet: dict[tuple[Arc, int], float], base: float) -> list[str]:
    left, right, y = feet[arc, arc.left], feet[arc, arc.right], base - arc.level * _LEVEL
    bend = min(_CORNER, (right - left) / 2)
    end = {arc.left: base, arc.right: base, arc.downwards: base - _ARROW}
    path = (
        f"M{left:.1f},{end[arc.left]:.1f} V{y + bend:.1f} Q{left:.1f},{y:.1f} {left + bend:.1f},"
        f"{y:.1f} H{right - bend:.1f} Q{right:.1f},{y:.1f} {right:.1f},{y + bend:.1f} "
        f"V{end[arc.right]:.1f}"
    )
    return [
        f'<path class="arc" d="{path}"/>',
        _tip("tip", feet[arc, arc.downwards], base),
        *_label((left + right) / 2, y, arc.label),
    ]


def _draw_root(x: float, label: str, base: float, top: int) -> list[str]:
    y = base - top * _LEVEL
    return [
        f'<path class="arc root" d="M{x:.1f},{y + 8:.1f} V{base - _ARROW:.1f}"/>',
        _tip("tip root", x, base),
        *_label(x, y, label),
    ]


def _label(x: float, y: float, label: str) -> list[str]:
    """A label on a line, which is hidden behind it."""
    width = cell_len(label) * _SMALL_LETTER + 6
    return [
        f'<rect x="{x - width / 2:.1f}" y="{y - 8:.1f}" width="{width:.1f}" height="16" '
        'fill="#ffffff"/>',
        _text("label", x, y + 4, label),
    ]


def _tip(kind: str, x: float, base: float) -> str:
    """An arrow's head that points down to a word."""
    y = base - 2 * _ARROW
    return (
        f'<path class="{kind}" d="M{x:.1f},{base:.1f} L{x - _ARROW:.1f},{y:.1f} '
        f'H{x + _ARROW:.1f} Z"/>'
    )


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
