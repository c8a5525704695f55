"""AD3: alternating directions dual decomposition, for one problem and for many at once.

Imports `solvers.base` and `kernels.ad3`.
"""
