"""The interface of models: joint feature maps of inputs and outputs."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from assent.arguments import is_whole, shown
from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.models.example import Example
from assent.models.losses import Loss


def count_threads(n_jobs: int) -> int:
    """The number of threads that ``n_jobs`` asks for: itself, or with -1 one per processor."""
    if not is_whole(n_jobs) or n_jobs == 0 or n_jobs < -1:
        raise ValueError(
            f"n_jobs is a number of threads, or -1 for all processors, got {shown(n_jobs)}"
        )
    return (os.cpu_count() or 1) if n_jobs == -1 else int(n_jobs)


def parallel_map(function: Callable[[Any], Any], items: Sequence[Any], n_jobs: int) -> list[Any]:
    """``[function(item) for item in items]`` in ``n_jobs`` threads; kernels release the GIL."""
    threads = min(count_threads(n_jobs), len(items))
    if threads <= 1:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    # One chunk per thread: scheduling every item would cost more than computing most of them.
    ends = [len(items) * i // threads for i in range(threads + 1)]
    chunks = [items[begin:end] for begin, end in pairwise(ends)]
    with ThreadPoolExecutor(threads) as pool:
        results = pool.map(lambda chunk: [function(item) for item in chunk], chunks)
        return list(chain.from_iterable(results))


class Model(ABC):
    """A joint feature map: makes examples of inputs and outputs, and outputs of weights.

    A model is a frozen settings object.  Settings left out that depend on the data (numbers of
    features, labels) are filled in by `shaped`, which returns a new model.
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

    def agreement(self, y: Any, predicted: Any) -> tuple[int, int]:
        """The number of variables with the same value in two outputs, and of all variables."""
        same = np.ravel(y) == np.ravel(predicted)
        return int(same.sum()), same.size

    @abstractmethod
    def named(self, weights: Float) -> dict[str, Float]:
        """The weights as arrays by name."""

    def squared(self, weights: Float) -> float:
        """The squared norm of weights."""
        return float(weights @ weights)

    @property
    def is_kernel(self) -> bool:
        """Whether weights are coefficients whose norm a kernel defines."""
        return type(self).squared is not Model.squared

    def predict_many(self, inputs: Sequence[Any], weights: Float, n_jobs: int = 1) -> list[Any]:
        """The best output for each input, ``n_jobs`` of them at a time."""
        return parallel_map(lambda x: self.predict(x, weights), inputs, n_jobs)

    def label_marginals(self, x: Any, weights: Float) -> Float:
        """Probabilities ``[n, K]`` of the labels of an input's variables."""
        raise self._without_labels("marginals")

    def label_scores(self, x: Any, weights: Float) -> Float:
        """The best score with each label of each variable, ``[n, K]`` (max-marginals)."""
        raise self._without_labels("scores")

    def _without_labels(self, what: str) -> TypeError:
        return TypeError(f"{type(self).__name__} has no {what} of labels; ChainModel has")

    def require_shape(self, *names: str) -> None:
        """Raise where a setting that `shaped` finds in the data is still None."""
        if any(getattr(self, name) is None for name in names):
            raise ModelError(
                f"{type(self).__name__} has no shape yet: give "
                f"{' and '.join(f'{name}=' for name in names)}, or let shaped(inputs, outputs) "
                "find them in the data"
            )
