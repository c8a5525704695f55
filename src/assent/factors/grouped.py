"""Factors over groups of literals whose sizes differ: ``by=`` in place of an axis."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assent.arguments import as_array, shown
from assent.errors import ModelError
from assent.factors.base import Factor, Logic
from assent.kernels.problem import Int64
from assent.model.variables import Literals, as_literals


class Grouped(Factor):
    """One factor per group of literals: as many batches as there are sizes of groups.

    Attributes:
        groups: labels of the groups, in order: sorted, or as they came where they do not sort.
        parts: batches of factors over as many literals each.
        rows: for each batch, the numbers of its groups.
    """

    def __init__(
        self, groups: tuple[Any, ...], parts: tuple[Factor, ...], rows: tuple[Int64, ...]
    ) -> None:
        self.graph, self.codes, self.shape = parts[0].graph, parts[0].codes, (len(groups),)
        self.groups, self.parts, self.rows = groups, parts, rows

    @property
    def kind(self) -> str:
        return self.parts[0].kind

    @property
    def size(self) -> int:
        """Literals of the largest group."""
        return max(part.size for part in self.parts)

    def __len__(self) -> int:
        return len(self.groups)

    def words(self, row: int) -> str:
        for part, rows in zip(self.parts, self.rows, strict=True):
            for place in np.flatnonzero(rows == row):
                return part.words(int(place))
        raise IndexError(f"{self.kind} has no group number {row}")

    def replaced(self, make: Callable[[Factor, Int64], Factor]) -> Grouped:
        """The same groups under other factors: ``make(batch, numbers of its groups)``."""
        pairs = zip(self.parts, self.rows, strict=True)
        return Grouped(self.groups, tuple(make(part, rows) for part, rows in pairs), self.rows)

    def joined(self, parts: list[NDArray[Any]]) -> NDArray[Any]:
        """What batches have, ``[m]`` or ``[m, size]`` each, group by group.

        Where they have more than one number per group, rows of smaller groups end masked.
        """
        if parts[0].ndim == 1:
            whole = np.zeros(len(self), parts[0].dtype)
        else:
            whole = np.ma.masked_all((len(self), self.size), parts[0].dtype)
        for part, rows in zip(parts, self.rows, strict=True):
            if part.ndim == 1:
                whole[rows] = part
            else:
                whole[rows, : part.shape[1]] = part
        return whole


class ByGroup(Logic):
    """Kinds that run over axes of an array of literals, or over groups of them (``by=``)."""

    # Arguments of which there may be one per group, and one per literal.
    per_group: ClassVar[tuple[str, ...]] = ()
    per_literal: ClassVar[tuple[str, ...]] = ()

    # Without arguments: copies are made that way.
    def __new__(cls, *arguments: Any, by: Any = None, **options: Any) -> Any:
        if by is None:
            return object.__new__(cls)  # quicker than to look for a parent who would do so
        given = inspect.signature(cls.__init__).bind(None, *arguments, **options).arguments
        del given["self"]
        if given.pop("axis", None) is not None:
            raise ModelError(f"{cls.__name__}: factors run over an axis or over groups, not both")
        return _by_group(cls, by, given)

    @classmethod
    def in_groups(cls, given: dict[str, Any], size: int) -> dict[str, Any]:
        """Arguments as they are for groups of one size."""
        return given


def _by_group(cls: type[ByGroup], by: Any, given: dict[str, Any]) -> Grouped:
    kind = cls.__name__
    lits = as_literals(given.pop("literals"))
    groups, number = _groups(kind, lits, by)
    sizes = np.bincount(number)
    members = np.split(np.argsort(number, kind="stable"), np.cumsum(sizes)[:-1])
    flat = lits.codes.ravel()
    parts, all_rows = [], []
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero(sizes == size)
        places = np.stack([members[row] for row in rows])
        own = {name: _share(cls, name, v, len(groups), rows) for name, v in given.items()}
        for name in set(cls.per_literal) & set(given):
            own[name] = _share_literals(kind, name, given[name], lits, places)
        parts.append(_make(cls, Literals(lits.graph, flat[places]), own, size, groups, rows))
        all_rows.append(rows)
    return Grouped(groups, tuple(parts), tuple(all_rows))


def _make(
    cls: type[ByGroup], lits: Literals, own: dict[str, Any], size: int, groups: Any, rows: Int64
) -> Factor:
    """The batch of the groups ``rows``; what is wrong is told of one of them."""
    try:
        return cls(literals=lits, axis=-1, **cls.in_groups(own, size))
    except ModelError as error:
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        error.add_note(f"in groups of {size} literals: {groups[rows[0]]!r}{more}")
        raise


def _groups(kind: str, lits: Literals, by: Any) -> tuple[tuple[Any, ...], Int64]:
    """Labels of the groups, and the number of each literal's."""
    array = as_array(by)
    if array is None or array.dtype.kind not in "biuUSO":
        raise ModelError(
            f"{kind}: by= takes one label (a whole number or a name) for each literal, "
            f"got {shown(by)}"
        )
    if array.shape != lits.shape:
        raise ModelError(
            f"{kind}: by= has shape {array.shape}, the literals have shape {lits.shape}; "
            "give one group for each literal"
        )
    if not lits.size:
        raise ModelError(f"{kind} over no literals (shape {lits.shape}) says nothing")
    labels = array.ravel().tolist()
    try:
        different = dict.fromkeys(labels)
    except TypeError as error:
        raise ModelError(f"{kind}: a group's label must be hashable: {error}") from None
    try:
        groups = tuple(sorted(different))
    except TypeError:  # labels of several kinds
        groups = tuple(different)
    place = {label: number for number, label in enumerate(groups)}
    return groups, np.array([place[label] for label in labels], np.int64)


def _share(cls: type[ByGroup], name: str, value: Any, count: int, rows: Int64) -> Any:
    """An argument's part that belongs to the groups ``rows``."""
    if name not in cls.per_group or value is None:
        return value
    if isinstance(value, (Literals, list, tuple)) and name == "output":
        value = as_literals(value)
        if value.shape != (count,):
            raise ModelError(
                f"{cls.__name__}: one output per group is needed, shape {(count,)}; "
                f"got shape {value.shape}"
            )
        return value[rows]
    return share(f"{cls.__name__}: {name}", value, count, rows)


def share(what: str, value: Any, count: int, rows: Int64) -> Any:
    """Of a number, or one per group, what belongs to the groups ``rows``."""
    array = as_array(value)
    if array is None or array.ndim == 0:
        return value
    if array.shape != (count,):
        raise ModelError(f"{what} has shape {array.shape}; there are {count} groups")
    return array[rows]


def _share_literals(kind: str, name: str, value: Any, lits: Literals, places: Int64) -> Any:
    """Of numbers that broadcast to the literals, those at ``places``."""
    array = as_array(value)
    if array is None or array.ndim == 0:
        return value
    try:
        return np.broadcast_to(array, lits.shape).ravel()[places]
    except ValueError:
        raise ModelError(
            f"{kind}: {name} has shape {array.shape}, the literals have shape {lits.shape}"
        ) from None
