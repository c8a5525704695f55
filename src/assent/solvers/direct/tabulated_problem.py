"""A problem as tables over variables, if its factors are small enough to be tabulated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from assent.kernels.core.factor_list import flat_of
from assent.kernels.core.memo import remembered
from assent.kernels.direct import table_scopes, tabulate
from assent.kernels.direct.eliminate import EliminationModel
from assent.kernels.direct.table_scopes import VariableFactors, Variables
from assent.kernels.problem import Float, Int32, Problem, Scores

# Entries of one table, and of all of them together (half a gigabyte).
LARGEST_TABLE = 1 << 20
MOST_ENTRIES = 1 << 26
TOO_MANY = "a factor over too many variables to be tabulated"


@remembered
def find_variables(problem: Problem) -> Variables:
    """Blocks of which exactly one coordinate is true, then coordinates by themselves."""
    n = problem.n
    found = Variables(
        np.full(n, -1, np.int32), np.ones(n, np.int32), np.empty(n, np.int32),
        np.zeros(problem.n_logic, bool),
    )  # fmt: skip
    count = table_scopes.find_blocks(problem.groups, problem.written, found)
    alone = np.flatnonzero(found.var_of < 0)
    found.var_of[alone] = np.arange(count, count + len(alone), dtype=np.int32)
    found.card[count : count + len(alone)] = 2
    return found._replace(card=found.card[: count + len(alone)])


def group_lits(problem: Problem, group: int) -> Int32:
    """Literals ``[m, size]`` of a group of logic factors."""
    count, size = int(problem.group_count[group]), int(problem.group_size[group])
    start = int(problem.group_link[group])
    return problem.lits[start : start + count * size].reshape(size, count).T


@dataclass(frozen=True)
class Tabulation:
    """Where the tables of a problem go; scores come later.

    Attributes:
        factors: all factors, and the variables they are over.
        shape: scopes and sizes of the tables, those of single variables first, without entries.
        form: ``[factors]`` TABULATED, or what stays as it is.
    """

    of: ReferenceType[Problem]  # kept by others: this is kept as long as the problem is
    factors: VariableFactors
    shape: EliminationModel
    form: NDArray[np.int8]

    @property
    def problem(self) -> Problem:
        """What is tabulated."""
        found = self.of()
        assert found is not None, "checked by the caller"
        return found

    @property
    def variables(self) -> Variables:
        """What the tables are over."""
        return self.factors.variables

    @property
    def entries(self) -> int:
        """Entries of all factors' tables together."""
        return int(self.shape.entry[-1] - self.shape.entry[len(self.shape.card)])

    def model(self, scores: Scores) -> EliminationModel:
        """The tables, variables' own scores included."""
        both = np.concatenate([self.own_scores(scores), self.tables(scores)])
        return self.shape._replace(table=both)

    def own_scores(self, scores: Scores) -> Float:
        """Scores of all states of all variables, end to end."""
        v, shape = self.variables, self.shape
        out = np.zeros(int(shape.entry[len(shape.card)]))
        out[shape.entry[v.var_of] + v.state_of] = scores.theta
        return out

    def tables(self, scores: Scores) -> Float:
        """Entries of all factors' tables, end to end; those of the scores where they are so."""
        if self._are_as_given:
            return scores.table
        out = np.empty(self.entries)
        tabulate.fill(self.factors, self.shape, self.form, scores.pair, scores.table, out)
        return out

    @cached_property
    def _are_as_given(self) -> bool:
        """Whether all factors are tables over complete variables, all states in their order."""
        return bool(tabulate.are_as_given(self.factors, self.shape.start, self.shape.scope))


@remembered
def tabulation(problem: Problem) -> Tabulation | str:
    """The problem's factors as tables, or what cannot be tabulated, in words."""
    return _tabulate(problem, keep=False)


@remembered
def partial_tabulation(problem: Problem) -> Tabulation | str:
    """The same with pairs and constraints as they are, unless they are quite small."""
    return _tabulate(problem, keep=True)


def _tabulate(problem: Problem, keep: bool) -> Tabulation | str:
    if problem.models:
        return f"a {problem.models[0].structure.kind} is not tabulated"
    variables, tables = find_variables(problem), problem.tables
    factors = VariableFactors(flat_of(problem, "maximize"), variables, tables.states, tables.first)
    card = variables.card
    most = len(card) + problem.n_pairs + problem.n_logic + int(tables.factor[-1])
    start, entry = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    scope = np.empty(len(card) + problem.n_links, np.int32)
    form = np.empty(most - len(card), np.int8)
    count = table_scopes.find_scopes(factors, LARGEST_TABLE, keep, start, scope, entry, form)
    if count < 0:
        return TOO_MANY
    start, entry = start[: count + 1], entry[: count + 1]
    shape = EliminationModel(card, start, scope[: start[-1]], entry, np.zeros(0))
    made = Tabulation(ref(problem), factors, shape, form[: count - len(card)])
    return TOO_MANY if made.entries > MOST_ENTRIES else made
