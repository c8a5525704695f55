"""The training set, as trainers see it: examples by number, and sums over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.models.example import Example
from assent.models.joint_model import Model, count_threads, in_order
from assent.models.losses import Hamming, Loss

# The power iteration stops when the norm of F moves by less, relatively.
NORM_TOLERANCE = 1e-9
NORM_STEPS = 10_000
# Examples that each thread is given at a time: enough to be worth a thread, and no more than that
# many answers are held in memory.
PER_THREAD = 32


class Total(NamedTuple):
    """A sum over examples: a value and its (sub)gradient ``[weights]``."""

    value: float
    gradient: Float


class Examples(Sequence[Example]):
    """Training examples of one model.

    Args:
        model: a model with its shape (see ``Model.shaped``).
        inputs: one per example.
        outputs: gold outputs.
        loss: what wrong outputs cost.
        outside: allow gold outputs that the model cannot produce; `outside` counts them.
        keep: hold the examples in memory.  If not, each is made when it is asked for, and
            ``inputs`` and ``outputs`` may be sequences that read from files.
        n_jobs: threads for passes that treat all examples alike, -1 for one per processor; results
            do not depend on it, not in the last bit.

    Example:
        >>> import numpy as np
        >>> from assent.models import ChainModel
        >>> model = ChainModel(labels=(0, 1), features=1)
        >>> data = Examples(model, [np.array([[1.0], [-1.0]])], [[1, 0]])
        >>> data.violators(np.zeros(model.size)).value
        2.0
    """

    def __init__(
        self,
        model: Model,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        loss: Loss | None = None,
        *,
        outside: bool = False,
        keep: bool = True,
        n_jobs: int = 1,
    ) -> None:
        if len(inputs) != len(outputs):
            raise ModelError(f"{len(inputs)} inputs but {len(outputs)} outputs")
        if not len(inputs):
            raise ModelError("there is nothing to learn from: no examples")
        self.model, self.inputs, self.outputs = model, inputs, outputs
        self.loss = Hamming() if loss is None else loss
        self._outside = outside
        self.n_jobs = count_threads(n_jobs)
        self.size = model.size
        self._kept: list[Example] | None = None
        if keep:
            self._kept = [self._make(i) for i in range(len(inputs))]

    def _make(self, i: int) -> Example:
        try:
            return self.model.example(
                self.inputs[i], self.outputs[i], self.loss, outside=self._outside
            )
        except ModelError as error:
            raise ModelError(f"example {i}: {error}") from None

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        i = int(i)
        if not -len(self) <= i < len(self):
            raise IndexError(f"there are {len(self)} examples, none is number {i}")
        return self._make(i % len(self)) if self._kept is None else self._kept[i]

    def __iter__(self) -> Iterator[Example]:
        return (self[i] for i in range(len(self)))

    @property
    def outside(self) -> int:
        """How many gold outputs the model cannot produce."""
        return sum(not example.inside for example in self)

    # ------------------------------------------------------------ sums over all examples

    def violators(self, weights: Float) -> Total:
        """The hinge loss (20) and a subgradient: one loss-augmented decoding per example."""
        if self._sums is not None:
            return Total(*self._sums.violators(weights))
        return self._sum(lambda e: e.violator(weights))

    def best(self, weights: Float) -> Total:
        """The perceptron's loss: decoding without costs."""
        if self._sums is not None:
            return Total(*self._sums.best(weights))

        def ask(example: Example) -> tuple[Float, float]:
            scores = example.scores(weights)
            z = example.space.maximize(scores)
            return z, float(scores @ (z - example.gold))

        return self._sum(ask)

    def log_loss(self, weights: Float) -> Total:
        """Minus the log-likelihood of the gold outputs, through ``marginals``."""
        if self._sums is not None:
            return Total(*self._sums.log_loss(weights))

        def ask(example: Example) -> tuple[Float, float]:
            scores = example.scores(weights)
            value, z = example.space.marginals(scores)
            return z, value - float(scores @ example.gold)

        return self._sum(ask)

    @cached_property
    def _sums(self) -> Any:
        """Where a model can answer for all examples in memory together, what does so."""
        together = getattr(self.model, "sums", None)
        return None if together is None or self._kept is None else together(self._kept)

    def _sum(self, ask: Any) -> Total:
        value, gradient = 0.0, np.zeros(self.size)

        def answer(example: Example) -> tuple[Any, float, Float]:
            z, own = ask(example)
            return example.columns, own, example.features(z - example.gold)

        for columns, own, features in self.each(answer):
            value += own
            gradient[columns] += features
        return Total(value, gradient)

    def each(self, ask: Callable[..., Any], *beside: Sequence[Any]) -> Iterator[Any]:
        """The answers ``ask(example)`` in order, ``n_jobs`` at a time, few of them in memory.

        ``beside`` are sequences as long as this one, whose items ``ask`` gets as well.  What a
        pass adds up it should add up here, in order, so that threads change no bit of it.

        Example:
            >>> import numpy as np
            >>> from assent.models import ChainModel
            >>> model = ChainModel(labels=(0, 1), features=1)
            >>> data = Examples(model, [np.ones((2, 1)), np.ones((3, 1))], [[1, 0], [0, 0, 1]])
            >>> list(data.each(lambda example, more: len(example.states) + more, [10, 20]))
            [12, 23]
        """

        def answer(i: int) -> Any:
            return ask(self[i], *(items[i] for items in beside))

        if self.n_jobs == 1:
            yield from map(answer, range(len(self)))
            return
        length = PER_THREAD * self.n_jobs
        for begin in range(0, len(self), length):
            yield from in_order(answer, range(begin, min(begin + length, len(self))), self.n_jobs)

    def squared(self, weights: Float) -> float:
        """The squared length of weights, in the geometry of the model."""
        # Models of one's own need not say: lengths are those of coordinates.
        ask = getattr(self.model, "squared", None)
        return float(weights @ weights) if ask is None else ask(weights)

    def norm(self) -> float:
        """The largest singular value of all matrices F side by side, by power iteration."""
        rng = np.random.default_rng(0)
        w = rng.standard_normal(self.size)
        value = 0.0
        for _ in range(NORM_STEPS):
            w /= np.sqrt(self.squared(w))
            image = np.zeros(self.size)
            for columns, own in self.each(lambda e, w=w: (e.columns, e.features(e.scores(w)))):
                image[columns] += own
            if not image.any():
                return 0.0
            before, value = value, self.squared(image) ** 0.25
            w = image
            if abs(value - before) <= NORM_TOLERANCE * value:
                break
        return value
