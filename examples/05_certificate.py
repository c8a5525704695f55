"""What a certificate is: recompute one by hand, and see one that cannot close.

Three tasks, each worth 1, of which no two can be done. The best answer is one task: value 1.

AD3 works on a *relaxation*: variables may take any value between 0 and 1, and each rule
sees only its own variables. If the rules come in pairs, "half of every task" satisfies each of
them and scores 1.5. So the proven bound is 1.5, the status RELAXED, and the gap is honest.
(If no solver is named, `decode` sees that the graph is narrow and eliminates its variables.)
"""

import numpy as np

import assent as at

graph = at.FactorGraph()
task = graph.binary(3, scores=1.0, name="task")
pairs = np.array([[0, 1], [1, 2], [0, 2]])
graph.add(at.AtMostOne(task[pairs], axis=1))  # three rules of two literals each

result = at.decode(graph, at.AD3())
print(result.status.name, result.certificate)
print("relaxed answer:", result.marginals[task].round(3) + 0.0, " answer:", result[task])
print()

# The bound by hand. Its proof is the *dual point*: it divides the score of every variable among
# the rules it takes part in, one number per literal of each rule ("link").
[links] = result.certificate.dual_point
print("dual point, a row per rule:")
print(links.round(3))

# 1. Each rule alone: of its two literals at most one can be true, so it earns at most
rules_at_best = np.maximum(links.max(axis=1), 0.0)
# 2. Each variable alone keeps what it did not hand out; it counts if that is positive.
handed_out = np.bincount(pairs.ravel(), weights=links.ravel(), minlength=3)
variables_at_best = np.maximum(1.0 - handed_out, 0.0)
# 3. Every assignment's score is the sum of these parts, so none exceeds the sum of their maxima.
bound = rules_at_best.sum() + variables_at_best.sum()
print(f"bound by hand {bound:.6f}, by the library {result.bound:.6f}")
print("Any other division also gives a bound, say all zeros:", np.maximum(1.0, 0.0) * 3)
print()

# The way out is a rule that sees more at once. One factor over all three says the same thing,
# but "half of every task" no longer satisfies it.
graph = at.FactorGraph()
task = graph.binary(3, scores=1.0, name="task")
graph.add(at.AtMostOne(task))
result = at.decode(graph)
print("With a single rule over all three tasks:")
print(result.status.name, result.certificate)
