"""Handwritten words and snakes: what published accuracies say must be reached."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import assent as at
from assent.learn import AdaGradLikelihood, FrankWolfe, StructuredPredictor, Subgradient
from assent.models import ChainModel, GraphModel, KernelChainModel, Polynomial
from benchmarks.learning_data import letters, snake_graph, snakes
from tests.oracles.sweep import FULL, sweep_size


@pytest.fixture(scope="module")
def data() -> Path:
    root = os.environ.get("ASSENT_DATA")
    if not root or not (Path(root) / "learning").is_dir():
        pytest.skip("ASSENT_DATA is unset or has no folder 'learning'")
    return Path(root)


def score(split, model, trainer) -> float:
    predictor = StructuredPredictor(model, trainer, measure_every=1000)
    predictor.fit(split.inputs, split.outputs)
    return predictor.score(split.test_inputs, split.test_outputs)


def test_letters_from_pixels(data):
    """Published: 0.787, by Frank-Wolfe in a library that does not install any more."""
    words = letters(data)
    assert (len(words.inputs), len(words.test_inputs)) == (704, 6173)
    assert score(words, ChainModel(), FrankWolfe(C=0.1, max_iterations=10, averaged=True)) >= 0.79
    assert score(words, ChainModel(), AdaGradLikelihood(max_iterations=6)) >= 0.79


def test_the_chunker_of_the_docs(data, tmp_path, monkeypatch, capsys):
    """On a part of the corpus: the code of the page, which the whole takes half a minute for."""
    if not (data / "nltk" / "conll2000.zip").is_file():
        pytest.skip("ASSENT_DATA has no file 'nltk/conll2000.zip'")
    (tmp_path / "conll2000.zip").symlink_to((data / "nltk" / "conll2000.zip").resolve())
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "learning.md").read_text(encoding="utf-8")
    code = page.split("### A chunker")[1].split("```py\n")[1].split("```")[0]
    assert len(code.splitlines()) <= 30
    reading = '(X, y), (X_test, y_test) = read("train"), read("test")\n'
    before, after = code.split(reading)
    assert after
    fewer = "X, y, X_test, y_test = X[:500], y[:500], X_test[:300], y_test[:300]\n"
    exec(compile(before + reading + fewer + after, "learning.md", "exec"), {"__name__": "page"})
    shown = capsys.readouterr().out
    assert shown.startswith("chunk F1: 0.") and float(shown.split()[-1]) > 0.87


def test_letters_from_products_of_pixels(data):
    words = letters(data, quadratic=True, most=600)
    assert score(words, ChainModel(), Subgradient(C=1.0, max_iterations=5)) >= 0.86


def test_letters_by_a_kernel(data):
    """The same features as products of pixels, never written down."""
    words = letters(data, most=300)
    trainer = FrankWolfe(C=1.0, max_iterations=4, averaged=True)
    assert score(words, KernelChainModel(Polynomial(2)), trainer) >= 0.86


@pytest.mark.skipif(sweep_size() < FULL, reason="takes a minute: make sweep")
def test_snakes(data):
    pictures = snakes(data)
    model = GraphModel(snake_graph, solver=at.AD3(max_iterations=200))
    trainer = FrankWolfe(C=0.1, max_iterations=4, averaged=True)
    assert score(pictures, model, trainer) >= 0.99
