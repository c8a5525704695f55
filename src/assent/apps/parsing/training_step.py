"""A step of a parser's training: one sentence is parsed, and the weights changed.

MIRA and Frank and Wolfe's method ask for the tree that scores best when every wrong head earns one
more; the perceptron for the best one.

* The perceptron adds the features of the right tree and takes away those of the other.
* MIRA (Crammer et al., 2006) makes the least such change after which the right tree beats the other
  by as many points as that has wrong heads, or the longest step that is allowed.
* The block-coordinate method of Frank and Wolfe (Lacoste-Julien et al., 2013) remembers what each
  sentence has added to the weights, and moves it towards the longest step: as far as that raises
  the dual of the structured support vector machine most.  The first time that is MIRA's step.
"""

from __future__ import annotations

import numpy as np

from assent.apps.parsing.data import Example
from assent.apps.parsing.model import best_parse
from assent.apps.parsing.training_state import NO_BLOCK, Block, TrainingState
from assent.kernels.parsing import part_visits, sentence_parts
from assent.kernels.parsing.mira_update import mira_update
from assent.kernels.parsing.sentence_parts import Arcs, Kinds, SentenceScores, TreeShape
from assent.solvers.ad3.ad3 import AD3

METHODS = ("mira", "perceptron", "frank_wolfe")


def learn_sentence(
    number: int, example: Example, arcs: Arcs, kinds: Kinds, shape: TreeShape, solver: AD3,
    method: str, longest_step: float, state: TrainingState,
) -> None:  # fmt: skip
    """A step for the sentence with this number, over its candidate arcs."""
    tokens, heads, table = example.tokens, example.heads, state.table
    parts = sentence_parts.make_parts(arcs, kinds)
    scores = part_visits.score_parts(tokens, parts, kinds, table.weights)
    right = sentence_parts.tree_parts(parts, heads)
    costs = np.zeros(len(right.arcs)) if method == "perceptron" else 1.0 - right.arcs
    found = best_parse(parts, scores._replace(arcs=scores.arcs + costs), shape, solver)
    amounts = SentenceScores(*(a - b for a, b in zip(right, found.marginals, strict=True)))
    cost, block = float(costs @ found.marginals.arcs), state.blocks.get(number, NO_BLOCK)
    if method == "frank_wolfe":
        before, cost = block.parts(amounts), longest_step * cost - block.cost
        amounts = SentenceScores(
            *(longest_step * a - b for a, b in zip(amounts, before, strict=True))
        )
    loss = cost - sum(float(a @ b) for a, b in zip(scores, amounts, strict=True))
    if method != "mira":
        longest_step = 1.0
    if method == "perceptron":
        loss = np.inf  # a whole step, however small the error
    if loss > 0.0:
        step = float(state.step)
        size = mira_update(tokens, parts, kinds, amounts, loss, longest_step, step, table)
        if method == "frank_wolfe":
            after = SentenceScores(*(a + size * b for a, b in zip(before, amounts, strict=True)))
            state.blocks[number] = Block.of(after, block.cost + size * cost)
    state.right += int((found.heads == heads).sum())
    state.words += len(heads)
