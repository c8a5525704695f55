"""First-order logic over finite domains, compiled to factors.

    from assent import logic

Predicates name variables of a graph, relations are data, rules join them with ``&``, ``|``, ``~``,
``>>``, ``==`` and quantifiers.  Free variables run over all their values:

    >>> import assent as at
    >>> from assent import logic
    >>> g = at.FactorGraph()
    >>> n = 4
    >>> arc = logic.predicate(g.binary((n, n), scores=1.0, name="arc"))
    >>> h, m = logic.variables("h m")
    >>> rules = logic.Rules(g)
    >>> rules.add(logic.exists_one(h, arc(h, m)), where=m > 0, name="one head")
    <one head: 3 bindings, 3 ExactlyOne>
    >>> rules.add(~arc(m, m), name="no loops")
    <no loops: 4 bindings, 4 All>
"""

from __future__ import annotations

from assent.logic.domains import Domain
from assent.logic.explanations import Explanation, Finding, Report
from assent.logic.expressions import Variable, variables
from assent.logic.formulas import Definition, Formula
from assent.logic.predicates import Predicate, Table, predicate, relation, table
from assent.logic.quantifiers import (
    all_of,
    any_of,
    at_least,
    at_most,
    exactly,
    exists,
    exists_one,
    forall,
    one_of,
)
from assent.logic.rules import Rule, Rules

__all__ = [
    "Definition",
    "Domain",
    "Explanation",
    "Finding",
    "Formula",
    "Predicate",
    "Report",
    "Rule",
    "Rules",
    "Table",
    "Variable",
    "all_of",
    "any_of",
    "at_least",
    "at_most",
    "exactly",
    "exists",
    "exists_one",
    "forall",
    "one_of",
    "predicate",
    "relation",
    "table",
    "variables",
]
