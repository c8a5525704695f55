"""Aligners as files: settings as JSON, tables and weights as arrays; nothing is pickled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from assent.apps.alignment.features.feature_set import FeatureSet
from assent.apps.alignment.features.link_counts import LinkCounts
from assent.apps.alignment.features.statistics import KEYS, Statistics
from assent.apps.alignment.features.translation_model import TranslationModel
from assent.apps.alignment.features.vocabulary import Vocabulary
from assent.apps.alignment.model.aligner import Aligner
from assent.apps.alignment.model.alignment_model import AlignmentModel
from assent.apps.model_file import damage_reported, read_model, write_model
from assent.errors import ModelError
from assent.io.text import PathLike
from assent.kernels.alignment.agreement import Direction, PairTable
from assent.models.matching_model import MatchingModel

KIND = "aligner"
_MODELS = ("model_1", "hidden_markov")
_DIRECTIONS = ("forward", "backward")


def write_aligner(path: PathLike, aligner: Aligner) -> None:
    """Write an aligner; equal ones give equal files."""
    model = aligner.model
    settings: dict[str, Any] = {
        "fertility": 1 if isinstance(model, MatchingModel) else model.fertility,
        "features": model.features,
        "adjacent": aligner.adjacent,
        "others": aligner.features.others,
        "keys": [own.key for own in aligner.features.statistics],
    }
    arrays = {"weights": aligner.weights}
    for own in aligner.features.statistics:
        arrays |= {f"{own.key}_{name}": array for name, array in _arrays(own).items()}
    write_model(str(path), KIND, settings, arrays)


def _arrays(own: Statistics) -> dict[str, Any]:
    """The arrays of statistics by name; probabilities in four bytes each."""
    made: dict[str, Any] = {
        "source_words": _written(own.source), "target_words": _written(own.target),
        "source_counts": own.counts[0], "target_counts": own.counts[1],
        "start": own.model_1.table.start, "target": own.model_1.table.target,
        "dice": own.dice.astype(np.float32),
    }  # fmt: skip
    for name in _MODELS:
        for direction in _DIRECTIONS:
            parameters = getattr(getattr(own, name), direction)
            for part, array in parameters._asdict().items():
                made[f"{name}_{direction}_{part}"] = array.astype(np.float32)
    if own.links is not None:
        for part, array in own.links._asdict().items():
            made[f"links_{part}"] = array.astype(np.float32)
    return made


def _written(words: Vocabulary) -> Any:
    """Words, which contain no blanks, as the bytes of a text."""
    return np.frombuffer("\n".join(words.words).encode(), np.uint8)


def read_aligner(path: PathLike) -> Aligner:
    """Read an aligner that `write_aligner` wrote.

    Raises:
        ModelError: if the file is damaged, or something else.
        OSError: if there is no such file, or it may not be read.
    """
    settings, arrays = read_model(str(path), KIND)
    with damage_reported(str(path), KIND):
        model: Any = (
            MatchingModel(settings["features"])
            if isinstance(settings["features"], int)
            else AlignmentModel(settings["fertility"], tuple(settings["features"]))
        )
        features = FeatureSet(
            tuple(_statistics(key, arrays) for key in settings["keys"]), int(settings["others"])
        )
        aligner = Aligner(features, model, bool(settings["adjacent"]), arrays["weights"])
        if tuple(settings["keys"]) != tuple(KEYS) or model.size != len(aligner.weights):
            raise ModelError(f"{path} is damaged: its weights do not belong to its features")
        return aligner


def _statistics(key: str, arrays: Mapping[str, Any]) -> Statistics:
    """Statistics of arrays by name."""
    own = {
        name.removeprefix(f"{key}_"): array.astype(np.float64) if array.dtype.kind == "f" else array
        for name, array in arrays.items()
        if name.startswith(f"{key}_")
    }
    table = PairTable(own["start"], own["target"])
    models = [
        TranslationModel(table, *(
            Direction(*(own[f"{name}_{direction}_{part}"] for part in Direction._fields))
            for direction in _DIRECTIONS
        ))
        for name in _MODELS
    ]  # fmt: skip
    links = None
    if "links_together" in own:
        links = LinkCounts(*(own[f"links_{part}"] for part in LinkCounts._fields))
    counts = own["source_counts"], own["target_counts"]
    words = (_read(own["source_words"]), _read(own["target_words"]))
    return Statistics(key, *words, counts, own["dice"], models[0], models[1], links)


def _read(written: Any) -> Vocabulary:
    """A vocabulary from the bytes of its words."""
    text = written.tobytes().decode()
    return Vocabulary(text.split("\n") if text else [])
