"""Certificates and proofs, and the code that recomputes what they claim; imports no solver.

Imports `compile` and what is below; imported by `result`, `reductions` and `solvers`.
"""
