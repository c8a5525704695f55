"""Steps of a parser's training: what each method promises."""

from __future__ import annotations

import numpy as np
import pytest

from assent.apps.parsing import ParserTraining
from assent.apps.parsing.data import label_names
from assent.apps.parsing.parts import kinds_of
from assent.apps.parsing.pruner import Pruner
from assent.apps.parsing.training import read_examples
from assent.apps.parsing.training_state import TrainingState
from assent.apps.parsing.training_step import learn_sentence
from assent.errors import ModelError
from assent.kernels.parsing.sentence_parts import TreeShape
from assent.solvers.ad3.ad3 import AD3
from tests.apps.small_language import small_corpus

SIZE = 1 << 16


def steps(method: str, passes: int):
    """The state after every step on a few sentences, of which arcs alone are scored."""
    sentences = small_corpus(10, seed=0)
    examples = read_examples(sentences, label_names(sentences), False)
    pruner, state = Pruner(np.zeros(SIZE, np.float32)), TrainingState.begin("", SIZE, None)
    for state.passes_done in range(passes):
        for number, own in enumerate(examples):
            state.step += 1
            learn_sentence(
                number, own, pruner.arcs(own.tokens, own.heads), kinds_of("basic"),
                TreeShape(True, True), AD3(), method, 0.01, state,
            )  # fmt: skip
            yield state


def test_frank_wolfe_steps_raise_the_dual():
    """Of the support vector machine: costs of all blocks less half the squared weights."""
    duals = [
        sum(block.cost for block in state.blocks.values())
        - 0.5 * np.sum(state.table.weights.astype(np.float64) ** 2)
        for state in steps("frank_wolfe", 4)
    ]
    assert np.diff(duals).min() >= -1e-7
    assert duals[-1] > 1.1 * duals[9] > 0.0  # still rising after the first pass, MIRA's


def test_first_frank_wolfe_step_is_one_of_mira():
    first = [next(steps(method, 1)).table.weights for method in ("mira", "frank_wolfe")]
    assert first[0].any()
    np.testing.assert_allclose(*first, atol=1e-7)


def test_what_cannot_be_done_is_refused():
    with pytest.raises(ModelError, match="no method 'mia'; methods: mira"):
        ParserTraining(method="mia")
    with pytest.raises(ModelError, match="1 or more, not 6 and 0"):
        ParserTraining(runs=0)
