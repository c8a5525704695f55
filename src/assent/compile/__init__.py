"""From a written graph to the flat problem, and back: placement, propagation, explanations.

Imports `model`, `factors` and `kernels`; imported by `proof`, `solvers` and all that is above.
"""
