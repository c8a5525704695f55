"""The error of a predictor that has not been fitted, as scikit-learn's users know it."""

from __future__ import annotations

import sys

from assent.errors import ModelError


def not_fitted(message: str) -> ModelError:
    """A `ModelError` that is scikit-learn's ``NotFittedError`` too, where that is loaded."""
    theirs = sys.modules.get("sklearn.exceptions")
    if theirs is None:
        return ModelError(message)
    both = type("ModelError", (ModelError, theirs.NotFittedError), {})
    return both(message)
