"""What all saddle-point methods have in common: their settings, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass

from assent.learn.argument_checks import positive
from assent.learn.trainer import Measure, closed
from assent.learn.trainers.geometry import EUCLIDEAN, Entropic, Euclidean, WeightSet
from assent.learn.trainers.step_sizes import StepSearch, check_steps
from assent.learn.trainers.weight_sets import FREE


@dataclass(frozen=True)
class SaddleSettings:
    """Settings of `DualExtragradient`, `Extragradient` and `ProjectedGradient`.

    Args:
        weights_in: the set of allowed weights.  In a ball of finite radius there is a gap to watch;
            ``L2Ball()`` follows the unregularised path, to be ended by validation.
        outputs: the geometry of outputs: ``Euclidean()`` or ``Entropic()``.
        step: η; left out, 0.95 over the Lipschitz constant, which takes a few passes to find; or
            a `StepSearch`.
        balance: steps of weights are that much longer, those of outputs that much shorter.  Left
            out, what makes the bound smallest where the set of weights is bounded, else 1, which
            is the paper's: with many examples the outputs have the longer way, and with 1 the gap
            takes several times as many passes.
        max_iterations: passes over the examples, with one or two questions each.
        gap_tolerance: of the saddle gap, relative to 1 + |objective|.

    Example:
        >>> from assent.learn import DualExtragradient, Entropic, L2Ball
        >>> DualExtragradient(L2Ball(10.0), Entropic(), step=0.03).max_iterations
        200
    """

    weights_in: WeightSet = FREE
    outputs: Euclidean | Entropic = EUCLIDEAN
    step: float | StepSearch | None = None
    balance: float | None = None
    max_iterations: int = 200
    gap_tolerance: float = 1e-3

    def __post_init__(self) -> None:
        positive(self, "max_iterations", "gap_tolerance")
        check_steps(self)

    def stop(self, measure: Measure) -> str | None:
        """When the saddle gap is closed."""
        return closed(measure, self.gap_tolerance, "saddle gap")
