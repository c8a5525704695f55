"""Two literals that a constraint keeps from being both true."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assent.kernels.problem import ANYOF, CAP, SUM, Int32, Int64, Problem
from assent.solvers.direct.tabulated_problem import group_lits

# Large groups are left out beyond this many: they would take more room than the program itself.
MOST = 1 << 20


class Exclusions(NamedTuple):
    """Literals ``u[E]`` and ``v[E]``, and the logic factor ``rule[E]`` that keeps them apart."""

    u: Int32
    v: Int32
    rule: Int64


def exclusions(problem: Problem) -> Exclusions:
    """All pairs of literals that a single constraint keeps apart, those of small ones first.

    At most one of several: any two of them.  An output that says whether any is true: each
    input and the output's negation.
    """
    no_one = np.zeros(0, np.int32)
    parts, count = [Exclusions(no_one, no_one, np.zeros(0, np.int64))], 0
    for group in np.argsort(problem.group_size, kind="stable").tolist():
        found = _of_group(problem, group)
        count += len(found.u)
        if count > MOST:
            break
        parts.append(found)
    return Exclusions(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _of_group(problem: Problem, group: int) -> Exclusions:
    lits, kind = group_lits(problem, group), int(problem.group_kind[group])
    number = int(problem.group_factor[group]) + np.arange(len(lits))
    size = lits.shape[1]
    i, j = np.triu_indices(size, 1)
    if kind == ANYOF:
        i, j = i[j == size - 1], j[j == size - 1]
        lits = np.column_stack([lits[:, :-1], ~lits[:, -1]])
    elif kind in (CAP, SUM):
        one = problem.k[number] == 1
        lits, number = lits[one], number[one]
    else:
        lits, number = lits[:0], number[:0]
    if len(lits) * len(i) > MOST:
        lits, number = lits[:0], number[:0]
    u, v = lits[:, i].ravel(), lits[:, j].ravel()
    two = (u != v) & (u != ~v)
    return Exclusions(u[two], v[two], np.repeat(number, len(i))[two])
