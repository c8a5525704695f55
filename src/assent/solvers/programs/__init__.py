"""Linear and integer programs through HiGHS: rows of every kind of factor, column generation.

Imports `solvers.base`; imported by `solvers.cutting_planes`, `solvers.search` and `solvers.auto`.
"""
