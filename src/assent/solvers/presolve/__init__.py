"""Finding reductions (persistency, dominance), and solving what they leave.

Imports `reductions` and the other solvers; imported by `solvers.auto` and `assent.presolve`.
"""
