"""A user's program, for type checkers only: what is revealed is compared with the comments."""

from typing import reveal_type

import numpy as np

import assent as at
from assent.learn import FrankWolfe, StructuredPredictor
from assent.models import ChainModel

g = at.FactorGraph()
x = g.binary((2, 3), scores=np.ones((2, 3)), name="x")
tag = g.categorical(4, ["N", "V"], name="tag")
g.add(at.ExactlyOne(x, axis=(0, 1)))
pairs = g.add(at.Pair(x[0], ~x[1], scores=1.0))
g.add(at.Implies(x[0, 0] & (tag[0] == "V"), ~x[1, 2]))
g.add(at.Chain(tag, transitions=np.zeros((2, 2))))
g.add(at.Regular(tag, at.regex("N* V*", ["N", "V"])))
g.add(at.Soft(at.Agree(tag[0], tag[1]), penalty=1.5))
g.add(at.SoftCount(at.AtMost(1, x[0]), penalty=1.5))
result = at.decode(g, at.AD3(gap_tolerance=1e-4), exact=True, time_limit=5.0)
many = at.decode_many(g, scores={"x": np.zeros((5, 2, 3))}, threads=2)
predictor = StructuredPredictor(ChainModel(), FrankWolfe(C=1.0))
predictor.fit([np.zeros((2, 1))], [["a", "b"]])

reveal_type(x[0])  # assent.model.variables.Literals
reveal_type(tag)  # assent.model.variables.Categorical
reveal_type(tag == "V")  # assent.model.variables.Literals
reveal_type(pairs)  # assent.model.graph.Handle
reveal_type(result)  # assent.result.Result
reveal_type(result[x])  # numpy.ndarray[tuple[Any, ...], numpy.dtype[Any]]
reveal_type(result.labels[tag])  # numpy.ndarray[tuple[Any, ...], numpy.dtype[Any]]
reveal_type(result.marginals[x])  # numpy.ndarray[tuple[Any, ...], numpy.dtype[Any]]
reveal_type(result.value)  # float
reveal_type(result.status)  # assent.result.Status
reveal_type(many[0])  # assent.result.Result
reveal_type(many[x])  # numpy.ndarray[tuple[Any, ...], numpy.dtype[Any]]
reveal_type(many.values)  # numpy.ndarray[tuple[Any, ...], numpy.dtype[numpy.float64]]
reveal_type(predictor.predict([np.zeros((2, 1))]))  # assent.learn.estimator.Outputs
reveal_type(at.k_best(g, 3)[0])  # assent.result.Result
reveal_type(at.compare(g).bound)  # float
