"""Examples in files: the same training as from memory."""

from __future__ import annotations

import numpy as np
import pytest

from assent.errors import ModelError
from assent.learn import (
    MIRA,
    DualExtragradient,
    Entropic,
    Examples,
    L2Ball,
    StructuredPredictor,
    read_folder,
    train,
    write_folder,
)
from assent.models import ChainModel
from tests.learn.problems import random_trees


@pytest.mark.parametrize(
    "trainer",
    [MIRA(max_iterations=3), DualExtragradient(L2Ball(1.0), Entropic(), max_iterations=3)],
)
def test_training_from_files_is_training_from_memory(trainer, tmp_path):
    examples = random_trees(np.random.default_rng(0), 5)
    pairs = zip(examples.inputs, examples.outputs, strict=True)
    assert write_folder(tmp_path, pairs) == 5
    inputs, outputs = read_folder(tmp_path)
    assert (len(inputs), len(inputs[1:3])) == (5, 2)
    lazy = Examples(examples.model, inputs, outputs, examples.loss, keep=False)
    np.testing.assert_array_equal(train(lazy, trainer).weights, train(examples, trainer).weights)


def test_damaged_examples_are_told(tmp_path):
    write_folder(tmp_path, [(np.ones((2, 3)), np.array([0, 1]))])
    inputs, _ = read_folder(tmp_path)
    path = next(tmp_path.glob("*.npz"))
    for content in (b"", b"PK", path.read_bytes()[:-40], b"text"):
        path.write_bytes(content)
        with pytest.raises(ModelError, match=r"00000000\.npz is damaged or no file of an example"):
            inputs[0]


def test_predictors_read_folders(tmp_path):
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(4, 2)) for _ in range(6)]
    write_folder(tmp_path, [(x, np.where(x[:, 0] > 0, "up", "down")) for x in X])
    inputs, outputs = read_folder(tmp_path)
    predictor = StructuredPredictor(ChainModel(), MIRA(max_iterations=20), keep=False)
    assert predictor.fit(inputs, outputs).score(inputs, outputs) > 0.9


def test_errors_are_clear(tmp_path):
    with pytest.raises(ModelError, match="holds no examples"):
        read_folder(tmp_path)
    with pytest.raises(ModelError, match="example 0: 'y' is no array of numbers or strings"):
        write_folder(tmp_path, [(np.ones(1), np.array([None]))])
    np.savez(tmp_path / "0.npz", x=np.ones(1))
    with pytest.raises(ModelError, match="has no 'y'"):
        read_folder(tmp_path)[1][0]
