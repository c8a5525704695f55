"""scikit-learn's own checks of estimators, where they make sense for structured outputs.

The checks give rows of a matrix and one label each.  So that they can be run at all, the model here
takes a row for a chain of one position; the predictor is ours as it is.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from assent.learn import LogLikelihood, StructuredPredictor
from assent.models import ChainModel

OUTPUTS = "outputs are sequences, so NumPy gets an array of objects, which it cannot compare"
INPUTS = "an input is a structure: X is a sequence of them, neither a table nor one big array"
WORDS = "refused, as it should be, but in words about the input's features, not about a matrix X"
# Checks that do not apply, each with its reason.
NOT_APPLICABLE = {
    "check_fit_score_takes_y": "asks for partial_fit, which LogLikelihood has not",
    "check_requires_y_none": WORDS,
    "check_n_features_in_after_fitting": WORDS,
    "check_complex_data": WORDS,
    "check_fit2d_predict1d": WORDS,
    "check_dtype_object": "features in arrays of objects are refused",
    "check_estimators_empty_data_messages": "no features are fine: labels still have transitions",
    "check_sample_weights_pandas_series": INPUTS,
    "check_sample_weights_not_an_array": INPUTS,
    "check_sample_weight_equivalence_on_dense_data": OUTPUTS,  # see test_sample_weights
    "check_estimators_pickle": OUTPUTS,
    "check_methods_sample_order_invariance": OUTPUTS,
    "check_methods_subset_invariance": OUTPUTS,
    "check_fit_idempotent": OUTPUTS,
}


@dataclass(frozen=True)
class RowModel(ChainModel):
    """Rows as chains of one position."""

    def shaped(self, inputs, outputs):
        return super().shaped([as_chain(inputs[0])], outputs)

    def example(self, x, y, loss, *, outside=False):
        return super().example(as_chain(x), [y], loss, outside=outside)

    def predict(self, x, weights):
        return super().predict(as_chain(x), weights)[0]

    def predict_many(self, inputs, weights, n_jobs=1):
        found = super().predict_many([as_chain(x) for x in inputs], weights)
        return [labels[0] for labels in found]

    def label_marginals(self, x, weights):
        return super().label_marginals(as_chain(x), weights)[0]

    def label_scores(self, x, weights):
        return super().label_scores(as_chain(x), weights)[0]


def as_chain(row):
    return row if hasattr(row, "tocsr") else np.asarray(row)[None]


@pytest.mark.filterwarnings("ignore")  # the checks try what scikit-learn itself warns about
def test_all_other_checks_pass():
    predictor = StructuredPredictor(RowModel(), LogLikelihood(max_iterations=5))
    done = check_estimator(predictor, on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in done if one["status"] == "failed"}
    assert set(failed) == set(NOT_APPLICABLE), failed
    assert sum(one["status"] == "passed" for one in done) >= 30


def test_what_arrays_of_objects_hide_from_the_checks():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 2)) for n in (3, 1, 4, 2)]
    y = [np.where(x[:, 0] > 0, "a", "b") for x in X]
    predictor = StructuredPredictor(ChainModel(), LogLikelihood(max_iterations=5)).fit(X, y)
    again = pickle.loads(pickle.dumps(predictor))
    order = [2, 0, 3, 1]
    for method in ("predict", "predict_proba", "decision_function"):
        found = getattr(predictor, method)(X)
        same = [
            getattr(again, method)(X),
            [getattr(predictor, method)([x])[0] for x in X],
            getattr(predictor.fit(X, y), method)(X),
        ]
        moved = getattr(predictor, method)([X[i] for i in order])
        for other in [*same, [moved[order.index(i)] for i in range(4)]]:
            for one, two in zip(found, other, strict=True):
                np.testing.assert_array_equal(one, two)
