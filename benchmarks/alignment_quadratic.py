"""Two links per word and rewards for adjacent ones: proofs, and HiGHS on the same problems."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import assent as at
from assent.apps.alignment.model.alignment_model import AlignmentModel, block_scores

LIMIT = 2  # links of a word
Solve = Callable[[], float]


class Solved(NamedTuple):
    """Problems solved to the end by both: how many are proven, and CPU seconds."""

    proven: float
    own: float
    peer: float


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What ``work`` returns, and its CPU seconds."""
    begun = time.process_time()
    return work(), time.process_time() - begun


def with_prices(model: AlignmentModel, inputs: list[Any], weights: Any) -> Solved:
    """`Cardinality` of every word, as the model has it: links beyond the first have prices."""
    programs = [_priced(model, x, weights) for x in inputs]
    return _compare(lambda some: model.decode(some, weights), inputs, programs)


def with_limits(model: AlignmentModel, inputs: list[Any], weights: Any) -> Solved:
    """`Matching` with the limit of links per word, no prices; the same rewards."""
    problems = [_parts(model, x, weights) for x in inputs]
    programs = [_limited(*problem) for problem in problems]
    return _compare(
        lambda some: list(at.decode_many([_limited_graph(*own) for own in some])),
        problems,
        programs,
    )


def _compare(decode: Callable[[list[Any]], list[Any]], given: list[Any], programs: Any) -> Solved:
    """Decode (graphs are built anew, the best of three) and solve as integer programs."""
    decode(given[:2])
    trials = [timed(lambda: decode(given)) for _ in range(3)]
    results = trials[0][0]
    values, peer = timed(lambda: [solve() for solve in programs])
    # Both maximise the same thing, up to the tolerance of the gap.
    assert np.allclose(values, [result.value for result in results], rtol=1e-4, atol=1e-4)
    proven = float(np.mean([result.status.name == "OPTIMAL" for result in results]))
    return Solved(proven, min(seconds for _, seconds in trials), peer)


def _parts(model: AlignmentModel, x: Any, weights: Any) -> tuple[Any, Any]:
    """Scores of links ``[n, m]`` and of adjacent ones ``[n - 1, m - 1]`` (or none)."""
    space = model.space(x)
    scores = block_scores(x.rows(), weights)
    n, m = space.links.shape
    a, _, c, size = space.ends
    return scores[:a].reshape(n, m), scores[c:].reshape((n - 1, m - 1) if size > c else (0, 0))


def _limited_graph(links: Any, adjacent: Any) -> at.FactorGraph:
    graph = at.FactorGraph()
    linked = graph.binary(links.shape, scores=links)
    graph.add(at.Matching(linked, rows=LIMIT, columns=LIMIT))
    if adjacent.size:
        graph.add(at.Pair(linked[:-1, :-1], linked[1:, 1:], scores=adjacent))
    return graph


def _limited(links: Any, adjacent: Any) -> Solve:
    """Rows and columns have at most so many links."""
    from scipy import sparse

    n, m = links.shape
    size = links.size + adjacent.size
    both = sparse.vstack(_degrees(n, m))
    rows = [sparse.hstack([both, sparse.csr_array((n + m, adjacent.size))])]
    limits = [np.full(n + m, float(LIMIT))]
    if adjacent.size:
        _add_products(rows, limits, (n, m), links.size, size)
    scores = np.concatenate([links.ravel(), adjacent.ravel()])
    return _integer_program(scores, rows, limits, np.ones(size))


def _priced(model: AlignmentModel, x: Any, weights: Any) -> Solve:
    """Every word has at most one link, and one more for each unit of its excess."""
    from scipy import sparse

    space = model.space(x)
    scores = block_scores(x.rows(), weights)
    n, m = space.links.shape
    a, b, c, size = space.ends
    by_row, by_column = _degrees(n, m)
    rows = [sparse.hstack([by_row, -sparse.identity(n), sparse.csr_array((n, size - b))]),
            sparse.hstack([by_column, sparse.csr_array((m, n)), -sparse.identity(m),
                           sparse.csr_array((m, size - c))])]  # fmt: skip
    limits = [np.ones(n), np.ones(m)]
    # Where an excess earns something, it must not be more than there is: 2 excess <= links.
    turned = sparse.diags(np.repeat([-1.0, -2.0, 0.0], [a, c - a, size - c]))
    for part, beyond in ((rows[0], scores[a:b]), (rows[1], scores[b:c])):
        rows.append(part.tocsr()[beyond > 0.0] @ turned)
        limits.append(np.zeros(int((beyond > 0.0).sum())))
    if size > c:
        _add_products(rows, limits, (n, m), c, size)
    upper = np.ones(size)
    upper[a:c] = model.fertility - 1
    return _integer_program(scores, rows, limits, upper)


def _degrees(n: int, m: int) -> tuple[Any, Any]:
    """Numbers of links of rows and of columns of a table."""
    from scipy import sparse

    return (
        sparse.kron(sparse.identity(n), np.ones((1, m))),
        sparse.kron(np.ones((1, n)), sparse.identity(m)),
    )


def _add_products(
    rows: list[Any], limits: list[Any], shape: tuple[int, int], begin: int, size: int
) -> None:
    """Columns from ``begin`` are products of adjacent links: <= both, >= their sum - 1."""
    from scipy import sparse

    cells = np.arange(shape[0] * shape[1]).reshape(shape)
    count = size - begin

    def chosen(columns: Any) -> Any:
        return sparse.csr_array((np.ones(count), (np.arange(count), columns)), (count, size))

    own = chosen(begin + np.arange(count))
    first, second = chosen(cells[:-1, :-1].ravel()), chosen(cells[1:, 1:].ravel())
    rows += [own - first, own - second, first + second - own]
    limits += [np.zeros(count), np.zeros(count), np.ones(count)]


def _integer_program(scores: Any, rows: list[Any], limits: list[Any], upper: Any) -> Solve:
    """A function that solves it by HiGHS and returns the value."""
    from scipy import sparse
    from scipy.optimize import Bounds, LinearConstraint, milp

    limited = LinearConstraint(sparse.csr_array(sparse.vstack(rows)), ub=np.concatenate(limits))
    whole = np.ones(len(scores))

    def solve() -> float:
        answer = milp(-scores, integrality=whole, bounds=Bounds(0.0, upper), constraints=limited)
        return -float(answer.fun)

    return solve
