"""StructuredPredictor: a model and a trainer with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.learn.examples import Examples
from assent.learn.model_files import read_predictor, write_predictor
from assent.learn.trainer import Trainer
from assent.learn.trainers.frank_wolfe import FrankWolfe
from assent.learn.training_loop import RunOptions, train
from assent.models.joint_model import Model
from assent.models.losses import Loss

_PARAMETERS = (
    "model", "trainer", "loss", "outside", "keep", "measure_every", "patience", "n_jobs",
)  # fmt: skip


class StructuredPredictor:
    """Learns a model's weights and predicts: ``fit``, ``predict``, ``score``.

    Works in scikit-learn's ``clone``, ``GridSearchCV`` and pipelines, without needing it; the
    settings of model and trainer are parameters too (``trainer__C``).

    Args:
        model: what outputs look like and which features score them, such as ``ChainModel()``.
        trainer: how to learn, such as ``FrankWolfe(C=0.1)``.
        loss: what wrong outputs cost; Hamming if left out.
        outside: allow gold outputs that the model cannot produce.
        keep: hold all examples in memory (see `Examples`).
        measure_every: passes between measurements.
        patience: measurements without a better validation score after which to end.
        n_jobs: threads over examples, -1 for one per processor: for passes over independent
            examples (saddle methods, likelihood, batches), for measuring and predicting.  Trainers
            that visit one example at a time use one thread.

    After ``fit``: ``model_`` (with its shape), ``weights_``, ``training_`` (trace, reason).

    Example:
        >>> import numpy as np
        >>> from assent.learn import FrankWolfe, StructuredPredictor
        >>> from assent.models import ChainModel
        >>> X = [np.array([[1.0], [-1.0]]), np.array([[-2.0], [1.0], [0.5]])]
        >>> y = [["up", "down"], ["down", "up", "up"]]
        >>> predictor = StructuredPredictor(ChainModel(), FrankWolfe(C=1.0)).fit(X, y)
        >>> predictor.predict([np.array([[3.0], [-3.0]])])[0].tolist()
        ['up', 'down']
        >>> predictor.score(X, y)
        1.0
    """

    def __init__(
        self,
        model: Model,
        trainer: Trainer,
        *,
        loss: Loss | None = None,
        outside: bool = False,
        keep: bool = True,
        measure_every: int = 1,
        patience: int | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.model = model
        self.trainer = trainer
        self.loss = loss
        self.outside = outside
        self.keep = keep
        self.measure_every = measure_every
        self.patience = patience
        self.n_jobs = n_jobs

    # ------------------------------------------------------------ learning and using

    def fit(
        self,
        X: Sequence[Any],
        y: Sequence[Any],
        *,
        validation: tuple[Sequence[Any], Sequence[Any]] | None = None,
        test: tuple[Sequence[Any], Sequence[Any]] | None = None,
        **options: Unpack[RunOptions],
    ) -> StructuredPredictor:
        """Learn from inputs and outputs.

        Args:
            X: inputs, one per example, as the model takes them.
            y: gold outputs.
            validation: inputs and outputs to choose the best weights by.
            test: inputs and outputs whose score is only reported, for `plot_path`.
            options: time_limit, progress, callback, checkpoint, resume: see `RunOptions`.
        """
        self._check(X, y)
        model = self.model.shaped(X, y)
        examples = self._examples(model, X, y)
        self.training_ = train(
            examples,
            self.trainer,
            validation=_scorer(model, validation, self.n_jobs),
            test=_scorer(model, test, self.n_jobs),
            patience=self.patience,
            measure_every=self.measure_every,
            **options,
        )
        self.model_, self.weights_ = model, self.training_.weights
        return self

    def partial_fit(self, X: Sequence[Any], y: Sequence[Any]) -> StructuredPredictor:
        """One more pass, over these examples; for trainers that visit one example at a time.

        The first call fixes labels and numbers of features: give them to the model if the first
        examples do not have all.
        """
        if not getattr(self.trainer, "online", False):
            raise TypeError(
                f"{type(self.trainer).__name__} learns from all examples together; fit it, or use "
                "AveragedPerceptron or MIRA to go on with new ones"
            )
        self._check(X, y)
        if not hasattr(self, "model_"):
            self.model_ = self.model.shaped(X, y)
        examples = self._examples(self.model_, X, y)
        if not hasattr(self, "_state"):
            self._state = self.trainer.init(examples)
        self.trainer.advance(examples, self._state)
        self.weights_ = self.trainer.weights(self._state)
        return self

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """The best output for each input."""
        self._require_fitted()
        return self.model_.predict_many(X, self.weights_, self.n_jobs)

    def score(self, X: Sequence[Any], y: Sequence[Any]) -> float:
        """The proportion of variables that are predicted correctly."""
        self._require_fitted()
        return accuracy(self.model_, self.weights_, X, y, self.n_jobs)

    def _examples(self, model: Model, X: Sequence[Any], y: Sequence[Any]) -> Examples:
        return Examples(
            model, X, y, self.loss, outside=self.outside, keep=self.keep, n_jobs=self.n_jobs
        )

    def _check(self, X: Any, y: Any) -> None:
        """Raise where model, trainer or data are unusable."""
        for name, value, wanted in (
            ("model", self.model, "shaped"), ("trainer", self.trainer, "advance")
        ):  # fmt: skip
            if not hasattr(value, wanted) or isinstance(value, type):
                example = "ChainModel()" if name == "model" else "FrankWolfe(C=0.1)"
                raise TypeError(f"{name} is a settings object such as {example}, got {value!r}")
        for name, values in (("X", X), ("y", y)):
            if not hasattr(values, "__len__") or not hasattr(values, "__getitem__"):
                raise TypeError(f"{name} is a sequence with an item per example, got {values!r}")
            if not len(values):
                raise ModelError(f"there is nothing to learn from: {name} has no examples")
        if len(X) != len(y):
            raise ModelError(f"{len(X)} inputs but {len(y)} outputs")

    def _require_fitted(self) -> None:
        if not hasattr(self, "weights_"):
            raise ModelError("this predictor has not learnt anything yet: call fit first")

    # ------------------------------------------------------------ scikit-learn's interface

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All settings by name; ``deep`` adds those of model, trainer and loss."""
        params = {name: getattr(self, name) for name in _PARAMETERS}
        if deep:
            for name, value in list(params.items()):
                if is_dataclass(value):
                    for field in fields(value):
                        params[f"{name}__{field.name}"] = getattr(value, field.name)
        return params

    def set_params(self, **params: Any) -> StructuredPredictor:
        """Change settings: ``set_params(trainer__C=0.1)``."""
        known = self.get_params()
        for name in sorted(params, key=lambda name: name.count("__")):
            owner, _, inner = name.partition("__")
            if inner and is_dataclass(getattr(self, owner, None)):
                settings: Any = getattr(self, owner)
                if inner not in {field.name for field in fields(settings)}:
                    raise ValueError(f"{type(settings).__name__} has no setting {inner!r}")
                setattr(self, owner, replace(settings, **{inner: params[name]}))
            elif name in known:
                setattr(self, name, params[name])
            else:
                raise ValueError(f"no setting is called {name!r}; there are {sorted(known)}")
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in _PARAMETERS)
        return f"StructuredPredictor({shown})"

    # ------------------------------------------------------------ files

    def save(self, path: str | Path) -> None:
        """Write model and weights to a file (``.npz``): arrays and JSON, nothing pickled."""
        self._require_fitted()
        write_predictor(path, self)

    @classmethod
    def load(cls, path: str | Path, model: Model | None = None) -> StructuredPredictor:
        """Read a file that `save` wrote; it can predict, and be fitted anew.

        Args:
            path: the file.
            model: for models that hold functions (`GraphModel`), the model it was made with.
        """
        own, weights = read_predictor(path, model)
        predictor = cls(own, FrankWolfe())
        predictor.model_, predictor.weights_ = own, weights
        return predictor


def accuracy(
    model: Model, weights: Float, X: Sequence[Any], y: Sequence[Any], n_jobs: int = 1
) -> float:
    """The proportion of variables that weights predict correctly."""
    if not len(X) or len(X) != len(y):
        raise ModelError(f"a score needs examples: {len(X)} inputs and {len(y)} outputs")
    right = count = 0
    for gold, predicted in zip(y, model.predict_many(X, weights, n_jobs), strict=True):
        equal, size = model.agreement(gold, predicted)
        right, count = right + equal, count + size
    return right / count


def _scorer(model: Model, data: Any, n_jobs: int) -> Callable[[Float], float] | None:
    if data is None:
        return None
    X, y = data
    return lambda weights: accuracy(model, weights, X, y, n_jobs)
