"""Predicates over variables of a graph, relations given as data, and tables of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.arguments import shown
from assent.errors import ModelError
from assent.kernels.problem import Int32
from assent.logic.domains import Domain, Positions
from assent.logic.expressions import TableEntry, check_arity, expression
from assent.logic.formulas import Atom
from assent.model.graph import FactorGraph
from assent.model.scores import clean_scores
from assent.model.variables import Categorical, Literals, as_literals

# A literal is an integer whose negation is ``~``; so are the two constants.
TRUE = np.int32(2**31 - 1)
FALSE = np.int32(~TRUE)

# Up to this many cells a predicate is a dense array (64 MB), beyond it a sorted list of keys.
DENSE_CELLS = 1 << 24
# Bindings are joined with a predicate that can be true in less than this part of its cells.
SPARSE_SHARE = 0.5

DomainLike = Domain | int | range | Sequence[Any]


class Predicate:
    """A name for literals, one per tuple of domain members; made by `predicate` or `relation`.

    Calling it with logic variables, expressions of them or constants makes an atom.
    """

    def __init__(
        self,
        name: str,
        domains: tuple[Domain, ...],
        graph: FactorGraph | None,
        keys: Positions,
        codes: Int32,
        one_state: bool = False,
    ) -> None:
        self.name = name
        self.one_state = one_state  # the last argument is a state: one holds, the others do not
        self.domains = domains
        self.graph = graph
        self.sizes = tuple(len(d) for d in domains)
        if np.prod(self.sizes, dtype=np.float64) > 2.0**62:
            raise ModelError(f"{name}: domains of sizes {self.sizes} have more combinations than "
                             "can be numbered; use fewer arguments")  # fmt: skip
        order = np.argsort(keys, kind="stable")
        self._keys, self._codes = keys[order], codes[order]
        repeated = np.flatnonzero(self._keys[1:] == self._keys[:-1])
        if len(repeated):
            where = ", ".join(map(str, self.labels_of(self._keys[repeated[0]])))
            raise ModelError(f"{name}: ({where}) is given twice")
        self._cells: Int32 | None = None

    def __call__(self, *args: Any) -> Atom:
        parts = tuple(expression(arg) for arg in args)
        check_arity(self.name, parts, self.domains)
        return Atom(self, parts)

    @property
    def arity(self) -> int:
        """Number of arguments."""
        return len(self.domains)

    @property
    def n_cells(self) -> int:
        """Number of tuples, true, false or unknown."""
        return int(np.prod(self.sizes, dtype=np.float64))

    def labels_of(self, key: int) -> tuple[Any, ...]:
        """The tuple of members with flat index ``key``."""
        place = np.unravel_index(int(key), self.sizes) if self.sizes else ()
        return tuple(d.labels[int(i)] for d, i in zip(self.domains, place, strict=True))

    def atoms(self) -> tuple[Positions, Int32]:
        """Flat indices of the tuples that have a literal, and the literals."""
        return self._keys, self._codes

    def codes_at(self, positions: Sequence[Positions]) -> Int32:
        """Literals of tuples of positions; FALSE where the predicate has none."""
        key = np.zeros(np.broadcast_shapes(*(np.shape(p) for p in positions)), np.int64)
        for part, size in zip(positions, self.sizes, strict=True):
            key = key * size + part
        if self.n_cells <= DENSE_CELLS:
            if self._cells is None:
                self._cells = np.full(self.n_cells, FALSE, np.int32)
                self._cells[self._keys] = self._codes
            return self._cells[key]
        if not len(self._keys):
            return np.full(key.shape, FALSE, np.int32)
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where(self._keys[place] == key, self._codes[place], FALSE)

    @property
    def sparse(self) -> bool:
        """Whether it is false in most cells, so that a join with the others saves work."""
        return int((self._codes != FALSE).sum()) < SPARSE_SHARE * self.n_cells

    def possible(self) -> NDArray[np.int64]:
        """Positions ``[tuples, arity]`` at which it may be true."""
        keys = self._keys[self._codes != FALSE]
        if not self.sizes:
            return np.zeros((len(keys), 0), np.int64)
        return np.stack(np.unravel_index(keys, self.sizes), axis=1).astype(np.int64)

    def observe(self, tuples: Any, values: Any = True, *, closed: bool = False) -> None:
        """Evidence: the atoms at ``tuples`` are known; with ``closed``, all others are false.

        Rules added later are simplified accordingly; earlier ones see it as evidence of the graph.

        Example:
            >>> import assent as at
            >>> from assent import logic
            >>> g = at.FactorGraph()
            >>> smokes = logic.predicate(g.binary(3, name="smokes"), ["ann", "bob", "eve"])
            >>> smokes.observe(["ann"], closed=True)
            >>> at.decode(g)[g["smokes"]].tolist()
            [1, 0, 0]
        """
        positions = tuple_positions(self.name, tuples, self.domains)
        self.observe_keys(flat_keys(positions, self.domains), values, closed)

    def observe_keys(self, keys: Positions, values: Any, closed: bool) -> None:
        """The same for tuples given by their flat index."""
        if self.graph is None:
            raise ModelError(f"{self.name} is data already: there is nothing to observe")
        truth = np.broadcast_to(np.asarray(values, bool), keys.shape)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        if not len(self._keys) or (self._keys[place] != keys).any():
            missing = keys[self._keys[place] != keys] if len(self._keys) else keys
            labels = ", ".join(map(str, self.labels_of(missing[0])))
            raise ModelError(f"{self.name}({labels}) has no variable to observe")
        known = np.full(len(self._keys), closed)
        value = np.zeros(len(self._keys), bool)
        known[place], value[place] = True, truth
        if self.one_state:
            self._exclude(known, value)
        self._fix(known & (np.abs(self._codes.astype(np.int64)) < TRUE), value)

    def _exclude(self, known: NDArray[np.bool_], value: NDArray[np.bool_]) -> None:
        """A variable that is in one state is in no other."""
        owner = self._keys // self.sizes[-1]
        chosen = known & value
        times = np.unique(owner[chosen], return_counts=True)[1]
        if (times > 1).any():
            twice = self._keys[chosen][np.isin(owner[chosen], np.unique(owner[chosen])[times > 1])]
            atoms = ", ".join(f"({', '.join(map(str, self.labels_of(k)))})" for k in twice[:2])
            raise ModelError(f"{self.name}: one variable is observed in two states, {atoms}")
        known |= np.isin(owner, owner[chosen])

    def _fix(self, known: NDArray[np.bool_], value: NDArray[np.bool_]) -> None:
        assert self.graph is not None
        if known.any():
            self.graph.fix(Literals(self.graph, self._codes[known]), value[known].astype(int))
        self._codes = np.where(known, np.where(value, TRUE, FALSE), self._codes)
        self._cells = None

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(d.name for d in self.domains)})"


def predicate(
    symbol: Literals | Categorical, *domains: DomainLike, name: str | None = None, at: Any = None
) -> Predicate:
    """A predicate over variables of a graph.

    Args:
        symbol: literals, one axis per domain; or a categorical variable, whose states become
            one more argument.
        domains: a :class:`Domain` (or what makes one) per axis; left out, 0 … n−1.
        name: what it is called; by default as the variables are.
        at: tuples ``[m, arity]`` at which there are variables (``symbol`` is then 1-D); the
            predicate is false everywhere else.

    Example:
        >>> import assent as at
        >>> from assent import logic
        >>> g = at.FactorGraph()
        >>> tag = logic.predicate(g.categorical(3, states=["N", "V"], name="tag"))
        >>> i = logic.Variable("i")
        >>> tag(i, "V") >> ~tag(i + 1, "V")
        tag(i, 'V') >> ~tag(i + 1, 'V')
    """
    if not isinstance(symbol, Categorical):
        symbol = as_literals(symbol)
    own, codes = _default_name(symbol, name), symbol.codes
    states: tuple[Domain, ...] = ()
    if isinstance(symbol, Categorical):
        states = (Domain(f"states of {own}", symbol.states),)
    if at is None:
        sets = as_domains(own, domains, symbol.shape, "the variables have")
        keys = np.arange(codes.size)
    else:
        if not domains:
            raise ModelError(f"{own}: give the domains of the tuples in at=")
        sets = as_domains(own, domains)
        tuples = tuple_positions(own, at, sets)
        if symbol.shape != (len(tuples),):
            raise ModelError(f"{own}: {len(tuples)} tuples are given for variables of shape "
                             f"{symbol.shape}; one variable per tuple is needed")  # fmt: skip
        keys = flat_keys(tuples, sets)
        for extra in states:
            keys = (keys[:, None] * len(extra) + np.arange(len(extra))).ravel()
    return Predicate(
        own, (*sets, *states), symbol.graph, keys, codes.ravel(), one_state=bool(states)
    )


def relation(name: str, tuples: Any, *domains: DomainLike) -> Predicate:
    """A relation given as data: true for ``tuples``, false for all others.

    Args:
        name: what it is called.
        tuples: rows of members (or bare members, for one domain), or a boolean array over the
            domains.
        domains: one per argument; left out, the members that occur.

    Example:
        >>> from assent import logic
        >>> logic.relation("friend", [("ann", "bob"), ("bob", "eve")])
        friend(friend.0, friend.1)
    """
    mask = np.asarray(tuples) if isinstance(tuples, np.ndarray) else None
    if mask is not None and mask.dtype == bool:
        sets = as_domains(name, domains, mask.shape, "the mask has")
        keys = np.flatnonzero(mask)
    else:
        sets = as_domains(name, domains) if domains else _domains_of(name, tuples)
        keys = np.unique(flat_keys(tuple_positions(name, tuples, sets), sets))
    return Predicate(name, sets, None, keys, np.full(len(keys), TRUE, np.int32))


class Table:
    """Numbers over domains, for weights and conditions; made by `table`."""

    def __init__(self, name: str, domains: tuple[Domain, ...], entries: NDArray[Any]) -> None:
        self.name, self.domains, self.entries = name, domains, entries

    def __call__(self, *args: Any) -> TableEntry:
        parts = tuple(expression(arg) for arg in args)
        check_arity(self.name, parts, self.domains)
        return TableEntry(self, parts)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(d.name for d in self.domains)})"


def table(name: str, entries: Any, *domains: DomainLike) -> Table:
    """Numbers ``entries[...]``, one axis per domain; looked up in ``weight=`` and ``where=``.

    Example:
        >>> from assent import logic
        >>> cost = logic.table("cost", [[0.0, 2.0], [2.0, 0.0]])
        >>> x, y = logic.variables("x y")
        >>> cost(x, y) > 1
        cost(x, y) > 1
    """
    array = clean_scores(entries, name)
    return Table(name, as_domains(name, domains, array.shape, "the entries have"), array)


def as_domains(
    name: str,
    domains: tuple[DomainLike, ...],
    shape: tuple[int, ...] | None = None,
    what: str = "",
) -> tuple[Domain, ...]:
    """Domains of any form as `Domain`; by default 0 … n−1 for each axis of ``shape``.

    They must fit ``shape``; ``what`` begins the end of the message where they do not.
    """
    given = domains or (shape or ())
    if shape is not None and len(given) != len(shape):
        raise ModelError(f"{name}: {len(given)} domains are given for {len(shape)} axes")
    sets = tuple(
        d if isinstance(d, Domain) else Domain(f"{name}.{axis}", d) for axis, d in enumerate(given)
    )
    sizes = tuple(map(len, sets))
    if shape is not None and sizes != shape:
        raise ModelError(f"{name}: domains have sizes {sizes}, {what} shape {shape}")
    return sets


def tuple_positions(name: str, tuples: Any, domains: tuple[Domain, ...]) -> NDArray[np.int64]:
    """Positions ``[m, arity]`` of tuples of members."""
    signature = f"{name} takes {len(domains)} arguments ({', '.join(d.name for d in domains)})"
    if isinstance(tuples, np.ndarray) and tuples.dtype.kind in "iuU":
        rows: Any = tuples[:, None] if tuples.ndim == 1 and len(domains) == 1 else tuples
        if rows.ndim != 2 or rows.shape[1] != len(domains):
            raise ModelError(f"{signature}, got tuples of shape {tuples.shape}")
        columns: list[Any] = list(rows.T)
    else:
        try:
            rows = list(tuples)
        except TypeError:
            raise TypeError(f"{signature}: tuples are listed, got {shown(tuples)}") from None
        if len(domains) == 1 and all(type(row) is not tuple for row in rows):
            rows = [(row,) for row in rows]
        for row in rows:
            if len(row) != len(domains):
                raise ModelError(f"{signature}, got {tuple(row)}")
        columns = [_column([row[i] for row in rows]) for i in range(len(domains))]
    out = np.zeros((len(rows), len(domains)), np.int64)
    for i, (column, domain) in enumerate(zip(columns, domains, strict=True)):
        try:
            out[:, i] = domain.positions(column) if len(rows) else 0
        except ModelError as error:
            raise ModelError(f"{name}, argument {i + 1}: {error}") from None
    return out


def _column(labels: list[Any]) -> Any:
    """Labels as an array, of one plain type if they share it: these are looked up together."""
    for kind in (int, str):
        if all(type(label) is kind for label in labels):
            return np.array(labels)
    array = np.empty(len(labels), object)
    array[:] = labels
    return array


def _domains_of(name: str, tuples: Any) -> tuple[Domain, ...]:
    """Domains made of the members that occur, in order of appearance."""
    rows = [row if isinstance(row, (tuple, list, np.ndarray)) else (row,) for row in tuples]
    if not rows:
        raise ModelError(f"{name}: without tuples its domains must be given")
    return tuple(
        Domain(f"{name}.{axis}", dict.fromkeys(np.asarray(column).tolist()))
        for axis, column in enumerate(zip(*rows, strict=True))
    )


def flat_keys(tuples: NDArray[np.int64], domains: tuple[Domain, ...]) -> Positions:
    """Flat index of positions ``[m, arity]`` among all tuples of the domains."""
    key = np.zeros(len(tuples), np.int64)
    for column, domain in zip(tuples.T, domains, strict=True):
        key = key * len(domain) + column
    return key


def _default_name(symbol: Literals | Categorical, name: str | None) -> str:
    if name is not None:
        return name
    if symbol.codes.size == 0:
        raise ModelError("a predicate over no variables needs a name")
    first = int(symbol.codes.flat[0])
    return symbol.graph.describe_owner(max(first, ~first)).split("[")[0]
