"""Exact solvers of others on our graphs: HiGHS, OR-tools CP-SAT, toulbar2; one thread each.

All read the flat problem, with categorical variables as such where a solver has them.  Scores
become integers for CP-SAT and decimals for toulbar2, ``DIGITS`` behind the point; values
are always recomputed here from the assignment a solver returns.  Every peer first states the
model, which is not counted, and returns a function that solves it within a limit of
processor seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import assent as at
from assent.compile.compiled import Compiled, graph_scores
from assent.kernels.core import evaluate
from assent.kernels.problem import ANYOF, CAP, KNAPSACK, PARITY, POTTS, SUM, Problem, Scores
from benchmarks.cpu_clock import stopped_after

DIGITS = 6
SCALE = 10**DIGITS
GAP = 1e-6
# A table with more joint states than this is not tabulated for CP-SAT.
MOST_ENTRIES = 2_000_000


class Answer(NamedTuple):
    """What a solver claims: an assignment ``[n]`` or None, a bound, whether it is done."""

    assignment: Any
    bound: float
    proven: bool


Solve = Callable[[float], Answer]


class Refused(Exception):
    """A solver has no way to state a model."""


class Rule(NamedTuple):
    """One logic factor of the flat problem."""

    kind: int
    lits: list[int]
    k: int
    weights: list[float]
    capacity: float


def flat(graph: at.FactorGraph) -> tuple[Compiled, Problem, Scores]:
    """The compiled graph, its flat problem and scores."""
    compiled = graph.compile()
    return compiled, compiled.problem, compiled.flat_scores(graph_scores(graph))


def rules(problem: Problem) -> Iterator[Rule]:
    """All logic factors."""
    first_weight = len(problem.lits) - len(problem.weights)
    first_heavy = problem.n_logic - len(problem.capacity)
    for g, kind in enumerate(problem.group_kind.tolist()):
        count, size = int(problem.group_count[g]), int(problem.group_size[g])
        for f in range(count):
            links = problem.group_link[g] + f + count * np.arange(size)
            number = int(problem.group_factor[g]) + f
            heavy = kind == KNAPSACK
            yield Rule(
                kind,
                problem.lits[links].tolist(),
                int(problem.k[number]),
                problem.weights[links - first_weight].tolist() if heavy else [],
                float(problem.capacity[number - first_heavy]) if heavy else 0.0,
            )


class TableOf(NamedTuple):
    """One table: literals per slot (a lone literal is true in state 1), and joint scores."""

    slots: list[list[int]]
    binary: list[bool]
    scores: Any  # [*states]


def tables(problem: Problem, scores: Scores) -> Iterator[TableOf]:
    """All tables, with a score per joint state."""
    t = problem.tables
    if problem.models:
        raise Refused("structures are not tables")
    for g in range(len(t.kind)):
        slots = range(int(t.slot[g]), int(t.slot[g + 1]))
        states = [int(t.states[s]) for s in slots]
        first = [int(t.first[s]) for s in slots]
        count = int(t.factor[g + 1] - t.factor[g])
        lits = t.lits[t.link[g] : t.link[g + 1]].reshape(count, -1)
        entries = scores.table[t.entry[g] : t.entry[g + 1]].reshape(count, -1)
        ends = np.cumsum([k - f for k, f in zip(states, first, strict=True)])[:-1]
        for row, own in zip(lits, entries, strict=True):
            joint = np.diag(own) if t.kind[g] == POTTS else own.reshape(states)
            parts = [part.tolist() for part in np.split(row, ends)]
            yield TableOf(parts, [f == 1 for f in first], joint)


# ---------------------------------------------------------------- HiGHS


def highs(graph: at.FactorGraph) -> Solve:
    """Our integer program through HiGHS."""
    from assent.solvers.programs.trusted_core import search_core

    _, problem, scores = flat(graph)

    def solve(limit: float) -> Answer:
        found = search_core(problem, scores, limit, 0.5 * GAP)
        if found is None:
            raise Refused("a structure without rows")
        return Answer(found.assignment, found.bound, found.status in ("optimal", "infeasible"))

    return solve


# ---------------------------------------------------------------- CP-SAT


def cp_sat(graph: at.FactorGraph) -> Solve:
    """OR-tools CP-SAT with one worker."""
    from ortools.sat.python import cp_model

    _, problem, scores = flat(graph)
    model = cp_model.CpModel()
    x = [model.new_bool_var(f"x{v}") for v in range(problem.n)]

    def literal(code: int) -> Any:
        return x[code] if code >= 0 else x[~code].negated()

    terms, weights = list(x), np.rint(scores.theta * SCALE).astype(int).tolist()
    for (i, j), score in zip(problem.pair_var.tolist(), scores.pair.tolist(), strict=True):
        terms.append(_both(model, x[i], x[j], score))
        weights.append(round(score * SCALE))
    for rule in rules(problem):
        _add_rule(model, rule, [literal(code) for code in rule.lits])
    for table in tables(problem, scores):
        _add_table(model, table, literal, terms, weights)
    model.maximize(cp_model.LinearExpr.weighted_sum(terms, weights))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2  # far better than the default on these models
    solver.parameters.relative_gap_limit = 0.5 * GAP

    def solve(limit: float) -> Answer:
        with stopped_after(limit, solver.stop_search):
            status = solver.solve(model)
        bound = scores.constant + solver.best_objective_bound / SCALE
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer(None, bound, status == cp_model.INFEASIBLE)
        found = np.array([solver.boolean_value(v) for v in x], np.int8)
        return Answer(found, bound, status == cp_model.OPTIMAL)

    return solve


def _both(model: Any, a: Any, b: Any, score: float) -> Any:
    """A variable that is true if both are; which direction is needed depends on the score."""
    both = model.new_bool_var("")
    if score > 0:
        model.add_implication(both, a)
        model.add_implication(both, b)
    else:
        model.add_bool_or([a.negated(), b.negated(), both])
    return both


def _add_rule(model: Any, rule: Rule, lits: list[Any]) -> None:
    if rule.kind == CAP:
        if rule.k == 1:
            model.add_at_most_one(lits)
        elif rule.k == len(lits) - 1:
            model.add_bool_or([lit.negated() for lit in lits])
        else:
            model.add(sum(lits) <= rule.k)
    elif rule.kind == SUM:
        if rule.k == 1:
            model.add_exactly_one(lits)
        else:
            model.add(sum(lits) == rule.k)
    elif rule.kind == ANYOF:
        model.add_max_equality(lits[-1], lits[:-1])
    elif rule.kind == PARITY:
        model.add_bool_xor([*lits, model.new_constant(1)])
    else:
        loads = [round(w * SCALE) for w in rule.weights]
        loaded = sum(w * lit for w, lit in zip(loads, lits, strict=True))
        model.add(loaded <= int(np.floor(rule.capacity * SCALE + 0.5)))


def _add_table(
    model: Any, table: TableOf, literal: Callable[[int], Any], terms: list, weights: list
) -> None:
    """A variable per possible joint state, one of which is true; states are their sums."""
    if table.scores.size > MOST_ENTRIES:
        raise Refused("a table is too large to be tabulated")
    states = [
        [literal(part[0]).negated(), literal(part[0])] if lone else [literal(c) for c in part]
        for part, lone in zip(table.slots, table.binary, strict=True)
    ]
    possible = np.argwhere(np.isfinite(table.scores))
    entry = [model.new_bool_var("") for _ in possible]
    model.add_exactly_one(entry)
    for slot, own in enumerate(states):
        for state, lit in enumerate(own):
            inside = [e for e, joint in zip(entry, possible, strict=True) if joint[slot] == state]
            model.add(sum(inside) == lit)
    terms += entry
    weights += [round(float(table.scores[tuple(joint)]) * SCALE) for joint in possible]


# ---------------------------------------------------------------- toulbar2


class _Owners:
    """Which variable and value of a cost network each coordinate is."""

    def __init__(self, compiled: Compiled) -> None:
        column = compiled.column_of()
        self.values: list[int] = []  # domain sizes
        self.of = [(-1, 0)] * compiled.problem.n
        for variable in compiled.graph.variables:
            codes = variable.symbol.codes
            cells = codes.reshape(-1, codes.shape[-1] if hasattr(variable.symbol, "states") else 1)
            for cell in cells:
                own = [int(column[c]) for c in cell if column[c] >= 0]
                if not own:
                    continue
                lone = not hasattr(variable.symbol, "states")
                for value, v in enumerate(own):
                    self.of[v] = (len(self.values), 1 if lone else value)
                self.values.append(2 if lone else len(own))

    def holds(self, code: int, values: dict[int, int]) -> bool:
        """Truth of a literal once its variable has a value."""
        variable, value = self.of[~code if code < 0 else code]
        return (values[variable] == value) ^ (code < 0)


def toulbar2(graph: at.FactorGraph) -> Solve:
    """toulbar2 with virtual arc consistency; its limit counts processor time by itself.

    It does not say whether it finished: its two bounds do, by meeting.
    """
    import pytoulbar2

    compiled, problem, scores = flat(graph)
    owners = _Owners(compiled)
    network = pytoulbar2.CFN(resolution=DIGITS, vac=1)
    for number, size in enumerate(owners.values):
        network.AddVariable(f"v{number}", range(size))
    for v, score in enumerate(scores.theta.tolist()):
        _add_cost(network, owners, [v], lambda truth, s=score: s * truth[0])
    for pair, score in zip(problem.pair_var.tolist(), scores.pair.tolist(), strict=True):
        _add_cost(network, owners, pair, lambda truth, s=score: s * (truth[0] and truth[1]))
    for rule in rules(problem):
        _add_linear(network, owners, rule)
    for table in tables(problem, scores):
        _add_cost_table(network, owners, table)

    def solve(limit: float) -> Answer:
        found = network.Solve(timeLimit=max(1, round(limit)))
        lowest = float(network.GetDDualBound())
        bound = scores.constant - lowest
        if found is None:
            return Answer(None, bound, False)
        met = float(found[1]) - lowest <= GAP * (1.0 + abs(lowest))
        values = dict(enumerate(found[0]))
        x = np.array([owners.holds(v, values) for v in range(problem.n)], np.int8)
        return Answer(x, bound, met)

    return solve


def _add_cost(network: Any, owners: _Owners, codes: list[int], score: Callable) -> None:
    """A cost per joint value of the variables that some literals are about."""
    scope = list(dict.fromkeys(owners.of[~c if c < 0 else c][0] for c in codes))
    costs = []
    for values in product(*(range(owners.values[v]) for v in scope)):
        known = dict(zip(scope, values, strict=True))
        costs.append(-float(score([owners.holds(c, known) for c in codes])))
    network.AddFunction(scope, costs)


def _add_linear(network: Any, owners: _Owners, rule: Rule) -> None:
    if rule.kind == SUM and rule.k == 1 and _is_one_variable(owners, rule):
        return
    if rule.kind == PARITY:
        if len(rule.lits) > 10:
            raise Refused("a long parity")
        wrong = 1e7
        _add_cost(network, owners, rule.lits, lambda truth: -wrong * (sum(truth) % 2))
        return
    if rule.kind == ANYOF:
        output = rule.lits[-1]
        for code in rule.lits[:-1]:
            _add_sum(network, owners, [code, ~output], [1, 1], "<=", 1)
        _add_sum(network, owners, [*rule.lits[:-1], ~output], [1] * len(rule.lits), ">=", 1)
        return
    if rule.kind == KNAPSACK:
        integral = all(float(w).is_integer() for w in rule.weights)
        scale = 1 if integral else 1000
        weights = [int(np.ceil(w * scale - 1e-9)) for w in rule.weights]
        limit = int(np.floor(rule.capacity * scale + 1e-9))
        _add_sum(network, owners, rule.lits, weights, "<=", limit)
        return
    sign = "<=" if rule.kind == CAP else "=="
    _add_sum(network, owners, rule.lits, [1] * len(rule.lits), sign, rule.k)


def _is_one_variable(owners: _Owners, rule: Rule) -> bool:
    """Whether "exactly one" is what a variable's values say already."""
    if any(code < 0 for code in rule.lits):
        return False
    variables = {owners.of[code][0] for code in rule.lits}
    return len(variables) == 1 and owners.values[variables.pop()] == len(rule.lits) > 1


def _add_sum(
    network: Any, owners: _Owners, codes: list[int], weights: list[int], sign: str, limit: int
) -> None:
    """Weights of true literals, those of negated ones moved to the other side."""
    terms = []
    for code, weight in zip(codes, weights, strict=True):
        variable, value = owners.of[~code if code < 0 else code]
        terms.append((variable, value, weight if code >= 0 else -weight))
        limit -= weight if code < 0 else 0
    network.AddGeneralizedLinearConstraint(terms, sign, limit)


def _add_cost_table(network: Any, owners: _Owners, table: TableOf) -> None:
    """A table is a cost function over its own variables, in their order."""
    codes = [
        part[0] if lone else None for part, lone in zip(table.slots, table.binary, strict=True)
    ]
    scope = [owners.of[~p[0] if p[0] < 0 else p[0]][0] for p in table.slots]
    if len(set(scope)) < len(scope):
        raise Refused("a variable stands twice in a table")
    order = []
    for part, code, variable in zip(table.slots, codes, scope, strict=True):
        if code is not None:
            order.append([1, 0] if code < 0 else [0, 1])
            continue
        place = {owners.of[c][1]: state for state, c in enumerate(part)}
        order.append([place[value] for value in range(owners.values[variable])])
    scores = table.scores[np.ix_(*order)]
    top = 1e7
    network.AddFunction(scope, np.where(np.isfinite(scores), -scores, top).ravel().tolist())


PEERS: dict[str, Callable[[at.FactorGraph], Solve]] = {
    "HiGHS": highs,
    "CP-SAT": cp_sat,
    "toulbar2": toulbar2,
}


def _load(*modules: str) -> Callable[[], Any]:
    return lambda: [import_module(module) for module in modules]


# What loads the code of each, so that it is not counted.
LOAD = {
    "HiGHS": _load("highspy", "scipy.sparse", "assent.solvers.programs.trusted_core"),
    "CP-SAT": _load("ortools.sat.python.cp_model"),
    "toulbar2": _load("pytoulbar2"),
}


def value_of(graph: at.FactorGraph, assignment: Any) -> float:
    """Score of an assignment ``[n]`` of the flat problem, ``-inf`` if it breaks a rule."""
    _, problem, scores = flat(graph)
    if assignment is None or evaluate.count_violated(problem, scores, assignment):
        return -np.inf
    return float(evaluate.value(problem, scores, assignment))
