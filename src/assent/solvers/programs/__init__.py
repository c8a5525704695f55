"""Linear and integer programs through HiGHS: rows of every kind of factor, column generation.

Imports `solvers.base`; imported by `solvers.cuts`, `solvers.search` and `solvers.auto`.
"""
