"""GraphModel: any factor graph with features of its variables and factors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from assent.compile.closure import Closure
from assent.compile.compiled import graph_scores
from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.model.graph import FactorGraph, Handle
from assent.model.variables import Categorical
from assent.models.example import Example, require_inside
from assent.models.graph_space import GraphSpace, entry_shape
from assent.models.joint_model import Model
from assent.models.losses import Loss, one_hot
from assent.proof import certify
from assent.result import label_array


class Part(NamedTuple):
    """Features of variables or factors; parts of one name share their weights.

    Attributes:
        target: an array of variables, or the handle of tables or pairs.
        features: an array whose first axes are the target's, the last the features; None is one
            constant feature.
        name: of the block of weights, ``[D, *states]``: for each feature one weight per state
            (of a table, per joint state).
    """

    target: Any
    features: Any
    name: str


class GraphInput(NamedTuple):
    """A graph and the parts of it whose scores are linear in features."""

    graph: FactorGraph
    parts: Sequence[Part]


class GraphExample(Example):
    """An example over a graph."""

    def __init__(
        self, model: GraphModel, made: GraphInput, assignment: Any, loss: Loss, outside: bool
    ) -> None:
        self.space: GraphSpace = GraphSpace(made.graph, [p.target for p in made.parts],
                                            model.solver)  # fmt: skip
        self._model = model
        self._features = [_part_features(p) for p in made.parts]
        self._blocks = [model.where(p.name) for p in made.parts]
        self._gold = self.space.indicators(assignment)
        self._costs, self.constant = _costs(self.space, self._gold, loss)
        check = certify.check_assignment(made.graph.compile(), graph_scores(made.graph), assignment)
        self.inside = check.feasible
        require_inside(self.inside, outside)

    def scores(self, weights: Float) -> Float:
        return _scores(self._features, self._blocks, weights)

    def features(self, z: Float) -> Float:
        out = np.zeros(self._model.size)
        parts = self.space.split(z)
        for features, block, part in zip(self._features, self._blocks, parts, strict=True):
            out[block] += (features.T @ part.reshape(len(features), -1)).ravel()
        return out

    @cached_property
    def matrix(self) -> Any:
        from scipy.sparse import csr_array, hstack, identity, kron, vstack

        rows = []
        for features, block in zip(self._features, self._blocks, strict=True):
            entries = (block.stop - block.start) // features.shape[1]
            part = kron(csr_array(features), identity(entries))
            before, behind = block.start, self._model.size - block.stop
            n = part.shape[0]
            rows.append(hstack([csr_array((n, before)), part, csr_array((n, behind))]))
        return csr_array(vstack(rows))


@dataclass(frozen=True)
class GraphModel(Model):
    """Any factor graph whose scores are linear in features.

    Args:
        build: makes a `GraphInput` of an input: a graph (its variables, factors and
            constraints; scores are left at zero) and its parts with features.
        solver: how to decode; AD3 if left out.
        blocks: names and shapes of the blocks of weights; left out, as in the data.

    An output is a dict from the names of variables to their values, or just the values where the
    graph has one array of variables; labels for categorical ones, 0/1 for others.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> def build(x):
        ...     g = at.FactorGraph()
        ...     label = g.categorical(len(x), states="ab", name="label")
        ...     same = g.add(at.Dense(label[:-1], label[1:], scores=np.zeros((2, 2))))
        ...     return GraphInput(g, [Part(label, x, "node"), Part(same, None, "edge")])
        >>> x = np.array([[1.0], [-1.0], [2.0]])
        >>> model = GraphModel(build).shaped([x], ["aab"])
        >>> model.blocks
        (('node', (1, 2)), ('edge', (1, 2, 2)))
        >>> model.predict(x, np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])).tolist()
        ['b', 'a', 'b']
    """

    build: Callable[[Any], GraphInput]
    solver: Any = None
    blocks: tuple[tuple[str, tuple[int, ...]], ...] | None = field(default=None)

    @property
    def size(self) -> int:
        return sum(int(np.prod(shape)) for _, shape in self._blocks())

    def where(self, name: str) -> slice:
        """The weights of a block."""
        begin = 0
        for block, shape in self._blocks():
            end = begin + int(np.prod(shape))
            if block == name:
                return slice(begin, end)
            begin = end
        raise ModelError(f"no block of weights is called {name!r}")

    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> GraphModel:
        found: dict[str, tuple[int, ...]] = {}
        for x in inputs:
            for part in self._make(x).parts:
                shape = (_part_features(part).shape[1], *entry_shape(part.target))
                if found.setdefault(part.name, shape) != shape:
                    raise ModelError(
                        f"weights {part.name!r} have shape {shape} in one input and "
                        f"{found[part.name]} in another; use another name"
                    )
        return replace(self, blocks=self.blocks or tuple(found.items()))

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> GraphExample:
        made = self._make(x)
        return GraphExample(self, made, _assignment(made, y), loss, outside)

    def predict(self, x: Any, weights: Float) -> Any:
        made = self._make(x)
        space = GraphSpace(made.graph, [p.target for p in made.parts], self.solver)
        features = [_part_features(p) for p in made.parts]
        result = space.decode(_scores(features, [self.where(p.name) for p in made.parts], weights))
        values = {
            name: label_array(v.states)[result[v]] if isinstance(v, Categorical) else result[v]
            for name, v in _variables(made).items()
        }
        return values if len(values) > 1 else next(iter(values.values()))

    def agreement(self, y: Any, predicted: Any) -> tuple[int, int]:
        if not isinstance(y, Mapping):
            y, predicted = {"": y}, {"": predicted}
        same = [_flat(y[name]) == _flat(predicted[name]) for name in y]
        return int(sum(s.sum() for s in same)), sum(s.size for s in same)

    def named(self, weights: Float) -> dict[str, Float]:
        return {name: weights[self.where(name)].reshape(shape) for name, shape in self._blocks()}

    def _blocks(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        self.require_shape("blocks")
        return self.blocks or ()

    def _make(self, x: Any) -> GraphInput:
        made = GraphInput(*self.build(x))
        if not made.parts:
            raise ModelError("`build` returned no parts: there is nothing to learn")
        for part in made.parts:
            owner = part.target.factor if isinstance(part.target, Handle) else part.target
            if owner.graph is not made.graph:
                raise ModelError(f"part {part.name!r} belongs to another graph")
        return made


def _scores(features: Sequence[Float], blocks: Sequence[slice], weights: Float) -> Float:
    """Scores ``[size]`` of all entries, from the features and the block of weights of each part."""
    return np.concatenate([
        (own @ weights[block].reshape(own.shape[1], -1)).ravel()
        for own, block in zip(features, blocks, strict=True)
    ])  # fmt: skip


def _part_features(part: Part) -> Float:
    """Features ``[elements, D]`` of a part."""
    shape = part.target.shape
    count = int(np.prod(shape, dtype=np.int64))
    if part.features is None:
        return np.ones((count, 1))
    features = np.asarray(part.features, np.float64)
    if features.shape[:-1] != shape:
        raise ModelError(
            f"part {part.name!r}: features have shape {features.shape}, expected {shape} and one "
            "more axis of features"
        )
    if not np.isfinite(features).all():
        raise ModelError(f"part {part.name!r}: features must be finite; there is a NaN or infinity")
    return features.reshape(count, -1)


def _variables(made: GraphInput) -> dict[str, Any]:
    """The variables whose values are the output, by name: all of the graph but auxiliary ones."""
    return {v.name: v.symbol for v in made.graph.own_variables}


def _assignment(made: GraphInput, y: Any) -> Any:
    """An output as an assignment ``[N]`` of 0 and 1."""
    variables = _variables(made)
    if not isinstance(y, Mapping):
        if len(variables) > 1:
            raise ModelError(f"an output is a dict with values of {sorted(variables)}")
        y = {next(iter(variables)): y}
    if set(y) != set(variables):
        raise ModelError(f"an output names {sorted(y)}, the graph has {sorted(variables)}")
    assignment = np.zeros(made.graph.size, np.int8)
    for name, symbol in variables.items():
        values = _flat(y[name]).tolist()
        if len(values) != int(np.prod(symbol.shape, dtype=np.int64)):
            raise ModelError(f"output {name!r}: {len(values)} values for shape {symbol.shape}")
        if isinstance(symbol, Categorical):
            unknown = [v for v in values if v not in symbol.lookup]
            if unknown:
                raise ModelError(f"output {name!r}: {unknown[0]!r} is no state of {symbol!r}")
            states = [symbol.lookup[v] for v in values]
            truth = one_hot(states, len(symbol.states)).ravel()
        else:
            truth = np.asarray(values)
        assignment[symbol.codes.ravel()] = truth
    return _with_auxiliaries(made.graph, assignment)


def _with_auxiliaries(graph: FactorGraph, assignment: Any) -> Any:
    """An assignment ``[N]`` in which auxiliary variables are true where the others ask for it."""
    hidden = [v.symbol.codes.ravel() for v in graph.variables if v.auxiliary]
    if not hidden:
        return assignment
    known = assignment.copy()
    known[np.concatenate(hidden)] = -1
    implied = Closure(graph.compile()).extend(known, ())
    return assignment if implied is None else np.maximum(implied, 0)


def _flat(values: Any) -> Any:
    """Values of any nesting as a flat array; a string is its letters."""
    return np.ravel(np.array(list(values) if isinstance(values, str) else values))


def _costs(space: GraphSpace, gold: Float, loss: Loss) -> tuple[Float, float]:
    """Costs of the variables among a space's targets."""
    costs, constant = [], 0.0
    for target, part in zip(space.targets, space.split(gold), strict=True):
        if isinstance(target, Handle):
            own, more = np.zeros(part.size), 0.0
        elif isinstance(target, Categorical):
            states = part.reshape(-1, part.shape[-1]).argmax(axis=1)
            own, more = loss.states(states, part.shape[-1])
        else:
            own, more = loss.literals(part.ravel())
        costs.append(own.ravel())
        constant += more
    return np.concatenate(costs), constant
