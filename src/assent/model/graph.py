"""The factor graph a person writes: variables with scores, factors on them, evidence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.arguments import as_array, as_floats, is_whole, shown
from assent.errors import ModelError
from assent.factors.base import Factor
from assent.factors.grouped import Grouped
from assent.kernels.problem import Float, Int32
from assent.model.scores import LARGEST_SCORE, clean_scores, fit_scores
from assent.model.variables import Categorical, Literals, as_literals
from assent.notebook import graph_html

if TYPE_CHECKING:
    from assent.compile.compiled import Compiled, Written
    from assent.model.inclusion import Inclusion

MOST_COORDINATES = 2**31  # they are counted in 32 bits
SHOWN_ITEMS = 6  # how many literals or lines a repr lists before it abridges


@dataclass(frozen=True, eq=False)
class VariableArray:
    """One declared array of variables: where its coordinates start and what it is called."""

    name: str
    symbol: Literals | Categorical
    start: int
    scores: Float  # one per coordinate, flat
    auxiliary: bool = False  # the others decide them: no part of the answer

    @property
    def states(self) -> tuple[Any, ...] | None:
        return self.symbol.states if isinstance(self.symbol, Categorical) else None

    def describe(self) -> str:
        """One line of a graph's repr."""
        shape = "×".join(map(str, self.symbol.shape)) or "single"
        if self.states is None:
            return f"{self.name}: {shape} binary"
        shown = ", ".join(map(str, self.states[:SHOWN_ITEMS]))
        more = ", …" if len(self.states) > SHOWN_ITEMS else ""
        return f"{self.name}: {shape} categorical over {{{shown}{more}}}"


@dataclass(frozen=True, eq=False)
class Handle:
    """What `FactorGraph.add` returns: names a batch of factors in scores and results."""

    factor: Factor
    name: str
    place: Callable[[int], str] | None = None  # says what factor ``row`` is about, if not its name

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of factors."""
        return self.factor.shape

    @property
    def groups(self) -> tuple[Any, ...]:
        """Labels of the groups, one per factor, where they were written with ``by=``."""
        return ()

    @property
    def parts(self) -> tuple[Handle, ...]:
        """For groups, the batches of one size that solvers and files know."""
        return ()

    def describe(self) -> str:
        """One line of a graph's repr."""
        prefix = f"{self.name}: " if self.name else ""
        return prefix + repr(self.factor)

    def words(self, row: int) -> str:
        """Factor ``row`` in words, with the handle's name and place if it has them."""
        place = self.place(row) if self.place is not None else ""
        label = f"{self.name} ({place})" if place and self.name else self.name or place
        return f"{label}: {self.factor.words(row)}" if label else self.factor.words(row)

    def __repr__(self) -> str:
        return f"<{self.describe()}>"


@dataclass(frozen=True, eq=False, repr=False)
class GroupedHandle(Handle):
    """What `FactorGraph.add` returns for factors over groups, in the order of ``groups``."""

    factor: Grouped
    parts: tuple[Handle, ...] = ()  # the batches of one size that solvers and files know

    @property
    def groups(self) -> tuple[Any, ...]:
        """Labels of the groups, one per factor."""
        return self.factor.groups

    def split(self, scores: Any, axis: int) -> Iterator[tuple[Handle, Any]]:
        """Scores of each batch, from a number or one per group along ``axis``."""
        array = clean_scores(scores, self)
        count = len(self.groups)
        if array.ndim > axis and array.shape[axis] != count:
            raise ModelError(f"{self!r}: scores have shape {array.shape}, there are {count} groups")
        for part, rows in zip(self.parts, self.factor.rows, strict=True):
            yield part, array.take(rows, axis) if array.ndim > axis else array


@dataclass(frozen=True)
class _GroupPlace:
    """Says which group a factor of a batch is about."""

    groups: tuple[Any, ...]
    rows: Any
    place: Callable[[int], str] | None

    def __call__(self, row: int) -> str:
        number = int(self.rows[row])
        return f"group {self.groups[number]}" if self.place is None else self.place(number)


class FactorGraph:
    """Variables, scores and factors: the model to decode.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary(3, scores=[1.0, 2.0, 3.0], name="x")
        >>> rule = g.add(at.AtMost(2, x))
        >>> at.decode(g)[x].tolist()
        [0, 1, 1]
    """

    def __init__(self) -> None:
        self.variables: list[VariableArray] = []
        self.handles: list[Handle] = []
        self.constant = 0.0
        self._grouped: dict[Handle, GroupedHandle] = {}  # what batches of one size are parts of
        self._starts: list[int] = []
        self._names: dict[str, VariableArray] = {}
        self._size = 0
        self._evidence: list[Int32] = []  # literal codes that must be true
        self._compiled: Compiled | None = None
        self._masked: Compiled | None = None  # the last one made for other forbidden values
        self._written: Written | None = None

    # ------------------------------------------------------------------ declaring

    def binary(
        self,
        shape: Any = None,
        *,
        scores: Any = None,
        name: str | None = None,
        auxiliary: bool = False,
    ) -> Literals:
        """Declare an array of binary variables.

        Args:
            shape: an integer or a tuple; left out, it is taken from ``scores``.
            scores: earned where each is true; broadcasts to ``shape``; ``-inf`` forbids.
            name: a unique name for messages and files; one is made up if left out.
            auxiliary: they only say something about other variables and are no part of the
                answer: `k_best` does not tell answers apart by them.

        Example:
            >>> import assent as at
            >>> at.FactorGraph().binary((2, 2), scores=1.0).shape
            (2, 2)
        """
        if not isinstance(auxiliary, (bool, np.bool_)):
            raise TypeError(f"auxiliary is True or False, got {shown(auxiliary)}")
        name = self._fresh_name(name, "auxiliary" if auxiliary else "v")
        array = clean_scores(scores, name)
        dims = array.shape if shape is None else _clean_shape(shape, name)
        codes = self._allocate(dims, name)
        symbol = Literals(self, codes)
        own = fit_scores(array, dims, name)
        self._declare(VariableArray(name, symbol, self._size, own, auxiliary))
        return symbol

    def categorical(
        self,
        shape: Any = None,
        states: int | Iterable[Hashable] = 2,
        *,
        scores: Any = None,
        name: str | None = None,
    ) -> Categorical:
        """Declare an array of variables that each take one of several states.

        Args:
            shape: an integer or a tuple; left out, it is taken from ``scores`` (one variable
                without them).
            states: the labels, or how many (labels are then 0, 1, …).
            scores: shape ``(*shape, K)``, one per state; ``-inf`` forbids it.
            name: a unique name for messages and files.

        Example:
            >>> import assent as at
            >>> at.FactorGraph().categorical(4, states="NVD").shape
            (4,)
        """
        name = self._fresh_name(name)
        labels = _clean_states(states, name)
        array = clean_scores(scores, name)
        if shape is None and scores is None:
            shape = ()
        elif shape is None:
            if array.ndim == 0 or array.shape[-1] != len(labels):
                raise ModelError(
                    f"{name}: scores of shape {array.shape} do not end in {len(labels)} states"
                )
            shape = array.shape[:-1]
        dims = (*_clean_shape(shape, name), len(labels))
        codes = self._allocate(dims, name)
        symbol = Categorical(self, codes, labels, {label: i for i, label in enumerate(labels)})
        self._declare(VariableArray(name, symbol, self._size, fit_scores(array, dims, name)))
        return symbol

    def add(
        self, factor: Factor, *, name: str = "", place: Callable[[int], str] | None = None
    ) -> Handle:
        """Attach factors; the handle names them in ``scores=`` and in results.

        Args:
            factor: one factor or a batch of them.
            name: put before each factor in messages.
            place: says what number ``row`` of a batch is about; follows the name.

        Example:
            >>> import assent as at
            >>> g = at.FactorGraph()
            >>> x = g.binary(3, name="x")
            >>> g.add(at.ExactlyOne(x), name="choice")
            <choice: ExactlyOne(x[0], x[1], x[2])>
        """
        if not isinstance(factor, Factor):
            raise TypeError(f"add takes a factor such as ExactlyOne(...), got {factor!r}")
        if not isinstance(name, str):
            raise TypeError(f"the name of a factor is a string, got {name!r}")
        if place is not None and not callable(place):
            raise TypeError(f"place is a function of a row's number, got {shown(place)}")
        if factor.graph is not self:
            raise ModelError(f"{factor!r} was written for another graph")
        self._forget()
        if isinstance(factor, Grouped):
            places = (_GroupPlace(factor.groups, rows, place) for rows in factor.rows)
            pairs = zip(factor.parts, places, strict=True)
            parts = tuple(Handle(part, name, own) for part, own in pairs)
            self.handles += parts
            whole = GroupedHandle(factor, name, place, parts)
            self._grouped |= dict.fromkeys(parts, whole)
            return whole
        handle = Handle(factor, name, place)
        self.handles.append(handle)
        return handle

    def include(
        self, graph: FactorGraph, links: Mapping[Any, Any] | None = None, *, name: str = ""
    ) -> Inclusion:
        """Make another graph part of this one; the linear relaxation is that of both together.

        Args:
            graph: copied as it is now; it stays usable on its own.
            links: variables of ``graph`` that are variables of this one, ``{inner: outer}``;
                scores add up.  All others are declared here.
            name: put before the names of those.

        Returns:
            a mapping from variables and handles of ``graph`` to those of this one.

        Example:
            >>> import assent as at
            >>> part = at.FactorGraph()
            >>> y = part.binary(3, scores=[1.0, 2.0, 0.5], name="y")
            >>> rule = part.add(at.AtMostOne(y))
            >>> g = at.FactorGraph()
            >>> x = g.binary(3, scores=[1.5, 0.0, 0.0], name="x")
            >>> where = g.include(part, {y: x})
            >>> at.decode(g)[where[y]].tolist()
            [1, 0, 0]
        """
        from assent.model.inclusion import include

        if not isinstance(graph, FactorGraph) or graph is self:
            raise TypeError(f"include takes another FactorGraph, got {shown(graph)}")
        if links is not None and not isinstance(links, Mapping):
            raise TypeError(f"links is a dict of inner to outer variables, got {shown(links)}")
        if not isinstance(name, str):
            raise TypeError(f"the name of an included graph is a string, got {shown(name)}")
        return include(self, graph, dict(links or {}), name)

    def add_constant(self, value: float) -> None:
        """Add a constant to the score of every assignment."""
        number = as_floats(value)
        if number is None or number.ndim:
            raise TypeError(f"a constant is a number, got {shown(value)}")
        if not abs(number) <= LARGEST_SCORE:
            raise ModelError(
                f"a constant must be finite (at most {LARGEST_SCORE:g} in size), got {shown(value)}"
            )
        self.constant += float(number)

    def fix(self, variables: Literals | Categorical, values: Any) -> None:
        """Evidence: ``variables`` have these values (0/1 for literals, labels for categoricals).

        Example:
            >>> import assent as at
            >>> g = at.FactorGraph()
            >>> x = g.binary(2, scores=1.0)
            >>> g.fix(x[0], 0)
            >>> at.decode(g)[x].tolist()
            [0, 1]
        """
        if isinstance(variables, Categorical):
            owner, true = variables.graph, _evidence_states(variables, values)
        else:
            lits = as_literals(variables)
            owner = lits.graph
            array = as_array(values)
            if array is None or array.dtype.kind not in "biu" or not np.isin(array, (0, 1)).all():
                raise ModelError(f"evidence for {lits!r} must be 0 or 1, got {shown(values)}")
            try:
                known = np.broadcast_to(array.astype(bool), lits.shape)
            except ValueError:
                raise ModelError(
                    f"evidence has shape {array.shape}, the variables have shape {lits.shape}"
                ) from None
            true = np.where(known, lits.codes, ~lits.codes)
        if owner is not self:
            raise ModelError(f"{variables!r} belongs to another graph")
        self._evidence.append(true.ravel().astype(np.int32))
        self._forget()

    # ------------------------------------------------------------------ reading

    def __getitem__(self, name: str) -> Any:
        """The variables declared under ``name``, or the handle of the factors added under it.

        Example:
            >>> import assent as at
            >>> g = at.FactorGraph()
            >>> x = g.binary(3, name="x")
            >>> rule = g.add(at.ExactlyOne(g["x"]), name="choice")
            >>> g["choice"] is rule
            True
        """
        if not isinstance(name, str):
            raise TypeError(f"variables and factors are called by strings, got {shown(name)}")
        if name in self._names:
            return self._names[name].symbol
        named = [handle for handle in self.batches if handle.name == name and name]
        if len(named) == 1:
            return named[0]
        if named:
            raise KeyError(f"{len(named)} batches of factors are called {name!r}; keep the handle")
        known = [v.name for v in self.own_variables]
        known += dict.fromkeys(handle.name for handle in self.batches if handle.name)
        more = ", …" if len(known) > SHOWN_ITEMS else ""
        few = ", ".join(known[:SHOWN_ITEMS]) + more
        raise KeyError(f"nothing is called {name!r}; there are {few or 'no names'}")

    def named(self, key: Any) -> Any:
        """``key`` itself, or what a string names."""
        return self[key] if isinstance(key, str) else key

    @property
    def batches(self) -> list[Handle]:
        """The handles as they were given out: groups of several sizes are one."""
        return list(dict.fromkeys(self._grouped.get(handle, handle) for handle in self.handles))

    @property
    def own_variables(self) -> list[VariableArray]:
        """The arrays of variables that were declared, without those that factors needed."""
        return [variable for variable in self.variables if not variable.auxiliary]

    @property
    def size(self) -> int:
        """Number of coordinates: one per binary variable, K per categorical."""
        return self._size

    @property
    def n_factors(self) -> int:
        """Number of factors written, those implied by categorical variables not counted."""
        return sum(len(handle.factor) for handle in self.handles)

    def evidence(self) -> Int32:
        """Codes of the literals that evidence makes true."""
        return np.concatenate(self._evidence) if self._evidence else np.zeros(0, np.int32)

    def compile(self) -> Compiled:
        """The flat problem, made once and kept until the graph changes.

        Example:
            >>> import assent as at
            >>> g = at.FactorGraph()
            >>> x = g.binary(3)
            >>> g.compile().problem.n
            3
        """
        if self._compiled is None:
            from assent.compile.compiled import compile_graph

            self._compiled = compile_graph(self)
        return self._compiled

    def draw(
        self, result: Any = None, *, what: Any = None, ax: Any = None, path: Any = None
    ) -> Any:
        """A picture of the graph, or of one of its factors; returns the matplotlib axes.

        Neighbours on a grid become an image, a `Chain` or `Regular` a lattice, a tree its arcs, a
        `Matching` a table; other graphs, if small, variables and factors with lines between them.

        Args:
            result: a result whose answer is shown.
            what: the handle (or name) of the factor to draw; by default the only one with a
                picture of its own, or else the whole graph.
            ax: matplotlib axes to draw on.
            path: where to save the picture, if anywhere.

        Example:
            >>> import assent as at
            >>> g = at.FactorGraph()
            >>> tag = g.categorical(4, "NV", scores=[[1, 0], [0, 1], [1, 0], [1, 2]], name="tag")
            >>> chain = g.add(at.Chain(tag, transitions=[[0, 1], [1, 0]]), name="chain")
            >>> axes = g.draw(at.decode(g))
            >>> axes.get_title()
            'chain'
        """
        from assent.model.drawing import draw

        return draw(self, result, what, ax, path)

    def to_networkx(self) -> Any:
        """A bipartite `networkx.Graph`: variables by name, factors as ``(handle, row)``.

        Variables have ``codes``, ``states`` and ``scores``, factors their ``kind`` and ``words``,
        and edges say whether they are ``negated``.

        Example:
            >>> import assent as at
            >>> g = at.FactorGraph()
            >>> x = g.binary(2, name="x")
            >>> rule = g.add(at.Implies(x[0], ~x[1]))
            >>> g.to_networkx().edges[(0, 0), "x[1]"]
            {'negated': True}
        """
        from assent.model.drawing import to_networkx

        return to_networkx(self)

    def describe_code(self, code: int) -> str:
        """A literal in words: ``~x[1,2]`` or ``tag[3]=V``."""
        coordinate, variable = self._declared(code)
        sign = "~" if code < 0 else ""
        place = np.unravel_index(coordinate - variable.start, variable.symbol.codes.shape)
        *where, last = (int(i) for i in place) if place else (0,)
        if variable.states is None and variable.symbol.codes.ndim:
            where.append(last)
        spot = f"[{','.join(map(str, where))}]" if where else ""
        state = "" if variable.states is None else f"={variable.states[last]}"
        return f"{sign}{variable.name}{spot}{state}"

    def describe_value(self, code: int) -> str:
        """What a true literal says of its variable: ``x[1,2]=0`` or ``tag[3]≠V``."""
        coordinate, variable = self._declared(code)
        words = self.describe_code(coordinate)
        if variable.states is None:
            return f"{words}={int(code >= 0)}"
        owner = self.describe_owner(coordinate)
        return words if code >= 0 else f"{owner}≠{words.removeprefix(owner + '=')}"

    def describe_owner(self, code: int) -> str:
        """The variable of a literal, without its state: ``tag[3]``."""
        coordinate, variable = self._declared(code)
        if variable.states is None:
            return self.describe_code(coordinate)
        shape = variable.symbol.shape
        place = np.unravel_index((coordinate - variable.start) // len(variable.states), shape)
        return (
            f"{variable.name}[{','.join(str(int(i)) for i in place)}]" if shape else variable.name
        )

    def describe_codes(self, codes: Int32) -> str:
        """An array of literals in words, abridged."""
        if codes.ndim == 0:
            return self.describe_code(int(codes))
        shown = ", ".join(self.describe_code(int(c)) for c in codes.ravel()[:SHOWN_ITEMS])
        more = f", … {codes.size} literals" if codes.size > SHOWN_ITEMS else ""
        shape = f" of shape {codes.shape}" if codes.ndim > 1 else ""
        return f"[{shown}{more}]{shape}"

    def describe_variable(self, symbol: Categorical) -> str:
        """A (slice of a) categorical variable in words."""
        if symbol.codes.size == 0:
            return "[no variables]"
        first = self.describe_owner(int(symbol.codes.flat[0]))
        return first if symbol.ndim == 0 else f"[{first}, …] of shape {symbol.shape}"

    def _repr_html_(self) -> str:
        return graph_html(self)

    def __repr__(self) -> str:
        own = self.own_variables
        size = sum(v.scores.size for v in own)
        lines = [
            f"FactorGraph: {len(own)} variable arrays ({size} indicators), {self.n_factors} factors"
        ]
        lines += [f"  {v.describe()}" for v in own[:SHOWN_ITEMS]]
        if len(own) > SHOWN_ITEMS:
            lines.append(f"  … {len(own) - SHOWN_ITEMS} more variable arrays")
        batches = self.batches
        lines += [f"  {h.describe()}" for h in batches[:SHOWN_ITEMS]]
        if len(batches) > SHOWN_ITEMS:
            lines.append(f"  … {len(batches) - SHOWN_ITEMS} more batches of factors")
        fixed = sum(len(codes) for codes in self._evidence)
        if fixed:
            lines.append(f"  evidence on {fixed} variables")
        return "\n".join(lines)

    # ------------------------------------------------------------------ inside

    def _declared(self, code: int) -> tuple[int, VariableArray]:
        """Coordinate of a literal, and the array it was declared in."""
        coordinate = int(~code if code < 0 else code)
        return coordinate, self.variables[bisect_right(self._starts, coordinate) - 1]

    def _fresh_name(self, name: str | None, prefix: str = "v") -> str:
        if name is None:
            number = len(self.variables)
            while f"{prefix}{number}" in self._names:
                number += 1
            return f"{prefix}{number}"
        if not isinstance(name, str) or not name:
            raise ModelError(f"a variable's name must be a non-empty string, got {name!r}")
        if name in self._names:
            raise ModelError(f"there is already a variable called {name!r}; choose another name")
        return name

    def _allocate(self, dims: tuple[int, ...], name: str) -> Int32:
        count = prod(dims)
        if self._size + count >= MOST_COORDINATES:
            raise ModelError(f"{name}: more than 2^31 coordinates in one graph")
        codes = np.arange(self._size, self._size + count, dtype=np.int32).reshape(dims)
        codes.flags.writeable = False
        return codes

    def _declare(self, variable: VariableArray) -> None:
        self.variables.append(variable)
        self._starts.append(self._size)
        self._names[variable.name] = variable
        self._size += variable.scores.size
        self._forget()

    def _forget(self) -> None:
        """The graph has changed: what was compiled is out of date."""
        self._compiled = self._masked = self._written = None


def _clean_shape(shape: Any, name: str) -> tuple[int, ...]:
    dims = tuple(shape) if _is_many(shape) else (shape,)
    for size in dims:
        if not (type(size) is int or is_whole(size)) or size < 0:
            raise ModelError(f"{name}: a shape is made of whole numbers >= 0, got {shown(shape)}")
    return tuple(map(int, dims))


def _is_many(value: Any) -> bool:
    """Whether something can be listed; an array without axes cannot."""
    return isinstance(value, Iterable) and not (isinstance(value, np.ndarray) and not value.ndim)


def _clean_states(states: int | Iterable[Hashable], name: str) -> tuple[Any, ...]:
    labels: tuple[Any, ...]
    if is_whole(states):
        if states >= MOST_COORDINATES:  # type: ignore[operator]
            raise ModelError(f"{name}: {shown(states)} states are more than there may be, 2^31")
        labels = tuple(range(states))  # type: ignore[arg-type]
    elif _is_many(states):
        labels = tuple(states)  # type: ignore[arg-type]
    else:
        raise TypeError(f"{name}: states are labels, or how many there are, got {shown(states)}")
    try:
        different = set(labels)
    except TypeError as error:
        raise TypeError(f"{name}: a label must be hashable (a string, say): {error}") from None
    if not labels:
        raise ModelError(f"{name}: a categorical variable needs at least one state")
    if len(different) != len(labels):
        raise ModelError(f"{name}: state labels must differ, got {labels}")
    return labels


def _evidence_states(variables: Categorical, values: Any) -> Int32:
    if variables.ndim == 0 or _is_label(variables, values):
        return (variables == values).codes
    labels = _labels_of(variables, values, variables.shape)
    numbers = np.array([_number(variables, label) for label in labels], np.int64)
    flat = variables.codes.reshape(-1, len(variables.states))
    return flat[np.arange(len(flat)), numbers]


def _is_label(variables: Categorical, value: Any) -> bool:
    """Whether ``value`` is one label for all variables rather than an array of labels."""
    if isinstance(value, str) or not isinstance(value, Collection):
        return True
    try:
        return value in variables.lookup
    except TypeError:  # not hashable: a list or an array
        return False


def _labels_of(variables: Categorical, values: Any, shape: tuple[int, ...]) -> Iterator[Any]:
    """Labels in reading order from sequences nested like ``shape``; a label may be a tuple."""
    if not shape:
        yield values
        return
    is_one = isinstance(values, str) or not isinstance(values, Collection)
    if is_one or not _is_many(values) or len(values) != shape[0]:
        raise ModelError(
            f"evidence for {variables!r} must be one label or labels of shape {variables.shape}"
        )
    for part in values:
        yield from _labels_of(variables, part, shape[1:])


def _number(variables: Categorical, label: Any) -> int:
    if label not in variables.lookup:
        raise ModelError(f"{variables!r} has no state {label!r}; it has {variables.states}")
    return variables.lookup[label]
