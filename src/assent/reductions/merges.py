"""Factors that say the same, or nothing: one is enough, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assent.factors.base import Logic
from assent.factors.exactly_one import ExactlyOne
from assent.kernels.problem import ANYOF, KNAPSACK, Int32
from assent.reductions.merged_pairs import merge_pairs
from assent.reductions.merged_tables import merge_tables
from assent.reductions.reduction import Reduction, ReductionStep
from assent.reductions.rewritten_graph import GraphRewrite


@dataclass(frozen=True, eq=False)
class Merges(ReductionStep):
    """Pairs and tables over the same variables added up, empty ones and repeated rules left out.

    ``n_merged`` factors are gone; all assignments score what they did.

    Example:
        >>> import assent as at
        >>> from assent.compile.compiled import graph_scores
        >>> g = at.FactorGraph()
        >>> x = g.binary(3)
        >>> rule = g.add(at.Pair(x[[0, 1, 1]], x[[1, 0, 2]], scores=[1.0, 2.0, 0.0]))
        >>> step, after = find_merges(Reduction.of(g.compile(), graph_scores(g)))
        >>> step.count, after.scores.pairs[0].tolist()
        (2, [3.0])
    """

    n_merged: int
    what: ClassVar[tuple[str, str]] = ("factor", "merged with others or empty")

    @property
    def count(self) -> int:
        return self.n_merged

    def apply(self, before: Reduction) -> Reduction | None:
        """The same again."""
        return merged(before).after(before)


def find_merges(before: Reduction) -> tuple[ReductionStep, Reduction] | None:
    """Everything that can be merged, and what that leaves; None if there is nothing."""
    draft = merged(before)
    return (Merges(draft.gone), draft.after(before)) if draft.gone else None


def merged(before: Reduction) -> GraphRewrite:
    """The graph with all that can be merged."""
    draft = GraphRewrite.of(before)
    merge_pairs(draft)
    merge_tables(draft)
    _drop_repeats(draft)
    return draft


def _drop_repeats(draft: GraphRewrite) -> None:
    """Of rules that say the same the first stays; those that make variables come before others."""
    alike: dict[tuple[int, int], list[tuple[int, Int32]]] = {}
    order = sorted(
        (i for i, block in enumerate(draft.blocks) if isinstance(block.factor, Logic)),
        key=lambda i: not isinstance(draft.blocks[i].factor, ExactlyOne),
    )
    for number in order:
        factor = draft.blocks[number].factor
        assert isinstance(factor, Logic)
        form = factor.normal_form()
        if form.form == KNAPSACK:
            continue
        lits = form.literals(factor.codes)
        inputs = lits[:, :-1] if form.form == ANYOF else lits
        parts = [form.k[:, None], np.sort(inputs, axis=1), lits[:, inputs.shape[1] :]]
        same = alike.setdefault((form.form, lits.shape[1]), [])
        same.append((number, np.concatenate(parts, axis=1)))
    for rules in alike.values():
        rows = np.concatenate([own for _, own in rules])
        stays = np.zeros(len(rows), bool)
        stays[np.unique(rows, axis=0, return_index=True)[1]] = True
        ends = np.cumsum([len(own) for _, own in rules])
        for (number, _), part in zip(rules, np.split(stays, ends[:-1]), strict=True):
            draft.stays[number] = part
