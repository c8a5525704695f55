"""Regular: sequences that an automaton accepts."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.factors.forest import all_slots
from assent.factors.structure import Structure
from assent.kernels.problem import Float
from assent.model.finite_automaton import Automaton
from assent.model.scores import broadcast_scores
from assent.model.variables import Categorical, Literals


class Regular(Structure):
    """The labels of a sequence of variables are one that ``automaton`` accepts.

    Args:
        variables: array of categorical variables or of literals (symbols 0 and 1), whose last
            axis is time: one sequence for each index of the others; or a list of variables,
            whose states may differ.
        automaton: an `Automaton` whose symbols are the labels; made by `bio` or `regex`, or
            written out.
        scores: what taking each arc earns, in place of the automaton's own scores: shape ``[A]``,
            ``[T, A]``, or with the sequences' axes in front; ``-inf`` forbids.

    Example:
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tags = ["O", "B-PER", "I-PER"]
        >>> tag = g.categorical(states=tags, scores=[[1.0, 0.9, 0.0], [0.0, 0.0, 2.0]])
        >>> rule = g.add(at.Regular(tag, at.bio(tags)))
        >>> at.decode(g).labels[tag].tolist()
        ['B-PER', 'I-PER']
    """

    paper_name = "weighted finite automaton"
    formula = "Σ_t scores[arc taken at t] where the automaton accepts the sequence"
    kernel_names = "sequences.weighted_automaton", "sequence"

    def __init__(self, variables: Any, automaton: Automaton, *, scores: Any = None) -> None:
        if not isinstance(automaton, Automaton):
            raise TypeError(f"Regular takes an Automaton such as at.bio(tags), got {automaton!r}")
        graph, codes, shape, self.states, self.first = all_slots("Regular", variables)
        self.automaton = automaton
        labels = _labels(variables)
        places = automaton.places(labels)
        if not automaton.accepts_some(places):
            raise ModelError(f"Regular: {automaton!r} accepts no sequence of length {len(labels)}")
        begins = np.cumsum([0, *self.states[:-1]])[:, None]
        header = [len(automaton.states), len(automaton.origin), 0]
        arcs = (automaton.accepting, automaton.origin, automaton.target)
        where = np.where(places < 0, -1, places + begins)
        self.data = np.concatenate([header, *arcs, where.ravel()]).astype(np.int32)
        self._attach(graph, codes, shape)
        self.scores = self.fit(automaton.scores if scores is None else scores)

    def entry_shape(self) -> tuple[int, ...]:
        return (len(self.states) * len(self.automaton.origin),)

    def fit(self, scores: Any) -> Float:
        """Scores of arcs that broadcast to ``(*shape, T, A)``, or lie flat, ``(*shape, T * A)``."""
        sides = (*self.shape, len(self.states), len(self.automaton.origin))
        if isinstance(scores, np.ndarray) and scores.shape == (*self.shape, *self.entry_shape()):
            scores = scores.reshape(sides)
        own = broadcast_scores(scores, sides, self.kind, ": the sequences, time, arcs")
        return own.reshape(len(self), -1).copy()

    def readable(self, parts: Float) -> Float:
        """Arcs taken, ``(*shape, T, A)``."""
        return parts.reshape(*self.shape, len(self.states), -1)


def _labels(variables: Any) -> list[tuple[Any, ...]]:
    """Labels of each slot: states of a variable, 0 and 1 of a literal."""
    if isinstance(variables, Categorical):
        return [variables.states] * variables.shape[-1]
    if isinstance(variables, Literals):
        return [(0, 1)] * variables.shape[-1]
    return [part.states if isinstance(part, Categorical) else (0, 1) for part in variables]
