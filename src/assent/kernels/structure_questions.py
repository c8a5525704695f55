"""Questions to one structure alone that need more than its own kernels: projections."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.kernels import active_set
from assent.kernels.oracle import raise_pending, search_address


def project_structure(
    structure: Any, points: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest points ``[m, links]`` with inner scores ``[m, parts]``, and the inner values."""
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


def make_structure_slots(structure: Any) -> active_set.Slots:
    """Slots of a structure without evidence."""
    base = np.zeros(int(structure.start[-1]))
    base.flags.writeable = False
    return active_set.Slots(
        structure.start, np.asarray(structure.first, np.int32), search_address(structure),
        structure.data, base, np.empty(len(base)),
    )  # fmt: skip
