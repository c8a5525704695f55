"""A parser: pruner, weights of parts, labeler; from tagged sentences to trees."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import assent as at
from assent.apps.model_file import read_model, write_model
from assent.apps.parsing import sentence_graph
from assent.apps.parsing.data import Tokens, encode
from assent.apps.parsing.labels import Labeler
from assent.apps.parsing.parts import parts_of
from assent.apps.parsing.pruner import Pruner
from assent.apps.parsing.turbo import Solution, TurboRun
from assent.io.conllu import Sentence
from assent.kernels.parsing import part_scores, sentence_parts
from assent.kernels.parsing.part_scores import AutomatonParts
from assent.kernels.parsing.sentence_parts import Arcs, Automata
from assent.kernels.problem import Float
from assent.model.graph import FactorGraph
from assent.solvers.ad3.ad3 import AD3

KIND, VERSION = "parser", 1

# A sentence that is not proven optimal by then rarely is; its tree is then the best that was found.
ITERATIONS = 100


@dataclass(frozen=True)
class ParserSettings:
    """What makes a parser.

    Attributes:
        parts: a preset (``"basic"``, ``"standard"``, ``"full"``), or a list of parts.
        single_root: whether exactly one word of a sentence hangs on the root.
        table_bits: the table has two to this power weights.
    """

    parts: str | tuple[str, ...] = "full"
    single_root: bool = True
    table_bits: int = 22


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

    def parse(self, sentence: Sentence, *, exact: bool = False) -> Parse:
        """The tree of a tagged sentence, if ``exact`` the best one, however long that takes."""
        tokens = encode(sentence)
        found = self.solve(tokens)
        heads, value, bound, proven = found.heads, found.value, found.bound, found.proven
        if exact and not proven:
            graph, arcs = self.graph(sentence)
            result = at.decode(graph, exact=True)
            heads = arcs.head[result[graph["arc"]] == 1].astype(np.int64)
            value, bound, proven = result.value, result.bound, result.status is at.Status.OPTIMAL
        labels = self.labeler.labels(tokens, heads)
        return Parse(sentence.with_columns(heads=heads, deprels=labels), value, bound, proven)

    def k_best(self, sentence: Sentence, k: int) -> list[Parse]:
        """The ``k`` best trees of a tagged sentence, best first."""
        graph, arcs = self.graph(sentence)
        tokens, found = encode(sentence), []
        for result in at.k_best(graph, k):
            heads = arcs.head[result[graph["arc"]] == 1].astype(np.int64)
            parsed = sentence.with_columns(heads=heads, deprels=self.labeler.labels(tokens, heads))
            proven = result.status is at.Status.OPTIMAL
            found.append(Parse(parsed, result.value, result.bound, proven))
        return found

    def solve(self, tokens: Tokens) -> Solution:
        """Heads, value and bound for an encoded sentence."""
        return best_parse(*self._scored(tokens), AD3(max_iterations=ITERATIONS))

    def graph(self, sentence: Sentence) -> tuple[FactorGraph, Arcs]:
        """The problem of a tagged sentence for all that a graph can be asked, and its arcs.

        Its variables ``graph["arc"]`` stand for these arcs: `k_best` finds more than one tree,
        and any solver can be tried.
        """
        own = self._scored(encode(sentence))
        return sentence_graph.graph(*own), own[0]

    def _scored(self, tokens: Tokens) -> tuple[Arcs, Automata, bool, Float, Float]:
        """Candidate arcs, automata over them, whether there is one root, and their scores."""
        arcs = self.pruner.arcs(tokens)
        kinds, automata = sentence_automata(arcs, parts_of(self.settings.parts))
        scores = part_scores.score_arcs(tokens, arcs, self.weights)
        inner = part_scores.score_automata(tokens, arcs, automata, kinds, self.weights)
        return arcs, automata, self.settings.single_root, scores, inner

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
        names, most = tuple(settings.pop("labels")), settings.pop("most_heads")
        least = settings.pop("least_probable")
        if not isinstance(settings["parts"], str):
            settings["parts"] = tuple(settings["parts"])
        return cls(
            ParserSettings(**settings), Pruner(arrays["pruner"], most, least), arrays["weights"],
            Labeler(names, arrays["labeler"]),
        )  # fmt: skip


def sentence_automata(arcs: Arcs, parts: tuple[str, ...]) -> tuple[AutomatonParts, Automata]:
    """Which parts automata score, and the automata that do; none for arcs alone."""
    kinds = AutomatonParts(*(kind in parts for kind in AutomatonParts._fields))
    return kinds, sentence_parts.make_automata(arcs, *kinds)


def best_parse(
    arcs: Arcs, automata: Automata, single_root: bool, scores: Float, inner: Float, solver: AD3
) -> Solution:
    """The best tree by AD3; by its arcs alone it needs no relaxation."""
    if len(automata.head):
        return TurboRun(arcs, automata, single_root, scores, inner).solve(solver)
    heads = sentence_parts.best_tree(arcs, scores, single_root)
    chosen = sentence_parts.tree_arcs(arcs, heads)
    value = float(scores @ chosen)
    return Solution(heads, value, value, True, 0, chosen, np.zeros(0))
