"""Searches that end with a proof: branch and bound, depth-first search, the k best answers.

Imports `solvers.base`, `solvers.cuts` and `kernels.search`.
"""
