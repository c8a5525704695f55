"""All chains of a training set at once: one matrix product, one compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assent.kernels.problem import Float, Int32
from assent.models.losses import one_hot
from assent.models.tree_space import chain_space


class ChainBatch:
    """Sums over all chains that share a table of transitions.

    Args:
        nodes: ``[positions, D]`` features of all chains, one below the other, dense or sparse.
        lengths: of each chain.
        states: the number of labels.
    """

    def __init__(self, nodes: Any, lengths: Sequence[int], states: int) -> None:
        self.nodes, self.states = nodes, states
        self.ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        kinds, self._kind = np.unique(np.asarray(lengths), return_inverse=True)
        spaces = [chain_space(int(length), states) for length in kinds]
        self._data: Int32 = np.concatenate([space.data for space in spaces])
        self._data_start = np.concatenate([[0], np.cumsum([len(s.data) for s in spaces])])
        self._start = spaces[-1].start
        self._data.flags.writeable = False
        # Pairs of neighbours: all positions but the last of each chain.
        self._from = np.setdiff1d(np.arange(self.ends[-1]), self.ends[1:] - 1)

    def scores(self, weights: Float) -> tuple[Float, Float]:
        """Scores of all states ``[positions, K]``, and transitions ``[K * K]``."""
        k = self.states
        table, start, stop = np.split(weights[-(k * k + 2 * k) :], [k * k, k * k + k])
        nodes = np.asarray(self.nodes @ weights[: -(k * k + 2 * k)].reshape(-1, k))
        nodes[self.ends[:-1]] += start
        nodes[self.ends[1:] - 1] += stop
        return nodes, table

    def features(self, nodes: Float, table: Float) -> Float:
        """The weights' gradient from that of scores; linear."""
        first, last = nodes[self.ends[:-1]].sum(axis=0), nodes[self.ends[1:] - 1].sum(axis=0)
        return np.concatenate([np.asarray(self.nodes.T @ nodes).ravel(), table, first, last])

    def maximize(self, nodes: Float, table: Float) -> Int32:
        """The best states ``[positions]``."""
        from assent.kernels.kinds.chain_corpus import maximize_chains

        states = np.empty(self.ends[-1], np.int32)
        maximize_chains(*self._shape(), nodes.ravel(), self._inner(table), states)
        return states

    def marginals(self, nodes: Float, table: Float) -> tuple[float, Float, Float]:
        """The sum of log-partitions, probabilities ``[positions, K]``, expected transitions."""
        from assent.kernels.kinds.chain_corpus import marginals_chains

        out, edges = np.empty(nodes.size), np.empty(self.states**2)
        total = marginals_chains(*self._shape(), nodes.ravel(), self._inner(table), out, edges)
        return float(total), out.reshape(nodes.shape), edges

    def indicators(self, states: Int32) -> tuple[Float, Float]:
        """States as indicators ``[positions, K]``, and how often each transition occurs."""
        k = self.states
        pairs = states[self._from] * k + states[self._from + 1]
        return one_hot(states, k), np.bincount(pairs, minlength=k * k).astype(np.float64)

    def _shape(self) -> tuple[Any, ...]:
        return self._data, self._data_start, self._kind, self._start, self.ends

    def _inner(self, table: Float) -> Float:
        """Tables of the longest chain as the kernel has them: a root's own and a count follow."""
        longest = len(self._start) - 1
        inner = np.concatenate([np.tile(table, longest - 1), np.zeros(self.states + 1)])
        inner.flags.writeable = False
        return inner


class ChainSums:
    """The sums over examples that trainers ask for, of chains with gold states and costs."""

    def __init__(
        self, nodes: Any, gold: Sequence[Int32], states: int, costs: Float, constant: float
    ) -> None:
        self.batch = ChainBatch(nodes, [len(own) for own in gold], states)
        self._gold = self.batch.indicators(np.concatenate(gold))
        self._costs, self._constant = costs.reshape(-1, states), constant

    def violators(self, weights: Float) -> tuple[float, Float]:
        """The hinge loss and a subgradient."""
        nodes, table = self.batch.scores(weights)
        z = self.batch.indicators(self.batch.maximize(nodes + self._costs, table))
        value, gradient = self._against(nodes, table, z)
        return value + float((self._costs * z[0]).sum()) + self._constant, gradient

    def best(self, weights: Float) -> tuple[float, Float]:
        """The perceptron's loss and a subgradient."""
        nodes, table = self.batch.scores(weights)
        return self._against(nodes, table, self.batch.indicators(self.batch.maximize(nodes, table)))

    def log_loss(self, weights: Float) -> tuple[float, Float]:
        """Minus the log-likelihood and its gradient."""
        nodes, table = self.batch.scores(weights)
        total, *z = self.batch.marginals(nodes, table)
        gold = float((nodes * self._gold[0]).sum() + table @ self._gold[1])
        return total - gold, self._against(nodes, table, (z[0], z[1]))[1]

    def _against(self, nodes: Float, table: Float, z: tuple[Float, Float]) -> tuple[float, Float]:
        """What an output scores over the gold one, and its features less the gold ones."""
        more, pairs = z[0] - self._gold[0], z[1] - self._gold[1]
        value = float((nodes * more).sum() + table @ pairs)
        return value, self.batch.features(more, pairs)
