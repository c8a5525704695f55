"""QuadraticProgram: the learning problem as one convex program, by a conic solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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

    Every loss-augmented decoding is replaced by the dual of its linear program, which gives one
    program: linear in a ball (second-order cone), or with ``|w|²/2``.  It needs spaces with
    ``rows``, and memory for all of them: an exact reference for other trainers.

    Args:
        C: minimise ``|w|²/2 + C · hinge loss``; or
        weights_in: minimise the hinge loss over an ``L2Ball`` or ``L1Ball``.
        max_iterations: programs to solve where examples have several right outputs: each one's
            targets are the best for the weights before (the concave-convex procedure).

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
        require(examples, "rows", "QuadraticProgram needs; FrankWolfe only needs maximize")
        return QuadraticState(np.zeros(examples.size))

    def advance(self, examples: Examples, state: QuadraticState) -> None:
        """Solve it."""
        state.w, state.dual = _solve(examples, self, state.w)
        state.iteration += 1

    def weights(self, state: QuadraticState) -> Float:
        """The optimum."""
        return state.w

    def measure(self, examples: Examples, state: QuadraticState) -> Measure:
        """The objective by decoding, less the solver's own dual value."""
        hinge = examples.violators(state.w).value
        square = 0.5 * float(state.w @ state.w)
        objective = hinge if self.C is None else square + self.C * hinge
        if examples.latent:
            return Measure(hinge, objective)
        return Measure(hinge, objective, objective - state.dual)

    def stop(self, measure: Measure) -> str | None:
        """After the one pass, unless targets may change."""
        return None if np.isnan(measure.gap) else "the program is solved"


def regularization_path(examples: Examples, radii: Sequence[float]) -> list[tuple[Float, float]]:
    """Optimal weights and hinge loss for each radius of an L2 ball.

    Where examples have several right outputs, targets are the best for the weights before.

    Example:
        >>> import numpy as np
        >>> from assent.learn import Examples, regularization_path
        >>> from assent.models import ChainModel
        >>> data = Examples(ChainModel((0, 1), 1), [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> [round(hinge, 3) for _, hinge in regularization_path(data, [0.1, 0.2])]
        [1.626, 1.252]
    """
    path: list[tuple[Float, float]] = []
    weights = np.zeros(examples.size)
    for radius in radii:
        weights, _ = _solve(examples, QuadraticProgram(weights_in=L2Ball(radius)), weights)
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


class _SetRows(NamedTuple):
    """A set of weights: ``on_w @ w + on_extra @ t <= right``, and a norm cone ``[1 + d, d]``."""

    on_w: Any
    on_extra: Any  # of auxiliary variables t
    right: Float
    cone: Any
    cone_right: Float


def _set_rows(weights_in: L2Ball | L1Ball | None, d: int) -> _SetRows:
    """A set of weights as rows; None is the whole space."""
    from scipy import sparse

    unit, no_cone = sparse.eye_array(d, format="csr"), (sparse.csr_array((0, d)), np.zeros(0))
    if isinstance(weights_in, L1Ball):
        # |w| <= t in every coordinate, and t sums to at most the radius.
        on_w = sparse.vstack([unit, -unit, sparse.csr_array((1, d))])
        on_extra = sparse.vstack([-unit, -unit, np.ones((1, d))])
        return _SetRows(on_w, on_extra, np.append(np.zeros(2 * d), weights_in.radius), *no_cone)
    rows = [sparse.csr_array((0, d))]
    cone = no_cone
    if weights_in is not None:
        weights_in.check(d)
        if weights_in.nonnegative is not None:
            rows.append(-unit if weights_in.nonnegative is True else -unit[weights_in.nonnegative])
        if weights_in.above is not None:
            rows.append(-sparse.csr_array(weights_in.above))
        if np.isfinite(weights_in.radius):
            norm = sparse.vstack([sparse.csr_array((1, d)), -unit])
            cone = norm, np.append(weights_in.radius, np.zeros(d))
    on_w = sparse.vstack(rows)
    return _SetRows(on_w, sparse.csr_array((on_w.shape[0], 0)), np.zeros(on_w.shape[0]), *cone)


def _solve(examples: Examples, settings: QuadraticProgram, before: Float) -> tuple[Float, float]:
    """Weights, and a lower bound on the objective; targets are the best for those ``before``.

    Variables: weights, per example multipliers of its equations (free) and inequalities (>= 0),
    auxiliary variables of the set of weights.
    """
    from scipy import sparse

    clarabel = _clarabel()
    d, C = examples.size, 1.0 if settings.C is None else settings.C
    kept = list(examples)
    rows = [example.space.rows() for example in kept]
    limits = _set_rows(settings.weights_in, d)
    # Dual feasibility of every loss-augmented decoding: F_i w + c_i <= (its rows)' multipliers.
    duals = sparse.block_diag([sparse.vstack([r.equal, r.below]).T for r in rows])
    of_inequalities = np.concatenate(
        [np.repeat([False, True], [len(r.right), len(r.limit)]) for r in rows]
    )
    signs = -sparse.eye_array(duals.shape[1], format="csr")[of_inequalities]
    matrix = sparse.block_array([
        [sparse.vstack([example.matrix for example in kept]), -duals, None],
        [None, signs, None],
        [limits.on_w, None, limits.on_extra],
        [limits.cone, None, None],
    ]).tocsc()  # fmt: skip
    right = [*(-example.costs for example in kept), np.zeros(signs.shape[0]), limits.right]
    linear = [sum(-C * (e.matrix.T @ e.target(e.scores(before))) for e in kept)]
    linear += [C * np.concatenate([r.right, r.limit]) for r in rows]
    quadratic = np.zeros(matrix.shape[1])
    quadratic[:d] = settings.C is not None
    cones = [clarabel.NonnegativeConeT(sum(map(len, right)))]
    if len(limits.cone_right):
        cones.append(clarabel.SecondOrderConeT(len(limits.cone_right)))
    options = clarabel.DefaultSettings()
    options.verbose = False
    solution = clarabel.DefaultSolver(
        sparse.diags_array(quadratic).tocsc(),
        np.concatenate([*linear, np.zeros(limits.on_extra.shape[1])]),
        matrix,
        np.concatenate([*right, limits.cone_right]),
        cones,
        options,
    ).solve()
    if "Solved" not in str(solution.status):
        raise ArithmeticError(f"the conic solver ended with {solution.status}")
    constant = C * sum(example.constant for example in kept)
    return np.array(solution.x[:d]), float(solution.obj_val_dual) + constant
