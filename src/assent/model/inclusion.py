"""A graph inside a graph: its variables and factors become part of the outer one.

Nothing is lost by writing the parts of a model as graphs of their own: the outer graph has the
same linear relaxation as if everything had been written there.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.arguments import shown
from assent.errors import ModelError
from assent.factors.dense import Dense
from assent.factors.grouped import Grouped
from assent.kernels.problem import Int32
from assent.model.variables import Categorical, Literals, coordinates_of

if TYPE_CHECKING:
    from assent.model.graph import FactorGraph, Handle, VariableArray

Symbol = Literals | Categorical


class Inclusion(Mapping[Any, Any]):
    """Where the variables and handles of an included graph went: the same, in the outer graph.

    ``inclusion[x]`` takes variables and handles of the inner graph, slices included.
    """

    def __init__(self, inner: FactorGraph, outer: FactorGraph, codes: Int32) -> None:
        self._inner, self._outer, self._codes = inner, outer, codes
        self._handles: dict[Handle, Handle] = {}

    def __getitem__(self, key: Any) -> Any:
        if key in self._handles:
            return self._handles[key]
        if not isinstance(key, (Literals, Categorical)) or key.graph is not self._inner:
            raise KeyError(f"{key!r} is no variable or handle of the included graph")
        codes = self.translate(key.codes)
        if isinstance(key, Literals):
            return Literals(self._outer, codes)
        return Categorical(self._outer, codes, key.states, key.lookup)

    def __iter__(self) -> Iterator[Any]:
        yield from (v.symbol for v in self._inner.variables)
        yield from self._handles

    def __len__(self) -> int:
        return len(self._inner.variables) + len(self._handles)

    def translate(self, codes: Int32) -> Int32:
        """Literals of the inner graph as literals of the outer one."""
        own = self._codes[coordinates_of(codes)]
        return np.where(codes < 0, ~own, own).astype(np.int32)

    def __repr__(self) -> str:
        return f"<{len(self._inner.variables)} variable arrays, {len(self._handles)} batches>"


def include(
    outer: FactorGraph, inner: FactorGraph, links: Mapping[Any, Any], name: str
) -> Inclusion:
    """Copy ``inner`` into ``outer``; see :meth:`assent.FactorGraph.include`."""
    codes = np.zeros(inner.size, np.int32)
    linked = np.zeros(inner.size, bool)
    for own, theirs in links.items():
        _check_link(inner, outer, own, theirs)
        codes[own.codes.ravel()] = theirs.codes.ravel()
        linked[own.codes.ravel()] = True
    for variable in inner.variables:
        place = np.arange(variable.start, variable.start + variable.scores.size)
        if not linked[place].any():
            codes[place] = _declare_again(outer, variable, name).codes.ravel()
        elif not linked[place].all():
            raise ModelError(
                f"include: only a part of {variable.name} is linked; link all of it or none"
            )
    where = Inclusion(inner, outer, codes)
    for own in links:
        _add_scores(outer, inner, where, own)
    for handle in inner.batches:
        copied = outer.add(
            _translated(handle.factor, where, outer), name=handle.name, place=handle.place
        )
        where._handles[handle] = copied
        where._handles |= zip(handle.parts, copied.parts, strict=True)
    evidence = inner.evidence()
    if len(evidence):
        outer.fix(Literals(outer, where.translate(evidence)), 1)
    outer.add_constant(inner.constant)
    return where


def _check_link(inner: FactorGraph, outer: FactorGraph, own: Any, theirs: Any) -> None:
    for symbol, graph, side in ((own, inner, "inner"), (theirs, outer, "outer")):
        if not isinstance(symbol, (Literals, Categorical)) or symbol.graph is not graph:
            raise ModelError(
                f"include: links go from variables of the inner graph to variables of the outer "
                f"one; {shown(symbol)} is none of the {side} graph's"
            )
    if type(own) is not type(theirs) or own.codes.shape != theirs.codes.shape:
        raise ModelError(f"include: {own!r} and {theirs!r} differ in shape or in kind")
    if isinstance(own, Categorical) and own.states != theirs.states:
        raise ModelError(f"include: {own!r} and {theirs!r} have other states")
    if (own.codes < 0).any():
        raise ModelError(f"include: link {own!r} as it is declared, without negation")
    for variable in inner.variables if isinstance(own, Literals) else ():
        if (
            isinstance(variable.symbol, Categorical)
            and np.isin(own.codes, variable.symbol.codes).any()
        ):
            raise ModelError(
                f"include: {own!r} are states of {variable.name}, of which exactly one holds; "
                f"link {variable.name} itself, to a variable with the same states"
            )


def _declare_again(outer: FactorGraph, variable: VariableArray, name: str) -> Symbol:
    """The same variable in the outer graph."""
    symbol, new = variable.symbol, f"{name}.{variable.name}" if name else variable.name
    scores = variable.scores.reshape(symbol.codes.shape)
    if isinstance(symbol, Categorical):
        return outer.categorical(symbol.shape, symbol.states, scores=scores, name=new)
    if variable.auxiliary and new in outer._names:
        return outer.binary(symbol.shape, scores=scores, auxiliary=True)
    return outer.binary(symbol.shape, scores=scores, name=new, auxiliary=variable.auxiliary)


def _add_scores(outer: FactorGraph, inner: FactorGraph, where: Inclusion, own: Symbol) -> None:
    """The inner scores of linked variables, as tables over one variable each."""
    theta = np.concatenate([v.scores for v in inner.variables])[own.codes]
    if not theta.any():
        return
    if isinstance(own, Literals):
        theta = np.stack([np.zeros_like(theta), theta], axis=-1)
    outer.add(Dense(where[own], scores=theta), name="scores of an included graph")


def _translated(factor: Any, where: Inclusion, outer: FactorGraph) -> Any:
    if isinstance(factor, Grouped):
        return factor.replaced(lambda part, rows: _translated(part, where, outer))
    copied = copy.copy(factor)
    copied._attach(outer, where.translate(factor.codes), factor.shape)
    return copied
