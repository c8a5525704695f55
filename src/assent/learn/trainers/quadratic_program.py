"""QuadraticProgram: the whole learning problem at once, by a conic solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assent.kernels.problem import Float
from assent.learn.argument_checks import positive, require, require_coordinates
from assent.learn.examples import Examples
from assent.learn.trainer import Measure
from assent.learn.trainers.weight_sets import L1Ball, L2Ball


@dataclass
class QuadraticState:
    """The solution, once there is one."""

    w: Float
    dual: float = float("-inf")
    iteration: int = 0
    calls: int = 0


@dataclass(frozen=True)
class QuadraticProgram:
    """Problem (15) of Taskar et al. 2006, for an interior point solver (Clarabel).

    Every loss-augmented decoding is replaced by the dual of its linear program, so that all
    become one program: linear in a ball (second-order cone), or with ``|w|²/2``.  It needs spaces
    with ``rows``, and memory for all of them: what others are compared with.

    Args:
        C: minimise ``|w|²/2 + C · hinge loss``; or
        weights_in: minimise the hinge loss over an ``L2Ball`` or ``L1Ball``.

    Example:
        >>> import numpy as np
        >>> from assent.learn import Examples, L2Ball, QuadraticProgram, train
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> result = train(data, QuadraticProgram(weights_in=L2Ball(0.5)))
        >>> bool(abs(result.trace.gap[-1]) < 1e-6)
        True
    """

    C: float | None = None
    weights_in: L2Ball | L1Ball | None = None
    max_iterations: int = 1

    def __post_init__(self) -> None:
        if (self.C is None) == (self.weights_in is None):
            raise ValueError("QuadraticProgram takes either C or weights_in")
        if self.C is not None:
            positive(self, "C")

    def init(self, examples: Examples) -> QuadraticState:
        """Nothing is known."""
        _clarabel()
        require_coordinates(examples, type(self).__name__)
        require(examples, "rows", "QuadraticProgram needs; FrankWolfe needs maximize alone")
        return QuadraticState(np.zeros(examples.size))

    def advance(self, examples: Examples, state: QuadraticState) -> None:
        """Solve it."""
        state.w, state.dual = _solve(examples, self)
        state.iteration += 1

    def weights(self, state: QuadraticState) -> Float:
        """The optimum."""
        return state.w

    def measure(self, examples: Examples, state: QuadraticState) -> Measure:
        """The objective by decoding, less the solver's own dual value."""
        hinge = examples.violators(state.w).value
        square = 0.5 * float(state.w @ state.w)
        objective = hinge if self.C is None else square + self.C * hinge
        return Measure(hinge, objective, objective - state.dual)

    def stop(self, measure: Measure) -> str | None:
        """After the one pass."""
        return "the program is solved"


def regularization_path(examples: Examples, radii: Sequence[float]) -> list[tuple[Float, float]]:
    """Optimal weights and hinge loss for each radius of an L2 ball.

    Example:
        >>> import numpy as np
        >>> from assent.learn import Examples, regularization_path
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> [round(hinge, 3) for _, hinge in regularization_path(data, [0.1, 0.2])]
        [1.626, 1.252]
    """
    path = []
    for radius in radii:
        weights, _ = _solve(examples, QuadraticProgram(weights_in=L2Ball(radius)))
        path.append((weights, examples.violators(weights).value))
    return path


def _clarabel() -> Any:
    try:
        import clarabel
    except ImportError as error:
        raise ImportError(
            'QuadraticProgram needs a conic solver: pip install "assent[conic]"'
        ) from error
    return clarabel


def _solve(examples: Examples, settings: QuadraticProgram) -> tuple[Float, float]:
    """Weights, and a lower bound on the objective.

    Variables: weights, and per example prices of its equations (free) and inequalities (>= 0).
    """
    from scipy import sparse

    clarabel = _clarabel()
    d = examples.size
    price = 1.0 if settings.C is None else settings.C
    linear, constant = [np.zeros(d)], 0.0
    cover, costs, signs, place = [], [], [], d
    for example in examples:
        rows = example.space.rows()
        prices = sparse.vstack([rows.equal, rows.below]).T  # [coordinates, prices]
        cover.append((example.matrix, prices, place))
        costs.append(-example.costs)
        linear[0] -= price * (example.matrix.T @ example.gold)
        linear.append(price * np.concatenate([rows.right, rows.limit]))
        constant += price * example.constant
        signs.append(place + len(rows.right) + np.arange(len(rows.limit)))
        place += prices.shape[1]
    blocks = [
        sparse.hstack([matrix, sparse.csr_array((matrix.shape[0], begin - d)), -prices,
                       sparse.csr_array((matrix.shape[0], place - begin - prices.shape[1]))])
        for matrix, prices, begin in cover
    ]  # fmt: skip
    positive_prices = sparse.csr_array(-sparse.eye_array(place).tocsr()[np.concatenate(signs)])
    parts = [*blocks, positive_prices]
    right = [*costs, np.zeros(positive_prices.shape[0])]
    extra, cones = 0, list[Any]()
    if settings.weights_in is not None:
        parts, right, cones, extra = _constrain(settings.weights_in, d, place, parts, right)
    count = sum(len(r) for r in right)
    matrix = sparse.vstack([*parts, *(c[0] for c in cones)]).tocsc()
    quadratic = np.zeros(place + extra)
    quadratic[:d] = settings.C is not None
    options = clarabel.DefaultSettings()
    options.verbose = False
    solution = clarabel.DefaultSolver(
        sparse.diags_array(quadratic).tocsc(),
        np.concatenate([*linear, np.zeros(extra)]),
        matrix,
        np.concatenate([*right, *(c[1] for c in cones)]),
        [clarabel.NonnegativeConeT(count), *(clarabel.SecondOrderConeT(len(c[1])) for c in cones)],
        options,
    ).solve()
    if "Solved" not in str(solution.status):
        raise ArithmeticError(f"the conic solver ended with {solution.status}")
    return np.array(solution.x[:d]), float(solution.obj_val_dual) + constant


def _constrain(
    weights_in: L2Ball | L1Ball, d: int, place: int, parts: list[Any], right: list[Float]
) -> tuple[list[Any], list[Float], list[Any], int]:
    """Add a set of weights: linear rows, cones, and how many variables more they need."""
    from scipy import sparse

    unit = sparse.eye_array(d).tocsr()
    if isinstance(weights_in, L1Ball):
        wide = [sparse.hstack([p, sparse.csr_array((p.shape[0], d))]) for p in parts]
        empty = sparse.csr_array((d, place - d))
        wide += [sparse.hstack([unit, empty, -unit]), sparse.hstack([-unit, empty, -unit]),
                 sparse.hstack([sparse.csr_array((1, place)), np.ones((1, d))])]  # fmt: skip
        sizes = [np.zeros(d), np.zeros(d), np.array([weights_in.radius])]
        return wide, [*right, *sizes], [], d
    weights_in.check(d)
    rows = []
    if weights_in.nonnegative is not None:
        rows.append(-unit if weights_in.nonnegative is True else -unit[weights_in.nonnegative])
    if weights_in.above is not None:
        rows.append(-sparse.csr_array(weights_in.above))
    for row in rows:
        parts = [*parts, sparse.hstack([row, sparse.csr_array((row.shape[0], place - d))])]
        right = [*right, np.zeros(row.shape[0])]
    if not np.isfinite(weights_in.radius):
        return parts, right, [], 0
    ball = sparse.vstack([sparse.csr_array((1, place)),
                          sparse.hstack([-unit, sparse.csr_array((d, place - d))])])  # fmt: skip
    return parts, right, [(ball, np.concatenate([[weights_in.radius], np.zeros(d)]))], 0
