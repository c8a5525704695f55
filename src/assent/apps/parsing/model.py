"""A parser: pruner, weights of parts, labeler; from tagged sentences to trees."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import assent as at
from assent.apps.model_file import damage_reported, read_model, write_model
from assent.apps.parsing import sentence_graph
from assent.apps.parsing.data import Tokens, encode
from assent.apps.parsing.labels import Labeler
from assent.apps.parsing.parts import kinds_of
from assent.apps.parsing.pruner import Pruner
from assent.apps.parsing.turbo import Solution, TurboRun, weigh_tree
from assent.errors import ModelError
from assent.io.conllu import Sentence
from assent.kernels.parsing import part_visits, sentence_parts
from assent.kernels.parsing.sentence_parts import Arcs, SentenceParts, SentenceScores, TreeShape
from assent.model.graph import FactorGraph
from assent.solvers.ad3.ad3 import AD3

KIND, VERSION = "parser", 2

# A sentence that is not proven optimal by then rarely is; its tree is then the best that was found.
ITERATIONS = 100

# Longer sentences have fewer iterations, in proportion: one on 500 words takes a tenth of a second,
# and hundreds would be needed for a proof.
LONG = 100


@dataclass(frozen=True)
class ParserSettings:
    """What makes a parser.

    Attributes:
        parts: a preset (``"basic"``, ``"standard"``, ``"full"``), or a list of parts.
        single_root: whether exactly one word of a sentence hangs on the root.
        projective: whether arcs never cross; if ``None``, so it is where few training trees have
            crossings, unless parts are scored that only such trees have.
        morphology: whether the column FEATS is read; it must be filled then in whatever is parsed.
        table_bits: the table has two to this power weights.
        tree_pruner: whether candidate arcs are those that are probable in a tree (their marginals
            in a first-order model), in place of heads that are probable each for itself.
    """

    parts: str | tuple[str, ...] = "full"
    single_root: bool = True
    projective: bool | None = None
    morphology: bool = False
    table_bits: int = 23
    tree_pruner: bool = False

    @property
    def shape(self) -> TreeShape:
        """Which trees it finds."""
        return TreeShape(self.single_root, bool(self.projective))


class Parse(NamedTuple):
    """A parsed sentence.

    Attributes:
        sentence: with heads and labels.
        value: the score of its tree.
        bound: no tree of candidate arcs scores more.
        proven: whether the tree is the best one for that reason.
    """

    sentence: Sentence
    value: float
    bound: float
    proven: bool


@dataclass(frozen=True)
class Parser:
    """A trained parser; made by `train_parser`, or read from a file."""

    settings: ParserSettings
    pruner: Pruner
    weights: NDArray[np.float32]
    labeler: Labeler

    def parse(
        self, sentence: Sentence, *, exact: bool = False, time_limit: float | None = None
    ) -> Parse:
        """The tree of a tagged sentence, if ``exact`` the best one.

        The proof takes as long as it takes, or ``time_limit`` seconds: then the best tree so far is
        given, and a bound on all others.
        """
        tokens = self.encode(sentence)
        found = self.solve(tokens)
        heads, value, bound, proven = found.heads, found.value, found.bound, found.proven
        if exact and not proven:
            graph, arcs = self.graph(sentence)
            result = at.decode(graph, exact=True, time_limit=time_limit)
            if result.value > value:
                heads = arcs.head[result[graph["arc"]] == 1].astype(np.int64)
                value = result.value
            # Both add up the same scores, in other orders: the last bits may differ.
            bound = max(value, min(bound, result.bound))
            proven = result.status is at.Status.OPTIMAL
        labels = self.labeler.labels(tokens, heads)
        return Parse(sentence.with_columns(heads=heads, deprels=labels), value, bound, proven)

    def k_best(self, sentence: Sentence, k: int) -> list[Parse]:
        """The ``k`` best trees of a tagged sentence, best first."""
        graph, arcs = self.graph(sentence)
        tokens, found = self.encode(sentence), []
        for result in at.k_best(graph, k):
            heads = arcs.head[result[graph["arc"]] == 1].astype(np.int64)
            parsed = sentence.with_columns(heads=heads, deprels=self.labeler.labels(tokens, heads))
            proven = result.status is at.Status.OPTIMAL
            found.append(Parse(parsed, result.value, result.bound, proven))
        return found

    def encode(self, sentence: Sentence) -> Tokens:
        """A tagged sentence as this parser reads it."""
        return encode(sentence, self.settings.morphology)

    def solve(self, tokens: Tokens) -> Solution:
        """Heads, value and bound for an encoded sentence."""
        words = len(tokens) - 3
        solver = AD3(max_iterations=ITERATIONS * LONG // max(words, LONG))
        return best_parse(*self._scored(tokens), self.settings.shape, solver)

    def graph(self, sentence: Sentence) -> tuple[FactorGraph, Arcs]:
        """The problem of a tagged sentence for all that a graph can be asked, and its arcs.

        Its variables ``graph["arc"]`` stand for these arcs: `k_best` finds more than one tree,
        and any solver can be tried.
        """
        parts, scores = self._scored(self.encode(sentence))
        return sentence_graph.graph(parts, scores, self.settings.shape), parts.arcs

    def scored_arcs(self, sentence: Sentence) -> tuple[Arcs, NDArray[np.float64]]:
        """The candidate arcs of a tagged sentence and their scores, if nothing else is scored.

        Raises:
            ModelError: if the parser scores larger parts.
        """
        parts, scores = self._scored(self.encode(sentence))
        if sum(map(len, scores)) > len(scores.arcs):
            raise ModelError("this parser scores more than arcs: train one with the preset 'basic'")
        return parts.arcs, scores.arcs

    def _scored(self, tokens: Tokens) -> tuple[SentenceParts, SentenceScores]:
        """The parts of a sentence over its candidate arcs, and their scores."""
        kinds = kinds_of(self.settings.parts)
        parts = sentence_parts.make_parts(self.pruner.arcs(tokens), kinds)
        return parts, part_visits.score_parts(tokens, parts, kinds, self.weights)

    # ------------------------------------------------------------ files

    def save(self, path: str | Path) -> None:
        """Write the parser to a file, its weights in 8 bits."""
        settings = {
            **asdict(self.settings), "labels": list(self.labeler.names),
            "most_heads": self.pruner.most, "least_probable": self.pruner.least,
        }  # fmt: skip
        arrays = {"weights": self.weights, "pruner": self.pruner.weights,
                  "labeler": self.labeler.weights}  # fmt: skip
        write_model(path, KIND, settings, arrays, version=VERSION, eight_bits=list(arrays))

    @classmethod
    def load(cls, path: str | Path) -> Parser:
        """Read a parser that `save` wrote."""
        settings, arrays = read_model(path, KIND, version=VERSION)
        with damage_reported(path, KIND):
            names, most = tuple(settings.pop("labels")), settings.pop("most_heads")
            least = settings.pop("least_probable")
            if not isinstance(settings["parts"], str):
                settings["parts"] = tuple(settings["parts"])
            own = ParserSettings(**settings)
            pruner = Pruner(arrays["pruner"], own.tree_pruner, most, least)
            return cls(own, pruner, arrays["weights"], Labeler(names, arrays["labeler"]))


def best_parse(
    parts: SentenceParts, scores: SentenceScores, shape: TreeShape, solver: AD3
) -> Solution:
    """The best tree by AD3; by its arcs alone it needs no relaxation."""
    if parts.nonprojective or parts.paths:
        return sentence_graph.solve(parts, scores, shape, solver)
    if len(scores.inner) or len(scores.pairs):
        return TurboRun(parts, scores, shape).solve(solver)
    return weigh_tree(parts, scores, scores.arcs, shape)
