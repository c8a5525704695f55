"""Searches that end with a proof: branch and bound, depth-first search, the k best answers.

Imports `solvers.base`, `solvers.cutting_planes` and `kernels.search`.
"""
