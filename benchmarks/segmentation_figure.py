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
from assent.models import CutSpace
from benchmarks.segmentation_trainers import BALANCE

PASSES = 100
EVERY = 5
# Strengths of the loss, each solved by itself up to a duality gap: the regularization path.
STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2)
# The perceptron's weights have no scale, nor has its hinge loss a meaning: drawn as if the last
# weights were as long as this.
PERCEPTRON_NORM = 2.0


# The same in all panels.
COLOURS = {"dual-ex": "C0", "proj-grad": "C1", "ave-perc": "C2", "reg-path": "C3"}


def draw(
    trained: Sequence[Scene], valid: Sequence[Scene], test: Sequence[Scene], path: Path
) -> None:
    """Train on some scenes, and draw into a file what that makes of others."""
    from matplotlib.figure import Figure

    found = _paths(trained, valid, test)
    figure = Figure(figsize=(11, 8), layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    for name, own in found.items():
        style = {"label": name, "color": COLOURS[name], "marker": "o" * (name == "reg-path")}
        if name != "ave-perc":
            panels[0].plot(own["norm"], own["hinge"], **style)
        if name != "reg-path":
            panels[1].plot(own["iteration"], own["norm"], **style)
        panels[2].plot(own["norm"], own["valid"], **style)
        panels[3].plot(own["norm"], own["test"], **style)
    weights = "norm of the weights"
    panels[0].set(title="(a) training hinge loss", xlabel=weights, yscale="log")
    panels[1].set(title=f"(b) {weights}", xlabel="iteration")
    panels[2].set(title="(c) validation error, %", xlabel=weights, yscale="log")
    panels[3].set(title="(d) test error, %", xlabel=weights, yscale="log")
    for panel in panels[2:]:
        for axis_format in (panel.yaxis.set_major_formatter, panel.yaxis.set_minor_formatter):
            axis_format("{x:g}")
    for panel in panels:
        panel.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def _paths(
    trained: Sequence[Scene], valid: Sequence[Scene], test: Sequence[Scene]
) -> dict[str, dict[str, Any]]:
    """What is drawn, by the paper's names of the methods."""
    mean, scale = standardisation(trained)

    def nodes(scene: Scene) -> Any:
        return with_constant((scene.nodes - mean) / scale)

    examples = network_examples(trained, [nodes(scene) for scene in trained], 2)
    score = {
        "valid": _scorer(examples.model, valid, nodes),
        "test": _scorer(examples.model, test, nodes),
    }
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
    return found


def _scorer(model: Any, scenes: Sequence[Scene], nodes: Any) -> Any:
    """Node error, in percent, of weights on scenes, which are read once for all weights."""
    read = [(nodes(scene), CutSpace(len(scene.nodes), scene.edges)) for scene in scenes]

    def wrong(own: Any, space: CutSpace, scene: Scene, weights: dict[str, Any]) -> float:
        prices = scene.features @ np.maximum(weights["edges"], 0.0)
        best = space.maximize(np.concatenate([own @ weights["nodes"], -prices]))
        return float(np.mean((best[: space.nodes] != scene.labels)[known(scene)]))

    def error(weights: Any) -> float:
        named = model.named(weights)
        pairs = zip(read, scenes, strict=True)
        return 100.0 * float(np.mean([wrong(*own, scene, named) for own, scene in pairs]))

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
