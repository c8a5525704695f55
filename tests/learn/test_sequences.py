"""Sequences in scikit-learn's manners: features as dicts, marginals, metrics, model selection."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline

import assent as at
from assent.learn import (
    AveragedPerceptron,
    FrankWolfe,
    LogLikelihood,
    StructuredPredictor,
    TokenFeatures,
    sequence_accuracy,
    sequence_scorer,
    span_f1,
    spans,
    token_accuracy,
)
from assent.models import (
    ChainModel,
    Gaussian,
    KernelChainModel,
    MatchingModel,
    TreeInput,
    TreeModel,
)

NAMES = ["Ada", "Grace", "Alan"]
PLACES = ["Paris", "York", "Rome"]


def looks(words, i):
    return {
        "word": words[i],
        "capital": words[i][0].isupper(),
        "before": words[i - 1] if i else "<s>",
        "length": len(words[i]) / 10.0,
    }


def corpus(count=40, seed=0):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(count):
        words = ["then", str(rng.choice(NAMES)), "went", "to", str(rng.choice(PLACES))]
        tags = ["O", "B-PER", "O", "O", "B-LOC"]
        if rng.random() < 0.5:
            words, tags = [*words, "today"], [*tags, "O"]
        X.append(words)
        y.append(tags)
    return X, y


def test_functions_of_tokens_are_features():
    X, y = corpus()
    tagger = StructuredPredictor(ChainModel(), LogLikelihood(C=1.0), features=looks).fit(X, y)
    assert tagger.score(X, y) == 1.0
    assert tagger.predict([["then", "Grace", "went", "to", "Rome"]])[0][4] == "B-LOC"
    assert tagger.n_features_in_ == len(tagger.get_feature_names_out())
    assert {"word=Ada", "capital", "length"} <= set(tagger.get_feature_names_out())
    assert tagger.classes_.tolist() == ["B-LOC", "B-PER", "O"]
    dicts = [[looks(x, i) for i in range(len(x))] for x in X]
    same = StructuredPredictor(ChainModel(), LogLikelihood(C=1.0), features=TokenFeatures()).fit(
        dicts, y
    )
    assert same.weights_ == pytest.approx(tagger.weights_)


def test_features_are_kept_in_files(tmp_path):
    X, y = corpus()
    tagger = StructuredPredictor(ChainModel(), LogLikelihood(), features=looks).fit(X, y)
    tagger.save(tmp_path / "tagger.npz")
    again = StructuredPredictor.load(tmp_path / "tagger.npz", features=looks)
    for first, second in zip(tagger.predict_proba(X), again.predict_proba(X), strict=True):
        assert first == pytest.approx(second)
    dicts = [[looks(x, i) for i in range(len(x))] for x in X]
    assert StructuredPredictor.load(tmp_path / "tagger.npz").score(dicts, y) == 1.0


def enumerated(model, x, weights):
    """Scores of all outputs of an input, by hand."""
    named, length = model.named(weights), len(x)
    labelled = list(itertools.product(range(len(model.labels)), repeat=length))
    totals = []
    for states in labelled:
        total = sum(float(x[t] @ named["nodes"][:, s]) for t, s in enumerate(states))
        total += sum(named["edges"][a, b] for a, b in itertools.pairwise(states))
        totals.append(total + named["start"][states[0]] + named["stop"][states[-1]])
    return np.array(labelled), np.array(totals)


def test_marginals_and_decisions_are_those_of_enumeration():
    rng = np.random.default_rng(3)
    model = ChainModel(labels=("a", "b", "c"), features=2)
    predictor = StructuredPredictor(model, FrankWolfe())
    predictor.model_, predictor.weights_ = model, rng.normal(size=model.size)
    X = [rng.normal(size=(n, 2)) for n in (1, 2, 4)]
    for x, p, s in zip(
        X, predictor.predict_marginals(X), predictor.decision_function(X), strict=True
    ):
        states, totals = enumerated(model, x, predictor.weights_)
        weights = np.exp(totals - totals.max())
        for t, k in np.ndindex(len(x), 3):
            here = states[:, t] == k
            assert p[t, k] == pytest.approx(weights[here].sum() / weights.sum())
            assert s[t, k] == pytest.approx(totals[here].max())
    assert [list(a) for a in predictor.predict(X)] == [
        [model.labels[k] for k in s.argmax(axis=1)] for s in predictor.decision_function(X)
    ]


def test_other_models_have_marginals_or_say_that_they_have_none():
    rng = np.random.default_rng(4)
    X = [TreeInput(rng.normal(size=(3, 2)), [-1, 0, 0]) for _ in range(5)]
    y = [["a", "b", "a"] for _ in range(5)]
    tree = StructuredPredictor(TreeModel(), LogLikelihood(), n_jobs=2).fit(X, y)
    assert np.allclose([p.sum(axis=1) for p in tree.predict_proba(X)], 1.0)
    chain = StructuredPredictor(KernelChainModel(Gaussian()), AveragedPerceptron())
    chain.fit([x.nodes for x in X], y)
    assert chain.decision_function([X[0].nodes])[0].shape == (3, 2)
    with pytest.raises(AttributeError, match="no number of features"):
        chain.n_features_in_  # noqa: B018
    pairs = StructuredPredictor(MatchingModel(), AveragedPerceptron())
    pairs.fit([rng.normal(size=(2, 2, 1))], [np.eye(2)])
    with pytest.raises(TypeError, match="MatchingModel has no marginals of labels"):
        pairs.predict_marginals([rng.normal(size=(2, 2, 1))])
    with pytest.raises(AttributeError, match="no labels"):
        pairs.classes_  # noqa: B018


def test_model_selection_with_sequences_of_different_lengths():
    X, y = corpus(30)
    tagger = StructuredPredictor(ChainModel(), AveragedPerceptron(max_iterations=3), features=looks)
    predicted = cross_val_predict(tagger, X, y, cv=KFold(3))
    assert [len(p) for p in predicted] == [len(own) for own in y]
    assert token_accuracy(y, predicted) > 0.9
    scores = cross_val_score(tagger, X, y, cv=3, scoring=sequence_scorer(span_f1))
    assert scores.shape == (3,) and (scores > 0.9).all()
    search = GridSearchCV(
        StructuredPredictor(ChainModel(), LogLikelihood(), features=looks),
        {"trainer__C": [0.01, 1.0]}, cv=2, scoring=sequence_scorer(sequence_accuracy),
    ).fit(X, y)  # fmt: skip
    assert search.best_params_["trainer__C"] in (0.01, 1.0)
    assert clone(tagger).features is looks
    both = make_pipeline(TokenFeatures(looks), StructuredPredictor(ChainModel(), LogLikelihood()))
    assert both.fit(X, y).score(X, y) == 1.0


def test_validation_reads_the_same_features_and_ends_training():
    X, y = corpus(30)
    tagger = StructuredPredictor(
        ChainModel(), AveragedPerceptron(max_iterations=20), features=looks, patience=2
    )
    tagger.fit(X[:20], y[:20], validation=(X[20:], y[20:]))
    assert len(tagger.training_.trace) < 20 and tagger.score(X[20:], y[20:]) == 1.0


def by_hand(tags):
    """Spans of well-formed BIO tags."""
    found, i = [], 0
    while i < len(tags):
        if tags[i].startswith("B-"):
            j = i + 1
            while j < len(tags) and tags[j] == "I-" + tags[i][2:]:
                j += 1
            found.append((tags[i][2:], i, j))
            i = j
        else:
            i += 1
    return found


def test_spans_of_all_well_formed_sequences():
    tags = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    rule = at.bio(tags)
    for length in range(6):
        for sequence in itertools.product(tags, repeat=length):
            if rule.accepts(sequence):
                assert spans(sequence) == by_hand(sequence), sequence


def test_spans_of_other_schemes_and_of_mistakes():
    assert spans(["S-X", "B-X", "E-X", "O", "U-Y", "L-Y"]) == [
        ("X", 0, 1), ("X", 1, 3), ("Y", 4, 5), ("Y", 5, 6)
    ]  # fmt: skip
    assert spans(["I-X", "I-X", "I-Y"]) == [("X", 0, 2), ("Y", 2, 3)]


def test_metrics_by_hand():
    gold = [["B-X", "I-X", "O"], ["B-Y"]]
    predicted = [["B-X", "O", "O"], ["B-Y"]]
    assert token_accuracy(gold, predicted) == 0.75
    assert sequence_accuracy(gold, predicted) == 0.5
    assert span_f1(gold, predicted) == 0.5
    assert span_f1([["O"]], [["O"]]) == 1.0
    with pytest.raises(at.ModelError, match="2 gold sequences, but 1 predicted"):
        span_f1(gold, predicted[:1])
    with pytest.raises(at.ModelError, match="sequence 0 has 3 gold labels and 2 predicted"):
        token_accuracy(gold, [["O", "O"], ["O"]])


def test_mistakes_with_features_are_named():
    X, _ = corpus(3)
    with pytest.raises(at.ModelError, match="features of token 0 are a dict"):
        TokenFeatures().fit(X)
    with pytest.raises(at.ModelError, match="not been fitted"):
        TokenFeatures(looks).transform(X)
    with pytest.raises(ValueError, match="only the setting 'extract'"):
        TokenFeatures().set_params(other=1)
