"""UAI models as factor graphs, and back: binary variables with unary and pairwise tables.

A table ``t`` over two binary variables equals

    t00 + (t10 − t00) x + (t01 − t00) y + (t11 − t10 − t01 + t00) x y.

Where entries are −inf, a hard constraint forbids them. Their place in the formula can then be
filled with anything: here with what makes the last coefficient vanish, so that no pair is needed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from assent.errors import ModelError
from assent.factors.at_least_one import AtLeastOne
from assent.factors.base import Factor, Logic
from assent.factors.exactly_one import ExactlyOne
from assent.factors.pair import Pair
from assent.graph import FactorGraph
from assent.io.uai import UaiModel
from assent.variables import Literals

# A table of a constraint over n variables has 2^n entries; beyond this a file explodes.
_MOST_TABLE_VARIABLES = 16


def uai_to_graph(model: UaiModel) -> FactorGraph:
    """The model as a graph whose variables ``graph["x"]`` are the file's, in its order.

    Raises:
        ModelError: naming the first factor over more than two variables or more than two states.

    Example:
        >>> from assent.io import UaiModel
        >>> model = UaiModel.from_factors([2, 2], [[0, 1]], [[[0, 1], [2, 0]]])
        >>> uai_to_graph(model).n_factors
        1
    """
    _check_supported(model)
    # Variables of one state have nothing to decide: they leave the scopes and stay 0.
    binary = model.cardinalities[model.scope] == 2
    owner = np.repeat(np.arange(model.n_factors), np.diff(model.scope_start))
    arity = np.bincount(owner[binary], minlength=model.n_factors)
    constants = _tables(model, arity == 0)
    unary, unary_scope = _tables(model, arity == 1), model.scope[binary & (arity == 1)[owner]]
    pairs, pair_scope = _tables(model, arity == 2), model.scope[binary & (arity == 2)[owner]]
    i, j = pair_scope.reshape(-1, 2).T
    t = _fill_forbidden(pairs.reshape(-1, 2, 2))

    scores = np.zeros(model.n_variables)
    np.add.at(scores, unary_scope, _difference(unary))
    np.add.at(scores, i, t[:, 1, 0] - t[:, 0, 0])
    np.add.at(scores, j, t[:, 0, 1] - t[:, 0, 0])
    graph = FactorGraph()
    x = graph.binary(model.n_variables, scores=scores, name="x")
    graph.add_constant(_finite_sum(constants) + _base(unary).sum() + t[:, 0, 0].sum())

    coupling = t[:, 1, 1] - t[:, 1, 0] - t[:, 0, 1] + t[:, 0, 0]
    kept = np.isfinite(pairs.reshape(-1, 4)).all(axis=1)
    if kept.any():
        graph.add(Pair(x[i[kept]], x[j[kept]], scores=coupling[kept]), name="tables")
    _fix_states(graph, x[unary_scope], np.isfinite(unary))
    _forbid_entries(graph, x[i], x[j], np.isfinite(pairs.reshape(-1, 2, 2)))
    graph.fix(x[np.flatnonzero(model.cardinalities == 1)], 0)
    observed = np.array(sorted(model.evidence.items()), np.int64).reshape(-1, 2)
    graph.fix(x[observed[:, 0]], observed[:, 1])
    if not np.isfinite(constants).all():
        _contradict(graph)
    return graph


def uai_from_graph(graph: FactorGraph) -> UaiModel:
    """A graph of binary variables as tables; constraints become zeros and ones.

    Raises:
        ModelError: for categorical variables, a constraint over too many variables for a table,
            or contradictory evidence.
    """
    for variable in graph.variables:
        if variable.states is not None:
            raise ModelError(f"{variable.name} is categorical; UAI files get binary variables only")
    theta = np.concatenate([np.zeros(0), *(variable.scores for variable in graph.variables)])
    # The constant is spread over the unary tables, where no potential then grows out of range.
    share = graph.constant / max(1, graph.size)
    scopes = [[v] for v in range(graph.size)]
    tables = [np.array([share, share + score]) for score in theta]
    for handle in graph.handles:
        for scope, table in _factor_tables(handle.factor):
            scopes.append(scope)
            tables.append(table)
    evidence: dict[int, int] = {}
    for code in graph.evidence().tolist():
        v, value = (~code, 0) if code < 0 else (code, 1)
        if evidence.setdefault(v, value) != value:
            raise ModelError(f"evidence asks for both values of {graph.describe_code(v)}")
    return UaiModel.from_factors([2] * graph.size, scopes, tables, evidence=evidence)


def _check_supported(model: UaiModel) -> None:
    arity = np.diff(model.scope_start)
    most_states = np.ones(model.n_factors, np.int64)
    owner = np.repeat(np.arange(model.n_factors), arity)
    np.maximum.at(most_states, owner, model.cardinalities[model.scope])
    beyond = (most_states > 2) | (arity > 2)
    if beyond.any():
        factor = int(np.argmax(beyond))
        raise ModelError(
            f"factor {factor} over variables {model.scope_of(factor).tolist()} has a table of "
            f"shape {model.table_of(factor).shape}; unary and pairwise tables of binary "
            "variables are what can be decoded so far"
        )
    if (model.cardinalities > 2).any():
        v = int(np.argmax(model.cardinalities > 2))
        raise ModelError(f"variable {v} has {model.cardinalities[v]} states and no factor")


def _tables(model: UaiModel, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Entries of the chosen tables, one row each; they all have the same size."""
    sizes = np.diff(model.table_start)
    width = int(sizes[chosen][0]) if chosen.any() else 1
    return model.log_tables[np.repeat(chosen, sizes)].reshape(-1, width)


def _finite_sum(values: NDArray[np.float64]) -> float:
    return float(values[np.isfinite(values)].sum())


def _base(unary: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a unary table adds to the constant: state 0, or the one state that is left."""
    padded = unary.reshape(-1, 2)
    base = np.where(np.isfinite(padded[:, 0]), padded[:, 0], padded[:, 1])
    return np.where(np.isfinite(base), base, 0.0)


def _difference(unary: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score of state 1 over state 0; nothing where one of them is forbidden."""
    padded = unary.reshape(-1, 2)
    both = np.isfinite(padded).all(axis=1)
    return np.where(both, padded[:, 1], 0.0) - np.where(both, padded[:, 0], 0.0)


def _fill_forbidden(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Tables ``[m, 2, 2]`` with −inf replaced such that what is added has no product term."""
    allowed = np.isfinite(tables)
    t = np.where(allowed, tables, 0.0)
    row_mate, column_mate, opposite = t[:, :, ::-1], t[:, ::-1, :], t[:, ::-1, ::-1]
    # One entry missing: continue the plane through the other three.
    plane = row_mate + column_mate - opposite
    # More missing: repeat an entry that is allowed; constraints leave no choice between them.
    copied = np.select(
        [allowed[:, :, ::-1], allowed[:, ::-1, :], allowed[:, ::-1, ::-1]],
        [row_mate, column_mate, opposite],
        0.0,
    )
    one_missing = allowed.sum(axis=(1, 2)) == 3
    return np.where(allowed, t, np.where(one_missing[:, None, None], plane, copied))


def _fix_states(graph: FactorGraph, x: Literals, possible: NDArray[np.bool_]) -> None:
    """Fix the variables ``x[m]`` of which ``possible[m, 2]`` leaves only one state, or none."""
    states = possible.reshape(-1, 2)
    for state in (0, 1):
        never = np.flatnonzero(~states[:, state])
        graph.fix(x[never], 1 - state)


def _forbid_entries(
    graph: FactorGraph, x: Literals, y: Literals, allowed: NDArray[np.bool_]
) -> None:
    """Constraints that leave the ``allowed[m, 2, 2]`` states of ``x[m]`` and ``y[m]``."""
    _fix_states(graph, x, allowed[:, :, 0] | allowed[:, :, 1])
    _fix_states(graph, y, allowed[:, 0, :] | allowed[:, 1, :])
    count = allowed.sum(axis=(1, 2))
    # 1. One forbidden entry (a, b): x ≠ a or y ≠ b.
    one, a, b = np.nonzero(~allowed & (count == 3)[:, None, None])
    if len(one):
        clause = [x[one].negate(where=a == 1), y[one].negate(where=b == 1)]
        graph.add(AtLeastOne(clause, axis=0), name="zero")
    # 2. One diagonal forbidden: the variables differ, or agree.
    same = allowed[:, 0, 0] & allowed[:, 1, 1] & (count == 2)
    differ = allowed[:, 0, 1] & allowed[:, 1, 0] & (count == 2)
    two = np.flatnonzero(same | differ)
    if len(two):
        graph.add(ExactlyOne([x[two], y[two].negate(where=same[two])], axis=0), name="zeros")


def _contradict(graph: FactorGraph) -> None:
    """Make the graph say that nothing is possible."""
    never = graph.binary(1, name="impossible")
    graph.fix(never, 0)
    graph.fix(never, 1)


def _factor_tables(factor: Factor) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """Scope and log-table of each factor of a batch, by trying all truth values."""
    size = factor.size
    variables = np.where(factor.codes < 0, ~factor.codes, factor.codes)
    repeated = (np.diff(np.sort(variables, axis=1), axis=1) == 0).any(axis=1)
    if size > _MOST_TABLE_VARIABLES or repeated.any():
        row = int(np.argmax(repeated))
        problem = "a variable and its negation" if repeated.any() else f"{size} variables"
        raise ModelError(f"{factor.words(row)} has {problem}: no UAI table is written for it")
    tables = np.empty((len(factor), 2**size))
    for entry in range(2**size):
        values = np.array([entry >> (size - 1 - j) & 1 for j in range(size)], bool)
        truth = values ^ (factor.codes < 0)
        if isinstance(factor, Logic):
            tables[:, entry] = np.where(factor.holds(truth), 0.0, -np.inf)
        elif isinstance(factor, Pair):
            tables[:, entry] = np.where(truth.all(axis=1), factor.scores, 0.0)
    for scope, table in zip(variables.tolist(), tables, strict=True):
        yield scope, table.reshape((2,) * size)
