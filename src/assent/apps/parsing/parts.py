"""The kinds of parts a tree is scored by, and presets that combine them."""

from __future__ import annotations

from collections.abc import Sequence

from assent.errors import ModelError
from assent.kernels.parsing.sentence_parts import Kinds

# What is scored, in the order of the papers' figures; h is the head of a modifier m, g that of h.
PARTS = {
    "arcs": "h and m",
    "siblings": "h and two modifiers s, m on one side with none in between (consecutive siblings)",
    "grandparents": "g, h and m",
    "grand_siblings": "g, h and two modifiers s, m on one side with none in between",
    "tri_siblings": "h and three modifiers on one side with none in between",
    "any_siblings": "h and two modifiers s, m on one side, whatever is in between",
    "head_bigrams": "two neighbouring words and the heads of both",
    "nonprojective_arcs": "h and m with a word between them that is not below h",
    "paths": "m and any word above it",
}

PRESETS = {
    "basic": ("arcs",),
    "standard": ("arcs", "siblings", "grandparents"),
    "full": ("arcs", "siblings", "grandparents", "grand_siblings", "any_siblings", "head_bigrams"),
}


def parts_of(preset: str | Sequence[str]) -> tuple[str, ...]:
    """The parts of a preset, or those listed, in the order of `PARTS`.

    Example:
        >>> parts_of("standard")
        ('arcs', 'siblings', 'grandparents')
        >>> parts_of(["grandparents", "arcs"])
        ('arcs', 'grandparents')
    """
    if isinstance(preset, str):
        if preset not in PRESETS:
            raise ModelError(f"there is no preset {preset!r}; presets are {', '.join(PRESETS)}")
        return PRESETS[preset]
    unknown = sorted(set(preset) - set(PARTS))
    if unknown:
        raise ModelError(f"there is no part {unknown[0]!r}; parts are {', '.join(PARTS)}")
    if "arcs" not in preset:
        raise ModelError("a parser scores arcs, whatever else it scores: add 'arcs'")
    return tuple(part for part in PARTS if part in preset)


def kinds_of(preset: str | Sequence[str]) -> Kinds:
    """The parts of a preset, or those listed, as kernels take them."""
    parts = parts_of(preset)
    return Kinds(*(kind in parts for kind in Kinds._fields))
