"""Training a parser: pruner, parts by cost-augmented MIRA with relaxed decoding, labels.

Training goes through the sentences one by one.  Each is parsed, and the weights are changed so that
the right tree will score more: :mod:`assent.apps.parsing.training_step`.  Where no tree solves the
relaxation, its fractional answer takes the tree's place (Martins et al., 2011, section 5).  The
weights of all steps are averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assent.apps.parsing.data import Example, encode, label_names
from assent.apps.parsing.labels import train_labeler
from assent.apps.parsing.model import Parser, ParserSettings
from assent.apps.parsing.parts import kinds_of, parts_of
from assent.apps.parsing.pruner import jackknife, train_pruner
from assent.apps.parsing.training_state import TrainingState
from assent.apps.parsing.training_step import METHODS, learn_sentence
from assent.errors import ModelError
from assent.io.conllu import Sentence
from assent.kernels.parsing.sentence_parts import Arcs, Kinds, TreeShape, has_crossing
from assent.solvers.ad3.ad3 import AD3

# Trees with crossing arcs among a treebank's that are taken for exceptions: with one in ten, trees
# without crossings are better by 0.8 to 1.5 points (docs/parsing.md); where one in four has them,
# those with crossings are known to be better by a point (McDonald et al., 2005, on Czech).
RARELY_CROSSING = 0.15


@dataclass(frozen=True)
class ParserTraining:
    """How a parser is trained.

    Attributes:
        passes: how often all sentences are gone through.
        longest_step: of MIRA, the papers' C; short steps keep single sentences from mattering much.
        iterations: of AD3 for a sentence; some more would change few of the answers.
        folds: parts of the treebank whose candidate arcs a pruner of the others finds.
        seed: for the order of sentences; the same seed gives the same parser.
        runs: from the start, each with sentences in another order; their weights are averaged,
            which takes as much time to use as one, and helps a little with few sentences.
        method: ``"mira"``, ``"perceptron"`` or ``"frank_wolfe"`` (see `training_step`).
    """

    passes: int = 6
    longest_step: float = 0.01
    iterations: int = 20
    folds: int = 4
    seed: int = 0
    runs: int = 1
    method: str = "mira"

    def __post_init__(self) -> None:
        if self.passes < 1 or self.runs < 1:
            raise ModelError(f"passes and runs are 1 or more, not {self.passes} and {self.runs}")
        if self.method not in METHODS:
            raise ModelError(f"there is no method {self.method!r}; methods: {', '.join(METHODS)}")


class TrainingProgress(NamedTuple):
    """Where a training is."""

    training_pass: int  # from 1
    sentences: int  # done in this pass
    of_sentences: int
    running_uas: float  # percent of right heads in this pass, while they were being learned


def train_parser(
    sentences: Sequence[Sentence],
    settings: ParserSettings | None = None,
    training: ParserTraining | None = None,
    *,
    checkpoint: str | Path | None = None,
    report: Callable[[TrainingProgress], None] = lambda progress: None,
) -> Parser:
    """Train a parser on the trees of a treebank.

    Args:
        sentences: with words, tags, heads and labels; tags best by a tagger that has not seen the
            sentence (`assent.apps.tagging.jackknife`), as those of a text will be.
        settings: parts, and what else makes a parser.
        training: passes, steps, seed.
        checkpoint: a file that is written after every pass; if it is there, training goes on from
            it, and ends as if it had not been interrupted.
        report: is told the progress after every sentence.
    """
    settings, training = settings or ParserSettings(), training or ParserTraining()
    names = label_names(sentences)
    examples = read_examples(sentences, names, settings.morphology)
    projective, parts = settings.projective, parts_of(settings.parts)
    if projective is None:
        # Who scores arcs over words that are not below their head wants to find such arcs.
        projective = "nonprojective_arcs" not in parts and are_projective(examples)
    settings = replace(settings, parts=parts, projective=projective)
    arcs = jackknife(examples, training.folds, training.seed, settings.tree_pruner)
    same = settings, replace(training, passes=1, runs=1)  # more of these may be asked for later
    of = f"{len(examples)} sentences, {same}"
    state = TrainingState.begin(of, 1 << settings.table_bits, checkpoint)
    kinds = kinds_of(settings.parts)
    while state.passes_done < training.passes * training.runs:
        if state.passes_done and state.passes_done % training.passes == 0:
            state.new_run()
        _do_pass(examples, arcs, kinds, settings.shape, training, state, report)
        state.passes_done += 1
        if checkpoint is not None:
            state.save(checkpoint)
    weights = (state.total + state.average()) / np.float32(training.runs)
    pruner = train_pruner(examples, training.seed, settings.tree_pruner)
    return Parser(settings, pruner, weights, train_labeler(examples, names, training.seed))


def read_examples(
    sentences: Sequence[Sentence], names: Sequence[str], morphology: bool
) -> list[Example]:
    """Sentences as arrays; those without a tree are refused."""
    number = {name: i for i, name in enumerate(names)}
    examples = []
    for sentence in sentences:
        if not len(sentence):
            continue
        heads = sentence.tree.astype(np.int64)
        labels = np.array([number[label] for label in sentence.deprels], np.int64)
        examples.append(Example(encode(sentence, morphology), heads, labels))
    if not examples:
        raise ModelError("there are no sentences to train a parser on")
    return examples


def are_projective(examples: Sequence[Example]) -> bool:
    """Whether crossing arcs are so rare that ruling them out helps more than it hurts."""
    return sum(has_crossing(own.heads) for own in examples) <= RARELY_CROSSING * len(examples)


def _do_pass(
    examples: Sequence[Example], arcs: Sequence[Arcs], kinds: Kinds, shape: TreeShape,
    training: ParserTraining, state: TrainingState, report: Callable[[TrainingProgress], None],
) -> None:  # fmt: skip
    """Once through all sentences, in an order that depends on seed and pass only."""
    rng = np.random.default_rng([training.seed, state.passes_done])
    state.right = state.words = 0
    solver = AD3(max_iterations=training.iterations)
    for done, number in enumerate(rng.permutation(len(examples)), start=1):
        state.step += 1
        learn_sentence(
            int(number), examples[number], arcs[number], kinds, shape, solver, training.method,
            training.longest_step, state,
        )  # fmt: skip
        uas = 100.0 * state.right / state.words
        report(TrainingProgress(state.passes_done + 1, done, len(examples), uas))
