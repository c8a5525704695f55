"""Check a structure against enumeration: ours, and yours.

`check_structure` lists every joint state of a small structure, asks the structure itself which of
them are vertices and what they score, and compares every question it answers with the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from assent.factors.structure import Structure
from assent.kernels.problem import Float

# Beyond this many joint states enumeration takes too long to be a check.
MOST_JOINT_STATES = 200_000


def check_structure(structure: Structure, *, trials: int = 20, seed: int = 0) -> None:
    """Compare every question ``structure`` answers with enumeration; raises what is wrong.

    Each trial draws scores of all sizes, with ties, and forbids a few states.  Checked are
    ``maximize``, ``project`` (against the optimality conditions at every vertex) and, where the
    structure answers them, ``max_marginals`` and ``marginals``.  What counts as a vertex is what
    the structure says itself: by ``parts``, or else by being asked with all else forbidden.

    Args:
        structure: a small one: its joint states are listed (at most 200,000).
        trials: random scores to try.
        seed: for reproducible scores.

    Raises:
        AssertionError: a question was answered wrongly; the message says which, and how.
        ValueError: the structure has too many joint states to list.

    Example:
        >>> import assent as at
        >>> from assent.testing import check_structure
        >>> g = at.FactorGraph()
        >>> check_structure(at.Cardinality(g.binary(4), scores=[0.0, 1.0, -1.0, 2.0, 0.0]))
    """
    rng = np.random.default_rng(seed)
    for row in range(len(structure)):
        vertices = list_vertices(structure, row)
        assert len(vertices.places), f"{structure.words(row)} has no vertex at all"
        for trial in range(trials):
            size = float(10.0 ** rng.integers(-2, 3))
            scores = rng.normal(size=len(structure.linked)) * size
            if trial % 3 == 1:
                scores = np.round(scores / size) * size  # ties
            scores[~structure.linked] = 0.0
            where = f"{structure.words(row)}, trial {trial}"
            _check_maximize(structure, row, vertices, scores, where)
            _check_project(structure, row, vertices, scores, where)
            if trial % 2:
                forbidden = rng.random(len(scores)) < 0.2
                scores = np.where(forbidden, -np.inf, scores)
                _check_maximize(structure, row, vertices, scores, where + ", some forbidden")
            if "max_marginals" in structure.abilities:
                _check_max_marginals(structure, row, vertices, scores, where)
            if "marginals" in structure.abilities:
                temperature = float(10.0 ** rng.uniform(-2, 1)) * size
                _check_marginals(structure, row, vertices, scores, temperature, where)


@dataclass(frozen=True)
class Vertices:
    """All vertices of one structure: chosen places ``[v, places]``, parts in use, inner value."""

    states: np.ndarray  # [v, slots]
    places: Float  # [v, places], 0 or 1
    parts: Float  # [v, entries]
    inner: Float  # [v]

    def values(self, scores: Float) -> Float:
        """Value of every vertex for scores of places; a forbidden place makes it ``-inf``."""
        return np.where(self.places > 0, scores, 0.0).sum(axis=1) + self.inner


def list_vertices(structure: Structure, row: int) -> Vertices:
    """All vertices of structure ``row`` that its inner scores allow.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> few = at.Cardinality(g.binary(2), scores=[0.0, 1.0, float("-inf")])
        >>> list_vertices(few, 0).states.tolist()
        [[0, 0], [0, 1], [1, 0]]
    """
    joint = int(np.prod(structure.states, dtype=np.float64))
    if joint > MOST_JOINT_STATES:
        raise ValueError(f"{structure.words(row)} has {joint} joint states, too many to list")
    start, found = structure.start, []
    for states in product(*map(range, structure.states)):
        inner, parts = structure.inner_at(np.array(states, np.int32), row)
        if inner > -np.inf:
            places = np.zeros(int(start[-1]))
            places[start[:-1] + np.array(states)] = 1.0
            found.append((states, places, parts, inner))
    columns: Any = zip(*found, strict=True) if found else ([], [], [], [])
    return Vertices(*(np.array(column) for column in columns))


def _check_maximize(
    structure: Structure, row: int, vertices: Vertices, scores: Float, where: str
) -> None:
    best = vertices.values(scores).max(initial=-np.inf)
    (value,), (states,) = structure._maximize(scores[None], structure.scores[row : row + 1])
    tolerance = 1e-8 * (1.0 + _finite_size(scores, vertices))
    _close(value, best, tolerance, f"maximize of {where}")
    if best > -np.inf:
        chosen = np.flatnonzero((vertices.states == states).all(axis=1))
        assert len(chosen), f"maximize of {where}: states {states.tolist()} are no vertex"
        own = vertices.values(scores)[chosen[0]]
        _close(own, best, tolerance, f"the vertex maximize returned for {where}")
        # Solvers hand in whatever the last answer left: every entry has to be written.
        used = np.array(structure.states, np.int32) - 1
        inner = structure._inner(structure.scores, row)
        structure.kernels().maximize(structure.start, structure.data, scores, inner, 1.0, used)
        assert (used == states).all(), (
            f"maximize of {where}: states {states.tolist()} become {used.tolist()} where others "
            "stood before; write every entry of states"
        )


def _check_project(
    structure: Structure, row: int, vertices: Vertices, scores: Float, where: str
) -> None:
    """At the projection no vertex is better: a . (v - q) + inner(v) - inner(q) <= 0."""
    linked = structure.linked
    point = scores[linked] / (1.0 + np.abs(scores).max())  # of the size of probabilities
    (found,), (inner,) = structure.project(point[None], structure.scores[row : row + 1])
    corners = vertices.places[:, linked]
    slope = (corners - found) @ (point - found) + vertices.inner - inner
    tolerance = 1e-6 * (1.0 + np.abs(vertices.inner).max())
    assert slope.max() <= tolerance, f"project of {where}: a vertex improves it by {slope.max()}"
    # It lies in the hull: no direction separates it from all vertices.
    outward = np.append(point - found, 1.0)
    reach = (np.column_stack([corners, vertices.inner]) @ outward).max()
    own = float(np.append(found, inner) @ outward)
    assert own <= reach + tolerance, f"project of {where}: the point is outside of the hull"


def _check_max_marginals(
    structure: Structure, row: int, vertices: Vertices, scores: Float, where: str
) -> None:
    values = vertices.values(scores)
    best = np.array([values[own > 0].max(initial=-np.inf) for own in vertices.places.T])
    (found,) = structure._max_marginals(scores[None], structure.scores[row : row + 1])
    tolerance = 1e-8 * (1.0 + _finite_size(scores, vertices))
    for place, (mine, theirs) in enumerate(zip(found, best, strict=True)):
        _close(mine, theirs, tolerance, f"max_marginals of {where}, place {place}")


def _check_marginals(
    structure: Structure,
    row: int,
    vertices: Vertices,
    scores: Float,
    temperature: float,
    where: str,
) -> None:
    values = vertices.values(scores)
    best = values.max(initial=-np.inf)
    (value,), (places,), (parts,) = structure._marginals(
        scores[None], structure.scores[row : row + 1], temperature
    )
    if best == -np.inf:
        assert value == -np.inf, f"marginals of {where}: nothing is possible, but got {value}"
        return
    weight = np.exp((values - best) / temperature)
    total = best + temperature * np.log(weight.sum())
    _close(value, total, 1e-8 * (1.0 + abs(total)), f"log-partition of {where}")
    for name, mine, theirs in (
        ("places", places, weight @ vertices.places / weight.sum()),
        ("parts", parts, weight @ vertices.parts / weight.sum()),
    ):
        gap = float(np.abs(mine - theirs).max(initial=0.0))
        assert gap <= 1e-8, f"marginals of {where}: {name} are off by {gap}"


def _close(mine: float, theirs: float, tolerance: float, what: str) -> None:
    same = mine == theirs or abs(mine - theirs) <= tolerance
    assert same, f"{what}: {mine}, enumeration says {theirs}"


def _finite_size(scores: Float, vertices: Vertices) -> float:
    finite = scores[np.isfinite(scores)]
    return float(np.abs(finite).sum() + np.abs(vertices.inner).max(initial=0.0))
