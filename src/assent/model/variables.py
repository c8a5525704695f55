"""What a person writes: array-shaped indicators, literals and categorical variables.

A literal is a coordinate ``v`` or its negation, stored as the code ``v`` or ``~v`` (a negative
number).  Arrays of literals slice like NumPy arrays; they are symbols, not numbers, and say so
when NumPy or Python would treat them as numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from assent.arguments import as_array, is_whole, shown
from assent.errors import ModelError
from assent.notebook import variable_html

if TYPE_CHECKING:
    from assent.model.graph import FactorGraph

Codes = NDArray[np.int32]


class _Symbol:
    """Closes the traps of Python's operators for objects that stand for unknown values."""

    __slots__ = ()
    # Without this, `mask & x` would hand x to NumPy, which loops over it for ever.
    __array_ufunc__ = None

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            f"{self!r} is an array of variables, not of numbers; "
            "decode the graph and read result[variable]"
        )

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self!r} has no truth value before decoding; use & and ~ instead of and/not, "
            "and Implies instead of if"
        )

    def __or__(self, other: Any) -> NoReturn:
        raise TypeError("`|` is not a literal; add AtLeastOne([a, b]) to ask for a or b")

    __ror__ = __or__

    def __rshift__(self, other: Any) -> NoReturn:
        raise TypeError("`>>` is not a literal; add Implies(premises, conclusion)")

    __hash__ = object.__hash__


class Literals(_Symbol):
    """An array of literals: indicators that are each true or false, possibly negated.

    Slicing, masks, integer arrays, ``reshape`` and ``.T`` work as on NumPy arrays; ``~x``
    negates, ``x.negate(where=mask)`` negates some, ``x & y`` is a conjunction (for `Implies`).

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> x = g.binary((2, 3), name="x")
        >>> (~x[0, 1:]).shape
        (2,)
    """

    __slots__ = ("codes", "graph")

    def __init__(self, graph: FactorGraph, codes: Codes) -> None:
        self.graph = graph
        self.codes = codes

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.codes.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.codes.ndim

    @property
    def size(self) -> int:
        """Number of literals."""
        return self.codes.size

    @property
    def T(self) -> Literals:
        """The transposed array."""
        return Literals(self.graph, self.codes.T)

    def __len__(self) -> int:
        if not self.codes.ndim:
            raise TypeError("a single literal has no length")
        return len(self.codes)

    def __iter__(self) -> Iterator[Literals]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Literals:
        return Literals(self.graph, index(self, self.codes, key))

    def reshape(self, *shape: Any) -> Literals:
        """The same literals in another shape.

        Example:
            >>> import assent as at
            >>> at.FactorGraph().binary(6).reshape(2, 3).shape
            (2, 3)
        """
        try:
            return Literals(self.graph, self.codes.reshape(*shape))
        except (TypeError, ValueError, OverflowError):
            raise ModelError(
                f"{self.size} literals have no shape {shown(shape)}; give whole numbers whose "
                "product is as much"
            ) from None

    def ravel(self) -> Literals:
        """The same literals along one axis."""
        return Literals(self.graph, self.codes.ravel())

    def negate(self, where: Any = True) -> Literals:
        """Negate the literals at which ``where`` (a mask that broadcasts) is true.

        Example:
            >>> import assent as at
            >>> x = at.FactorGraph().binary(2, name="x")
            >>> x.negate(where=[False, True])
            [x[0], ~x[1]]
        """
        given = as_array(where)
        if given is None or given.dtype.kind not in "biu":
            raise ModelError(f"where is a mask of True and False, got {shown(where)}")
        mask = given.astype(bool)
        try:
            full = np.broadcast_to(mask, self.shape)
        except ValueError:
            raise ModelError(
                f"where has shape {mask.shape}, the literals have shape {self.shape}"
            ) from None
        return Literals(self.graph, np.where(full, ~self.codes, self.codes))

    def __invert__(self) -> Literals:
        return Literals(self.graph, ~self.codes)

    def __and__(self, other: Any) -> Conjunction:
        return conjunction(self) & other

    def __rand__(self, other: Any) -> Conjunction:
        return conjunction(other) & self

    def __eq__(self, other: Any) -> Literals:  # type: ignore[override]
        if isinstance(other, _Symbol):
            raise TypeError(
                f"{self!r} == {other!r} is not a literal; add Agree(a, b) to make them equal"
            )
        if isinstance(other, (bool, np.bool_)) or (is_whole(other) and int(other) in (0, 1)):
            return self if other else ~self
        raise TypeError(f"{self!r} is true or false; compare it with 1 or 0, not {other!r}")

    def __ne__(self, other: Any) -> Literals:  # type: ignore[override]
        return ~(self == other)

    __hash__ = _Symbol.__hash__

    def _repr_html_(self) -> str:
        return variable_html(self)

    def __repr__(self) -> str:
        return self.graph.describe_codes(self.codes)


class Conjunction(_Symbol):
    """Several literals that hold together, element by element; made by ``a & b``."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Literals, ...]) -> None:
        self.parts = parts

    def __and__(self, other: Any) -> Conjunction:
        return Conjunction(self.parts + conjunction(other).parts)

    def __invert__(self) -> NoReturn:
        raise TypeError("a negated conjunction is not flat; add AtLeastOne([~a, ~b]) instead")

    def __repr__(self) -> str:
        return " & ".join(map(repr, self.parts))


class Categorical(_Symbol):
    """An array of variables that each take one of several states.

    ``tag == "V"`` gives literals; a label always wins over an index, ``tag.state(2)`` is the
    literal of the state with index 2.  ``codes[..., K]`` holds one coordinate per state.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(3, states=["N", "V"], name="tag")
        >>> tag[2] == "V"
        tag[2]=V
    """

    __slots__ = ("codes", "graph", "lookup", "states")

    def __init__(
        self, graph: FactorGraph, codes: Codes, states: tuple[Any, ...], lookup: dict[Any, int]
    ) -> None:
        self.graph = graph
        self.codes = codes
        self.states = states
        self.lookup = lookup

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of variables (the states are not an axis of it)."""
        return self.codes.shape[:-1]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.codes.ndim - 1

    @property
    def indicators(self) -> Literals:
        """One literal per variable and state, shape ``(*shape, K)``."""
        return Literals(self.graph, self.codes)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("a single variable has no length")
        return len(self.codes)

    def __iter__(self) -> Iterator[Categorical]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Categorical:
        whole = (*key, slice(None)) if isinstance(key, tuple) else (key, slice(None))
        try:
            codes = self.codes[whole]
        except Exception:  # an index may be an object that raises as it likes
            codes = index(self, self.codes[..., 0], key)  # says what is wrong with it
        return Categorical(self.graph, codes, self.states, self.lookup)

    def state(self, number: int) -> Literals:
        """The literal "is in the state with this index", shape ``shape``.

        Example:
            >>> import assent as at
            >>> at.FactorGraph().categorical(2, states=["N", "V"], name="t").state(0)
            [t[0]=N, t[1]=N]
        """
        if not is_whole(number):
            raise TypeError(f"a state's index is a whole number, got {shown(number)}")
        if not 0 <= number < len(self.states):
            raise ModelError(
                f"{self!r} has {len(self.states)} states; index {shown(number)} is out of range"
            )
        return Literals(self.graph, self.codes[..., number])

    def __eq__(self, label: Any) -> Literals:  # type: ignore[override]
        if isinstance(label, _Symbol):
            raise TypeError("two variables are compared by a factor: add Agree(a, b)")
        try:
            number = self.lookup.get(label)
        except TypeError:
            number = None
        if number is None:
            known = ", ".join(repr(s) for s in self.states[:8])
            hint = " (for a state by its index write .state(i))" if is_whole(label) else ""
            raise ModelError(f"{self!r} has no state {label!r}; its states are {known}{hint}")
        return self.state(number)

    def __ne__(self, label: Any) -> Literals:  # type: ignore[override]
        return ~(self == label)

    def __and__(self, other: Any) -> NoReturn:
        raise TypeError(f"{self!r} has states; write (variable == 'label') to get a literal")

    __rand__ = __and__

    def __invert__(self) -> NoReturn:
        raise TypeError(f"{self!r} has states; write ~(variable == 'label') to negate one")

    __hash__ = _Symbol.__hash__

    def _repr_html_(self) -> str:
        return variable_html(self)

    def __repr__(self) -> str:
        return self.graph.describe_variable(self)


def index(owner: Any, array: NDArray[Any], key: Any) -> NDArray[Any]:
    """``array[key]`` as an array, with NumPy's index errors told in terms of ``owner``."""
    try:
        return np.asarray(array[key])
    except Exception as error:  # an index may be an object that raises as it likes
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(part, _Symbol) for part in parts):
            raise TypeError(
                f"{owner!r} is indexed with numbers, slices or masks, not with variables"
            ) from None
        raise IndexError(f"cannot index shape {array.shape} with {shown(key)}: {error}") from None


def coordinates_of(codes: NDArray[Any]) -> NDArray[Any]:
    """The coordinates of literal codes, negated or not."""
    return np.maximum(codes, ~codes)


def conjunction(value: Any) -> Conjunction:
    """``value`` as a conjunction; anything but literals raises with advice."""
    if isinstance(value, Conjunction):
        return value
    if isinstance(value, Literals):
        return Conjunction((value,))
    if isinstance(value, Categorical):
        raise TypeError(f"{value!r} has states; write (variable == 'label') to get a literal")
    raise TypeError(
        f"expected literals, got {type(value).__name__}: {shown(value)}; premises are joined by &, "
        "as in a & b, and a mask selects as in x[mask]"
    )


def as_literals(value: Any) -> Literals:
    """One array of literals from literals or a (nested) sequence of them, stacked like arrays.

    Example:
        >>> import assent as at
        >>> x = at.FactorGraph().binary(3, name="x")
        >>> as_literals([x[0], ~x[2]])
        [x[0], ~x[2]]
    """
    if isinstance(value, Literals):
        return value
    if isinstance(value, Categorical):
        raise TypeError(f"{value!r} has states; write (variable == 'label') or .indicators")
    if isinstance(value, Conjunction):
        raise TypeError("a conjunction is not a list; write [a, b] instead of a & b here")
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise TypeError(f"expected literals, got {type(value).__name__}: {value!r}")
    parts = [as_literals(part) for part in value]
    if not parts:
        raise ModelError("an empty list holds no literals")
    graph = parts[0].graph
    if any(part.graph is not graph for part in parts):
        raise ModelError("the literals belong to different graphs")
    try:
        shape = broadcast_shape(parts)
    except ValueError:
        shapes = ", ".join(str(part.shape) for part in parts[:4])
        raise ModelError(f"literals of shapes {shapes} do not stack; give equal shapes") from None
    codes = np.empty((len(parts), *shape), np.int32)
    for number, part in enumerate(parts):
        codes[number] = part.codes
    return Literals(graph, codes)


def broadcast_shape(parts: Sequence[Literals | Categorical]) -> tuple[int, ...]:
    """The shape that all broadcast to; a ValueError if there is none."""
    first = parts[0].shape
    for part in parts:
        if part.shape != first:
            return np.broadcast_shapes(*(part.shape for part in parts))
    return first
