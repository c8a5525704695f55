"""Parts of a problem that share no factor."""

from __future__ import annotations

import numpy as np

from assent.problem import Int32, Int64, Problem


def factor_of_links(problem: Problem) -> Int64:
    """The factor of every link, in the order of ``Problem.all_lits``, counted through.

    Example:
        >>> from assent.problem import make_problem
        >>> factor_of_links(make_problem(3, np.array([[0, 1], [1, 2]], np.int32), [])).tolist()
        [0, 0, 1, 1]
    """
    parts, count = [np.repeat(np.arange(problem.n_pairs), 2)], problem.n_pairs
    for size, members in zip(problem.group_size, problem.group_count, strict=True):
        parts.append(count + np.tile(np.arange(members), size))
        count += int(members)
    tables = problem.tables
    for t in range(len(tables.kind)):
        members = int(tables.factor[t + 1] - tables.factor[t])
        width = int(tables.link[t + 1] - tables.link[t]) // members
        parts.append(count + np.repeat(np.arange(members), width))
        count += members
    return np.concatenate(parts).astype(np.int64)


def components(problem: Problem) -> Int32:
    """``[n]`` which part each coordinate belongs to, numbered from 0.

    Example:
        >>> from assent.problem import make_problem
        >>> components(make_problem(4, np.array([[0, 2], [1, 3]], np.int32), [])).tolist()
        [0, 1, 0, 1]
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    lits, factor = problem.all_lits, problem.n + factor_of_links(problem)
    size = int(factor.max(initial=problem.n - 1)) + 1
    place = (np.where(lits < 0, ~lits, lits), factor)
    graph = coo_matrix((np.ones(len(lits), np.int8), place), (size, size))
    _, labels = connected_components(graph, directed=False)
    _, own = np.unique(labels[: problem.n], return_inverse=True)
    return own.astype(np.int32)
