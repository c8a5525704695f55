"""Training: scores of nodes first, then how far to trust them against their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from assent.apps.segmentation.data.label_set import LabelSet
from assent.apps.segmentation.decode import label_nodes
from assent.apps.segmentation.features.scene import Scene, fill_unknown
from assent.apps.segmentation.model.node_classifier import (
    NodeClassifier,
    choose_strength,
    fit_classifier,
    gold_labels,
    mean_error,
    standardisation,
)
from assent.apps.segmentation.model.segmenter import Segmenter
from assent.kernels.problem import Float
from assent.learn import Examples, L2Ball, Subgradient, Trainer, train
from assent.learn.trainers.saddle import SaddleSettings
from assent.models import CutInput, CutLabels, CutModel

# Factors of the edges' prices that are tried on scores of unseen scenes: a margin of one label per
# node asks for less smoothing than makes the fewest errors.
FACTORS = 2.0 ** np.arange(-1, 6)


@dataclass(frozen=True)
class SegmenterSettings:
    """How a segmenter is trained.

    Args:
        trainer: of the prices (and, jointly, of the scores).
        jointly: learn scores of nodes and prices of edges in one problem, as in Taskar et al. 2006,
            and not prices for given scores.
        folds: parts of the scenes, each scored by a classifier trained on the others.
        seed: of the parts.
        progress: show a live line.
    """

    trainer: Trainer = field(default_factory=lambda: Subgradient(C=0.01, max_iterations=30))
    jointly: bool = False
    folds: int = 5
    seed: int = 0
    progress: bool = False


def train_segmenter(
    scenes: Sequence[Scene],
    labels: LabelSet,
    settings: SegmenterSettings | None = None,
    *,
    features: dict[str, Any] | None = None,
) -> Segmenter:
    """Learn to label nodes from scenes in which (most) labels are known.

    Nodes of unknown label stay in the network and count in no loss.

    Args:
        scenes: with labels.
        labels: what the indices of labels mean.
        settings: trainer, folds, seed.
        features: how the scenes were made, to be kept with the model.
    """
    settings = settings or SegmenterSettings()
    learn = _learn_jointly if settings.jointly else _learn_prices
    classifier, prices = learn(scenes, labels, settings)
    return Segmenter(labels, classifier, prices, features or {})


def _learn_prices(
    scenes: Sequence[Scene], labels: LabelSet, settings: SegmenterSettings
) -> tuple[NodeClassifier, Float]:
    """A classifier of nodes, and prices that go with its scores of unseen scenes."""
    chosen = choose_strength(scenes, len(labels), settings.folds, settings.seed)
    classifier = fit_classifier(scenes, len(labels), chosen.strength, settings.seed)
    gains = [scores[:, 1] - scores[:, 0] for scores in chosen.scores]
    # Unit variance, as edges have: trainers' steps suit both.
    unit = float(np.sqrt(np.mean(np.concatenate(gains) ** 2)))
    nodes = [np.stack([gain / unit, np.ones(len(gain))], axis=1) for gain in gains]
    weights = _train(scenes, nodes, settings)
    (slope, shift), prices = weights[:2] / [unit, 1.0], np.maximum(weights[2:], 0.0)
    scores = [np.stack([np.zeros(len(gain)), slope * gain + shift], axis=1) for gain in gains]
    fitted = slope * classifier.weights
    fitted[-1, 1] += shift
    return classifier._replace(weights=fitted), _best_factor(scenes, scores, prices) * prices


def _learn_jointly(
    scenes: Sequence[Scene], labels: LabelSet, settings: SegmenterSettings
) -> tuple[NodeClassifier, Float]:
    """Scores and prices at once, from standardised features."""
    mean, scale = standardisation(scenes)
    nodes = [
        np.hstack([(scene.nodes - mean) / scale, np.ones((len(scene.nodes), 1))])
        for scene in scenes
    ]
    weights = _train(scenes, nodes, settings)
    count = len(mean) + 1
    own = np.stack([np.zeros(count), weights[:count]], axis=1)
    return NodeClassifier(mean, scale, own), np.maximum(weights[count:], 0.0)


def _train(scenes: Sequence[Scene], nodes: Sequence[Float], settings: SegmenterSettings) -> Float:
    """Weights of a cut model: those of the nodes' features, then prices."""
    inputs = [
        CutInput(own, scene.edges, scene.features) for own, scene in zip(nodes, scenes, strict=True)
    ]
    outputs = [
        CutLabels(fill_unknown(gold_labels(scene), scene.edges), gold_labels(scene) >= 0)
        for scene in scenes
    ]
    model = CutModel().shaped(inputs, outputs)
    trainer: Any = settings.trainer
    if isinstance(trainer, SaddleSettings) and isinstance(trainer.weights_in, L2Ball):
        ball = replace(trainer.weights_in, nonnegative=model.prices)
        trainer = replace(trainer, weights_in=ball)
    examples = Examples(model, inputs, outputs)
    every = trainer.max_iterations  # measuring decodes everything once more
    return train(examples, trainer, measure_every=every, progress=settings.progress).weights


def _best_factor(scenes: Sequence[Scene], scores: Sequence[Float], prices: Float) -> float:
    """The factor of all prices that makes the fewest errors on scores of unseen scenes."""
    errors = []
    for factor in FACTORS:
        predicted = [
            label_nodes(own, scene.edges, factor * (scene.features @ prices))
            for own, scene in zip(scores, scenes, strict=True)
        ]
        errors.append(mean_error(scenes, predicted))
    return float(FACTORS[int(np.argmin(errors))])
