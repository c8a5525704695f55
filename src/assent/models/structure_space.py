"""The space of any structured factor: its literals and, optionally, its inner parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.factors.structure import Structure
from assent.kernels.problem import Float
from assent.models.space import Space


class StructureSpace(Space):
    """One structure (a tree of arcs, a matching, …) as a space.

    Coordinates: the factor's literals in their order; then, with ``parts``, its inner parts.

    Args:
        structure: a batch of one structure; its scores are ignored, except that parts with a
            score of ``-inf`` stay forbidden.
        parts: make the inner parts coordinates as well.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> pairs = at.FactorGraph().binary((2, 2))
        >>> StructureSpace(at.Matching(pairs)).maximize(np.array([2.0, 3.0, 1.5, -1.0])).tolist()
        [0.0, 1.0, 1.0, 0.0]
    """

    def __init__(self, structure: Structure, *, parts: bool = False) -> None:
        if len(structure) != 1:
            raise ModelError(f"a space is one structure, got {len(structure)}: {structure!r}")
        if parts and structure.kernels().parts is None:
            raise ModelError(f"{structure!r} cannot list its inner parts")
        self.structure = structure
        self.links = structure.size
        self.parts = structure.scores.shape[1] if parts else 0
        self.size = self.links + self.parts
        if not parts and structure.kernels().project is not None:
            self.memory = structure.memory()
        self._forbidden = np.where(np.isneginf(structure.scores), -np.inf, 0.0)
        self.abilities = tuple(  # type: ignore[misc]
            question for question in ("maximize", "project", "marginals")
            if question in structure.abilities
        )  # fmt: skip

    def maximize(self, scores: Float) -> Float:
        places = self.structure.place_scores(scores[None, : self.links])[0]
        _, states = self.structure._maximize(places[None], self._inner(scores))
        chosen = np.zeros(len(places))
        chosen[self.structure.start[:-1] + states[0]] = 1.0
        return np.concatenate([chosen[self.structure.linked], self._used(states[0])])

    def project(self, point: Float) -> Float:
        if self.parts:
            return super().project(point)
        return self.structure.project(point[None], self._forbidden)[0][0]

    def project_again(self, point: Float, memory: Float) -> Float:
        if not self.memory:
            return self.project(point)
        from assent.kernels.core.structure_oracles import project_from

        return project_from(self.structure, point, self._forbidden[0], memory)[0]

    def marginals(self, scores: Float) -> tuple[float, Float]:
        if "marginals" not in self.abilities:
            raise self.missing("marginals")
        value, slots, inner = self.structure.marginals(
            scores[None, : self.links], self._inner(scores)
        )
        places = np.concatenate(slots, axis=1)[0]
        out = [places[self.structure.linked], inner[0] if self.parts else np.zeros(0)]
        return float(value[0]), np.concatenate(out)

    def _inner(self, scores: Float) -> Float:
        """Scores ``[1, entries]`` of the inner parts."""
        if not self.parts:
            return self._forbidden
        return self._forbidden + scores[None, self.links :]

    def _used(self, states: Any) -> Float:
        """The inner parts of a vertex."""
        used = np.zeros(self.parts)
        if self.parts:
            parts = self.structure.kernels().parts
            assert parts is not None
            parts(self.structure.start, self.structure.data, states, 1.0, used)
        return used
