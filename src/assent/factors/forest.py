"""Factors over slots that form a tree or several: what Chain and Tree have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from assent.arguments import as_array, shown
from assent.errors import ModelError
from assent.factors.scored import slots_of
from assent.factors.structure import Structure
from assent.kernels.problem import Float, Int32
from assent.model.scores import broadcast_scores, clean_scores
from assent.model.variables import Categorical, Literals


class ForestFactor(Structure):
    """``m`` forests of one shape, with a table of scores per edge and per number of visits.

    Inner parts are laid out as ``kernels.kinds.sequences.tree_recursion`` reads them: one table per
    slot, ``[K, K of its parent]`` or ``[K, 1]`` for a root, then one score per number of slots in a
    counted state.

    Attributes:
        parents: the parent of each slot, -1 for a root.
        counted: the state of each slot that is counted, -1 for none.
    """

    kernel_names = "sequences.tree_recursion", "tree"
    parents: tuple[int, ...]
    counted: tuple[int, ...]
    _counts: Float  # scores per number of visits; one zero where nothing is counted

    def _init_forest(
        self, variables: Any, parents: Sequence[int], counted: Any, counts: Float
    ) -> None:
        """Attach to the graph; ``counted`` is a state, ``None`` where nothing is counted."""
        graph, codes, shape, self.states, self.first = all_slots(self.kind, variables)
        numbers = [-1] * len(self.states)
        if counted is not None:
            numbers = state_numbers(self.kind, variables, counted)
            refuse_infeasible_counts(self.kind, self.states, numbers, counts)
        self._root(graph, codes, shape, parents, numbers, counts)

    def _root(
        self, graph: Any, codes: Int32, shape: tuple[int, ...], parents: Sequence[int],
        numbers: Sequence[int], counts: Float,
    ) -> None:  # fmt: skip
        """Attach slots that have their states; ``numbers`` are the counted ones."""
        self.parents, self.counted, self._counts = tuple(parents), tuple(numbers), counts
        # Imported here: kernels load the compiler, which a written model does not need yet.
        from assent.kernels.kinds.sequences.tree_recursion import tree_data

        self.data = tree_data(self.states, self.parents, numbers, len(counts))
        self._attach(graph, codes, shape)

    def fit(self, scores: Any) -> Float:
        """New scores, checked and laid out as ``[m, entries]``.

        They are tables as in the constructor, or an array ``(*shape, entries)`` in the layout of
        the kernel: no table has as many columns.
        """
        if isinstance(scores, np.ndarray) and scores.shape == (*self.shape, *self.entry_shape()):
            return super().fit(scores)
        return self._lay_out(self._tables(scores))

    @abstractmethod
    def _tables(self, scores: Any) -> list[Float]:
        """Tables as the constructor takes them, one per slot in the layout of the kernel."""

    def entry_shape(self) -> tuple[int, ...]:
        return (sum(k * top for k, top in self._table_shapes()) + len(self._counts),)

    def _table_shapes(self) -> list[tuple[int, int]]:
        """Shape of each slot's table in the layout of the kernel."""
        return [
            (k, 1 if parent < 0 else self.states[parent])
            for k, parent in zip(self.states, self.parents, strict=True)
        ]

    def _lay_out(self, tables: list[Float]) -> Float:
        """One table ``(*shape, K, K of the parent)`` per slot as ``[m, entries]``."""
        m = int(np.prod(self.shape, dtype=np.int64))
        rows = [
            np.broadcast_to(table, (*self.shape, *own)).reshape(m, -1)
            for table, own in zip(tables, self._table_shapes(), strict=True)
        ]
        return np.hstack([*rows, np.broadcast_to(self._counts, (m, len(self._counts)))])

    def tables_of(self, parts: Float) -> list[Float]:
        """Parts ``[m, entries]`` as one table ``[m, K, K of the parent]`` per slot."""
        shapes = self._table_shapes()
        tables = np.split(parts, np.cumsum([k * top for k, top in shapes]), axis=1)
        return [own.reshape(-1, *shape) for own, shape in zip(tables, shapes, strict=False)]

    def _edge_tables(self, parts: Float) -> list[Float]:
        """Parts ``[m, entries]`` as one ``(*shape, K, K of the parent)`` per edge."""
        ends = zip(self.tables_of(parts), self.parents, strict=True)
        return [own.reshape(*self.shape, *own.shape[1:]) for own, top in ends if top >= 0]

    def _transitions(self, parts: Float) -> Any:
        """Tables of a path, ``(*shape, T - 1, K, K)``, or a list if numbers of states differ."""
        tables = self._edge_tables(parts)
        if len(set(self.states)) > 1:
            return tables
        if not tables:
            return np.zeros((*self.shape, 0, self.states[0], self.states[0]))
        return np.stack(tables, axis=len(self.shape))


def all_slots(
    kind: str, variables: Any
) -> tuple[Any, Int32, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Slots of an array, whose last axis they are, or of a list of variables that broadcast.

    Returns graph, ``codes[m, links]``, shape, states and first as ``slots_of`` does.
    """
    if isinstance(variables, (list, tuple)):
        return slots_of(kind, tuple(variables))
    if not isinstance(variables, (Categorical, Literals)):
        raise TypeError(f"{kind} takes an array of variables or a list of them, got {variables!r}")
    if variables.ndim == 0 or not variables.shape[-1]:
        raise ModelError(f"{kind} needs an axis of at least one variable, got {variables!r}")
    *shape, n = variables.shape
    is_literal = isinstance(variables, Literals)
    states = 2 if isinstance(variables, Literals) else len(variables.states)
    width = n * (1 if is_literal else states)
    codes = variables.codes.reshape(-1, width)
    return variables.graph, codes, tuple(shape), (states,) * n, (int(is_literal),) * n


def clean_parents(
    kind: str, parents: Any, n: int, *, root: int = -1, parent: str = "parent",
    node: str = "variable",
) -> list[int]:  # fmt: skip
    """The parents of ``n`` nodes as positions or -1, without a cycle.

    Nodes are counted from ``root + 1``; ``parent`` and ``node`` are what messages call them.
    """
    from assent.kernels.kinds.sequences.tree_recursion import children_first

    array = as_array(parents)
    if array is None or array.shape != (n,) or array.dtype.kind not in "iu" or not n:
        raise ModelError(
            f"{kind}: {parent}s are {n} whole numbers, one per {node}, got {shown(parents)}"
        )
    own = array.astype(np.int64) - (root + 1)
    if own.min() < -1 or own.max() >= n:
        places = f"{root + 1}..{root + n} or {root}"
        raise ModelError(f"{kind}: a {parent} is a {node} {places}, got {parents!r}")
    reached = children_first([n if p < 0 else int(p) for p in own])
    if len(reached) < n:
        lost = sorted({v + root + 1 for v in range(n)} - {v + root + 1 for v in reached})
        raise ModelError(f"{kind}: {node}s {lost} hang on a cycle of {parent}s; a tree has none")
    return own.tolist()


def state_numbers(kind: str, variables: Any, state: Any) -> list[int]:
    """The number of the state called ``state`` in each slot, -1 where there is none."""
    listed = isinstance(variables, (list, tuple))
    parts = variables if listed else [variables]
    found = [_state_number(part, state) for part in parts]
    if max(found) < 0:
        raise ModelError(f"{kind}: none of the variables has a state {state!r} to count")
    return found if listed else found * variables.shape[-1]


def _state_number(part: Any, state: Any) -> int:
    if isinstance(part, Categorical):
        try:
            return part.lookup.get(state, -1)
        except TypeError:  # not hashable, hence no label
            return -1
    return int(state) if isinstance(state, (bool, int, np.integer)) and state in (0, 1) else -1


def refuse_infeasible_counts(
    kind: str, states: Sequence[int], counted: Sequence[int], counts: Float
) -> None:
    """Raise where every number of visits that can occur is forbidden."""
    can = [k for k, state in zip(states, counted, strict=True) if state >= 0]
    least, most = sum(k == 1 for k in can), len(can)
    if not np.isfinite(counts[least : most + 1]).any():
        raise ModelError(
            f"{kind}: the counted state is visited {least} to {most} times, and all of these "
            "numbers are forbidden; allow one"
        )


def fit_tables(
    kind: str, tables: Any, shape: tuple[int, ...], wanted: list[tuple[int, int]], order: str
) -> list[Float]:
    """Tables that each broadcast to ``(*shape, *wanted[e])``, checked, one per edge.

    They come as a list, or, where all are of one shape, as an array that broadcasts to
    ``(*shape, edges, *wanted)``.  ``order`` names the axes for messages.
    """
    if isinstance(tables, (list, tuple)) and len(set(wanted)) != 1:
        if len(tables) != len(wanted):
            raise ModelError(f"{kind}: {len(wanted)} tables are needed, got {len(tables)}")
        return [
            broadcast_scores(table, (*shape, *own), kind, f" ({order})", f"table {e} has")
            for e, (table, own) in enumerate(zip(tables, wanted, strict=True))
        ]
    if len(set(wanted)) > 1:
        raise ModelError(
            f"{kind}: the variables have different numbers of states; give a list of "
            f"{len(wanted)} tables"
        )
    if not wanted:
        clean_scores(tables, kind)
        return []
    full = broadcast_scores(tables, (*shape, len(wanted), *wanted[0]), kind, f" ({order})")
    return list(np.moveaxis(full, len(shape), 0))


def fit_states(kind: str, name: str, scores: Any, shape: tuple[int, ...], states: int) -> Float:
    """Scores of one slot's states, ``(*shape, states)``; ``None`` is zero."""
    if scores is None:
        return np.zeros((*shape, states))
    return broadcast_scores(scores, (*shape, states), kind, " (…, state)", f"{name} has")
