"""The training set, as trainers see it: examples by index, and sums over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from assent.arguments import as_floats, is_listed, shown
from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.models.example import CountedExample, Example
from assent.models.joint_model import Model, count_threads, parallel_map
from assent.models.losses import Hamming, Loss

# The power iteration stops when the norm of F changes by less, relatively.
NORM_TOLERANCE = 1e-9
NORM_STEPS = 10_000
# Examples per thread and chunk: enough to outweigh starting it; bounds the results in memory.
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
        n_jobs: threads for passes over independent examples, -1 for one per processor; results
            are the same, bit for bit.
        counts: ``[n]`` how often each example counts, once if left out; positive.

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
        counts: Any = None,
    ) -> None:
        if not hasattr(model, "example"):
            raise TypeError(
                f"a model is a settings object such as ChainModel(), got {shown(model)}"
            )
        if loss is not None and not hasattr(loss, "literals"):
            raise TypeError(f"a loss is an object such as Hamming(), got {shown(loss)}")
        for name, values in (("inputs", inputs), ("outputs", outputs)):
            if not is_listed(values):
                raise TypeError(f"{name} is a sequence, an item per example, got {shown(values)}")
        if len(inputs) != len(outputs):
            raise ModelError(f"{len(inputs)} inputs but {len(outputs)} outputs")
        if not len(inputs):
            raise ModelError("there is nothing to learn from: no examples")
        self.model, self.inputs, self.outputs = model, inputs, outputs
        self.loss = Hamming() if loss is None else loss
        self._outside = outside
        self.n_jobs = count_threads(n_jobs)
        self.size = model.size
        self.counts = None if counts is None else clean_counts(counts, len(inputs))
        if self.counts is not None and not self.counts.all():
            raise ModelError("examples count a positive number of times; leave the others out")
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
            raise IndexError(f"there are {len(self)} examples, none has index {i}")
        example = self._make(i % len(self)) if self._kept is None else self._kept[i]
        return example if self.counts is None else CountedExample(example, float(self.counts[i]))

    def __iter__(self) -> Iterator[Example]:
        return (self[i] for i in range(len(self)))

    @property
    def outside(self) -> int:
        """The number of gold outputs that the model cannot produce."""
        return sum(not example.inside for example in self)

    @cached_property
    def latent(self) -> bool:
        """Whether some examples have several right outputs, of which targets are chosen."""
        return any(example.latent for example in self)

    # ------------------------------------------------------------ sums over all examples

    def violators(self, weights: Float) -> Total:
        """The hinge loss (20) and a subgradient: one loss-augmented decoding per example."""

        def violator(example: Example) -> tuple[Float, Float, float]:
            scores = example.scores(weights)
            z, target = example.space.maximize(scores + example.costs), example.target(scores)
            return z, target, float(scores @ (z - target)) + example.loss(z)

        return self._sum("violators", weights, violator)

    def best(self, weights: Float) -> Total:
        """The perceptron's loss: decoding without costs."""

        def best(example: Example) -> tuple[Float, Float, float]:
            scores = example.scores(weights)
            z, target = example.space.maximize(scores), example.target(scores)
            return z, target, float(scores @ (z - target))

        return self._sum("best", weights, best)

    def log_loss(self, weights: Float) -> Total:
        """Minus the log-likelihood of the gold outputs, through ``marginals``."""

        def marginals(example: Example) -> tuple[Float, Float, float]:
            scores = example.scores(weights) / example.count
            value, z = example.space.marginals(scores)
            target = example.target(scores)
            return z, target, example.count * (value - float(scores @ target))

        return self._sum("log_loss", weights, marginals)

    @cached_property
    def compiled(self) -> Any:
        """The model's compiled sums over all examples, where it has them and all are kept."""
        compiled = getattr(self.model, "sums", None)
        return None if compiled is None or self._kept is None else compiled(self._kept, self.counts)

    def _sum(self, name: str, weights: Float, loss: Callable[[Example], Any]) -> Total:
        """Sum ``loss(example)``: an output, the target, and the loss; or use the model's sums."""
        if self.compiled is not None:
            return Total(*getattr(self.compiled, name)(weights))
        value, gradient = 0.0, np.zeros(self.size)

        def term(example: Example) -> tuple[Any, float, Float]:
            z, target, own = loss(example)
            return example.columns, own, example.features(z - target)

        for columns, own, features in self.each(term):
            value += own
            gradient[columns] += features
        return Total(value, gradient)

    def each(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> Iterator[Any]:
        """``function(example)`` for all in order, ``n_jobs`` at a time, few results in memory.

        ``arguments`` are sequences as long as this one, whose items ``function`` takes as well.
        Sums over the results do not depend on ``n_jobs``, as they come in order.

        Example:
            >>> import numpy as np
            >>> from assent.models import ChainModel
            >>> model = ChainModel(labels=(0, 1), features=1)
            >>> data = Examples(model, [np.ones((2, 1)), np.ones((3, 1))], [[1, 0], [0, 0, 1]])
            >>> list(data.each(lambda example, more: len(example.states) + more, [10, 20]))
            [12, 23]
        """

        def call(i: int) -> Any:
            return function(self[i], *(items[i] for items in arguments))

        if self.n_jobs == 1:
            yield from map(call, range(len(self)))
            return
        length = PER_THREAD * self.n_jobs
        for begin in range(0, len(self), length):
            yield from parallel_map(call, range(len(self))[begin : begin + length], self.n_jobs)

    def squared(self, weights: Float) -> float:
        """The squared norm of weights, Euclidean or by the model's kernel."""
        # A user's model need not define it.
        squared = getattr(self.model, "squared", None)
        return float(weights @ weights) if squared is None else squared(weights)

    def norm(self) -> float:
        """The largest singular value of the matrices F_i, concatenated, by power iteration."""
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


def clean_counts(counts: Any, n: int) -> Float:
    """How often each of ``n`` examples counts, checked."""
    numbers = as_floats(counts)
    if numbers is None or numbers.shape != (n,):
        raise ModelError(f"counts are {n} numbers, one per example, got {shown(counts)}")
    if not (np.isfinite(numbers) & (numbers >= 0.0)).all():
        raise ModelError("counts are finite numbers >= 0")
    return np.ascontiguousarray(numbers)
