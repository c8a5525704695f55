"""Box duals: submodels that share nothing but soft constraints (Belanger et al., 2014).

Imports `solvers.base`, `solvers.messages` and `kernels.boxes`.
"""
