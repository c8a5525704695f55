"""Methods without iterations: variable elimination, roof duality, factors that share nothing.

Imports `solvers.base` and `kernels.direct`.
"""
