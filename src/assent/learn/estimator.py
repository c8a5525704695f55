"""StructuredPredictor: a model and a trainer with scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from assent.arguments import is_listed, shown
from assent.errors import ModelError
from assent.kernels.problem import Float
from assent.learn.example_choice import counted, hold_out
from assent.learn.examples import Examples
from assent.learn.fitting_errors import not_fitted
from assent.learn.model_files import read_predictor, write_predictor
from assent.learn.token_features import TokenFeatures
from assent.learn.trainer import Trainer
from assent.learn.trainers.frank_wolfe import FrankWolfe
from assent.learn.training_loop import RunOptions, train
from assent.models.joint_model import Model, parallel_map
from assent.models.losses import Loss
from assent.result import label_array

_PARAMETERS = (
    "model", "trainer", "loss", "features", "outside", "keep", "measure_every", "patience",
    "validation_fraction", "n_jobs",
)  # fmt: skip


class Outputs(list):
    """A list of outputs that NumPy takes for an array of objects, whatever their lengths.

    Example:
        >>> import numpy as np
        >>> np.concatenate([Outputs([[1, 2], [3]]), Outputs([[4]])]).tolist()
        [[1, 2], [3], [4]]
    """

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        made = np.empty(len(self), object)
        for i, output in enumerate(self):
            made[i] = output
        return made


class StructuredPredictor:
    """Learns a model's weights and predicts: ``fit``, ``predict``, ``score``.

    Works in scikit-learn's ``clone``, ``GridSearchCV`` and pipelines, without needing it; the
    settings of model and trainer are parameters too (``trainer__C``).

    Args:
        model: what outputs look like and which features score them, such as ``ChainModel()``.
        trainer: how to learn, such as ``FrankWolfe(C=0.1)``.
        loss: what wrong outputs cost; Hamming if left out.
        features: how inputs become features: `TokenFeatures`, or ``function(tokens, i)`` that
            returns a dict; left out, inputs are as the model takes them.
        outside: allow gold outputs that the model cannot produce.
        keep: hold all examples in memory (see `Examples`).
        measure_every: passes between measurements.
        patience: measurements without a better validation score after which to end.
        validation_fraction: the part of the examples that ``fit`` sets aside at random (the same
            every time) to choose the best weights by, where it is given no validation data.
        n_jobs: threads over examples, -1 for one per processor: for passes over independent
            examples (saddle methods, likelihood, batches), for measuring and predicting.  Trainers
            that visit one example at a time use one thread.

    After ``fit``: ``model_`` (with its shape), ``weights_``, ``training_`` (trace, reason),
    ``features_`` where dicts are read, ``classes_`` and ``n_features_in_`` of models with labels.

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
        features: TokenFeatures | Callable[[Any, int], Any] | None = None,
        outside: bool = False,
        keep: bool = True,
        measure_every: int = 1,
        patience: int | None = None,
        validation_fraction: float | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.model = model
        self.trainer = trainer
        self.loss = loss
        self.features = features
        self.outside = outside
        self.keep = keep
        self.measure_every = measure_every
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs

    # ------------------------------------------------------------ learning and using

    def fit(
        self,
        X: Sequence[Any],
        y: Sequence[Any],
        sample_weight: Any = None,
        *,
        validation: tuple[Sequence[Any], Sequence[Any]] | None = None,
        test: tuple[Sequence[Any], Sequence[Any]] | None = None,
        **options: Unpack[RunOptions],
    ) -> StructuredPredictor:
        """Learn from inputs and outputs.

        Args:
            X: inputs, one per example, as the model takes them.
            y: gold outputs.
            sample_weight: ``[n]`` how often each example counts, once if left out; those of
                weight 0 are left out.
            validation: inputs and outputs to choose the best weights by.
            test: inputs and outputs whose score is only reported, for `plot_path`.
            options: time_limit, progress, callback, checkpoint, resume: see `RunOptions`.
        """
        self._check(X, y)
        X, y, counts = counted(X, y, sample_weight)
        if validation is None and self.validation_fraction is not None:
            X, y, counts, validation = hold_out(X, y, counts, self.validation_fraction)
        X = self._learn_features(X)
        model = self.model.shaped(X, y)
        examples = self._examples(model, X, y, counts)
        self.training_ = train(
            examples,
            self.trainer,
            validation=self._scorer(model, validation),
            test=self._scorer(model, test),
            patience=self.patience,
            measure_every=self.measure_every,
            **options,
        )
        self.model_, self.weights_ = model, self.training_.weights
        return self

    def partial_fit(
        self, X: Sequence[Any], y: Sequence[Any], sample_weight: Any = None
    ) -> StructuredPredictor:
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
        X, y, counts = counted(X, y, sample_weight)
        if not hasattr(self, "model_"):
            X = self._learn_features(X)
            self.model_ = self.model.shaped(X, y)
        else:
            X = self._read(X)
        examples = self._examples(self.model_, X, y, counts)
        if not hasattr(self, "_state"):
            self._state = self.trainer.init(examples)
        self.trainer.advance(examples, self._state)
        self.weights_ = self.trainer.weights(self._state)
        return self

    def predict(self, X: Sequence[Any]) -> Outputs:
        """The best output for each input: a list, and an array of objects for NumPy."""
        self._require_fitted()
        return Outputs(self.model_.predict_many(self._read(X), self.weights_, self.n_jobs))

    def predict_marginals(self, X: Sequence[Any]) -> Outputs:
        """Probabilities ``[T, K]`` of the labels ``classes_`` for each input.

        They are those of ``exp(score)``: what `LogLikelihood` fits, and what other trainers give
        an order only.
        """
        return self._of_labels(lambda x: self.model_.label_marginals(x, self.weights_), X)

    predict_proba = predict_marginals

    def decision_function(self, X: Sequence[Any]) -> Outputs:
        """The best score of an output with each label, ``[T, K]`` for each input."""
        return self._of_labels(lambda x: self.model_.label_scores(x, self.weights_), X)

    def _of_labels(self, ask: Callable[[Any], Float], X: Sequence[Any]) -> Outputs:
        self._require_fitted()
        return Outputs(parallel_map(ask, self._read(X), self.n_jobs))

    def score(self, X: Sequence[Any], y: Sequence[Any], sample_weight: Any = None) -> float:
        """The proportion of variables that are predicted correctly."""
        self._require_fitted()
        if sample_weight is not None:
            X, y, sample_weight = counted(X, y, sample_weight)
        return accuracy(
            self.model_, self.weights_, self._read(X), y, self.n_jobs, counts=sample_weight
        )

    @property
    def classes_(self) -> Any:
        """The labels ``[K]``, in the order of `predict_marginals`."""
        self._require_fitted()
        labels = getattr(self.model_, "labels", None)
        if labels is None:
            raise AttributeError(f"{type(self.model_).__name__} has no labels")
        return label_array(labels)

    @property
    def n_features_in_(self) -> int:
        """The number of features of a position."""
        self._require_fitted()
        if not isinstance(getattr(self.model_, "features", None), int):
            raise AttributeError(f"{type(self.model_).__name__} has no number of features")
        return self.model_.features  # type: ignore[attr-defined]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the features, ``[D]``: of the dicts they came from, or x0, x1, …"""
        if hasattr(self, "features_"):
            return self.features_.get_feature_names_out()
        return np.array([f"x{i}" for i in range(self.n_features_in_)], object)

    def _learn_features(self, X: Sequence[Any]) -> Sequence[Any]:
        """Inputs as the model takes them, after their features were learnt."""
        if self.features is None:
            return X
        given: Any = self.features
        self.features_ = TokenFeatures(getattr(given, "extract", given))
        return self.features_.fit_transform(X)

    def _read(self, X: Sequence[Any]) -> Sequence[Any]:
        """Inputs as the model takes them."""
        return self.features_.transform(X) if hasattr(self, "features_") else X

    def _scorer(self, model: Model, data: Any) -> Callable[[Float], float] | None:
        if data is None:
            return None
        X, y = data
        inputs = self._read(X)
        return lambda weights: accuracy(model, weights, inputs, y, self.n_jobs)

    def _examples(
        self, model: Model, X: Sequence[Any], y: Sequence[Any], counts: Float | None
    ) -> Examples:
        return Examples(
            model, X, y, self.loss, outside=self.outside, keep=self.keep, n_jobs=self.n_jobs,
            counts=counts,
        )  # fmt: skip

    def _check(self, X: Any, y: Any) -> None:
        """Raise where model, trainer or data are unusable."""
        for name, value, wanted in (
            ("model", self.model, "shaped"), ("trainer", self.trainer, "advance")
        ):  # fmt: skip
            if not hasattr(value, wanted) or isinstance(value, type):
                example = "ChainModel()" if name == "model" else "FrankWolfe(C=0.1)"
                raise TypeError(f"{name} is a settings object such as {example}, got {value!r}")
        for name, values in (("X", X), ("y", y)):
            if not is_listed(values):
                raise TypeError(
                    f"{name} is a sequence with an item per example, got {shown(values)}"
                )
            if not len(values):
                raise ModelError(f"there is nothing to learn from: {name} has no examples")
        if len(X) != len(y):
            raise ModelError(f"{len(X)} inputs but {len(y)} outputs")

    def _require_fitted(self) -> None:
        if not hasattr(self, "weights_"):
            raise not_fitted("this predictor has not learnt anything yet: call fit first")

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
    def load(
        cls, path: str | Path, model: Model | None = None, *, features: Any = None
    ) -> StructuredPredictor:
        """Read a file that `save` wrote; it can predict, and be fitted anew.

        Args:
            path: the file.
            model: for models that hold functions (`GraphModel`), the model it was made with.
            features: the function of tokens it was made with; left out, inputs are dicts.
        """
        own, weights, names = read_predictor(path, model)
        predictor = cls(own, FrankWolfe(), features=features)
        predictor.model_, predictor.weights_ = own, weights
        if names is not None:
            predictor.features_ = TokenFeatures.named(names, getattr(features, "extract", features))
        return predictor


def accuracy(
    model: Model,
    weights: Float,
    X: Sequence[Any],
    y: Sequence[Any],
    n_jobs: int = 1,
    *,
    counts: Float | None = None,
) -> float:
    """The proportion of variables that weights predict correctly, those of each example counted."""
    if not len(X) or len(X) != len(y):
        raise ModelError(f"a score needs examples: {len(X)} inputs and {len(y)} outputs")
    found = np.array([
        model.agreement(gold, predicted)
        for gold, predicted in zip(y, model.predict_many(X, weights, n_jobs), strict=True)
    ])  # fmt: skip
    right, count = found.sum(axis=0) if counts is None else counts @ found
    return float(right / count)
