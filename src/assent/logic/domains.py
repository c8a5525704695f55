"""Domains: the finite sets that logic variables run over."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.arguments import is_whole, shown
from assent.errors import ModelError

Positions = NDArray[np.int64]

SHOWN_MEMBERS = 6  # that a message lists
MOST_MEMBERS = 10_000_000  # of a range; a rule has no more bindings


class Domain:
    """A finite ordered set: whole numbers or labels.

    Members that are whole numbers can be computed with (``m - 1``, ``h < m``); labels are compared
    with each other, in the order they are listed.

    Args:
        name: for messages.
        members: a number ``n`` (for 0 … n−1), a range, or the members themselves.

    Example:
        >>> from assent import logic
        >>> logic.Domain("word", range(1, 4))
        word: 1, 2, 3
    """

    __slots__ = ("_lookup", "integer", "labels", "name", "values")

    def __init__(self, name: str, members: int | Iterable[Hashable]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a domain is a string, got {shown(name)}")
        if is_whole(members):
            members = range(int(members))  # type: ignore[arg-type]
        if isinstance(members, range) and members[MOST_MEMBERS:]:
            raise ModelError(f"domain {name!r} is too large: {shown(members)}")
        try:
            listed = list(members)  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(
                f"domain {name!r}: members are listed, or how many there are; got {shown(members)}"
            ) from None
        labels = [m.item() if isinstance(m, np.generic) else m for m in listed]
        if not labels:
            raise ModelError(f"domain {name!r} is empty: give it at least one member")
        self.name = name
        self.labels = labels
        self.integer = all(type(label) is int and abs(label) < 2**63 for label in labels)
        self.values = np.array(labels if self.integer else range(len(labels)), np.int64)
        try:
            self._lookup = {label: i for i, label in enumerate(labels)}
        except TypeError as error:
            raise TypeError(f"domain {name!r}: a member cannot be told apart: {error}") from None
        if len(self._lookup) != len(labels):
            raise ModelError(f"domain {name!r} has a member twice")

    def __len__(self) -> int:
        return len(self.labels)

    def same_as(self, other: Domain) -> bool:
        """Whether both have the same members in the same order."""
        return self is other or self.labels == other.labels

    def position(self, label: Any) -> int:
        """The position of ``label`` among the members."""
        try:
            found = self._lookup.get(label.item() if isinstance(label, np.generic) else label)
        except TypeError:
            found = None
        if found is None:
            raise ModelError(f"{label!r} is not in domain {self.name!r}, which has {self._few()}")
        return found

    def find(self, values: NDArray[Any]) -> Positions:
        """Positions of integer ``values``, −1 where there is none."""
        first, last = int(self.values[0]), int(self.values[-1])
        if last - first == len(self) - 1 and (np.diff(self.values) == 1).all():
            inside = (values >= first) & (values <= last)
            return np.where(inside, values - first, -1).astype(np.int64)
        order = np.argsort(self.values)
        place = np.minimum(np.searchsorted(self.values, values, sorter=order), len(self) - 1)
        return np.where(self.values[order[place]] == values, order[place], -1).astype(np.int64)

    def positions(self, labels: Any) -> Positions:
        """Positions of labels; an unknown one raises."""
        array = np.asarray(labels)
        if self.integer and array.dtype.kind in "iu":
            found = self.find(array)
            if (found < 0).any():
                self.position(array[found < 0].flat[0].item())
            return found
        if array.dtype.kind == "O":
            return np.array([self.position(label) for label in labels], np.int64)
        unique, inverse = np.unique(array, return_inverse=True)
        return np.array([self.position(u.item()) for u in unique], np.int64)[inverse.ravel()]

    def _few(self) -> str:
        shown = ", ".join(map(str, self.labels[:SHOWN_MEMBERS]))
        return shown + (f", … {len(self)} members" if len(self) > SHOWN_MEMBERS else "")

    def __repr__(self) -> str:
        return f"{self.name}: {self._few()}"


def translate(positions: Positions, source: Domain, target: Domain) -> Positions:
    """Positions in ``source`` as positions of the same members in ``target``, −1 if absent."""
    if source.same_as(target):
        return positions
    if source.integer and target.integer:
        return target.find(source.values[positions])
    found = [target._lookup.get(label, -1) for label in source.labels]
    return np.array(found, np.int64)[positions]


def narrowest(domains: list[Domain]) -> Domain | None:
    """The domain whose members are in all others too, if there is one."""
    best = min(domains, key=len)
    members = set(best.labels)
    return best if all(members <= set(d.labels) for d in domains) else None
