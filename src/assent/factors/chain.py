"""Chain: a sequence of variables with scores for what follows what."""

from __future__ import annotations

from typing import Any

import numpy as np

from assent.arguments import is_whole, shown
from assent.errors import ModelError
from assent.factors.forest import ForestFactor, all_slots, fit_states, fit_tables
from assent.kernels.problem import Float


class Chain(ForestFactor):
    """A sequence model: ``transitions`` are earned by neighbouring states (a Markov chain).

    Args:
        variables: array of categorical variables or of literals (states false and true), whose
            last axis is time: one chain for each index of the others; or a list of variables,
            whose numbers of states may differ.
        transitions: table ``[K, K]`` (from, to), or ``[T - 1, K, K]``, or with the chains'
            axes in front; a list of ``T - 1`` tables where numbers of states differ.
        start: scores ``[K]`` of the first state, beside the variable's own.
        stop: scores ``[K]`` of the last state.
        at_most: ``(state, limit)``: no chain visits this state more often.

    ``-inf`` forbids.  New scores in ``decode`` are transitions.

    Example:
        >>> import numpy as np
        >>> import assent as at
        >>> g = at.FactorGraph()
        >>> tag = g.categorical(states="NV", scores=[[0.0, 1.0], [0.2, 0.0], [0.0, 3.0]])
        >>> chain = g.add(at.Chain(tag, transitions=[[-1.0, 1.0], [1.0, -1.0]]))
        >>> at.decode(g).labels[tag].tolist()
        ['V', 'N', 'V']
    """

    paper_name = "sequence model"
    formula = "start[s_1] + Σ_t transitions[s_t, s_t+1] + stop[s_T]"

    def __init__(
        self,
        variables: Any,
        *,
        transitions: Any,
        start: Any = None,
        stop: Any = None,
        at_most: tuple[Any, int] | None = None,
    ) -> None:
        _, _, shape, states, _ = all_slots("Chain", variables)
        length = len(states)
        state, limit = _clean_limit(at_most)
        if limit >= length:
            state, limit = None, 0  # never reached: not worth counting
        # Rooted at its end: the recursion towards the root reads a transition table row by row.
        self._init_forest(variables, [*range(1, length), -1], state, np.zeros(limit + 1))
        self._start = fit_states("Chain", "start", start, shape, states[0])
        self._stop = fit_states("Chain", "stop", stop, shape, states[-1])
        self.scores = self.fit(transitions)

    def _tables(self, scores: Any) -> list[Float]:
        wanted = list(zip(self.states[:-1], self.states[1:], strict=True))
        tables = fit_tables("Chain", scores, self.shape, wanted, "chains, steps, from, to")
        tables = [*tables, self._stop[..., None]]
        # The first state stands in the first table, whichever that is.
        tables[0] = tables[0] + self._start[..., None]
        return tables

    def readable(self, parts: Float) -> Any:
        """Inner parts as transitions ``(*shape, T - 1, K, K)``, or a list if counts differ."""
        return self._transitions(parts)


def _clean_limit(at_most: Any) -> tuple[Any, int]:
    """State and limit of ``at_most``; no state without one."""
    if at_most is None:
        return None, 0
    if not (isinstance(at_most, tuple) and len(at_most) == 2):
        raise ModelError(f"Chain: at_most is a pair (state, limit), got {at_most!r}")
    state, limit = at_most
    if not is_whole(limit) or limit < 0:
        raise ModelError(f"Chain: a limit is a whole number >= 0, got {shown(limit)}")
    return state, int(limit)
