"""Predictors with scikit-learn's manners, and their files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from assent.errors import ModelError
from assent.learn import (
    MIRA,
    AveragedPerceptron,
    FrankWolfe,
    LabelCosts,
    StructuredPredictor,
    plot_path,
)
from assent.models import ChainModel, GraphModel, MatchingModel
from tests.learn.damage import broken_bytes, other_content
from tests.learn.problems import build_path


def sentences(n: int = 20, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(int(rng.integers(2, 6)), 3)) for _ in range(n)]
    y = [np.where(x[:, 0] + 0.3 * rng.normal(size=len(x)) > 0, "up", "down") for x in X]
    return X, y


def test_fit_predict_score():
    X, y = sentences()
    predictor = StructuredPredictor(ChainModel(), FrankWolfe(C=0.1, max_iterations=20))
    with pytest.raises(ModelError, match="call fit first"):
        predictor.predict(X)
    assert predictor.fit(X, y) is predictor
    assert predictor.model_.labels == ("down", "up")
    predicted = predictor.predict(X)
    right = sum(int((a == b).sum()) for a, b in zip(predicted, y, strict=True))
    assert predictor.score(X, y) == right / sum(map(len, y)) > 0.8
    assert predictor.training_.trace.iteration[-1] <= 20


def test_clone_and_params():
    loss = LabelCosts([[0.0, 1.0], [2.0, 0.0]])
    predictor = StructuredPredictor(ChainModel(), FrankWolfe(C=0.5), loss=loss)
    assert predictor.get_params()["trainer__C"] == 0.5
    copy = clone(predictor)
    assert copy is not predictor
    assert copy.trainer == predictor.trainer
    copy.set_params(trainer__C=2.0, model__features=3, patience=4)
    assert (copy.trainer.C, copy.model.features, copy.patience) == (2.0, 3, 4)
    assert predictor.trainer.C == 0.5
    copy.set_params(trainer=MIRA(), trainer__C=7.0)
    assert copy.trainer == MIRA(C=7.0)
    with pytest.raises(ValueError, match="no setting is called 'speed'"):
        copy.set_params(speed=1)
    with pytest.raises(ValueError, match="MIRA has no setting 'speed'"):
        copy.set_params(trainer__speed=1)
    assert "FrankWolfe(C=0.5" in repr(predictor)


def test_grid_search_and_pipelines():
    X, y = sentences()
    predictor = StructuredPredictor(ChainModel(), FrankWolfe(max_iterations=5))
    search = GridSearchCV(predictor, {"trainer__C": [1e-4, 0.1]}, cv=3).fit(X, y)
    assert search.cv_results_["param_trainer__C"].tolist() == [1e-4, 0.1]
    assert search.best_params_["trainer__C"] == search.best_estimator_.trainer.C
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() > 0.8
    wider = FunctionTransformer(lambda X: [np.hstack([x, x**2]) for x in X])
    pipe = make_pipeline(wider, predictor)
    assert len(cross_val_score(pipe, X, y, cv=2)) == 2
    pipe.fit(X, y)
    assert pipe[-1].model_.features == 6


def test_partial_fit_goes_on():
    X, y = sentences()
    at_once = StructuredPredictor(ChainModel(), AveragedPerceptron(seed=None, max_iterations=1))
    at_once.fit(X, y)
    parts = StructuredPredictor(ChainModel(labels=("down", "up")), AveragedPerceptron(seed=None))
    for i in range(0, 20, 5):
        parts.partial_fit(X[i : i + 5], y[i : i + 5])
    np.testing.assert_allclose(parts.weights_, at_once.weights_, atol=1e-12)
    with pytest.raises(TypeError, match="FrankWolfe learns from all examples together"):
        StructuredPredictor(ChainModel(), FrankWolfe()).partial_fit(X, y)


def test_validation_and_test_scores(tmp_path):
    X, y = sentences(30)
    predictor = StructuredPredictor(ChainModel(), MIRA(max_iterations=8), patience=3)
    predictor.fit(X[:10], y[:10], validation=(X[10:20], y[10:20]), test=(X[20:], y[20:]))
    trace = predictor.training_.trace
    assert predictor.score(X[10:20], y[10:20]) == trace.validation.max()
    assert np.isfinite(trace.test).all()
    figure = plot_path(predictor, tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 0
    assert [axes.get_title() for axes in figure.axes] == [
        "Hinge loss", "Norm of the weights", "Validation error", "Test error",
    ]  # fmt: skip
    assert all(len(axes.lines) == 1 for axes in figure.axes)
    np.testing.assert_allclose(figure.axes[3].lines[0].get_ydata(), 1.0 - trace.test)
    bare = StructuredPredictor(ChainModel(), MIRA(max_iterations=2)).fit(X, y)
    both = plot_path({"a": predictor, "b": bare})
    assert [len(axes.lines) for axes in both.axes] == [2, 2, 1, 1]


def test_files_hold_all_that_predicting_needs(tmp_path):
    X, y = sentences()
    predictor = StructuredPredictor(ChainModel(), MIRA(max_iterations=3)).fit(X, y)
    path = tmp_path / "tagger.npz"
    predictor.save(path)
    again = StructuredPredictor.load(path)
    assert again.model_ == predictor.model_
    np.testing.assert_array_equal(again.weights_, predictor.weights_)
    for a, b in zip(again.predict(X), predictor.predict(X), strict=True):
        assert a.tolist() == b.tolist()
    with np.load(path, allow_pickle=False) as file:
        assert json.loads(str(file["about"]))["version"] == 1


def test_damaged_files_are_told(tmp_path):
    X, y = sentences()
    predictor = StructuredPredictor(ChainModel(), MIRA(max_iterations=1)).fit(X, y)
    path = tmp_path / "tagger.npz"
    predictor.save(path)
    broken = [*broken_bytes(np.random.default_rng(0), path, 60)]
    for content in [*other_content(path)]:
        path.write_bytes(content)
        with pytest.raises(ModelError, match=r"tagger\.npz (is|has|holds)"):
            StructuredPredictor.load(path)
    for content in broken:
        path.write_bytes(content)
        try:  # a flipped bit in a date, say, does no harm
            again = StructuredPredictor.load(path)
        except ModelError as error:
            assert "tagger.npz" in str(error)
        else:
            np.testing.assert_array_equal(again.weights_, predictor.weights_)
    with pytest.raises(FileNotFoundError):
        StructuredPredictor.load(tmp_path / "nothing.npz")


def test_files_of_models_with_functions(tmp_path):
    X, y = [np.ones((2, 1)), -np.ones((3, 1))], [[1, 1], [0, 0, 0]]
    predictor = StructuredPredictor(GraphModel(build_path), MIRA(max_iterations=2)).fit(X, y)
    path = tmp_path / "graph.npz"
    predictor.save(path)
    with pytest.raises(ModelError, match=r"holds a GraphModel whose settings .* load it with"):
        StructuredPredictor.load(path)
    again = StructuredPredictor.load(path, model=predictor.model_)
    assert again.score(X, y) == predictor.score(X, y) == 1.0
    with pytest.raises(ModelError, match=r"has 6 weights, the model 2"):
        StructuredPredictor.load(path, model=MatchingModel(2))


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, weights=np.zeros(2))
    with pytest.raises(ModelError, match="is no file of a predictor"):
        StructuredPredictor.load(path)
    about = {"format": "assent predictor", "version": 9}
    np.savez(path, weights=np.zeros(2), about=np.array(json.dumps(about)))
    with pytest.raises(ModelError, match="has version 9, this library reads 1"):
        StructuredPredictor.load(path)
    about = {"format": "assent predictor", "version": 1, "model": "os", "settings": {}}
    np.savez(path, weights=np.zeros(2), about=np.array(json.dumps(about)))
    with pytest.raises(ModelError, match="unknown model 'os'"):
        StructuredPredictor.load(path)


def test_threads_change_nothing():
    X, y = [np.ones((2, 1)), -np.ones((3, 1)), np.ones((4, 1))], [[1, 1], [0, 0, 0], [1] * 4]
    found = {}
    for n_jobs in (1, 3):
        predictor = StructuredPredictor(
            GraphModel(build_path), FrankWolfe(max_iterations=5), n_jobs=n_jobs
        )
        predictor.fit(X, y)
        found[n_jobs] = predictor.weights_, predictor.training_.trace.hinge, predictor.predict(X)
    for one, other in zip(found[1][:2], found[3][:2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert [p.tolist() for p in found[1][2]] == [p.tolist() for p in found[3][2]]


@pytest.mark.parametrize(
    ("model", "trainer", "X", "y", "error", "words"),
    [
        ("chain", FrankWolfe(), [1], [1], TypeError, r"model is a settings object such as Chain"),
        (ChainModel(), FrankWolfe, [1], [1], TypeError, r"trainer is a settings object such as Fr"),
        (ChainModel(), FrankWolfe(), [], [], ModelError, "nothing to learn from: X has no ex"),
        (ChainModel(), FrankWolfe(), [1], None, TypeError, "y is a sequence with an item per exam"),
        (ChainModel(), FrankWolfe(), [1, 2], [1], ModelError, "2 inputs but 1 outputs"),
    ],
)  # fmt: skip
def test_what_cannot_be_fitted_is_named(model, trainer, X, y, error, words):
    with pytest.raises(error, match=words):
        StructuredPredictor(model, trainer).fit(X, y)


def test_what_cannot_be_predicted_is_named():
    X, y = [np.ones((2, 1)), -np.ones((3, 1))], [[1, 1], [0, 0, 0]]
    predictor = StructuredPredictor(ChainModel(), FrankWolfe(max_iterations=1)).fit(X, y)
    with pytest.raises(ModelError, match=r"input 1 has features of shape \(2, 5\)"):
        predictor.predict([X[0], np.ones((2, 5))])
    with pytest.raises(ModelError, match="a score needs examples: 0 inputs and 0 outputs"):
        predictor.score([], [])
    assert "1 pass," in repr(predictor.training_)
