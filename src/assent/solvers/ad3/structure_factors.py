"""AD3's structures: their supports, who sleeps, and one step for all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assent.factors.structure import Structure
from assent.kernels.ad3 import structure_steps as kernel
from assent.kernels.ad3 import table_steps
from assent.kernels.core import vertices
from assent.kernels.core.oracle import NONE, raise_pending
from assent.kernels.problem import Float, Problem, Scores


@dataclass
class Searched:
    """State of the structures of a problem."""

    searcher: kernel.Searcher
    supports: vertices.Support
    work: vertices.Work
    masked: Float  # scratch
    asleep: NDArray[np.bool_]
    memory: Float  # of structures that project for themselves
    scored: Float | None = field(default=None, repr=False)  # the scores the supports belong to

    @classmethod
    def of(cls, problem: Problem) -> Searched:
        """Empty state."""
        searcher = kernel.searcher_of(problem)
        return cls(
            searcher,
            table_steps.make_supports(searcher.tables, searcher.layout),
            *searcher.scratch(),
            np.zeros(searcher.n_structures, np.bool_),
            np.zeros(searcher.models.memory_at[-1]),
        )

    def step(
        self, scores: Scores, done: int, penalty: float, alpha: float, full: bool, limit: float,
        w_table: Float, p: Float, total: Float,
    ) -> float:  # fmt: skip
        """Project and move the multipliers; adds ``q - p`` to ``total`` and returns its squares."""
        none = total[:0]
        squares, *_ = self._advance(
            scores, done, 1, penalty, alpha, not full, limit, False,
            none, 1.0, w_table, none, p, none, total,
        )  # fmt: skip
        return squares

    def advance(
        self, scores: Scores, done: int, iterations: int, penalty: float, alpha: float,
        cache: bool, limit: float, mass: Float, links: float, w_table: Float, mean_w: Float,
        p: Float, mean_p: Float, total: Float,
    ) -> tuple[float, float, float, float]:  # fmt: skip
        """Iterate where there are no other factors; returns what ``kernels.ad3.advance`` does."""
        _, primal, dual, balance, idle = self._advance(
            scores, done, iterations, penalty, alpha, cache, limit, True,
            mass, links, w_table, mean_w, p, mean_p, total,
        )  # fmt: skip
        return primal, dual, balance, idle

    def _advance(
        self, scores: Scores, done: int, iterations: int, penalty: float, alpha: float,
        cache: bool, limit: float, alone: bool, mass: Float, links: float, w_table: Float,
        mean_w: Float, p: Float, mean_p: Float, total: Float,
    ) -> tuple[float, ...]:  # fmt: skip
        own = self.searcher
        self._rescore(scores)
        info = kernel.advance_models(
            own.tables, own.models, own.layout, own.entries(scores), penalty, alpha, cache, done,
            iterations, limit, alone, mass, links, own.links(w_table), mean_w, self.asleep, p,
            mean_p, total, self.supports, self.work, self.masked, self.memory,
        )  # fmt: skip
        raise_pending()
        return info

    def _rescore(self, scores: Scores) -> None:
        """New scores: the supports stay, with the inner scores that are theirs now."""
        if self.scored is scores.table:
            return
        own = self.searcher
        if self.scored is not None:
            kernel.rescore_models(
                own.tables, own.models, own.layout, own.entries(scores), self.supports,
                self.work, self.masked,
            )  # fmt: skip
            raise_pending()
            self.asleep[:] = False
        self.scored = scores.table

    def inner_value(self) -> float:
        """Score of the inner parts."""
        own = self.searcher
        return table_steps.inner_value(own.tables, own.layout, self.supports)

    def inner_marginals(self, problem: Problem) -> Float:
        """Weights of the inner parts, laid out as their scores."""
        own, out = self.searcher, []
        for s, model in enumerate(problem.models):
            structure = model.structure
            parts = structure.kernels().parts
            support = table_steps.group_support(own.tables, own.layout, self.supports, s)
            weights = np.zeros((len(support.size), structure.scores.shape[1]))
            if own.models.projection[s] != NONE:
                self._blend(structure, s, weights)
                out.append(weights.ravel())
                continue
            if parts is None:
                out.append(weights.ravel() + np.nan)
                continue
            for f, size in enumerate(support.size):
                for i in range(size):
                    parts(
                        structure.start, structure.data, support.states[f, i],
                        support.weight[f, i], weights[f],
                    )  # fmt: skip
            out.append(weights.ravel())
        return np.concatenate(out)

    def _blend(self, structure: Structure, s: int, out: Float) -> None:
        """Inner parts ``out[factors, parts]`` of group ``s``, which projects for itself."""
        blend = structure.kernels().blend
        if blend is None:
            return
        begin, end = self.searcher.models.memory_at[s : s + 2]
        places = int(structure.start[-1])
        for row, kept in zip(out, self.memory[begin:end].reshape(len(out), -1), strict=True):
            blend(structure.start, structure.data, kept[:places], row)
