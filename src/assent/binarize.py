"""Binarization: a model of multi-valued variables as one of literals and exactly-one constraints.

Every state of a variable becomes a literal (it is one already), and every joint state of a table
becomes a new literal that earns the table's score.  What a table says about a state, "the joint
states that contain it, of which at most one is true, are true together with it", is a constraint
that projects by a threshold (Martins et al., ICML 2011, section 4.3).  The relaxation stays the
same: the literals of joint states are the weights that mix the corners of the table's hull.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.factors.at_most_one import AtMostOne
from assent.factors.exactly_one import ExactlyOne
from assent.factors.table import Table
from assent.kernels.problem import Float
from assent.model.graph import FactorGraph, Handle
from assent.model.variables import Categorical, Literals
from assent.result import ReadByVariable, Result


def binarize(graph: FactorGraph) -> Binarized:
    """The same model without multi-valued variables and tables, and the way back.

    Tables (`Dense`, `Potts`) are taken apart; all other factors stay as they are.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(2, states="NV", name="tag")
        >>> table = g.add(at.Dense(tag[0], tag[1], scores=[[0.0, 1.0], [3.0, 0.0]]))
        >>> binary = at.binarize(g)
        >>> binary.undo(at.decode(binary.graph)).labels[tag].tolist()
        ['V', 'N']
    """
    if not isinstance(graph, FactorGraph):
        raise TypeError(f"binarize takes a FactorGraph, got {type(graph).__name__}")
    plain = FactorGraph()
    # Variable by variable, so that every coordinate keeps its number.
    for variable in graph.variables:
        codes = variable.symbol.codes
        own = plain.binary(codes.shape, scores=variable.scores.reshape(codes.shape),
                           name=variable.name, auxiliary=variable.auxiliary)  # fmt: skip
        if isinstance(variable.symbol, Categorical) and own.size:
            plain.add(ExactlyOne(own, axis=-1), name=f"{variable.name}: one state")
    plain.add_constant(graph.constant)
    joint = {}
    for handle in graph.handles:
        if isinstance(handle.factor, Table):
            joint[handle] = _take_apart(plain, handle.factor)
        else:
            same = copy(handle.factor)
            same.graph = plain
            plain.add(same, name=handle.name)
    if len(graph.evidence()):
        plain.fix(Literals(plain, graph.evidence()), 1)
    return Binarized(graph, plain, joint)


def _take_apart(plain: FactorGraph, table: Table) -> Literals:
    """Write a batch of tables as literals of joint states, ``[m, joint]``, which come back."""
    joint = plain.binary(scores=table.dense(table.scores).reshape(len(table), -1), auxiliary=True)
    numbers = np.arange(joint.shape[1]).reshape(table.states)
    for slot, (place, first) in enumerate(zip(table.slot_links(), table.first, strict=True)):
        links = table.codes[:, place]
        if first:  # a literal's states are false and true
            links = np.concatenate([~links, links], axis=1)
        by_state = np.moveaxis(numbers, slot, 0).reshape(table.states[slot], -1)
        plain.add(AtMostOne(joint[:, by_state], axis=-1, output=Literals(plain, links)))
    return joint


@dataclass(frozen=True, eq=False)
class Binarized:
    """A binarized model: decode ``graph``, then ``undo`` its result.

    Attributes:
        source: the model it was made from.
        graph: the model without multi-valued variables and tables.
        joint: for each batch of tables its literals of joint states, ``[m, joint]``.
    """

    source: FactorGraph
    graph: FactorGraph
    joint: Mapping[Handle, Literals]

    def undo(self, result: Result) -> Restored:
        """The result in terms of the variables and tables of ``source``."""
        if result.certificate.compiled.graph is not self.graph:
            raise ModelError("undo takes a result of the binarized graph; decode .graph first")
        return Restored(self, result)


@dataclass(frozen=True, eq=False)
class Restored(ReadByVariable):
    """A result of a binarized model, read by the variables and handles it was made from.

    ``restored.result`` is the result as it was, with status, bound and certificate: both models
    have the same scores, so they say as much about the source.
    """

    binarized: Binarized
    result: Result

    @property
    def value(self) -> float:
        """Score of the assignment; ``-inf`` if no feasible one was found."""
        return self.result.value

    @property
    def bound(self) -> float:
        """No assignment scores more than this."""
        return self.result.bound

    def __getitem__(self, key: Any) -> np.ndarray:
        key = self._named(key)
        truth = self.result[self._literals(key)]
        return truth.argmax(axis=-1) if isinstance(key, Categorical) else truth

    def _named(self, key: Any) -> Any:
        return self.binarized.source.named(key)

    def _marginals(self, key: Any) -> Float:
        key = self._named(key)
        if not isinstance(key, Handle):
            return self.result.marginals[self._literals(key)]
        if key not in self.binarized.joint:
            raise ModelError(f"{key!r} is no table of the model that was binarized")
        table = key.factor
        assert isinstance(table, Table)
        weights = self.result.marginals[self.binarized.joint[key]]
        entry = table.entry_of(np.arange(weights.shape[1]))
        scored = np.flatnonzero(entry >= 0)  # joint states that have an entry, each one of its own
        return table.readable(weights[:, scored[np.argsort(entry[scored])]])

    def _literals(self, key: Any) -> Literals:
        """The literals of the binarized graph that variables of the source became."""
        if not isinstance(key, (Literals, Categorical)):
            raise TypeError(f"restored results are read by variable, not {key!r}")
        if key.graph is not self.binarized.source:
            raise ModelError(f"{key!r} belongs to another graph than the one binarized")
        return Literals(self.binarized.graph, key.codes)
