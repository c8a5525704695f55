"""The panels of Figure 7 of Taskar et al. 2006: hinge loss, norm and errors along the paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from assent.apps.segmentation import Scene
from assent.apps.segmentation.model.node_classifier import known, standardisation
from assent.apps.segmentation.model.training import network_examples, with_constant
from assent.learn import (
    AveragedPerceptron,
    DualExtragradient,
    Examples,
    FrankWolfe,
    L2Ball,
    ProjectedGradient,
    train,
)
from assent.models import CutInput
from benchmarks.segmentation_trainers import BALANCE

PASSES = 100
EVERY = 5
# Strengths of the loss, each solved by itself up to a duality gap: the regularization path.
STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2)
# The perceptron's weights have no scale, nor has its hinge loss a meaning: drawn as if the last
# weights were as long as this.
PERCEPTRON_NORM = 2.0


def draw(scenes: Sequence[Scene], fold: np.ndarray, path: Path) -> None:
    """Train on the scenes of folds 2 and up, validate on fold 1, test on fold 0."""
    from matplotlib.figure import Figure

    trained = [scene for scene, own in zip(scenes, fold, strict=True) if own > 1]
    mean, scale = standardisation(trained)

    def nodes(scene: Scene) -> Any:
        return with_constant((scene.nodes - mean) / scale)

    examples = network_examples(trained, [nodes(scene) for scene in trained], 2)
    score = {
        name: _scorer(examples.model, [s for s, own in zip(scenes, fold, strict=True)
                                       if own == part], nodes)
        for name, part in (("valid", 1), ("test", 0))
    }  # fmt: skip
    ball = L2Ball(nonnegative=examples.model.prices)
    found = {
        "dual-ex": _path(examples, DualExtragradient(
            ball, balance=BALANCE, adaptive=True, max_iterations=PASSES), score),
        "proj-grad": _path(examples, ProjectedGradient(
            ball, balance=BALANCE, max_iterations=PASSES), score),
        "ave-perc": _path(examples, AveragedPerceptron(max_iterations=PASSES), score),
        "reg-path": _regularized(examples, score),
    }  # fmt: skip
    found["ave-perc"]["norm"] *= PERCEPTRON_NORM / found["ave-perc"]["norm"][-1]
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    for name, own in found.items():
        marks = "o-" if name == "reg-path" else "-"
        if name != "ave-perc":
            panels[0].plot(own["norm"], own["hinge"], marks, label=name)
        if name != "reg-path":
            panels[1].plot(own["iteration"], own["norm"], label=name)
        panels[2].plot(own["norm"], own["valid"], marks, label=name)
        panels[3].plot(own["norm"], own["test"], marks, label=name)
    panels[0].set(title="(a) training hinge loss", xlabel="norm of the weights", yscale="log")
    panels[1].set(title="(b) norm of the weights", xlabel="iteration")
    panels[2].set(title="(c) validation error, %", xlabel="norm of the weights")
    panels[3].set(title="(d) test error, %", xlabel="norm of the weights")
    for panel in panels:
        panel.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def _scorer(model: Any, scenes: Sequence[Scene], nodes: Any) -> Any:
    """Node error, in percent, of weights on scenes."""
    inputs = [CutInput(nodes(scene), scene.edges, scene.features) for scene in scenes]

    def error(weights: Any) -> float:
        return 100.0 * float(np.mean([
            np.mean((model.predict(x, weights) != scene.labels)[known(scene)])
            for x, scene in zip(inputs, scenes, strict=True)
        ]))  # fmt: skip

    return error


def _path(examples: Examples, trainer: Any, score: dict[str, Any]) -> dict[str, Any]:
    """Hinge loss, norm and errors along a training."""
    trace = train(examples, trainer, measure_every=EVERY,
                  validation=lambda w: -score["valid"](w), test=score["test"]).trace  # fmt: skip
    return {"iteration": trace.iteration, "norm": trace.norm.copy(), "hinge": trace.hinge,
            "valid": -trace.validation, "test": trace.test}  # fmt: skip


def _regularized(examples: Examples, score: dict[str, Any]) -> dict[str, Any]:
    """The same for each strength of the loss, at the optimum."""
    solver = FrankWolfe(max_iterations=PASSES, gap_tolerance=0.01)
    ends = [_path(examples, replace(solver, C=strength), score) for strength in STRENGTHS]
    return {name: np.array([own[name][-1] for own in ends]) for name in ends[0]}
