"""Grounding: formulas to equivalent factors, for all bindings of a table together.

A formula in negation normal form is *required* (hard), *reified* (a literal is equivalent to it)
or *weighed* (it has a score where it holds).  One clause is one factor; `output=` forms reify what
is nested; a formula that any rule has reified before keeps its literal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.kernels.problem import Float, Int32, Int64
from assent.logic.bindings import Bindings, Scope, compare, literals
from assent.logic.counts import is_counted, reify_count, require_count
from assent.logic.expressions import Variable
from assent.logic.formulas import (
    AND,
    EXACTLY,
    OR,
    Atom,
    Count,
    Definition,
    Formula,
    Iff,
    IndexComparison,
    Junction,
    Not,
    Term,
    free_variables,
    negation_normal,
)
from assent.logic.joins import extend, guards_of, relevant
from assent.logic.literal_rows import (
    Disjunctions,
    EqualRows,
    Ragged,
    Sums,
    as_disjunctions,
    disjunctions,
    join,
    sums,
)
from assent.logic.predicates import FALSE, TRUE
from assent.logic.reification import reify_any, reify_equal, require_equal, require_literals
from assent.logic.rule_draft import DEFINITION, RuleDraft
from assent.model.variables import coordinates_of


def require(draft: RuleDraft, node: Formula, table: Bindings) -> None:
    """Make ``node`` true for every binding."""
    if table.count == 0:
        return
    if _is_literal(node):
        require_literals(draft, literal(draft, node, table), table)
    elif isinstance(node, Junction) and node.op == AND:
        for term in node.terms:
            require(draft, term.formula, _term_table(term, False, table)[0])
    elif isinstance(node, Junction):
        _require_any(draft, node, table)
    elif isinstance(node, Iff):
        left, right = node.left, node.right
        if _is_literal(right) and not _is_literal(left):
            left, right = right, left
        equate(draft, literal(draft, left, table), right, table)
    elif isinstance(node, Count):
        require_count(draft, node.op, node.k, sums(_gather(draft, node, table)), table)
    else:
        assert isinstance(node, Not) and isinstance(node.inner, Count)
        _require_any(draft, _other_counts(node.inner), table)


def require_definition(draft: RuleDraft, definition: Definition, table: Bindings) -> None:
    """Make a definition true; see :class:`Definition` for how ``exists_one`` is read."""
    head, body = negation_normal(definition.head), negation_normal(definition.body)
    if isinstance(body, Count) and body.unique:
        output = ~literal(draft, head, table)
        inputs = _gather(draft, body, table)
        every = np.arange(table.count)
        both = join([inputs, Ragged(every, output, table.count)])
        require_count(draft, EXACTLY, 1, sums(both), table)
    else:
        require(draft, Iff(head, body), table)


def _require_any(draft: RuleDraft, node: Junction, table: Bindings) -> None:
    """A clause per binding; a single conjunction in it is distributed."""
    distributed = _distributed(node)
    if distributed is not None:
        require(draft, distributed, table)
        return
    found = disjunctions(_gather(draft, node, table))
    for part in found.parts:
        own, size = table.take(part.rows), part.lits.shape[1]
        if size == 0:
            raise draft.contradiction(own, f"nothing in {node!r} can hold")
        kind = "All" if size == 1 else "AtLeastOne"
        draft.constrain(kind, part.lits, own)


def _distributed(node: Junction) -> Junction | None:
    """``a | (b & c)`` as ``(a | b) & (a | c)``: the same relaxation without a new variable."""
    terms = _flat(node)
    compound = [t for t in terms if t.variables or not _is_literal(t.formula)]
    if len(compound) != 1 or compound[0].variables:
        return None
    inner = compound[0].formula
    if not isinstance(inner, Junction) or inner.op != AND:
        return None
    others = tuple(t for t in terms if t is not compound[0])
    outside = {v for t in others for v in free_variables(t.formula)}
    if any(v in outside for t in inner.terms for v in t.variables):
        return None  # the variable has two meanings
    return Junction(
        AND,
        tuple(
            Term(t.variables, t.where, Junction(OR, (*others, Term((), None, t.formula))))
            for t in inner.terms
        ),
    )


def _flat(node: Junction) -> list[Term]:
    """The terms of a disjunction, those of disjunctions in it included."""
    found: list[Term] = []
    for term in node.terms:
        inner = term.formula
        nested = not term.variables and isinstance(inner, Junction) and inner.op == OR
        found += _flat(inner) if nested else [term]  # type: ignore[arg-type]
    return found


def equate(draft: RuleDraft, outputs: Int32, node: Formula, table: Bindings) -> None:
    """Make literals ``outputs`` equivalent to ``node``."""
    true, false = np.flatnonzero(outputs == TRUE), np.flatnonzero(outputs == FALSE)
    require(draft, node, table.take(true))
    require(draft, negation_normal(node, True), table.take(false))
    open_ = np.flatnonzero((outputs != TRUE) & (outputs != FALSE))
    own = table.take(open_) if len(open_) < table.count else table
    if own.count:
        named = _reify(draft, node, own, outputs[open_])
        require_equal(draft, outputs[open_], named, own, DEFINITION)


def literal(draft: RuleDraft, node: Formula, table: Bindings) -> Int32:
    """A literal for every binding that is true exactly when ``node`` is."""
    if isinstance(node, Atom):
        return literals(node, table)
    if isinstance(node, Not):
        return ~literal(draft, node.inner, table)
    if isinstance(node, IndexComparison):
        return np.where(compare(node, table), TRUE, FALSE).astype(np.int32)
    small, inverse = table.projected(free_variables(node))
    named = _reify(draft, node, small, None)
    return named if inverse is None else named[inverse]


def _reify(draft: RuleDraft, node: Formula, table: Bindings, outputs: Int32 | None) -> Int32:
    """Literals equivalent to a formula; ``outputs`` serve for those that have none yet."""
    if _is_literal(node):
        return literal(draft, node, table)
    if isinstance(node, Not):
        return ~_reify(draft, node.inner, table, None if outputs is None else ~outputs)
    if isinstance(node, Junction) and node.op == AND:
        negated = None if outputs is None else ~outputs
        return ~_reify(draft, negation_normal(node, True), table, negated)
    if isinstance(node, Junction):
        return reify_any(draft, disjunctions(_gather(draft, node, table)), table, outputs)
    if isinstance(node, Iff):
        left, right = literal(draft, node.left, table), literal(draft, node.right, table)
        return reify_equal(draft, left, right, table, outputs)
    assert isinstance(node, Count)
    return reify_count(draft, node.op, node.k, sums(_gather(draft, node, table)), table, outputs)


# ---------------------------------------------------------------- scores

# A formula over up to this many variables is a table: 16 entries, where what is nested would
# otherwise be reified part by part, with a looser relaxation.
MOST_TABULATED = 4
# Entries ``[place, combination]``: whether the variable at a place is true.
TRUE_AT = (np.arange(1 << MOST_TABULATED) >> np.arange(MOST_TABULATED)[:, None] & 1).astype(bool)


def weigh(draft: RuleDraft, node: Formula, table: Bindings, weights: Float) -> None:
    """Add ``weights`` to the score of the bindings at which ``node`` holds."""
    if not _is_clause(node):
        left = _weigh_tables(draft, node, table, weights)
        table, weights = table.take(left), weights[left]
    if isinstance(node, Junction):
        negate = node.op == AND
        clause = negation_normal(node, True) if negate else node
        assert isinstance(clause, Junction)
        _weigh_clauses(draft, disjunctions(_gather(draft, clause, table)), table, weights, negate)
    elif isinstance(node, Count):
        _weigh_counts(draft, node, table, weights)
    elif isinstance(node, Not) and isinstance(node.inner, Count):
        draft.constant += float(weights.sum())
        _weigh_counts(draft, node.inner, table, -weights)
    else:
        _weigh_literals(draft, literal(draft, node, table), table, weights)


def _is_clause(node: Formula) -> bool:
    """Whether it is a literal, or a disjunction or conjunction of nothing else."""
    if not isinstance(node, Junction):
        return _is_literal(node)
    return all(
        _is_literal(term.formula)
        or (
            isinstance(term.formula, Junction)
            and term.formula.op == node.op
            and _is_clause(term.formula)
        )
        for term in node.terms
    )


def _weigh_tables(draft: RuleDraft, node: Formula, table: Bindings, weights: Float) -> Int64:
    """Tables of the bindings at which few variables matter; returns the other bindings' rows."""
    every = np.arange(table.count)
    rows, codes = _mentioned(node, table, every)
    own = np.unique(np.stack([rows, coordinates_of(codes)], axis=1), axis=0)
    own = own[own[:, 1] != TRUE]
    counts = np.bincount(own[:, 0], minlength=table.count)
    few = np.flatnonzero(counts <= MOST_TABULATED)
    # Coordinates ``[few, MOST_TABULATED]`` of each, TRUE behind the last.
    number = np.full(table.count, -1)
    number[few] = np.arange(len(few))
    own = own[number[own[:, 0]] >= 0]
    first = np.cumsum(counts[few]) - counts[few]
    places = np.full((len(few), MOST_TABULATED), TRUE, np.int32)
    places[number[own[:, 0]], np.arange(len(own)) - first[number[own[:, 0]]]] = own[:, 1]
    small = table.take(few)
    scores = weights[few][:, None] * _truths(node, small, np.arange(len(few)), places)
    for size in np.unique(counts[few]).tolist():
        chosen = np.flatnonzero(counts[few] == size)
        # The last slot of a table runs fastest, the first bit of a combination does.
        order = np.arange(1 << size).reshape((2,) * size).T.ravel()
        lits = places[chosen, :size]
        _score_entries(draft, "Table", lits, scores[chosen][:, order], small.take(chosen))
    return np.flatnonzero(counts > MOST_TABULATED)


def _mentioned(node: Formula, table: Bindings, root: Int64) -> tuple[Int64, Int32]:
    """Literals of a formula, and the binding ``root`` that each belongs to."""
    if isinstance(node, Atom):
        return root, literals(node, table)
    if isinstance(node, Not):
        return _mentioned(node.inner, table, root)
    found = [(np.zeros(0, np.int64), np.zeros(0, np.int32))]
    if isinstance(node, Iff):
        found += [_mentioned(part, table, root) for part in (node.left, node.right)]
    elif isinstance(node, (Junction, Count)):
        for term in node.terms:
            own, parent = _term_table(term, not _is_conjunction(node), table)
            found.append(_mentioned(term.formula, own, root if parent is None else root[parent]))
    rows, codes = zip(*found, strict=True)
    return np.concatenate(rows), np.concatenate(codes)


def _truths(node: Formula, table: Bindings, root: Int64, places: Int32) -> NDArray[np.bool_]:
    """``[bindings, combinations]`` where a formula holds; ``places[root]`` are its variables."""
    if isinstance(node, Atom):
        codes = literals(node, table)
        at = (places[root] == coordinates_of(codes)[:, None]).argmax(axis=1)
        known = ((codes == TRUE) | (codes == FALSE))[:, None]
        return np.where(known, True, TRUE_AT[at]) ^ (codes < 0)[:, None]
    if isinstance(node, Not):
        return ~_truths(node.inner, table, root, places)
    if isinstance(node, IndexComparison):
        return np.repeat(compare(node, table)[:, None], 1 << MOST_TABULATED, axis=1)
    if isinstance(node, Iff):
        left, right = (_truths(part, table, root, places) for part in (node.left, node.right))
        return left == right
    assert isinstance(node, (Junction, Count))
    every = _is_conjunction(node)
    number = np.zeros((table.count, 1 << MOST_TABULATED), np.int64)
    for term in node.terms:
        own, parent = _term_table(term, not every, table)
        truth = _truths(term.formula, own, root if parent is None else root[parent], places)
        if parent is None:
            number += truth != every
        else:
            np.add.at(number, parent, truth != every)
    if isinstance(node, Junction):
        return (number > 0) != every
    return is_counted(node.op, node.k, number)


def _score_entries(
    draft: RuleDraft, kind: str, lits: Int32, entries: Float, table: Bindings
) -> None:
    """Add factors with ``entries[m, …]``; those that earn the same in any case are a constant."""
    same = (entries == entries[:, :1]).all(axis=1)
    draft.constant += float(entries[same, 0].sum())
    rows = np.flatnonzero(~same)
    draft.score(kind, lits[rows], entries[rows], table.take(rows))


def _is_conjunction(node: Formula) -> bool:
    return isinstance(node, Junction) and node.op == AND


def _weigh_counts(draft: RuleDraft, node: Count, table: Bindings, weights: Float) -> None:
    """A score per number of true literals; those that count several times are reified."""
    found = sums(_gather(draft, node, table))
    for part, times in zip(found.parts, found.weights, strict=True):
        plain = (times == 1).all(axis=1)
        rows, size = part.rows[plain], part.lits.shape[1]
        number = found.constant[rows][:, None] + np.arange(size + 1)
        entries = weights[rows][:, None] * is_counted(node.op, node.k, number)
        _score_entries(draft, "Cardinality", part.lits[plain], entries, table.take(rows))
        rows = part.rows[~plain]
        rest = EqualRows(np.arange(len(rows)), part.lits[~plain])
        load = Sums(found.constant[rows], [rest], [times[~plain]])
        reified = reify_count(draft, node.op, node.k, load, table.take(rows), None)
        _weigh_literals(draft, reified, table.take(rows), weights[rows])


def _weigh_clauses(
    draft: RuleDraft, found: Disjunctions, table: Bindings, weights: Float, negate: bool
) -> None:
    """Two literals make a pair, more of them need a reified disjunction."""
    if not negate:
        draft.constant += float(weights[found.true].sum())
    for part in found.parts:
        own, score, size = table.take(part.rows), weights[part.rows], part.lits.shape[1]
        if size == 2:
            # [a or b] = 1 − [not a and not b]
            if not negate:
                draft.constant += float(score.sum())
            draft.score("Pair", ~part.lits, score if negate else -score, own)
        else:
            lits = reify_any(draft, as_disjunctions(part.lits), own, None)
            _weigh_literals(draft, ~lits if negate else lits, own, score)


def _weigh_literals(draft: RuleDraft, lits: Int32, table: Bindings, weights: Float) -> None:
    draft.constant += float(weights[lits == TRUE].sum())
    open_ = np.flatnonzero((lits != TRUE) & (lits != FALSE))
    draft.score("Dense", lits[open_][:, None], weights[open_], table.take(open_))


# ---------------------------------------------------------------- gathering literals


def _is_literal(node: Formula) -> bool:
    inner = node.inner if isinstance(node, Not) else node
    return isinstance(inner, (Atom, IndexComparison))


def _other_counts(count: Count) -> Junction:
    """Not exactly k: fewer, or more."""
    fewer, more = Count("<=", count.k - 1, count.terms), Count(">=", count.k + 1, count.terms)
    return Junction(OR, (Term((), None, fewer), Term((), None, more)))


def _term_table(term: Term, want: bool, table: Bindings) -> tuple[Bindings, Any]:
    """Bindings of a term at which it may be ``want``, and the row each came from (or None)."""
    if not term.variables:
        return table, None
    guards = relevant(term.formula, want, guards_of(term.where))
    return extend(table, term.variables, guards)


def _gather(draft: RuleDraft, node: Junction | Count, table: Bindings) -> Ragged:
    """The literals of a count or of a disjunction, those of disjunctions nested in it included."""
    found = []
    for term in node.terms:
        own, parent = _term_table(term, True, table)
        inner = term.formula
        if isinstance(node, Junction) and isinstance(inner, Junction) and inner.op == OR:
            rows = _gather(draft, inner, own)
        else:
            rows = Ragged(np.arange(own.count), literal(draft, inner, own), own.count)
        found.append(rows if parent is None else Ragged(parent[rows.row], rows.lits, table.count))
    return join(found)


def relevant_bindings(
    scope: Scope, variables: list[Variable], node: Formula | None, where: Formula | None, want: bool
) -> Bindings:
    """All bindings of a rule's free variables at which ``node`` may be ``want``."""
    guards = guards_of(where)
    if node is not None:
        relevant(node, want, guards)
    return extend(Bindings(scope, {}, 1), variables, guards)[0]
