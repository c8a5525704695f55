"""All chains of a training set together: one matrix product, one compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from assent.kernels.problem import Float, Int32
from assent.models.chain_rules import ChainRules, chain_rules
from assent.models.losses import one_hot
from assent.models.weight_layout import WeightLayout


class ChainBatch:
    """Sums over all chains that share a table of transitions.

    Args:
        layout: the blocks of weights.
        nodes: ``[positions, D]`` features of all chains, concatenated, dense or sparse.
        lengths: of each chain.
        rules: what is allowed, if not everything is.
        counts: how often each chain counts in sums, once if left out.
    """

    def __init__(
        self,
        layout: WeightLayout,
        nodes: Any,
        lengths: Sequence[int],
        rules: ChainRules | None = None,
        counts: Float | None = None,
    ) -> None:
        self.layout, self.nodes, self.states = layout, nodes, layout.states
        self.rules = rules
        self.counts = np.ones(len(lengths)) if counts is None else counts
        if rules is not None:
            for length in set(lengths):
                rules.require(length)
        self.ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        # Where transitions begin: all positions but the last of each chain.
        self._from = np.setdiff1d(np.arange(self.ends[-1]), self.ends[1:] - 1)

    def scores(self, weights: Float) -> tuple[Float, Float]:
        """Scores of all states ``[positions, K]``, and transitions ``[K * K]``."""
        by_feature, (table,), (start, stop) = self.layout.split(weights)
        nodes = np.asarray(self.nodes @ by_feature)
        nodes[self.ends[:-1]] += start
        nodes[self.ends[1:] - 1] += stop
        return nodes, table

    def features(self, nodes: Float, table: Float) -> Float:
        """The gradient in the weights from the gradient in the scores; linear."""
        first, last = nodes[self.ends[:-1]].sum(axis=0), nodes[self.ends[1:] - 1].sum(axis=0)
        return np.concatenate([np.asarray(self.nodes.T @ nodes).ravel(), table, first, last])

    def maximize(self, nodes: Float, table: Float) -> Int32:
        """The best states ``[positions]``."""
        from assent.kernels.batch.chain_recursion import maximize_chains

        states = np.empty(self.ends[-1], np.int32)
        maximize_chains(self.ends, *self._expanded(nodes, table), states)
        return states if self.rules is None else self.rules.label[states]

    def marginals(self, nodes: Float, table: Float) -> tuple[float, Float, Float]:
        """The sum of log-partitions, probabilities ``[positions, K]``, expected transitions.

        All are counted as often as their chains are.
        """
        from assent.kernels.batch.chain_recursion import marginals_chains

        nodes, table = self._expanded(nodes, table)
        width = nodes.shape[1]
        out, edges = np.empty(nodes.shape), np.empty((width, width))
        total = float(marginals_chains(self.ends, self.counts, nodes, table, out, edges))
        if self.rules is None:
            return total, out, edges.ravel()
        return total, out @ self.rules.fold, self.rules.fold_tables(edges.ravel())

    def _expanded(self, nodes: Float, table: Float) -> tuple[Float, Float]:
        """Scores of states from those of labels."""
        return (nodes, table) if self.rules is None else self.rules.expand(nodes, table, self.ends)

    def indicators(self, states: Int32) -> tuple[Float, Float]:
        """Counted indicators of states ``[positions, K]``, and how often each transition occurs."""
        k = self.states
        pairs = states[self._from] * k + states[self._from + 1]
        counts = np.repeat(self.counts, np.diff(self.ends))
        return (
            counts[:, None] * one_hot(states, k),
            np.bincount(pairs, counts[self._from], minlength=k * k).astype(np.float64),
        )


class ChainSums:
    """Losses and gradients summed over chains.

    The loss is that of gold states ``[positions]``: costs ``[positions, K]`` and a constant.
    """

    def __init__(self, batch: ChainBatch, gold: Int32, costs: Float, constant: float) -> None:
        self.batch, self._labels, self._gold = batch, gold, batch.indicators(gold)
        self._costs, self._constant = costs, constant

    def violators(self, weights: Float) -> tuple[float, Float]:
        """The hinge loss and a subgradient."""
        nodes, table = self.batch.scores(weights)
        z = self.batch.indicators(self.batch.maximize(nodes + self._costs, table))
        value, gradient = self._minus_gold(nodes, table, z)
        return value + float((self._costs * z[0]).sum()) + self._constant, gradient

    def best(self, weights: Float) -> tuple[float, Float]:
        """The perceptron's loss and a subgradient."""
        nodes, table = self.batch.scores(weights)
        z = self.batch.indicators(self.batch.maximize(nodes, table))
        return self._minus_gold(nodes, table, z)

    def log_loss(self, weights: Float) -> tuple[float, Float]:
        """Minus the log-likelihood and its gradient."""
        nodes, table = self.batch.scores(weights)
        total, *z = self.batch.marginals(nodes, table)
        gold = float((nodes * self._gold[0]).sum() + table @ self._gold[1])
        return total - gold, self._minus_gold(nodes, table, (z[0], z[1]))[1]

    # ------------------------------------------------------------ steps after each chain

    def visit_best(
        self, order: Any, weights: Float, late: Float, steps: int, *, rate: float = 1.0,
        scaled: float = 0.0, margin: float = 0.0,
    ) -> float:  # fmt: skip
        """Subgradient steps, chain by chain; returns the losses (see `subgradient_pass`)."""
        from assent.kernels.batch.chain_visits import subgradient_pass

        found = subgradient_pass(
            self.corpus, np.asarray(order), weights, late, steps, float(rate), float(scaled), margin
        )
        return float(found) + self._constant

    def visit_likelihood(
        self, order: Any, total: Float, squares: Float, steps: int, rate: float, C: float
    ) -> None:
        """Steps of AdaGrad, chain by chain (see `adagrad_pass`)."""
        from assent.kernels.batch.chain_visits import adagrad_pass

        adagrad_pass(self.corpus, np.asarray(order), total, squares, steps, float(rate), float(C))

    @cached_property
    def corpus(self) -> Any:
        """The chains for compiled passes."""
        from scipy.sparse import csr_array

        from assent.kernels.batch.chain_visits import ChainCorpus

        nodes, ends = csr_array(self.batch.nodes), self.batch.ends
        rows = nodes.indptr.astype(np.int64)
        place, used = np.empty(len(nodes.indices), np.int32), []
        for begin, end in pairwise(rows[ends]):
            own, place[begin:end] = np.unique(nodes.indices[begin:end], return_inverse=True)
            used.append(own.astype(np.int32))
        used_ends = np.cumsum([0, *map(len, used)])
        rules = self.batch.rules or chain_rules(tuple(range(self.batch.states)))
        return ChainCorpus(
            ends, rows, place, nodes.data, used_ends, np.concatenate(used), self._labels,
            self._costs, self.batch.counts, rules.label, rules.allowed, rules.begin,
            rules.end,
        )  # fmt: skip

    def _minus_gold(
        self, nodes: Float, table: Float, z: tuple[Float, Float]
    ) -> tuple[float, Float]:
        """Score and features of an output minus those of the gold one."""
        change, transitions = z[0] - self._gold[0], z[1] - self._gold[1]
        value = float((nodes * change).sum() + table @ transitions)
        return value, self.batch.features(change, transitions)
