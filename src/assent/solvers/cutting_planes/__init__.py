"""Tightened relaxations: separation of cutting planes, and branch and cut on one program.

Imports `solvers.programs` and `solvers.base`.
"""
