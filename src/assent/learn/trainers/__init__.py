"""One trainer per file, and the geometry they share: sets of weights, step sizes, averages.

Imports `models` and `solvers`; imported by `learn`.
"""
