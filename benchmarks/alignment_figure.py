"""The panels of Figure 8 of Taskar et al. 2006: losses and error rates along the paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from assent.apps.alignment import Links, alignment_scores
from assent.learn import (
    AveragedPerceptron,
    DualExtragradient,
    Examples,
    ProjectedGradient,
    WeightedHamming,
    regularization_path,
    train,
)
from assent.models import MatchingModel, PartialMatching
from benchmarks.alignment_data import MISSED, Split, stacked

RADII = (0.5, 1.0, 2.0, 4.0, 8.0)  # half a minute each
PASSES = 400
EVERY = 20
LINKED = {500: "-", 1000: "--"}  # sentences linked by the hidden Markov models


def draw(split: Split, path: Path) -> None:
    """Draw all panels into a file."""
    from matplotlib.figure import Figure

    inputs = stacked(split.tables(with_others=False))
    model = MatchingModel().shaped(inputs, [])
    score = _scorers(split, model, inputs)
    gold = split.examples(model, inputs)
    paths = {
        "dual-ex": _path(gold, DualExtragradient(balance=0.2, max_iterations=PASSES), score),
        "proj-grad": _path(gold, ProjectedGradient(balance=0.2, max_iterations=PASSES), score),
        "ave-perc": _path(gold, AveragedPerceptron(max_iterations=40), score, every=1),
        "reg-path": _regularized(gold, score),
    }
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    panels = figure.subplots(2, 3).ravel()
    for name, found in paths.items():
        if name != "ave-perc":  # its weights have no scale, so its hinge loss no meaning
            panels[0].plot(found["norm"], found["hinge"], label=name)
    panels[0].set(title="(a) training hinge loss, gold", xlabel="norm of the weights", yscale="log")
    for panel, names in zip(panels[1:4], (("dual-ex", "reg-path"), ("dual-ex", "proj-grad"),
                                          ("proj-grad", "ave-perc")), strict=True):  # fmt: skip
        for name, colour in zip(names, ("C0", "C1"), strict=True):
            steps = np.arange(1, len(paths[name]["test"]) + 1) / len(paths[name]["test"])
            panel.plot(steps, paths[name]["test"], color=colour, label=f"{name}, test")
            panel.plot(steps, paths[name]["valid"], color=colour, ls=":", label=f"{name}, valid")
        panel.set(xlabel="share of the path", ylabel="AER, %", title=f"{names[0]} and {names[1]}")
    for count, style in LINKED.items():
        linked = _linked(split, model, count)
        found = _path(linked, DualExtragradient(balance=0.2, max_iterations=PASSES // 2), score)
        panels[4].plot(found["norm"], found["hinge"] / count, style, label=f"dual-ex, {count}")
        panels[5].plot(found["norm"], found["test"], style, label=f"dual-ex, {count}")
    panels[4].set(title="(e) hinge loss per sentence, linked by machine",
                  xlabel="norm of the weights")  # fmt: skip
    panels[5].set(title="(f) test AER, trained on these", xlabel="norm of the weights",
                  ylabel="AER, %")  # fmt: skip
    for letter, panel in zip("bcd", panels[1:4], strict=True):
        panel.set_title(f"({letter}) {panel.get_title()}")
    for panel in panels:
        panel.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def _scorers(split: Split, model: MatchingModel, inputs: list[Any]) -> dict[str, Any]:
    """Error rates of weights, on the test and on the 37 trial pairs."""
    pairs, gold = split.corpus.trial
    trial = stacked([split.linked.tables(pair) for pair in pairs])

    def valid(weights: Any) -> float:
        found = model.predict_many(trial, weights)
        return 100.0 * alignment_scores(gold, map(Links.of_table, found)).aer

    return {"test": lambda weights: split.error(model, inputs, weights), "valid": valid}


def _path(
    examples: Examples, trainer: Any, score: dict[str, Any], every: int = EVERY
) -> dict[str, Any]:
    """Hinge loss, norm and error rates along a training."""
    trace = train(examples, trainer, measure_every=every, validation=lambda w: -score["valid"](w),
                  test=score["test"]).trace  # fmt: skip
    return {"norm": trace.norm, "hinge": trace.hinge, "test": trace.test,
            "valid": -trace.validation}  # fmt: skip


def _regularized(examples: Examples, score: dict[str, Any]) -> dict[str, Any]:
    """The same along the radii of a ball, by the quadratic program."""
    path = regularization_path(examples, RADII)
    return {
        "norm": np.array([np.linalg.norm(weights) for weights, _ in path]),
        "hinge": np.array([hinge for _, hinge in path]),
        "test": np.array([score["test"](weights) for weights, _ in path]),
        "valid": np.array([score["valid"](weights) for weights, _ in path]),
    }


def _linked(split: Split, model: MatchingModel, count: int) -> Examples:
    """Sentences of the debates, with the links that both hidden Markov models agree on."""
    inputs, outputs = [], []
    for pair in split.corpus.debates:
        if len(inputs) < count and 0 < min(pair.shape) <= max(pair.shape) <= 30:
            own = split.linked.tables(pair)
            agreed = np.minimum(own["HMM, forms"], own["HMM, stems"]) > 0.5
            inputs.append(stacked([own])[0])
            outputs.append(PartialMatching(agreed, np.zeros(pair.shape)))
    return Examples(model, inputs, outputs, WeightedHamming(1.0, MISSED))
