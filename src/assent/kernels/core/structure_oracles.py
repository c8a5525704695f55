"""Questions to one structure alone that need more than its own kernels: projections."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.kernels.ad3 import active_set
from assent.kernels.core import vertices
from assent.kernels.core.structure_addresses import address_of, function_address, raise_pending
from assent.kernels.problem import STRUCTURE, Float, Int32

# Vertices to keep room for at first, where nearly all projections need few of the many there are.
FIRST_ROOM = 64


def project_structure(
    structure: Any, points: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest points ``[m, links]`` with inner scores ``[m, parts]``, and the inner values."""
    if structure.kernels().project is not None:
        return _project_itself(structure, points, scores)
    inner = [structure._inner(scores, row) for row in range(len(points))]
    return project_by_active_set(structure, make_structure_slots(structure), points, inner)


def project_by_active_set(
    factor: Any, slots: vertices.Slots, points: Float, scores: list[Float]
) -> tuple[Float, Float]:
    """As :func:`project_structure`, of tables or structures, each with its inner scores."""
    support = vertices.make_support(slots, len(points))
    work = vertices.make_work(slots, support.weight.shape[1])
    out, inner = np.empty(points.shape), np.empty(len(points))
    for row, (point, own) in enumerate(zip(points, scores, strict=True)):
        work.a[:] = 0.0
        work.a[factor.linked] = point
        active_set.project(factor.kind_code, slots, own, 1.0, support, row, work, active_set.EXACT)
        raise_pending()
        size = support.size[row]
        out[row] = work.q[factor.linked]
        inner[row] = support.weight[row, :size] @ support.inner[row, :size]
    return out, inner


def _project_itself(structure: Any, points: Float, scores: Float) -> tuple[Float, Float]:
    """As :func:`project_structure`, by the structure's own function."""
    out, inner = np.empty(points.shape), np.empty(len(points))
    for row, point in enumerate(points):
        memory = np.zeros(structure.memory())
        out[row], inner[row] = project_from(structure, point, scores[row], memory)
    return out, inner


def project_from(structure: Any, point: Float, scores: Float, memory: Float) -> tuple[Float, float]:
    """Nearest point ``[links]`` and inner value, by the structure's own function.

    It begins with what it left in ``memory`` the last time (zeros: nothing), and changes it.
    """
    base = _no_evidence(structure)
    place = structure.place_scores(point[None])[0]
    own = np.ascontiguousarray(scores).view()
    own.flags.writeable = False
    q = np.empty(len(base))
    project = structure.kernels().project
    value = project(structure.start, structure.data, base, place, own, 1.0, memory, q)
    return q[structure.linked], float(value)


def _no_evidence(structure: Any) -> Float:
    base = np.zeros(int(structure.start[-1]))
    base.flags.writeable = False
    return base


def make_structure_slots(structure: Any) -> vertices.Slots:
    """Slots of a structure without evidence."""
    base, address = _no_evidence(structure), function_address(structure, "maximize")
    return vertices.Slots(
        structure.start, np.asarray(structure.first, np.int32), address, structure.data, base,
        np.empty(len(base)), False,
    )  # fmt: skip


def make_slots(start: Int32, data: Int32, maximize: Any) -> vertices.Slots:
    """Slots whose states all are coordinates; ``maximize`` is a kernel with an address."""
    places = int(start[-1])
    base = np.zeros(places)
    base.flags.writeable = False
    first = np.zeros(len(start) - 1, np.int32)
    return vertices.Slots(start, first, address_of(maximize), data, base, np.empty(places), False)


def project_slots(slots: vertices.Slots, point: Float) -> Float:
    """The nearest point ``[places]`` to ``point[places]``, no inner parts scored.

    Any number of threads may ask at once.  Room for vertices grows with the need for them.
    """
    slots = slots._replace(masked=np.empty(len(slots.base)))
    nothing = slots.base[:0]
    most = vertices.support_room(slots)
    room = min(FIRST_ROOM, most)
    support = vertices.make_support(slots, 1, room)
    while True:
        work = vertices.make_work(slots, room)
        work.a[:] = point
        exact = active_set.project(
            STRUCTURE, slots, nothing, 1.0, support, 0, work, active_set.EXACT
        )
        if exact or room == most:
            return work.q
        room = min(2 * room, most)
        support = _with_room(slots, support, room)


def _with_room(slots: vertices.Slots, support: vertices.Support, room: int) -> Any:
    """The same support with more room."""
    wider = vertices.make_support(slots, 1, room)
    size = int(support.size[0])
    wider.size[0] = size
    wider.states[0, :size] = support.states[0, :size]
    wider.weight[0, :size] = support.weight[0, :size]
    wider.inner[0, :size] = support.inner[0, :size]
    return wider
