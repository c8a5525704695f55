"""A space: the polytope of one example's outputs, over every coordinate that has a score.

A factor's ``project`` is quadratic in its shared coordinates only; a space's is quadratic in all,
edges included, because the saddle-point problem of learning is over all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np

from assent.kernels.problem import Float
from assent.models.hull_projection import nearest_in_hull


class Rows(NamedTuple):
    """A polytope ``{z >= 0 : equal z = right, below z <= limit}``, matrices sparse."""

    equal: Any  # scipy.sparse [rows, coordinates]
    right: Float
    below: Any
    limit: Float


class Space(ABC):
    """The outputs of one example as a polytope over ``size`` coordinates in [0, 1].

    A subclass implements ``maximize``; ``project`` then uses the active set method.  It lists in
    ``abilities`` which of the optional ``marginals`` and ``rows`` it has as well.  A space whose
    projections can be warm started sets ``memory``, the number of values kept from one to the
    next, and implements `project_again`.
    """

    abilities: ClassVar[tuple[str, ...]] = ("maximize", "project")
    memory: int = 0
    size: int

    @abstractmethod
    def maximize(self, scores: Float) -> Float:
        """The best vertex ``[size]`` for ``scores[size]``; of a relaxation, the best point."""

    def project(self, point: Float) -> Float:
        """The point of the polytope nearest to ``point[size]``, in every coordinate."""
        return nearest_in_hull(self.maximize, np.asarray(point, np.float64))

    def project_again(self, point: Float, memory: Float) -> Float:
        """As `project`, warm started from ``memory[self.memory]`` (zeros at first), updated."""
        return self.project(point)

    def marginals(self, scores: Float) -> tuple[float, Float]:
        """Log-partition and probabilities ``[size]`` under ``exp(scores)``."""
        raise self.missing("marginals")

    def rows(self) -> Rows:
        """The polytope as linear equations and inequalities."""
        raise self.missing("rows")

    def missing(self, question: str) -> TypeError:
        """The error to raise for a method that this space lacks."""
        able = ", ".join(self.abilities)
        return TypeError(f"{type(self).__name__} cannot answer {question}; it answers {able}")
