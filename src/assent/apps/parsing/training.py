"""Training a parser: pruner, parts by cost-augmented MIRA with relaxed decoding, labels.

MIRA (Crammer et al., 2006) goes through the sentences one by one.  It asks for the tree that scores
best when every wrong head earns one more, and changes the weights by the least amount after which
the right tree beats it by as many points as it has wrong heads.  Where no tree solves the
relaxation, its fractional answer takes the tree's place (Martins et al., 2011, section 5).  The
weights of all steps are averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.apps.parsing.data import Example, encode, label_names
from assent.apps.parsing.labels import train_labeler
from assent.apps.parsing.model import Parser, ParserSettings, best_parse
from assent.apps.parsing.parts import kinds_of, parts_of
from assent.apps.parsing.pruner import jackknife, train_pruner
from assent.errors import ModelError
from assent.io.array_files import open_arrays
from assent.io.conllu import Sentence
from assent.kernels.parsing import part_scores, sentence_parts
from assent.kernels.parsing.mira_update import Table, mira_update
from assent.kernels.parsing.sentence_parts import Arcs, Kinds, PartScores, TreeShape, has_crossing
from assent.solvers.ad3.ad3 import AD3

# Trees with crossing arcs among a treebank's that are taken for exceptions.  One in a hundred in
# English: there, trees without crossings are better by half a point.
RARELY_CROSSING = 0.05


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
            which takes as much time to use as one, and brings some 0.1 points.
    """

    passes: int = 6
    longest_step: float = 0.01
    iterations: int = 20
    folds: int = 4
    seed: int = 0
    runs: int = 1


class TrainingProgress(NamedTuple):
    """Where a training is."""

    training_pass: int  # from 1
    sentences: int  # done in this pass
    of_sentences: int
    running_uas: float  # percent of right heads in this pass, while they were being learned


@dataclass
class _State:
    """What a training has come to, and can go on from."""

    table: Table
    total: NDArray[np.float32]  # of the weights of runs that are over
    step: int = 0  # of this run
    passes_done: int = 0  # of all runs
    right: int = 0
    words: int = 0

    def average(self) -> NDArray[np.float32]:
        """The weights after every step of this run, averaged."""
        return (self.table.weights - self.table.late / (self.step + 1)).astype(np.float32)

    def new_run(self) -> None:
        """Begin again, and keep what was learned."""
        self.total += self.average()
        self.table.weights[:] = 0.0
        self.table.late[:] = 0.0
        self.step = 0


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
    projective = settings.projective
    settings = replace(
        settings, parts=parts_of(settings.parts),
        projective=are_projective(examples) if projective is None else projective,
    )  # fmt: skip
    arcs = jackknife(examples, training.folds, training.seed)
    state = _begin(settings, checkpoint)
    kinds = kinds_of(settings.parts)
    while state.passes_done < training.passes * training.runs:
        if state.passes_done and state.passes_done % training.passes == 0:
            state.new_run()
        _do_pass(examples, arcs, kinds, settings.shape, training, state, report)
        state.passes_done += 1
        if checkpoint is not None:
            _write(checkpoint, state)
    weights = (state.total + state.average()) / np.float32(training.runs)
    pruner = train_pruner(examples, training.seed)
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
    training: ParserTraining, state: _State, report: Callable[[TrainingProgress], None],
) -> None:  # fmt: skip
    """Once through all sentences, in an order that depends on seed and pass only."""
    rng = np.random.default_rng([training.seed, state.passes_done])
    state.right = state.words = 0
    solver = AD3(max_iterations=training.iterations)
    for done, number in enumerate(rng.permutation(len(examples)), start=1):
        state.step += 1
        learn_sentence(
            examples[number], arcs[number], kinds, shape, solver, training.longest_step, state
        )
        uas = 100.0 * state.right / state.words
        report(TrainingProgress(state.passes_done + 1, done, len(examples), uas))


def learn_sentence(
    example: Example, arcs: Arcs, kinds: Kinds, shape: TreeShape, solver: AD3,
    longest_step: float, state: _State,
) -> None:  # fmt: skip
    """A step of MIRA."""
    table, tokens, heads = state.table, example.tokens, example.heads
    parts = sentence_parts.make_parts(arcs, kinds)
    scores = part_scores.score_parts(tokens, parts, kinds, table.weights)
    right = sentence_parts.tree_parts(parts, heads)
    # Every wrong head earns one more.
    dearer = scores._replace(arcs=scores.arcs + 1.0 - right.arcs)
    found = best_parse(parts, dearer, shape, solver)
    amounts = PartScores(*(a - b for a, b in zip(right, found.marginals, strict=True)))
    loss = float(dearer.arcs @ found.marginals.arcs - scores.arcs @ right.arcs)
    loss -= float(scores.inner @ amounts.inner + scores.pairs @ amounts.pairs)
    if loss > 0.0:
        step, longest = float(state.step), longest_step
        mira_update(tokens, parts, kinds, amounts, loss, longest, step, table)
    state.right += int((found.heads == heads).sum())
    state.words += len(heads)


# ---------------------------------------------------------------- checkpoints


def _begin(settings: ParserSettings, checkpoint: str | Path | None) -> _State:
    """A fresh state, or that of a checkpoint."""
    size = 1 << settings.table_bits
    if checkpoint is None or not Path(checkpoint).exists():
        weights, late, difference, total = np.zeros((4, size), np.float32)
        return _State(Table(weights, late, difference), total)
    with open_arrays(checkpoint, "a parser's checkpoint") as file:
        if (
            set(file.files) != {"weights", "late", "total", "numbers"}
            or len(file["weights"]) != size
        ):
            raise ModelError(
                f"{checkpoint} is no checkpoint of a parser with these settings; remove it, or "
                "name another file"
            )
        step, passes = (int(number) for number in file["numbers"])
        table = Table(file["weights"], file["late"], np.zeros(size, np.float32))
        return _State(table, file["total"], step, passes)


def _write(checkpoint: str | Path, state: _State) -> None:
    """Replace the checkpoint in one step: a crash while writing leaves the one before."""
    draft = Path(checkpoint).with_name(Path(checkpoint).name + ".part")
    with open(draft, "wb") as file:
        np.savez(
            file, weights=state.table.weights, late=state.table.late, total=state.total,
            numbers=np.array([state.step, state.passes_done]),
        )  # fmt: skip
    draft.replace(checkpoint)
