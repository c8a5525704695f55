"""A sentence parsed: the pretrained English model finds its tree, and AD3 proves it the best."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from assent.apps.parsing.pipeline import Pipeline
from assent.apps.parsing.view import parse_svg, show_parse
from assent.apps.pretrained import english_model
from assent.apps.text.raw_text import read_text_lines

TEXT = "We learned a lesson in 1987 about volatility."


def tell(console: Console, number: int, folder: Path) -> list[Path]:
    """Show the chapter; returns the pictures saved."""
    console.rule(f"[bold]{number}. A sentence and its tree[/]", align="left")
    pipeline = Pipeline.load(english_model())
    (tagged,) = pipeline.tagger.tag(read_text_lines([TEXT]))
    found = pipeline.parser.parse(tagged)
    console.print(
        "A tagger and a parser of English come along. Each arc of a tree, and pairs and triples of "
        "arcs, have scores; the best tree is found by letting them agree."
    )
    console.print(show_parse(found.sentence))
    said = "proven best" if found.proven else "the best found"
    console.print(f"[bold]{said}[/]: value {found.value:.4f}, bound {found.bound:.4f}")
    path = folder / "sentence.svg"
    path.write_text(parse_svg(found.sentence), encoding="utf-8")
    return [path]
