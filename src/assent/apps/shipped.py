"""The English models that come with the package, trained on UD_English-EWT."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "english"


def shipped_model(kind: str) -> Path:
    """The file of the English ``tagger`` or ``parser``.

    Raises:
        FileNotFoundError: if this installation comes without.
    """
    path = FOLDER / f"{kind}.model"
    if not path.is_file():
        raise FileNotFoundError(
            f"this installation has no English {kind}; train one with `assent train {kind}` and "
            "give it as --model"
        )
    return path
