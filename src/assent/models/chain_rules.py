"""Rules on the labels of chains: an automaton, forbidden transitions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from assent.arguments import shown
from assent.errors import ModelError
from assent.kernels.problem import Float, Int32
from assent.model.finite_automaton import Automaton
from assent.models.losses import one_hot
from assent.models.space import Space
from assent.models.tree_space import TreeSpace, chain_space


class ChainRules(NamedTuple):
    """States that stand for labels, such that what is allowed depends on neighbours alone.

    Without an automaton a state is a label.  With one it is a label and the state in which the
    automaton is after it.
    """

    label: Int32  # [S] the label of each state
    allowed: Float  # [S, S] 0 where a state may follow another, else -inf
    begin: Float  # [S] the same for the first state
    end: Float  # [S] for the last one
    labels: int  # K, the number of labels

    @property
    def fold(self) -> Float:
        """``[S, K]`` which label each state has."""
        return one_hot(self.label, self.labels)

    def expand(self, nodes: Float, table: Float, ends: Any) -> tuple[Float, Float]:
        """Scores of states from those of labels, ``[positions, K]`` and ``[..., K * K]``.

        ``ends`` says where chains begin and end; tables of states are ``[..., S * S]``.
        """
        own = nodes[:, self.label]
        own[ends[:-1]] += self.begin
        own[ends[1:] - 1] += self.end
        pairs = (self.label[:, None] * self.labels + self.label).ravel()
        return own, table[..., pairs] + self.allowed.ravel()

    def fold_tables(self, tables: Float) -> Float:
        """Sums ``[..., K * K]`` over the states of labels, of tables ``[..., S * S]``."""
        s = len(self.label)
        square = tables.reshape(*tables.shape[:-1], s, s)
        folded = self.fold.T @ square @ self.fold
        return folded.reshape(*tables.shape[:-1], self.labels**2)

    def accepts(self, labels: Int32) -> bool:
        """Whether a sequence of labels, given by number, is allowed."""
        if np.array_equal(self.label, np.arange(self.labels)):  # a look at each transition
            scores = self.begin[labels[0]] + self.end[labels[-1]]
            return bool(scores + self.allowed[labels[:-1], labels[1:]].sum() == 0.0)
        return self._possible([self.label == label for label in labels])

    def require(self, length: int) -> None:
        """Raise where no sequence of a length is allowed."""
        if not self._possible([np.ones(len(self.label), bool)] * length):
            raise ModelError(f"the model's rules allow no sequence of {length} labels")

    def _possible(self, states: list[Any]) -> bool:
        """Whether some sequence of these states is allowed."""
        reached = (self.begin == 0.0) & states[0]
        for own in states[1:]:
            reached = own & (self.allowed[reached] == 0.0).any(axis=0)
        return bool((reached & (self.end == 0.0)).any())


@lru_cache(maxsize=64)
def chain_rules(
    labels: tuple[Any, ...],
    automaton: Automaton | None = None,
    forbidden: tuple[tuple[Any, Any], ...] = (),
) -> ChainRules:
    """The rules of an automaton and of forbidden pairs of labels.

    Example:
        >>> rules = chain_rules(("B", "I", "O"), forbidden=((None, "I"), ("O", "I")))
        >>> rules.accepts(np.array([0, 1, 2])), rules.accepts(np.array([2, 1]))
        (True, False)
    """
    k = len(labels)
    if automaton is None:
        label = np.arange(k, dtype=np.int32)
        allowed, begin, end = np.zeros((k, k)), np.zeros(k), np.zeros(k)
    else:
        label, allowed, begin, end = _of_automaton(labels, automaton)
    number = {name: i for i, name in enumerate(labels)}
    for pair in forbidden:
        if not isinstance(pair, tuple) or len(pair) != 2 or set(pair) - {None, *labels}:
            raise ModelError(
                f"a forbidden transition is (label, next label) of {labels}, None standing for "
                f"begin and end, got {shown(pair)}"
            )
        before, after = (None if name is None else label == number[name] for name in pair)
        if before is None and after is None:
            raise ModelError("a forbidden transition needs a label: (None, None) is an empty chain")
        if before is None:
            begin[after] = -np.inf
        elif after is None:
            end[before] = -np.inf
        else:
            allowed[np.ix_(before, after)] = -np.inf
    for array in (label, allowed, begin, end):
        array.flags.writeable = False
    return ChainRules(label, allowed, begin, end, k)


def _of_automaton(
    labels: tuple[Any, ...], automaton: Automaton
) -> tuple[Int32, Float, Float, Float]:
    """Label, allowed, begin and end of the states (label, the automaton's state after it)."""
    finite = np.isfinite(automaton.scores)
    if automaton.scores[finite].any():
        raise ModelError(
            "ChainModel learns its scores: its automaton only says what is allowed, and has no "
            "scores on its arcs"
        )
    reads = automaton.places([labels])[0]
    arcs = [
        (int(q), int(k), int(r))
        for q, k, r, open_ in zip(automaton.origin, reads, automaton.target, finite, strict=True)
        if open_ and k >= 0
    ]
    states = sorted({(k, r) for _, k, r in arcs})
    number = {state: i for i, state in enumerate(states)}
    allowed = np.full((len(states), len(states)), -np.inf)
    begin = np.full(len(states), -np.inf)
    for q, k, r in arcs:
        after = number[k, r]
        allowed[[i for i, (_, own) in enumerate(states) if own == q], after] = 0.0
        if q == 0:
            begin[after] = 0.0
    end = np.array([0.0 if automaton.accepting[r] else -np.inf for _, r in states])
    return np.array([k for k, _ in states], np.int32), allowed, begin, end


class RuledChainSpace(TreeSpace):
    """The labels of a chain that rules allow; coordinates as without rules."""

    abilities = ("maximize", "project", "marginals")  # type: ignore[assignment]

    def __init__(self, length: int, rules: ChainRules) -> None:
        rules.require(length)
        super().__init__((rules.labels,) * length, (*range(1, length), -1))
        self.rules = rules
        self._states = chain_space(length, len(rules.label))

    def best_states(self, scores: Float) -> Int32:
        return self.rules.label[self._states.best_states(self._expanded(scores))]

    def project(self, point: Float) -> Float:
        return Space.project(self, point)

    def marginals(self, scores: Float) -> tuple[float, Float]:
        value, z = self._states.marginals(self._expanded(scores))
        s = len(self.rules.label)
        nodes = z[: self._states.nodes].reshape(-1, s) @ self.rules.fold
        edges = self.rules.fold_tables(z[self._states.nodes :].reshape(-1, s * s))
        return value, np.concatenate([nodes.ravel(), edges.ravel()])

    def max_marginals(self, scores: Float) -> Float:
        values = self._states.max_marginals(self._expanded(scores)).reshape(len(self.states), -1)
        of_label = [
            values[:, self.rules.label == k].max(axis=1, initial=-np.inf)
            for k in range(self.rules.labels)
        ]
        return np.stack(of_label, axis=1).ravel()

    def rows(self) -> Any:
        raise self.missing("rows")

    def _expanded(self, scores: Float) -> Float:
        """Scores of the coordinates of states."""
        k, n = self.rules.labels, len(self.states)
        nodes, tables = scores[: n * k].reshape(n, k), scores[n * k :].reshape(-1, k * k)
        own, pairs = self.rules.expand(nodes, tables, np.array([0, n]))
        return np.concatenate([own.ravel(), pairs.ravel()])


@lru_cache(maxsize=1024)
def _ruled_space(length: int, key: Any) -> RuledChainSpace:
    return RuledChainSpace(length, chain_rules(*key))


def labelled_space(
    length: int, labels: tuple[Any, ...], automaton: Automaton | None, forbidden: Any
) -> TreeSpace:
    """The space of a chain under rules, or without any, cached."""
    if automaton is None and not forbidden:
        return chain_space(length, len(labels))
    return _ruled_space(length, (labels, automaton, forbidden))
