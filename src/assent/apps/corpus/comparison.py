"""The four solvers on one corpus: calls to sentences until parts of the gain are had.

As in Belanger et al. (2014): calls are counted per sentence of the corpus, max-marginals twice, and
subgradient methods get the steps that are best in hindsight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

import assent
from assent.apps.corpus.decode import CorpusReport, decode_corpus
from assent.apps.corpus.executor import Executor
from assent.apps.corpus.model import CorpusModel
from assent.apps.corpus.multipliers import BySets, CorpusSolver
from assent.apps.corpus.shares import LinkedCorpus
from assent.text_table import format_table
from assent.trace import new_figure

Goal = Literal["bound", "accuracy"]
QUANTILES = (0.8, 0.85, 0.9, 0.95)

# Of the published sizes, 0.001 to 10: the least get nowhere near a penalty in a hundred steps, and
# the largest overshoot all.
_SIZES = (0.01, 0.1, 1.0)


def published_steps(kind: Any) -> list[CorpusSolver]:
    """A subgradient solver with each of the supplement's rules and sizes of steps."""
    rules, counts = ("harmonic", "root", "geometric"), ("iterations", "increases")
    return [
        kind(step=rule, count=count, first_step=size)
        for rule, count, size in product(rules, counts, _SIZES)
    ]


def published_solvers(model: LinkedCorpus) -> dict[str, list[CorpusSolver]]:
    """The solvers of the paper; of several of one name the best in hindsight counts.

    Besides, subgradients with steps that need no hindsight, and passes along chains.
    """
    found: dict[str, list[CorpusSolver]] = {
        "Subgradient": published_steps(assent.Subgradient),
        "MPLP": [BySets(assent.MPLP())],
        "BoxSubgradient": published_steps(assent.BoxSubgradient),
        "BoxMPLP": [BySets(assent.BoxMPLP())],
        "Subgradient, Polyak's steps": [assent.Subgradient()],
        "BoxSubgradient, Polyak's steps": [assent.BoxSubgradient()],
    }
    if isinstance(model, CorpusModel):
        found |= {"MPLP along chains": [assent.MPLP()],
                  "BoxMPLP along chains": [assent.BoxMPLP()]}  # fmt: skip
    return found


@dataclass(frozen=True)
class Course:
    """A solve, iteration by iteration, from every sentence for itself on."""

    calls: NDArray[np.float64]  # to sentences so far, per sentence
    bound: NDArray[np.float64]  # the best so far
    accuracy: NDArray[np.float64]  # of the sentences' labels in percent; NaN without gold labels


@dataclass(frozen=True)
class CorpusComparison:
    """Courses by solver; made by `compare_solvers`."""

    courses: dict[str, list[Course]] = field(repr=False)

    def calls_to(self, part: float, goal: Goal = "bound") -> dict[str, float]:
        """Calls per sentence to a part of the best gain of all; inf if it was not had."""
        # Falling bounds and rising accuracies are gains alike.
        sign = -1.0 if goal == "bound" else 1.0
        every = [sign * getattr(course, goal) for own in self.courses.values() for course in own]
        start, best = every[0][0], max(gains.max() for gains in every)
        if not best > start:
            return dict.fromkeys(self.courses, np.inf)
        aim = start + part * (best - start)

        def first(course: Course) -> float:
            reached = sign * getattr(course, goal) >= aim
            return float(course.calls[reached.argmax()]) if reached.any() else np.inf

        return {name: min(map(first, own)) for name, own in self.courses.items()}

    def rows(self, goal: Goal) -> list[list[str]]:
        """A row per solver with the calls to all quantiles; – where one was not had."""
        found = [self.calls_to(part, goal) for part in QUANTILES]
        return [
            [name, *(f"{row[name]:.1f}" if np.isfinite(row[name]) else "–" for row in found)]
            for name in self.courses
        ]

    def table(self, markdown: bool = False) -> str:
        """Calls to parts of the gains in accuracy, where it is known, and in the bound."""
        goals = [g for g in get_args(Goal) if g == "bound" or self._has_accuracy()]
        parts = [f"{part:.0%}" for part in QUANTILES]
        return "\n\n".join(
            format_table(
                [f"calls to parts of the gain in {goal}", *parts], self.rows(goal), markdown
            )
            for goal in goals
        )

    def plot(self, path: Any = None, *, title: str = "") -> Any:
        """Accuracy and bound against calls (figure 3), the best course of each; returns the axes.

        Needs matplotlib (``pip install "assent[plot]"``).
        """
        goals = [g for g in reversed(get_args(Goal)) if g == "bound" or self._has_accuracy()]
        figure = new_figure(6, 3.6 * len(goals))
        panels = figure.subplots(len(goals), 1, sharex=True, squeeze=False)[:, 0]
        end = self._end()
        for axes, goal in zip(panels, goals, strict=True):
            for name, courses in self.courses.items():
                best = min(courses, key=lambda course: float(course.bound.mean()))
                # What is known holds until more calls are made, and to the end of the picture.
                calls = np.append(best.calls, max(end, best.calls[-1]))
                found = getattr(best, goal)
                axes.plot(calls, np.append(found, found[-1]), label=name, drawstyle="steps-post")
            axes.set(ylabel="accuracy, percent" if goal == "accuracy" else "bound (dual value)")
        panels[0].set(title=title)
        panels[-1].legend(fontsize="small", loc="upper right")  # bounds fall
        panels[-1].set(xlabel="calls per sentence", xlim=(0.0, end))
        if path is not None:
            figure.savefig(path, dpi=150)
        return panels

    def _end(self) -> float:
        """Calls up to which there is something to see: somewhat more than 95 % of the gain take."""
        late = [calls for calls in self.calls_to(QUANTILES[-1]).values() if np.isfinite(calls)]
        every = [course.calls[-1] for own in self.courses.values() for course in own]
        return min(1.25 * max(late, default=np.inf), max(every))

    def _has_accuracy(self) -> bool:
        return not any(np.isnan(own[0].accuracy).any() for own in self.courses.values())


def compare_solvers(
    model: LinkedCorpus,
    gold: NDArray[np.int32] | None = None,
    solvers: Mapping[str, Sequence[CorpusSolver]] | None = None,
    *,
    iterations: int = 100,
    executor: Executor | None = None,
) -> CorpusComparison:
    """Run solvers on a corpus from the same start.

    Args:
        model: the corpus.
        gold: ``[words]`` the right labels as numbers, or heads, if they are known.
        solvers: by name, several of which the best counts; the paper's by default.
        iterations: of each.
        executor: who decodes shares of sentences.
    """
    chosen = published_solvers(model) if solvers is None else solvers
    return CorpusComparison(
        {
            name: [_course(model, solver, gold, iterations, executor) for solver in own]
            for name, own in chosen.items()
        }
    )


def _course(
    model: LinkedCorpus,
    solver: CorpusSolver,
    gold: NDArray[np.int32] | None,
    iterations: int,
    executor: Executor | None,
) -> Course:
    found: list[tuple[float, float, float]] = []

    def note(report: CorpusReport) -> None:
        found.append((report.calls, report.bound, report.accuracy))

    decode_corpus(
        model, solver, iterations=iterations, gap_tolerance=0.0, executor=executor, callback=note,
        gold=gold,
    )  # fmt: skip
    return Course(*np.array(found).T)
