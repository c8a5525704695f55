"""AlignmentModel: links, fertilities and adjacent links scored by features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from assent.apps.alignment.decode import decode_alignments
from assent.apps.alignment.model.alignment_space import AlignmentSpace, alignment_space
from assent.kernels.problem import Float
from assent.models.example import Example
from assent.models.joint_model import Model
from assent.models.losses import Loss
from assent.models.matching_model import MatchingExample, PartialMatching, matching_space


class AlignmentInput(NamedTuple):
    """Features of a sentence pair."""

    links: Float  # [n, m, D] of each pair of words
    source: Float  # [n, W] of each source word, for its links beyond the first
    target: Float  # [m, W] of each target word
    adjacent: Float  # [n - 1, m - 1, A] of links (i, j) and (i + 1, j + 1); A may be 0

    def rows(self) -> list[Float]:
        """The features of each block ``[elements, features]``."""
        return [
            part.reshape(-1, part.shape[-1]) if part.size else np.zeros((0, part.shape[-1]))
            for part in self
        ]


class AlignmentExample(Example):
    """A sentence pair whose sure and possible links are known.

    The target has as many of the sure links as fit (the best by their own scores), and of the
    possible ones those that score best beside them.
    """

    latent = True

    def __init__(
        self, x: AlignmentInput, y: PartialMatching, space: AlignmentSpace, loss: Loss
    ) -> None:
        self.space: AlignmentSpace = space
        self._blocks = x.rows()
        n, m = space.links.shape
        limits = (space.fertility, space.fertility)
        # As a matching: the losses of links, and which sure ones fit.
        none = np.zeros((n, m, 1))
        sure = np.asarray(y.sure, np.float64).ravel()
        possible = np.asarray(y.possible).ravel() > 0
        self._sure = MatchingExample(
            none, matching_space(n, m, *limits), sure, loss, possible=np.zeros(n * m, bool)
        )
        costs = np.where(possible & (sure == 0.0), 0.0, self._sure.costs)
        self._costs = np.concatenate([costs, np.zeros(space.size - n * m)])
        self.constant = self._sure.constant
        self._gold = space.indicators(self._sure.gold.reshape(n, m))
        right = (possible | (sure > 0.0)).reshape(n, m)
        self._right = AlignmentSpace(right, space.fertility, space.adjacent is not None)

    def target(self, scores: Float) -> Float:
        """The best of the right alignments."""
        parts = self.space.parts(scores)
        kept = self._sure.target(parts.links.ravel())
        # A kept link makes way for at most one other in its row and one in its column, each with
        # two adjacent ones and a change of fertility: this outweighs them all.
        largest = [float(np.abs(part).max(initial=0.0)) for part in parts]
        bonus = 1.0 + 3.0 * largest[0] + 2.0 * (largest[1] + largest[2]) + 6.0 * largest[3]
        raised = scores.copy()
        raised[: len(kept)] += bonus * kept
        return self._right.maximize(raised)

    def scores(self, weights: Float) -> Float:
        return block_scores(self._blocks, weights)

    def features(self, z: Float) -> Float:
        parts = np.split(z, self.space.ends[:-1])
        return np.concatenate([
            part @ block for part, block in zip(parts, self._blocks, strict=True)
        ])  # fmt: skip

    @cached_property
    def matrix(self) -> Any:
        from scipy.sparse import block_diag

        return block_diag(self._blocks, format="csr")


@dataclass(frozen=True)
class AlignmentModel(Model):
    """Alignments in which words have several links.

    An input is an `AlignmentInput`, an output a table ``[n, m]`` of links; to learn from, a
    `PartialMatching`.  Weights: ``links``, ``source``, ``target``, ``adjacent``.

    Args:
        fertility: how many links a word has at most.
        features: the numbers of features of the four blocks; left out, as in the data.
    """

    fertility: int = 2
    features: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        self.require_shape("features")
        return sum(self.features or ())

    def shaped(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> AlignmentModel:
        found = tuple(part.shape[-1] for part in inputs[0])
        return AlignmentModel(self.fertility, self.features or found)

    def example(self, x: Any, y: Any, loss: Loss, *, outside: bool = False) -> AlignmentExample:
        return AlignmentExample(x, PartialMatching(*y), self.space(x), loss)

    def predict(self, x: Any, weights: Float) -> Any:
        return self.predict_many([x], weights)[0]

    def predict_many(self, inputs: Sequence[Any], weights: Float, n_jobs: int = 1) -> list[Any]:
        """The best alignments, all decoded together and proven optimal."""
        return [
            result[self.space(x).links].astype(np.int8)
            for x, result in zip(inputs, self.decode(inputs, weights, n_jobs), strict=True)
        ]

    def decode(self, inputs: Sequence[Any], weights: Float, n_jobs: int = 1) -> Any:
        """The results of decoding, with their bounds."""
        spaces = [self.space(x) for x in inputs]
        scores = [block_scores(x.rows(), weights) for x in inputs]
        return decode_alignments(spaces, scores, max(n_jobs, 1))

    def named(self, weights: Float) -> dict[str, Float]:
        ends = np.cumsum(self.features or ())
        return dict(zip(AlignmentInput._fields, np.split(weights, ends[:-1]), strict=True))

    def space(self, x: AlignmentInput) -> AlignmentSpace:
        """All alignments of an input."""
        n, m, _ = x.links.shape
        return alignment_space(n, m, self.fertility, x.adjacent.shape[-1] > 0)


def block_scores(blocks: Sequence[Float], weights: Float) -> Float:
    """Scores of all elements, from the features and the weights of each block."""
    ends = np.cumsum([block.shape[1] for block in blocks])
    parts = zip(blocks, np.split(weights, ends[:-1]), strict=True)
    return np.concatenate([block @ own for block, own in parts])
