"""The sentences of a corpus as one model: chains, and sets of positions that should agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assent.apps.corpus.data import ConsensusSets
from assent.apps.corpus.executor import Executor
from assent.apps.corpus.scored_text import score_text
from assent.apps.corpus.shares import Decoded, LinkedCorpus, Share
from assent.errors import ModelError

if TYPE_CHECKING:
    import assent
    from assent.apps.tagging import Tagger
    from assent.kernels.consensus.linked_chains import LinkedChains


def voted(corpus: LinkedCorpus, states: NDArray[np.int32]) -> NDArray[np.int32]:
    """``[S]`` the states of sets that go best with those of words: what most of them say."""
    from assent.kernels.consensus.linked_chains import vote

    votes = np.zeros((len(corpus.sets.names), corpus.width))
    vote(corpus.linked(), states, votes)
    return votes.argmax(axis=1).astype(np.int32)


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

    def linked(self) -> LinkedChains:
        """What kernels take."""
        from assent.kernels.consensus.linked_chains import LinkedChains

        table = np.ascontiguousarray(self.transitions, float).ravel()
        own = self.sets
        return LinkedChains(self.ends, self.scores, table, own.start, own.sets, own.penalty)

    @property
    def width(self) -> int:
        """Number of labels."""
        return len(self.transitions)

    def share(self, share: Share) -> CorpusModel:
        """Some of the sentences; see `LinkedCorpus`."""
        ends = self.ends[share.first : share.last + 1] - share.words.start
        own = self.sets.part(share.words, share.links)
        return CorpusModel(ends, self.scores[share.words], self.transitions, own)

    def decode_charged(
        self, nu: NDArray[np.float64], asked: NDArray[np.bool_], found: Decoded
    ) -> int:
        """Best labels of sentences that pay multipliers ``nu[L, K]``; see `LinkedCorpus`."""
        from assent.kernels.consensus.linked_chains import decode_charged

        calls = decode_charged(self.linked(), nu, asked, found.states, found.values)
        found.words[:] = found.states  # what should agree is the answer itself
        return int(calls)

    def max_marginals(
        self, nu: NDArray[np.float64], asked: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        """Best charged scores with each label of each word fixed; see `LinkedCorpus`."""
        from assent.kernels.consensus.linked_chains import charged_max_marginals

        charged_max_marginals(self.linked(), nu, asked, out)

    def value(self, states: NDArray[np.int32], consensus: NDArray[np.int32]) -> float:
        """What labels of words and of sets score, less penalties where they differ."""
        from assent.kernels.consensus.linked_chains import answer_value

        return float(answer_value(self.linked(), states, consensus))

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
    sentences: Iterable[Sequence[str]],
    sets: ConsensusSets,
    executor: Executor | None = None,
) -> CorpusModel:
    """The words of sentences, scored by a tagger."""
    text = score_text(tagger, sentences, executor)
    return CorpusModel(text.ends, text.scores, tagger.transitions, sets)
