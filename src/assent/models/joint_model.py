"""What a model is: a joint feature map from inputs and outputs to the weights' space."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

from assent.kernels.problem import Float
from assent.models.example import Example
from assent.models.losses import Loss


def count_threads(n_jobs: int) -> int:
    """How many threads ``n_jobs`` stands for: itself, or with -1 one per processor.

    Example:
        >>> count_threads(2)
        2
    """
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0 or n_jobs < -1:
        raise ValueError(f"n_jobs is a number of threads, or -1 for all processors, got {n_jobs!r}")
    return (os.cpu_count() or 1) if n_jobs == -1 else int(n_jobs)


def in_order(ask: Callable[[Any], Any], items: Sequence[Any], n_jobs: int) -> list[Any]:
    """``[ask(item) for item in items]``, in ``n_jobs`` threads: kernels run side by side.

    Example:
        >>> in_order(abs, [-1, 2, -3], n_jobs=2)
        [1, 2, 3]
    """
    threads = min(count_threads(n_jobs), len(items))
    if threads <= 1:
        return [ask(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    # A stretch for each: a task per item would cost more than many an answer.
    ends = [len(items) * i // threads for i in range(threads + 1)]
    stretches = [items[begin:end] for begin, end in pairwise(ends)]
    with ThreadPoolExecutor(threads) as pool:
        answers = pool.map(lambda own: [ask(item) for item in own], stretches)
        return [answer for own in answers for answer in own]


class Model(ABC):
    """A joint feature map: makes examples of inputs and outputs, and outputs of weights.

    A model is a frozen settings object.  What it must learn from the data before any weights
    (numbers of features, labels) it learns in `shaped`, which returns a new model.
    """

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of weights."""

    @abstractmethod
    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> Model:
        """This model with numbers of features and labels as found in the data."""

    @abstractmethod
    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> Example:
        """The training example of an input and its gold output."""

    @abstractmethod
    def predict(self, x: Any, weights: Float) -> Any:
        """The best output for an input."""

    @abstractmethod
    def agreement(self, y: Any, predicted: Any) -> tuple[int, int]:
        """How many variables two outputs agree in, and of how many."""

    @abstractmethod
    def named(self, weights: Float) -> dict[str, Float]:
        """The weights as arrays by name, to be read by people."""

    def squared(self, weights: Float) -> float:
        """The squared length of weights."""
        return float(weights @ weights)

    @property
    def is_kernel(self) -> bool:
        """Whether lengths of weights are not those of their coordinates."""
        return type(self).squared is not Model.squared

    def predict_many(self, inputs: Sequence[Any], weights: Float, n_jobs: int = 1) -> list[Any]:
        """The best output for each input, ``n_jobs`` of them at a time."""
        return in_order(lambda x: self.predict(x, weights), inputs, n_jobs)
