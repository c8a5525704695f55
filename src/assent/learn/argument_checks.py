"""Settings checked when they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assent.arguments import is_real, shown
from assent.errors import ModelError

if TYPE_CHECKING:
    from assent.learn.examples import Examples


def positive(settings: Any, *names: str) -> None:
    """Raise where a setting is no positive number."""
    for name in names:
        value = getattr(settings, name)
        if not is_real(value) or not float(value) > 0:
            raise ValueError(
                f"{type(settings).__name__}: {name} is a positive number, got {shown(value)}"
            )


def require_coordinates(examples: Examples, who: str) -> None:
    """Raise where weights are coefficients of a kernel, whose coordinates have no meaning."""
    if getattr(examples.model, "is_kernel", False):
        raise ModelError(
            f"{who} needs the weights' coordinates, which in kernel form are only coefficients; "
            "use FrankWolfe, or DualExtragradient in a plain L2Ball"
        )


def require(examples: Examples, question: str, who: str) -> None:
    """Raise where a space lacks the method ``question``; ``who`` needs it, with the remedy."""
    for i, example in enumerate(examples):
        space = example.space
        if question not in space.abilities:
            raise ModelError(
                f"example {i}: {type(space).__name__} does not answer {question}, which {who}"
            )
