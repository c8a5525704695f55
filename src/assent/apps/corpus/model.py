"""The sentences of a corpus as one model: chains, and sets of positions that should agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assent.apps.corpus.data import ConsensusSets
from assent.apps.corpus.executor import Executor, shares
from assent.apps.tagging.data import sentence_ends
from assent.errors import ModelError

if TYPE_CHECKING:
    import assent
    from assent.apps.tagging import Tagger
    from assent.kernels.consensus.linked_chains import LinkedChains


@dataclass(frozen=True)
class CorpusModel:
    """Chains with common transitions, linked by consensus sets (Belanger et al., 2014, figure 1).

    Attributes:
        ends: ``[n + 1]`` where the words of each sentence begin and end.
        scores: ``[words, K]`` of labels, in 32 bits.
        transitions: ``[K, K]`` scores of a label and the next.
        sets: positions that should agree.

    Example:
        >>> from assent.apps.corpus import consensus_sets
        >>> sets = consensus_sets([["gnu"], ["gnu"]], penalty=0.5)
        >>> scores = np.array([[1.0, 0.0], [0.0, 0.3]], np.float32)
        >>> CorpusModel(np.array([0, 1, 2]), scores, np.zeros((2, 2)), sets)
        CorpusModel(2 sentences, 2 words, 2 labels, 1 sets, 2 links)
    """

    ends: NDArray[np.int64] = field(repr=False)
    scores: NDArray[np.float32] = field(repr=False)
    transitions: NDArray[np.float64] = field(repr=False)
    sets: ConsensusSets

    def __post_init__(self) -> None:
        words, states = self.scores.shape
        if self.ends[-1] != words or len(self.sets.start) != words + 1:
            raise ModelError(
                f"there are scores for {words} words, sentences with {self.ends[-1]} and keys for "
                f"{len(self.sets.start) - 1}"
            )
        if self.transitions.shape != (states, states):
            raise ModelError(f"{states} labels need transitions of shape {(states, states)}")

    def __repr__(self) -> str:
        words, states = self.scores.shape
        return (
            f"CorpusModel({len(self.ends) - 1} sentences, {words} words, {states} labels, "
            f"{len(self.sets.names)} sets, {len(self.sets.sets)} links)"
        )

    def linked_chains(self) -> LinkedChains:
        """What kernels take."""
        from assent.kernels.consensus.linked_chains import LinkedChains

        table = np.ascontiguousarray(self.transitions, float).ravel()
        own = self.sets
        return LinkedChains(self.ends, self.scores, table, own.start, own.sets, own.penalty)

    def voted(self, states: NDArray[np.int32]) -> NDArray[np.int32]:
        """``[S]`` the labels of sets that go best with labels ``[words]``: those of most words."""
        from assent.kernels.consensus.linked_chains import vote

        votes = np.zeros((len(self.sets.names), len(self.transitions)))
        vote(self.linked_chains(), states, votes)
        return votes.argmax(axis=1).astype(np.int32)

    def value(self, states: NDArray[np.int32], consensus: NDArray[np.int32]) -> float:
        """What labels of words and of sets score, less penalties where they differ."""
        from assent.kernels.consensus.linked_chains import answer_value

        return float(answer_value(self.linked_chains(), states, consensus))

    def graph(self) -> assent.FactorGraph:
        """The same as a factor graph, for corpora of some hundred sentences.

        Variables are ``tag`` of all words and ``consensus`` of all sets.
        """
        import assent

        graph = assent.FactorGraph()
        states = len(self.transitions)
        tag = graph.categorical(states=states, scores=self.scores.astype(float), name="tag")
        for begin, end in pairwise(self.ends.tolist()):
            if end > begin:
                graph.add(assent.Chain(tag[begin:end], transitions=self.transitions))
        own = self.sets
        if own.names:
            top = graph.categorical(len(own.names), states=states, name="consensus")
            agree = assent.Agree(tag[own.positions], top[own.sets])
            graph.add(assent.Soft(agree, penalty=np.repeat(own.penalty[:, None], states, axis=1)))
        return graph


def corpus_model(
    tagger: Tagger,
    sentences: Sequence[Sequence[str]],
    sets: ConsensusSets,
    executor: Executor | None = None,
) -> CorpusModel:
    """The words of sentences, scored by a tagger."""
    ends = sentence_ends(list(map(len, sentences)))
    scores = np.empty((int(ends[-1]), len(tagger.labels)), np.float32)

    def score(first: int, last: int) -> None:
        for batch in range(first, last, _BATCH_SENTENCES):
            stop = min(batch + _BATCH_SENTENCES, last)
            own = sentences[batch:stop]
            tagger.score_into(own, scores[ends[batch] : ends[stop]])

    (executor or Executor()).run(score, shares(len(sentences)))
    return CorpusModel(ends, scores, tagger.transitions, sets)


# Rows of features are kept for so many sentences at a time: some 10 MB.
_BATCH_SENTENCES = 1000
