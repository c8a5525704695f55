"""Structures inside compiled loops: functions that are called by their address.

A loop that knows its structures by number would have to be compiled with all of them, and could
not take a user's.  Here a structure's ``maximize`` is compiled for itself, when it is first
needed, and loops get its address: an array of integers, which costs nothing to hand over.
A call takes some 15 ns.

A compiled function has the arguments of :data:`SIGNATURE`:

    maximize(start, data, scores, inner, scale, states) -> (value, inner value)

``start[d + 1]`` are the places of the slots, ``data`` the structure's constants, ``scores`` one
number per place (-inf: forbidden), ``inner`` the scores of the inner parts, to be multiplied by
``scale``.  The best vertex goes to ``states[d]``; the inner value is not scaled, and the value is
-inf where nothing is allowed.

A kind that has a projection of its own brings a second function, with the arguments of
:data:`PROJECTION`:

    project(start, data, base, a, inner, scale, memory, q) -> inner value

It finds the ``q[places]`` nearest to ``a[places]`` with inner parts scored linearly.  ``base`` is
-inf for a place that cannot be, else 0; ``memory`` is what it kept for itself the last time,
zeros at first.

Two more tell the inner parts that a vertex uses, or a point that ``project`` has found; both add to
``out[parts]``:

    parts(start, data, states, weight, out) -> whether the states are a vertex
    blend(start, data, q, out)

A plain Python function is called through C instead and takes the lock of the interpreter; what
it raises is kept and raised again, by :func:`raise_pending`, once the loop has returned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from itertools import count
from typing import Any
from weakref import WeakValueDictionary

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from assent.kernels.interpreted import interpreted_as, twin_of
from assent.kernels.jit import jit_inline
from assent.kernels.problem import CALLBACK

_INT = types.Array(types.int32, 1, "C", readonly=True)
_FLOAT = types.Array(types.float64, 1, "C", readonly=True)
_SCORES = types.Array(types.float64, 1, "C")
_STATES = types.Array(types.int32, 1, "C")
SIGNATURE = types.UniTuple(types.float64, 2)(_INT, _INT, _SCORES, _FLOAT, types.float64, _STATES)
MAX_MARGINALS = types.none(_INT, _INT, _SCORES, _FLOAT, _SCORES)
MARGINALS = types.float64(_INT, _INT, _SCORES, _FLOAT, types.float64, _SCORES, _SCORES)
PROJECTION = types.float64(_INT, _INT, _FLOAT, _SCORES, _FLOAT, types.float64, _SCORES, _SCORES)

PARTS = types.boolean(_INT, _INT, _STATES, types.float64, _SCORES)
BLEND = types.none(_INT, _INT, _SCORES, _SCORES)

NONE = -1  # the address of a function that a structure does not have

# Through C: addresses of scores, of inner scores and of states; the inner value comes back.
_C_SIGNATURE = types.float64(types.uintp, types.uintp, types.float64, types.uintp)
_C_FUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_double, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_double, ctypes.c_size_t
)

_addresses: dict[Any, int] = {}
# Whom to ask for a compiled function or a Python function of an address, without the compiler;
# where that is off, an address is a number that stands for them.
_functions: dict[int, Callable] = {}
_callbacks: WeakValueDictionary[int, Callback] = WeakValueDictionary()
_numbers = count()
_pending: list[BaseException] = []


def address_of(function: Any, signature: Any = SIGNATURE) -> int:
    """Address of a compiled function for :func:`call_compiled`; compiles it if need be.

    Example:
        >>> from assent.kernels.kinds.count_structure import maximize_counts
        >>> address_of(maximize_counts) == address_of(maximize_counts)
        True
    """
    if function not in _addresses:
        off = _jit_is_off()
        address = next(_numbers) if off else _compile(function, signature)
        _functions[address] = function if off else twin_of(function)
        _addresses[function] = address
    return _addresses[function]


# The functions of a structure, as ``factors.structure.Kernels`` names them.
_SIGNATURES = {
    "maximize": SIGNATURE,
    "max_marginals": MAX_MARGINALS,
    "marginals": MARGINALS,
    "project": PROJECTION,
    "parts": PARTS,
    "blend": BLEND,
}


def function_address(structure: Any, name: str) -> int:
    """Address of one of a structure's functions; the structure must outlive its use.

    Compiled when first asked for.  ``NONE`` stands for a projection, or parts, that it may lack.
    """
    if name == "maximize" and structure.kind_code == CALLBACK:
        return structure.callback().address
    own = getattr(structure.kernels(), name)
    may_lack = name in ("project", "parts", "blend")
    return NONE if own is None and may_lack else address_of(own, _SIGNATURES[name])


def _jit_is_off() -> bool:
    return bool(numba.config.DISABLE_JIT)


_RETURNS = {
    SIGNATURE: "two floats: the value and the inner value",
    MAX_MARGINALS: "nothing: it fills out",
    MARGINALS: "a float: the log-partition times the temperature",
    PROJECTION: "a float: the inner value",
    PARTS: "a truth value: whether the states are a vertex",
    BLEND: "nothing: it adds to out",
}


def _compile(function: Any, signature: Any) -> int:
    # Compiled for a declared return type it would be kept apart from what was called from Python.
    # Our own functions return the right one.
    own = (function.__module__ or "").startswith(__name__.partition(".")[0] + ".")
    function.compile(signature.args if own else signature)
    compiled = function.overloads[signature.args]
    # One that always returns True returns a type of its own, which is stored as any truth value.
    if types.unliteral(compiled.signature.return_type) != signature.return_type:
        raise TypeError(
            f"{function.__name__} returns {compiled.signature.return_type}; it should return "
            f"{_RETURNS[signature]}"
        )
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)
    if not address:
        raise TypeError(
            f"{function.__name__} has no address that kernels could call; decorate it with "
            "assent.kernels.jit.jit_structure, or with numba.njit"
        )
    return address


class Callback:
    """A Python function ``maximize(scores[n], inner[k], scale) -> states, inner value``.

    It sees scores of all places; an inner value of -inf says that nothing is allowed.
    """

    def __init__(self, function: Callable, places: int, slots: int, parts: int) -> None:
        self._function = function
        self._shapes = places, parts, slots
        self._entry = _C_FUNCTION(self._from_c)  # kept alive with the callback
        entry = ctypes.cast(self._entry, ctypes.c_void_p).value or 0
        self.address = next(_numbers) if _jit_is_off() else entry
        _callbacks[self.address] = self

    def _from_c(self, scores: int, inner: int, scale: float, states: int) -> float:
        places, parts, slots = self._shapes
        return self.ask(
            _array(scores, ctypes.c_double, places),
            _array(inner, ctypes.c_double, parts),
            scale,
            _array(states, ctypes.c_int32, slots),
        )

    def ask(self, scores: np.ndarray, inner: np.ndarray, scale: float, states: Any) -> float:
        """Write the best vertex to ``states`` and return its inner value."""
        if _pending:  # the loop winds down
            return -np.inf
        try:
            states[:], inner_value = self._function(scores, inner, scale)
            return inner_value
        except BaseException as problem:
            _pending.append(problem)
            return -np.inf


def _array(address: int, kind: Any, count: int) -> np.ndarray:
    """The memory at an address as an array, without a copy."""
    return np.ctypeslib.as_array((kind * count).from_address(address)) if count else np.zeros(0)


def raise_pending() -> None:
    """Raise what a Python structure raised inside a compiled loop."""
    if _pending:
        problem = _pending[0]
        _pending.clear()
        raise problem


def _function_at(signature: Any) -> Any:
    """An intrinsic that makes a first-class function of an address."""
    function_type = types.FunctionType(signature)

    @intrinsic
    def at(typing_context, address):
        def code(context, builder, _, arguments):
            function = cgutils.create_struct_proxy(function_type)(context, builder)
            function.c_addr = builder.inttoptr(arguments[0], cgutils.voidptr_t)
            return function._getvalue()

        return function_type(types.int64), code

    return at


def ask_plainly(address, *arguments):
    """Ask the structure at ``address`` without the compiler."""
    function = _functions.get(address)
    return (_callbacks[address].ask if function is None else function)(*arguments)


if _jit_is_off():
    call_compiled = call_python = call_max_marginals = call_marginals = ask_plainly
    call_projection = call_parts = call_blend = ask_plainly

else:
    _max_marginals_at = _function_at(MAX_MARGINALS)
    _marginals_at = _function_at(MARGINALS)
    _compiled_at = _function_at(SIGNATURE)
    _python_at = _function_at(_C_SIGNATURE)
    _projection_at = _function_at(PROJECTION)
    _parts_at = _function_at(PARTS)
    _blend_at = _function_at(BLEND)

    @interpreted_as(ask_plainly)
    @jit_inline
    def call_compiled(address, start, data, scores, inner, scale, states):
        """Ask the compiled structure at ``address``."""
        return _compiled_at(address)(start, data, scores, inner, scale, states)

    @interpreted_as(ask_plainly)
    @jit_inline
    def call_python(address, scores, inner, scale, states):
        """Ask the Python structure at ``address`` for a vertex; returns its inner value."""
        return _python_at(address)(scores.ctypes.data, inner.ctypes.data, scale, states.ctypes.data)

    @interpreted_as(ask_plainly)
    @jit_inline
    def call_max_marginals(address, start, data, scores, inner, out):
        """Ask the compiled structure at ``address`` for its max-marginals."""
        _max_marginals_at(address)(start, data, scores, inner, out)

    @interpreted_as(ask_plainly)
    @jit_inline
    def call_marginals(address, start, data, scores, inner, temperature, out, out_inner):
        """Ask the compiled structure at ``address`` for its marginals."""
        return _marginals_at(address)(start, data, scores, inner, temperature, out, out_inner)

    @interpreted_as(ask_plainly)
    @jit_inline
    def call_projection(address, start, data, base, a, inner, scale, memory, q):
        """Project by the function at ``address``; returns the inner value."""
        return _projection_at(address)(start, data, base, a, inner, scale, memory, q)

    @interpreted_as(ask_plainly)
    @jit_inline
    def call_parts(address, start, data, states, weight, out):
        """List the inner parts of a vertex by the function at ``address``."""
        return _parts_at(address)(start, data, states, weight, out)

    @interpreted_as(ask_plainly)
    @jit_inline
    def call_blend(address, start, data, q, out):
        """List the inner parts of a point by the function at ``address``."""
        _blend_at(address)(start, data, q, out)
