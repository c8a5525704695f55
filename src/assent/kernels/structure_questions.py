"""Questions to one structure alone that need more than its own kernels: projections."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.kernels import active_set
from assent.kernels.oracle import raise_pending, search_address
from assent.problem import Float


def project_structure(
    structure: Any, points: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest points ``[m, links]`` with inner scores ``[m, parts]``, and the inner values."""
    own = structure.kernels().project
    if own is not None:
        return _project_itself(structure, own, points, scores)
    slots = make_structure_slots(structure)
    support = active_set.make_support(slots, len(points))
    work = active_set.make_work(slots, support.weight.shape[1])
    linked = structure.linked
    out, inner = np.empty(points.shape), np.empty(len(points))
    for row, point in enumerate(points):
        work.a[:] = 0.0
        work.a[linked] = point
        own = np.ascontiguousarray(scores[row])
        own.flags.writeable = False
        active_set.project(
            structure.kind_code, slots, own, 1.0, support, row, work, active_set.EXACT
        )
        raise_pending()
        size = support.size[row]
        out[row] = work.q[linked]
        inner[row] = support.weight[row, :size] @ support.inner[row, :size]
    return out, inner


def _project_itself(
    structure: Any, project: Any, points: Float, scores: Float
) -> tuple[Float, Float]:
    """As :func:`project_structure`, by the structure's own function."""
    linked, base = structure.linked, _no_evidence(structure)
    places = structure.place_scores(points)
    out, inner = np.empty(points.shape), np.empty(len(points))
    q = np.empty(len(base))
    for row, point in enumerate(places):
        own = np.ascontiguousarray(scores[row])
        own.flags.writeable = False
        memory = np.zeros(structure.memory())
        inner[row] = project(structure.start, structure.data, base, point, own, 1.0, memory, q)
        out[row] = q[linked]
    return out, inner


def _no_evidence(structure: Any) -> Float:
    base = np.zeros(int(structure.start[-1]))
    base.flags.writeable = False
    return base


def make_structure_slots(structure: Any) -> active_set.Slots:
    """Slots of a structure without evidence."""
    base = _no_evidence(structure)
    return active_set.Slots(
        structure.start, np.asarray(structure.first, np.int32), search_address(structure),
        structure.data, base, np.empty(len(base)),
    )  # fmt: skip
