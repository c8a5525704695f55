"""Errors and warnings people meet; each message names what, where and the way out."""

from __future__ import annotations


class ModelError(ValueError):
    """A model, its scores or its evidence are not well formed."""


class NoFeasibleAssignment(LookupError):
    """An answer was read from a result that found no feasible assignment."""


class RecompileWarning(UserWarning):
    """New scores forbid other values than the compiled ones did: the graph was compiled again."""
