"""Training: scores of nodes first, then how far to trust them against their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assent.apps.segmentation.data.label_set import UNKNOWN, LabelSet
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
from assent.models import CutInput, CutLabels, CutModel, PottsModel

# Factors of the edges' prices that are tried on scores of unseen scenes: a margin of one label per
# node asks for less smoothing than makes the fewest errors, and few passes may end at too much.
FACTORS = 2.0 ** np.arange(-3, 6)

# The weight of a scene's mean loss per node against the squared norm of the weights: what C = 0.01
# is for a photograph of a thousand superpixels.  Set once, not tuned.
EMPHASIS = 10.0
PASSES = 50  # a few seconds for 40 photographs; set once, not tuned
FEW_PASSES = 5  # expansion moves take tens of cuts each, and there are few prices to learn


@dataclass(frozen=True)
class SegmenterSettings:
    """How a segmenter is trained.

    Args:
        trainer: of the prices (and, jointly, of the scores); left out, `Subgradient` with a loss
            that is weighed by the number of nodes.
        jointly: learn scores of nodes and prices of edges in one problem, as in Taskar et al. 2006,
            and not prices for given scores; left out, with two labels, which are decoded exactly.
        folds: parts of the scenes, each scored by a classifier trained on the others.
        seed: of the parts.
        progress: show a live line.
    """

    trainer: Trainer | None = None
    jointly: bool | None = None
    folds: int = 5
    seed: int = 0
    progress: bool = False

    def trainer_for(self, scenes: Sequence[Scene], labels: int) -> Any:
        """The trainer, or the one that suits scenes of their size."""
        if self.trainer is not None:
            return self.trainer
        nodes = float(np.mean([len(scene.nodes) for scene in scenes]))
        return Subgradient(C=EMPHASIS / nodes, max_iterations=PASSES if labels == 2 else FEW_PASSES)


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
    jointly = len(labels) == 2 if settings.jointly is None else settings.jointly
    learn = _learn_jointly if jointly else _learn_prices
    classifier, prices = learn(scenes, labels, settings)
    return Segmenter(labels, classifier, prices, features or {})


def _learn_prices(
    scenes: Sequence[Scene], labels: LabelSet, settings: SegmenterSettings
) -> tuple[NodeClassifier, Float]:
    """A classifier of nodes, and prices that go with its scores of unseen scenes."""
    count = len(labels)
    chosen = choose_strength(scenes, count, settings.folds, settings.seed)
    classifier = fit_classifier(scenes, count, chosen.strength, settings.seed)
    # Unit variance, as edges have: trainers' steps suit both.
    unit = float(np.sqrt(np.mean(np.concatenate(chosen.scores) ** 2)))
    nodes = [with_constant(scores / unit) for scores in chosen.scores]
    trained, prices = _train(scenes, nodes, count, settings)
    # A few passes can leave scores worse than they were: of both, those of the fewest errors.
    given = np.vstack([np.eye(count), np.zeros(count)])
    found = []
    for own in (trained, given):
        error, factor = _best_factor(scenes, [features @ own for features in nodes], prices)
        found.append((error, factor, own))
    _, factor, own = min(found, key=lambda tried: tried[0])
    fitted = classifier.weights @ (own[:-1] / unit)
    fitted[-1] += own[-1]
    return classifier._replace(weights=fitted), factor * prices


def _learn_jointly(
    scenes: Sequence[Scene], labels: LabelSet, settings: SegmenterSettings
) -> tuple[NodeClassifier, Float]:
    """Scores and prices at once, from standardised features."""
    mean, scale = standardisation(scenes)
    nodes = [with_constant((scene.nodes - mean) / scale) for scene in scenes]
    own, prices = _train(scenes, nodes, len(labels), settings)
    return NodeClassifier(mean, scale, own), prices


def with_constant(features: Float) -> Float:
    """Features and a column of ones."""
    return np.hstack([features, np.ones((len(features), 1))])


def network_examples(scenes: Sequence[Scene], nodes: Sequence[Float], labels: int) -> Examples:
    """Scenes with features ``[n, D]`` of their nodes as examples; unknown labels cost nothing."""
    inputs = [
        CutInput(own, scene.edges, scene.features) for own, scene in zip(nodes, scenes, strict=True)
    ]
    outputs = [
        CutLabels(fill_unknown(gold_labels(scene), scene.edges), gold_labels(scene) != UNKNOWN)
        for scene in scenes
    ]
    model = CutModel() if labels == 2 else PottsModel(labels)
    return Examples(model.shaped(inputs, outputs), inputs, outputs)


def _train(
    scenes: Sequence[Scene], nodes: Sequence[Float], labels: int, settings: SegmenterSettings
) -> tuple[Float, Float]:
    """Weights ``[D, K]`` of the nodes' features, and prices ``[F]``."""
    examples = network_examples(scenes, nodes, labels)
    shaped: Any = examples.model
    trainer = settings.trainer_for(scenes, labels)
    if isinstance(trainer, SaddleSettings) and isinstance(trainer.weights_in, L2Ball):
        ball = replace(trainer.weights_in, nonnegative=shaped.prices)
        trainer = replace(trainer, weights_in=ball)
    every = trainer.max_iterations  # measuring decodes everything once more
    trained = train(examples, trainer, measure_every=every, progress=settings.progress).weights
    named = shaped.named(trained)
    own = named["nodes"]
    if labels == 2:  # the score of the second label over the first
        own = np.stack([np.zeros_like(own), own], axis=1)
    return own, np.maximum(named["edges"], 0.0)


def _best_factor(
    scenes: Sequence[Scene], scores: Sequence[Float], prices: Float
) -> tuple[float, float]:
    """The least error on scores of unseen scenes, and the factor of all prices that has it."""
    errors = []
    for factor in FACTORS:
        predicted = [
            label_nodes(own, scene.edges, factor * (scene.features @ prices))
            for own, scene in zip(scores, scenes, strict=True)
        ]
        errors.append(mean_error(scenes, predicted))
    return min(errors), float(FACTORS[int(np.argmin(errors))])
