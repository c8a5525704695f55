"""Model files: weights as an array, everything else as JSON, in one ``.npz``."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assent import models
from assent.errors import ModelError
from assent.io.array_files import open_arrays
from assent.io.whole_file import whole_file
from assent.kernels.problem import Float
from assent.models.joint_model import Model

if TYPE_CHECKING:
    from assent.learn.estimator import StructuredPredictor

FORMAT = "assent predictor"
VERSION = 1


def write_predictor(path: str | Path, predictor: StructuredPredictor) -> None:
    """Write a fitted predictor."""
    model = predictor.model_
    about = {
        "format": FORMAT,
        "version": VERSION,
        "model": type(model).__name__,
        "settings": _settings(model),
        "trainer": repr(predictor.trainer),
    }
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about)), "weights": predictor.weights_}
    if hasattr(predictor, "features_"):
        arrays["features"] = np.array(json.dumps(predictor.features_.names_))
    with whole_file(path) as file:
        np.savez_compressed(file, **arrays)


def _settings(model: Any) -> dict[str, Any] | None:
    """A model's settings, or None where some are no plain data."""
    settings = {field.name: getattr(model, field.name) for field in fields(model)}
    try:
        text = json.dumps(settings)
    except TypeError:
        return None
    if _as_written(json.loads(text)) != settings:
        return None
    return settings


def _as_written(value: Any) -> Any:
    """JSON's lists as the tuples that models hold."""
    if isinstance(value, list):
        return tuple(_as_written(item) for item in value)
    if isinstance(value, dict):
        return {key: _as_written(item) for key, item in value.items()}
    return value


def read_predictor(path: str | Path, model: Model | None) -> tuple[Model, Float, list[str] | None]:
    """A predictor's model, weights, and the names of features that come as dicts.

    ``model`` is needed where the file could not hold its settings.
    """
    with open_arrays(path, "a predictor") as file:
        about = json.loads(str(file["about"])) if "about" in file else {}
        if about.get("format") != FORMAT:
            raise ModelError(f"{path} is no file of a predictor")
        if about["version"] != VERSION:
            raise ModelError(f"{path} has version {about['version']}, this library reads {VERSION}")
        weights = file["weights"]
        names = json.loads(str(file["features"])) if "features" in file else None
        own = _model_of(path, about) if model is None else model
        if weights.ndim != 1 or weights.dtype.kind != "f":
            raise ModelError(f"{path} is damaged: its weights are no list of numbers")
        if own.size != len(weights):
            raise ModelError(f"{path} has {len(weights)} weights, the model {own.size}")
    return own, weights, names


def _model_of(path: str | Path, about: dict[str, Any]) -> Model:
    """The model that a file describes."""
    if about["settings"] is None:
        raise ModelError(
            f"{path} holds a {about['model']} whose settings are no plain data (a function, "
            "say): load it with model="
        )
    kind = getattr(models, about["model"]) if about["model"] in models.__all__ else None
    if not isinstance(kind, type) or not issubclass(kind, Model):
        raise ModelError(f"{path} holds an unknown model {about['model']!r}: give model=")
    return kind(**_as_written(about["settings"]))
