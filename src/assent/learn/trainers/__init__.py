"""One trainer per file, and what they share: sets of weights, geometries, step sizes, averages.

Imports `models` and `solvers`; imported by `learn`.
"""
