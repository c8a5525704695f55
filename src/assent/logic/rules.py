"""Rules: formulas that are grounded and added to a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assent.arguments import as_floats, is_whole, shown
from assent.errors import ModelError
from assent.factors.base import Factor
from assent.logic.bindings import Bindings, Scope, evaluate
from assent.logic.domains import Domain, narrowest
from assent.logic.explanations import Explanation, Report, explain
from assent.logic.expressions import Expression, TableEntry, Variable, expression
from assent.logic.formulas import (
    Atom,
    Definition,
    Formula,
    Iff,
    IndexComparison,
    atoms,
    formula,
    free_variables,
    negation_normal,
    quantified_variables,
)
from assent.logic.ground_factors import make_factor
from assent.logic.grounding import relevant_bindings, require, require_definition, weigh
from assent.logic.rule_draft import GroundBatch, RuleDraft, Store
from assent.model.graph import FactorGraph, Handle
from assent.model.scores import LARGEST_SCORE

if TYPE_CHECKING:
    from assent.result import Result

# Bindings a rule may have before it is refused: ten million take about half a gigabyte.
LIMIT = 10_000_000


@dataclass(frozen=True, eq=False)
class Ground:
    """Ground factors of a rule: their handle in the graph, and the binding of each."""

    handle: Handle
    batch: GroundBatch


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule that was added, and its grounding.

    Attributes:
        name: of the rule, with its line if it came from a file.
        statement: the formula or definition.
        weight: ``hard``, or the weight or penalty, as text.
        bindings: number of bindings that were grounded.
        factors: number of factors added, by kind.
        auxiliaries: number of variables added.
        merged: ground factors that were there already.
        constant: the part of the rule's score that no assignment changes.
    """

    name: str
    statement: Formula | Definition
    weight: str
    bindings: int
    factors: dict[str, int]
    auxiliaries: int
    merged: int
    constant: float
    grounds: tuple[Ground, ...]

    def __repr__(self) -> str:
        made = ", ".join(f"{count} {kind}" for kind, count in self.factors.items()) or "no factors"
        extra = f", {self.auxiliaries} auxiliary variables" if self.auxiliaries else ""
        return f"<{self.name}: {self.bindings} bindings, {made}{extra}>"


class Rules:
    """First-order rules over a graph's variables; each is grounded when it is added.

    Args:
        graph: the graph of the rules' predicates.

    Example:
        >>> import assent as at
        >>> from assent import logic
        >>> g = at.FactorGraph()
        >>> people = logic.Domain("person", ["ann", "bob", "eve"])
        >>> smokes = logic.predicate(g.binary(3, scores=[1.0, -0.2, -0.5], name="smokes"), people)
        >>> friend = logic.relation("friend", [("ann", "bob")], people, people)
        >>> x, y = logic.variables("x y")
        >>> rules = logic.Rules(g)
        >>> rules.add((friend(x, y) & smokes(x)) >> smokes(y), name="peer pressure")
        <peer pressure: 1 bindings, 1 AtLeastOne>
        >>> at.decode(g)[g["smokes"]].tolist()
        [1, 1, 0]
    """

    def __init__(self, graph: FactorGraph) -> None:
        if not isinstance(graph, FactorGraph):
            raise TypeError(f"rules belong to a FactorGraph, got {graph!r}")
        self.graph = graph
        self.rules: list[Rule] = []
        self._store: Store = {}

    def add(
        self,
        statement: Formula | Definition,
        *,
        where: Formula | None = None,
        weight: Any = None,
        penalty: Any = None,
        name: str | None = None,
        limit: int = LIMIT,
    ) -> Rule:
        """Ground a rule and add its factors; free variables run over all their values.

        Args:
            statement: a formula, or a definition ``atom.defines(formula)``.
            where: comparisons and data that the rule's bindings satisfy.
            weight: makes it soft: the score of each binding at which the formula holds (of
                either sign); a number, or an entry of a `table`.
            penalty: makes it soft: the cost of each binding at which the formula is violated.
            name: for messages and reports.
            limit: bindings beyond which the rule is refused before it is grounded.

        Returns:
            the rule, with the number of factors and auxiliary variables it became.

        Raises:
            ModelError: naming the rule, and the variable or binding that is wrong.

        Example:
            >>> import assent as at
            >>> from assent import logic
            >>> g = at.FactorGraph()
            >>> p = logic.predicate(g.binary(3, name="p"))
            >>> i = logic.Variable("i")
            >>> rules = logic.Rules(g)
            >>> rules.add(p(i) >> p(i + 1), where=i < 2, penalty=0.5)
            <rule 1: 2 bindings, 2 Pair>
        """
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name of a rule is a string, got {shown(name)}")
        if not is_whole(limit) or limit < 1:
            raise ValueError(f"limit is a number of bindings, at least 1, got {shown(limit)}")
        name = name or f"rule {len(self.rules) + 1}"
        if not isinstance(statement, (Formula, Definition)):
            raise TypeError(f"{name}: add takes a formula or a definition, got {shown(statement)}")
        if weight is not None and penalty is not None:
            raise ModelError(f"{name}: give a weight or a penalty, not both")
        given = penalty if weight is None else weight
        if given is not None and isinstance(statement, Definition):
            raise ModelError(f"{name}: a definition has no weight; weigh the atom it defines")
        amount = None if given is None else expression(given)
        condition = None if where is None else negation_normal(formula(where))
        parts = _parts(statement, condition)
        scope = Scope(name, _domains(name, parts, amount), limit)
        self._check_graph(name, parts)
        draft = RuleDraft(scope, self.graph.size, self._store)
        table = _ground(draft, statement, condition, amount, penalty is not None)
        soft = f"{'weight' if penalty is None else 'penalty'} {amount!r}"
        return self._commit(draft, statement, "hard" if amount is None else soft, table)

    def report(self) -> Report:
        """The numbers of factors and auxiliary variables of each rule; prints as a table.

        Example:
            >>> import assent as at
            >>> from assent import logic
            >>> g = at.FactorGraph()
            >>> p = logic.predicate(g.binary((2, 3), name="p"))
            >>> x, y = logic.variables("x y")
            >>> rules = logic.Rules(g)
            >>> _ = rules.add(logic.exists_one(y, p(x, y)), name="one each")
            >>> print(rules.report())
            rule      weight  bindings  factors       auxiliary  merged
            --------  ------  --------  ------------  ---------  ------
            one each  hard    2         2 ExactlyOne  0          0
            all                         2             0
        """
        return Report(tuple(self.rules))

    def explain(self, result: Result, *, tolerance: float = 1e-6, most: int = 1000) -> Explanation:
        """The ground rules that an answer violates or pays for, and those that limit its bound.

        Args:
            result: of decoding the rules' graph.
            tolerance: amounts up to this are left out.
            most: the number of findings of each sort, those of the largest amounts.

        Example:
            >>> import assent as at
            >>> from assent import logic
            >>> g = at.FactorGraph()
            >>> p = logic.predicate(g.binary(2, scores=[2.0, -1.0], name="p"))
            >>> x, y = logic.variables("x y")
            >>> rules = logic.Rules(g)
            >>> _ = rules.add(p(x) >> p(y), where=x < y, penalty=0.5, name="follow")
            >>> print(*rules.explain(at.decode(g)).paid)
            follow for x=0, y=1: p(0) >> p(1)
        """
        if result.certificate.compiled.graph is not self.graph:
            raise ModelError("the result is of another graph than these rules")
        return explain(self.rules, result, tolerance, most)

    def _check_graph(self, name: str, parts: list[Formula]) -> None:
        for part in parts:
            for atom in atoms(part):
                if isinstance(atom, Atom) and atom.predicate.graph not in (None, self.graph):
                    raise ModelError(f"{name}: {atom!r} belongs to another graph")

    def _commit(self, draft: RuleDraft, statement: Any, weight: str, table: Bindings) -> Rule:
        """Add the draft's variables and factors to the graph."""
        name = draft.scope.rule
        if draft.auxiliaries:
            fresh = self._fresh(f"{name}/auxiliary")
            self.graph.binary(draft.auxiliaries, name=fresh, auxiliary=True)
        counts: dict[str, int] = {}
        grounds = []
        for batch in draft.batches:
            factor: Factor = make_factor(self.graph, batch)
            handle = self.graph.add(factor, name=name, place=batch.bindings.words)
            grounds.append(Ground(handle, batch))
            counts[factor.kind] = counts.get(factor.kind, 0) + len(factor)
        if draft.constant:
            self.graph.add_constant(draft.constant)
        self._store.update(draft.changed)
        rule = Rule(name, statement, weight, table.count, counts, draft.auxiliaries,
                    draft.merged, draft.constant, tuple(grounds))  # fmt: skip
        self.rules.append(rule)
        return rule

    def _fresh(self, name: str) -> str:
        taken = {v.name for v in self.graph.variables}
        number, fresh = 2, name
        while fresh in taken:
            fresh, number = f"{name} {number}", number + 1
        return fresh

    def __repr__(self) -> str:
        return f"<{len(self.rules)} rules over {repr(self.graph).splitlines()[0]}>"


def _parts(statement: Formula | Definition, where: Formula | None) -> list[Formula]:
    if isinstance(statement, Definition):
        statement = Iff(statement.head, statement.body)
    return [statement] if where is None else [statement, where]


def _ground(
    draft: RuleDraft,
    statement: Formula | Definition,
    where: Formula | None,
    amount: Expression | None,
    penalty: bool,
) -> Bindings:
    """Write a rule's factors into a draft; ``amount`` is a weight or penalty, None if hard."""
    scope, parts = draft.scope, _parts(statement, where)
    free = dict.fromkeys(v for part in parts for v in free_variables(part))
    if isinstance(statement, Definition):
        table = relevant_bindings(scope, list(free), None, where, True)
        require_definition(draft, statement, table)
    elif amount is None:
        node = negation_normal(statement)
        table = relevant_bindings(scope, list(free), node, where, False)
        require(draft, node, table)
    else:
        free.update(dict.fromkeys(amount.variables()))
        node = negation_normal(statement, penalty)
        table = relevant_bindings(scope, list(free), node, where, True)
        amounts = _amounts(scope, amount, table)
        weigh(draft, node, table, -amounts if penalty else amounts)
    return table


def _amounts(scope: Scope, amount: Expression, table: Bindings) -> np.ndarray:
    """The finite weight of every binding."""
    values = as_floats(evaluate(amount, table))
    if values is None:
        raise scope.error(f"a weight is a number that a float can hold, got {shown(amount)}")
    amounts = np.broadcast_to(values, (table.count,)).astype(np.float64)
    bad = np.flatnonzero(~(np.abs(amounts) <= LARGEST_SCORE))
    if len(bad):
        where = f" for {table.words(int(bad[0]))}" if table.columns else ""
        raise scope.error(
            f"a weight must be finite, it is {amounts[bad[0]]}{where} (at most {LARGEST_SCORE:g} "
            "in size); a rule without weight is hard"
        )
    return amounts


# ---------------------------------------------------------------- domains of variables


def _domains(name: str, parts: list[Formula], amount: Expression | None) -> dict[Variable, Domain]:
    """The domain of every variable: given, or that of the arguments where it occurs."""
    uses: dict[Variable, list[Domain]] = {}
    for part in parts:
        for atom in atoms(part):
            if isinstance(atom, IndexComparison):
                _note_expression(atom.left, uses)
                _note_expression(atom.right, uses)
            else:
                _note_args(atom.args, atom.predicate.domains, uses)
        for variable in quantified_variables(part):
            uses.setdefault(variable, [])
    if amount is not None:
        _note_expression(amount, uses)
    return {variable: _domain(name, variable, found) for variable, found in uses.items()}


def _domain(name: str, variable: Variable, found: list[Domain]) -> Domain:
    if variable.domain is not None:
        return variable.domain
    if not found:
        raise ModelError(
            f"{name}: variable {variable} is unbound: it is no argument by itself of a predicate, "
            f"a relation or a table; use it in one, or give it a domain: Variable('{variable}', "
            "domain)"
        )
    best = narrowest(found)
    if best is None:
        names = " and ".join(dict.fromkeys(d.name for d in found))
        raise ModelError(
            f"{name}: variable {variable} ranges over {names}, none of which is a subset "
            f"of the others; give it a domain: Variable('{variable}', domain)"
        )
    return best


def _note_args(
    args: tuple[Expression, ...], domains: tuple[Domain, ...], uses: dict[Variable, list[Domain]]
) -> None:
    for arg, domain in zip(args, domains, strict=True):
        if isinstance(arg, Variable):
            found = uses.setdefault(arg, [])
            if not any(domain is d for d in found):
                found.append(domain)
        else:
            _note_expression(arg, uses)


def _note_expression(value: Expression, uses: dict[Variable, list[Domain]]) -> None:
    if isinstance(value, Variable):
        uses.setdefault(value, [])
    elif isinstance(value, TableEntry):
        _note_args(value.args, value.table.domains, uses)
    else:
        for part in value.parts():
            _note_expression(part, uses)
