"""Structures as rows of a linear program.

Every state that a slot can be in is a column, one of each slot is 1, and those with a literal are
tied to it.  What makes them a vertex of the structure is said by further rows:

    trees, chains       a column per pair of states of every edge; limits and scores per count make
                        the hull larger, and one integral column per number of visits makes the rows
                        right at integral points
    dependency trees    flows from the root, the items of a chart; see ``sentence_rows``
    head automata       a path from each modifier to the next
    Matching, Cut       sums of rows and columns, pairs of states of every edge; ``network_rows``
    Regular             a flow through the automaton, unrolled over time
    soft agreement      a column for what is paid
    counts, Cardinality the lines of a concave score; see ``count_rows``
    soft outputs, other counts    for integer programs only: right at integral points
    all others          a column per vertex, generated while solving; see ``column_generation``

An integer program cannot generate its columns, and so has none of the others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from assent.compile.table_groups import structure_groups
from assent.errors import ModelError
from assent.factors.arborescence import Arborescence
from assent.factors.cardinality import Cardinality
from assent.factors.cut import Cut
from assent.factors.forest import ForestFactor
from assent.factors.grandparent_automaton import GrandparentAutomaton
from assent.factors.head_automaton import HeadAutomaton
from assent.factors.matching import Matching
from assent.factors.projective_tree import ProjectiveTree
from assent.factors.regular import Regular
from assent.factors.soft import AgreeSoft, CountedSoft, MatrixSoft, OutputSoft
from assent.factors.structure import Structure
from assent.factors.tri_sibling_automaton import TriSiblingAutomaton
from assent.kernels.problem import Float, Int64, Model, Problem
from assent.solvers.programs.count_rows import add_cardinality, add_counts, is_concave
from assent.solvers.programs.network_rows import (
    add_agreement,
    add_cut,
    add_matching,
    add_matrix,
    add_regular,
    add_soft_output,
)
from assent.solvers.programs.place_rows import add_edge, add_places, put_known
from assent.solvers.programs.row_builder import LinkStates, Priced, RowBuilder
from assent.solvers.programs.sentence_rows import (
    add_arborescence,
    add_automaton,
    add_projective,
    add_triples,
)

Add = Callable[[RowBuilder, Model, Int64, Float], None]


def add_structures(builder: RowBuilder, problem: Problem, scores: Float, integer: bool) -> None:
    """Rows of all structures; those to be priced are listed in ``builder.priced``."""
    for model, group in zip(problem.models, structure_groups(problem), strict=True):
        links, inner = group.links, group.scores(scores)
        add, priced = formulation(model.structure, integer), np.ones(len(links), bool)
        if isinstance(model.structure, COUNTS):
            priced = ~add_cardinality(builder, model, links, inner, integer)
        elif add is not None:
            add(builder, model, links, inner)
            continue
        if not priced.any():
            continue
        if integer:
            raise ModelError(
                f"IntegerProgram has no rows for {model.structure.kind}; LinearProgram() and "
                "AD3() take it as it is"
            )
        rows, convexity = np.full(links.shape, -1), np.full(len(links), -1)
        rows[priced] = builder.rows(np.zeros(links[priced].shape), lower=0.0)
        builder.put(rows[priced], LinkStates(links[priced]), -1.0)
        convexity[priced] = builder.rows(np.ones(int(priced.sum())), lower=1.0)
        builder.priced.append(Priced(group.number, rows, convexity))


def has_rows(structure: Structure) -> bool:
    """Whether a linear program has rows for a structure, whatever its scores."""
    if isinstance(structure, CountedSoft):
        return bool(is_concave(structure._entries(np.ones(len(structure)))).all())
    return formulation(structure, integer=False) is not None


def formulation(structure: Structure, integer: bool) -> Add | None:
    """What writes the rows of a structure, if it has any whatever its scores."""
    if isinstance(structure, ForestFactor):
        return _add_forest if integer or max(structure.counted) < 0 else None
    ways = {**EXACT, **AT_INTEGRAL_POINTS} if integer else EXACT
    return next((add for kind, add in ways.items() if isinstance(structure, kind)), None)


def _add_forest(builder: RowBuilder, model: Model, links: Int64, inner: Float) -> None:
    structure, start = model.structure, model.structure.start
    tables = structure.tables_of(inner)
    own = np.zeros((len(links), int(start[-1])))
    for slot, (table, parent) in enumerate(zip(tables, structure.parents, strict=True)):
        if parent < 0:
            own[:, start[slot] : start[slot + 1]] = table[:, :, 0]
    columns = add_places(builder, model, links, own)
    for slot, (table, parent) in enumerate(zip(tables, structure.parents, strict=True)):
        if parent >= 0:
            above = columns[:, start[parent] : start[parent + 1]]
            add_edge(builder, columns[:, start[slot] : start[slot + 1]], above, table)
    if max(structure.counted) >= 0:
        seen = [start[i] + state for i, state in enumerate(structure.counted) if state >= 0]
        rows = add_counts(builder, inner[:, -len(structure._counts) :])
        put_known(builder, rows[:, None], columns[:, seen], 1.0)


# Rows of the hull, for linear programs too.
EXACT: dict[type[Structure], Add] = {
    Arborescence: add_arborescence,
    ProjectiveTree: add_projective,
    HeadAutomaton: add_automaton,
    GrandparentAutomaton: add_automaton,
    TriSiblingAutomaton: add_triples,
    Matching: add_matching,
    Cut: add_cut,
    Regular: add_regular,
    MatrixSoft: add_matrix,  # a kind of AgreeSoft
    AgreeSoft: add_agreement,
}
AT_INTEGRAL_POINTS: dict[type[Structure], Add] = {OutputSoft: add_soft_output}

# Kinds whose scores decide whether they have rows.
COUNTS = (Cardinality, CountedSoft)
