"""The pretrained English model of the package: tagger and parser, from UD_English-EWT."""

from __future__ import annotations

from pathlib import Path

ENGLISH = Path(__file__).parent / "english" / "english.model"


def english_model() -> Path:
    """The file of the English tagger and parser.

    Raises:
        FileNotFoundError: if this installation comes without.
    """
    if not ENGLISH.is_file():
        raise FileNotFoundError(
            "this installation has no English model; train one with `assent train parser` and give "
            "it as --model"
        )
    return ENGLISH
